"""All dumps of a job: which file holds what, and whose it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.dumps.plain_values import MAX_BYTES, read_json, read_pickle
from core.dumps.recorder import Recording, is_recording, read_recording
from core.dumps.stacks import MAX_LINES, Process, looks_like_stacks, read_document, read_text
from core.errors import UnreadableLog
from core.job import LogFile, Manifest
from core.logs.origins import Origin, Voice, find_origins

FOLDER = "dumps/"
# What py-spy says when it cannot read a process: one that is stopped, or stuck in the kernel, cannot be traced.
_FAILED = re.compile(r"^Error: Failed to (?:get stack traces|suspend process)", re.MULTILINE)
_LONGEST = 255  # characters of a name, as file systems have them; archives allow more
_PICKLE = b"\x80"
_LETTER = re.compile(r"[A-Za-z0-9]")
_TRAILING = re.compile(r"(?:^|[^0-9])(\d{1,6})$")
_NODE_WORD = re.compile(r"(?:^|[-_.])((?:node|host|worker|nid|dgx|gpu)[-_]?\d\w*?)(?=$|[-_.])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dumps:
    """What the dumps of a job hold. problems: sentences about what was left out."""

    processes: tuple[Process, ...] = ()
    recordings: tuple[Recording, ...] = ()
    problems: tuple[str, ...] = ()


def read_dumps(files: Sequence[LogFile], manifest: Manifest, *, folder: str = FOLDER) -> Dumps:
    """Read all dump files; a broken one is left out and told. ``folder``: in which they lie, that names nobody."""
    processes: list[Process] = []
    recordings: list[Recording] = []
    problems: list[str] = []
    unknown: list[str] = []
    home = {rank: node for node, ranks in reversed(list(manifest.node_ranks.items())) for rank in ranks}
    names = frozenset(manifest.nodes)
    origins = find_origins([Voice(file.name.removeprefix(folder), b"") for file in files], manifest)
    for file, origin in zip(files, origins, strict=True):
        try:
            found = _read(file, _named(file.name, origin, names))
        except UnreadableLog as error:
            problems.append(error.message)
            continue
        if isinstance(found, Recording):
            recordings.append(found)
        elif found:
            processes += [_at_home(process, home) for process in found]
        else:
            unknown.append(file.name)
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        problems.append(f"{unknown[0]}{more}: neither a stack dump nor a flight recorder dump that is known here.")
    return Dumps(tuple(processes), tuple(recordings), tuple(problems))


def _read(file: LogFile, origin: Origin) -> Recording | tuple[Process, ...]:
    with file.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableLog(f"{file.name} was not read: it is larger than {MAX_BYTES:,} bytes.")
    start = data[:64].lstrip()[:1]
    if data[:1] == _PICKLE or start in (b"{", b"["):
        value = read_pickle(data, file.name) if data[:1] == _PICKLE else read_json(data, file.name)
        if is_recording(value):
            rank = origin.rank if origin.rank is not None else _trailing(file.name)
            return read_recording(value, file.name, rank)
        found = read_document(value, file.name)
    else:
        if data.count(b"\n") > MAX_LINES:
            raise UnreadableLog(f"{file.name} was not read: it has more than {MAX_LINES:,} lines.")
        text = data.decode("utf-8", "replace")
        found = read_text(text, file.name) if looks_like_stacks(text) else ()
        found = found or ((Process(file.name),) if _FAILED.search(text) else ())
    alone = len({process.pid for process in found}) == 1
    return tuple(
        replace(
            process,
            rank=process.rank if process.rank is not None else origin.rank if alone or len(found) == 1 else None,
            node=process.node or origin.node,
        )
        for process in found
    )


def _named(name: str, origin: Origin, nodes: frozenset[str]) -> Origin:
    """The origin with the node that the file is called after: the longest name that stands between other signs."""
    if origin.node is not None:
        return origin
    stem = _stem(name)[:_LONGEST]
    edges = [at for at in range(len(stem) + 1) if not _LETTER.match(stem, at)]
    starts = [0, *(at + 1 for at in edges)]
    within = {stem[start:end] for start in starts for end in edges if start < end} & nodes
    if within:
        return replace(origin, node=min(within, key=lambda node: (-len(node), node)))
    word = None if nodes else _NODE_WORD.search(stem)
    return replace(origin, node=word[1]) if word else origin


def _at_home(process: Process, home: Mapping[int, str]) -> Process:
    """The process on the node that the manifest gives its rank; names of hosts that it does not know are its own."""
    return replace(process, node=(home.get(process.rank) if process.rank is not None else None) or process.node)


def _trailing(name: str) -> int | None:
    """The number at the end of a name, as torch adds the rank to its prefix: _dump_9, nccl_trace_rank_9.pickle."""
    match = _TRAILING.search(_stem(name))
    return int(match[1]) if match else None


def _stem(name: str) -> str:
    stem = PurePosixPath(name).name
    for suffix in (".gz", ".zst", ".xz"):
        stem = stem.removesuffix(suffix)
    return stem.rsplit(".", 1)[0] if "." in stem.lstrip(".") else stem
