"""A labelled job, grown: its folder and its truth, as the small ones are."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.amplify.cast import Cast, Original
from benchmarks.amplify.script import Script, Speaker, pids_of, write_script

SCHEDULER = "logs/controller.log"
_SUBMITTED = re.compile(r"(?P<before>.* submitted: )\d+ nodes: .*")
_NAMED = re.compile(r"\bnode-(\d+)|\(swp(\d+)\)")
_ONCE = re.compile(r"task on node-\d+ failed|switch kernel")  # said of the one that was first, not of each
_RUN = re.compile(r"(?P<job>\w+?_)(?P<id>\w{8})$")
_CLOCK = len("2026-11-21T03:59:12.104Z")
Place = tuple[str, int]  # file, line from 1


@dataclass(frozen=True, slots=True)
class Grown:
    """What was written."""

    job_id: str
    files: int
    lines: int
    size: int


@dataclass
class _Writer:
    """Writes logs, counts them, and remembers where each line of the small job is now."""

    home: Path
    files: int = 0
    size: int = 0
    lines: int = 0
    moved: dict[Place, list[tuple[Place, str]]] = field(default_factory=lambda: defaultdict(list))

    def write(self, name: str, lines: Sequence[str], places: Sequence[Place | None]) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "\n".join(lines).encode("utf-8", "surrogateescape")
        path.write_bytes(data)
        self.files, self.size, self.lines = self.files + 1, self.size + len(data), self.lines + data.count(b"\n")
        for number, (line, place) in enumerate(zip(lines, places, strict=True), start=1):
            if place is not None:
                self.moved[place].append(((name, number), line))


def read_original(jobs: Path, truth: Path, job_id: str) -> Original:
    """A labelled job, as it lies on disk."""
    manifest = json.loads((jobs / job_id / "job.json").read_text(encoding="utf-8"))
    document = json.loads((truth / f"{job_id}.json").read_text(encoding="utf-8"))
    return Original(jobs / job_id, manifest, document)


def grow(cast: Cast, jobs: Path, truth: Path) -> Grown:
    """Write the job below ``jobs`` and its truth below ``truth``, both under the id of the small one."""
    original = cast.original
    labelled = {(label["file"], label["line"]) for label in original.truth["labels"]}
    writer = _Writer(jobs / original.id)
    _write_nodes(cast, writer, labelled)
    _write_scheduler(cast, writer, labelled)
    _write_json(writer.home / "job.json", _manifest(cast))
    _write_json(truth / f"{original.id}.json", _truth(cast, writer.moved))
    return Grown(original.id, writer.files, writer.lines, writer.size)


# --- nodes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Log:
    """A log of one node of the small job. shape: equal for the same log of other nodes."""

    name: str
    shape: str
    local_rank: int | None
    script: Script


def _write_nodes(cast: Cast, writer: _Writer, labelled: set[Place]) -> None:
    original = cast.original
    logs = {played: _logs(original, played) for played in set(cast.plays)}
    nothing = _silent_shapes(logs[original.middle[0]])
    for place, played in enumerate(cast.plays):
        copied = place in cast.faulty[1:] and played not in original.middle  # of the last node: not what only it logs
        run_id = "".join(cast.draw("run", place).choices("abcdefghijklmnopqrstuvwxyz0123456789_", k=8))
        for log in logs[played]:
            name = _rename(log.name, cast.name(place), run_id)
            if copied and log.shape in nothing:
                writer.write(name, [""], [None])
                continue
            lines = log.script.speak(Speaker(cast, place, log.local_rank))
            places = [here if (here := (log.name, number)) in labelled else None for number in range(1, len(lines) + 1)]
            writer.write(name, lines, places)


def _logs(original: Original, played: int) -> tuple[_Log, ...]:
    home = original.home / "logs" / original.nodes[played]
    paths = sorted(path for path in home.rglob("*") if path.is_file())
    texts = [path.read_bytes().decode("utf-8", "surrogateescape") for path in paths]
    pids = pids_of(texts)
    logs = []
    for path, text in zip(paths, texts, strict=True):
        name = path.relative_to(original.home).as_posix()
        local_rank = int(path.parent.name) if path.parent.name.isdigit() else None
        logs.append(_Log(name, _rename(name, "", ""), local_rank, write_script(text, original, pids)))
    return tuple(logs)


def _silent_shapes(logs: Sequence[_Log]) -> frozenset[str]:
    return frozenset(log.shape for log in logs if log.script.lines == (("",),))


def _rename(name: str, node: str, run_id: str) -> str:
    parts = name.split("/")
    parts[1] = node
    if "torchrun" in parts[:-1]:
        parts[3] = _RUN.sub(lambda match: match["job"] + run_id, parts[3])
    return "/".join(parts)


# --- the scheduler --------------------------------------------------------------------------------------------------


def _write_scheduler(cast: Cast, writer: _Writer, labelled: set[Place]) -> None:
    original = cast.original
    text = (original.home / SCHEDULER).read_bytes().decode("utf-8", "surrogateescape")
    lines: list[str] = []
    places: list[Place | None] = []
    pending: list[tuple[str, Place | None]] = []  # of nodes, since the last line that names none; sorted by time
    for number, line in enumerate(text.split("\n"), start=1):
        here = (SCHEDULER, number)
        place = here if here in labelled else None
        placed = [(spoken, place) for spoken in _said(line, cast)]
        if _names(line, original) is not None:
            pending.extend(placed)
            continue
        for spoken, origin in (*sorted(pending, key=lambda entry: entry[0][:_CLOCK]), *placed):
            lines.append(spoken)
            places.append(origin)
        pending = []
    writer.write(SCHEDULER, lines, places)


def _names(line: str, original: Original) -> int | None:
    """The one node that a line is about."""
    named = {int(name or port) for name, port in _NAMED.findall(line)}
    return next(iter(named)) if len(named) == 1 and max(named) < len(original.nodes) else None


def _said(line: str, cast: Cast) -> Iterator[str]:
    """What the scheduler says now: of every node that has the part of the one it spoke of."""
    played = _names(line, cast.original)
    submitted = _SUBMITTED.fullmatch(line)
    if submitted:
        yield f"{submitted['before']}{cast.size} nodes: {','.join(map(cast.name, range(cast.size)))}"
    elif played is None:
        yield line
    else:
        script = write_script(line, cast.original, frozenset())
        for place in _spoken_of(line, played, cast):
            yield script.speak(Speaker(cast, place, None))[0]


def _spoken_of(line: str, played: int, cast: Cast) -> Sequence[int]:
    if "switch kernel" in line and played == cast.original.faulty:
        return cast.faulty
    if _ONCE.search(line):
        return (cast.heirs[played],)
    return [place for place, part in enumerate(cast.plays) if part == played]


# --- job.json and the truth -----------------------------------------------------------------------------------------


def _manifest(cast: Cast) -> dict[str, Any]:
    manifest, original = dict(cast.original.manifest), cast.original
    names = {place: cast.name(place) for place in range(cast.size)}
    codes = manifest.get("exit_codes") or {}
    manifest |= {
        "nodes": list(names.values()),
        "num_nodes": cast.size,
        "world_size": cast.world,
        "node_ranks": {name: list(cast.ranks(place)) for place, name in names.items()},
        "node_addresses": {name: cast.address(place) for place, name in names.items()},
        "exit_codes": {name: codes.get(original.nodes[cast.plays[place]]) for place, name in names.items()},
    }
    manifest.pop("launch_command", None)  # a megabyte that decides nothing
    return manifest


def _truth(cast: Cast, moved: Mapping[Place, Sequence[tuple[Place, str]]]) -> dict[str, Any]:
    truth = dict(cast.original.truth)
    speaker = Speaker(cast, cast.faulty[0] if cast.faulty else 0, None)
    truth |= {
        "faulty_nodes": [cast.name(place) for place in cast.faulty],
        "faulty_ranks": list(cast.faulty_ranks) if truth["faulty_ranks"] else [],
        "summary": write_script(truth["summary"] or "", cast.original, frozenset()).speak(speaker)[0],
        "labels": [copy for label in truth["labels"] for copy in _copies(label, moved)],
    }
    return truth


def _copies(label: Mapping[str, Any], moved: Mapping[Place, Sequence[tuple[Place, str]]]) -> Iterator[dict[str, Any]]:
    """A label at every place where its line stands now; the lines of a node keep their numbers."""
    for (file, line), text in moved.get((label["file"], label["line"]), ()):
        by = line - label["line"]
        block = label.get("block")
        node = file.split("/")[1] if label.get("node") else None
        moved_block = [block[0] + by, block[1] + by] if block else None
        yield {**label, "file": file, "line": line, "block": moved_block, "node": node, "text": text}


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
