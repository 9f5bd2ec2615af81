"""The same job under worse conditions: less history, lost files, skewed clocks, another order, other names.

All choices follow from the job's id and a fixed seed, so that every run changes the same things.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any

from benchmarks.quality.case import Case, read_case
from benchmarks.quality.clocks import set_forward
from core.job import Job, LogFile, Manifest, Status

SEED = 20251  # of everything that is chosen here
MIN_FILES = 4  # of fewer a tenth or a quarter is nothing or half of the job
_NUMBERED = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9_.-]{2,}")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")

Rename = Callable[[str], str]


def with_history(case: Case, jobs: int) -> Case | None:
    """Compared with the first so many successful jobs; None where there are fewer."""
    if len(case.baseline) < jobs:
        return None
    return read_case(case.truth, case.parsed.job, case.baseline[:jobs], case.cache)


def without_status(case: Case) -> Case | None:
    """As if nobody had said how the job ended."""
    job = case.parsed.job
    unknown = replace(job, manifest=replace(job.manifest, status=Status.UNKNOWN))
    return replace(case, parsed=replace(case.parsed, job=unknown))


def without_files(case: Case, share: float) -> Case | None:
    """A share of the log files lost, and with them what they would have told; None where there are few."""
    job = case.parsed.job
    if len(job.logs) < MIN_FILES:
        return None
    names = [file.name for file in job.logs]
    lost = set(_random(case, f"lost {share}").sample(names, round(share * len(names))))
    left = replace(job, logs=tuple(file for file in job.logs if file.name not in lost))
    return read_case(case.truth.without(lost), left, case.baseline, case.cache)


def with_skew(case: Case, seconds: float) -> Case | None:
    """The clocks of the nodes up to so many seconds apart; None where no two nodes have files of their own."""
    job = case.parsed.job
    homes = {file.name: home for file in job.logs if (home := _home(file.name, case.parsed.nodes))}
    nodes = sorted(set(homes.values()))
    if len(nodes) < 2:
        return None
    _random(case, "skew").shuffle(nodes)
    ahead = {node: round(seconds * 1_000_000 * place / (len(nodes) - 1)) for place, node in enumerate(nodes)}
    logs = [
        _rewritten(file, file.name, set_forward(_content(file), ahead[homes[file.name]]))
        if file.name in homes
        else file
        for file in job.logs
    ]
    return read_case(case.truth, replace(job, logs=tuple(logs)), case.baseline, case.cache)


def shuffled(case: Case) -> Case | None:
    """The files handed over in another order."""
    job = case.parsed.job
    if len(job.logs) < 2:
        return None
    logs = list(job.logs)
    _random(case, "order").shuffle(logs)
    return read_case(case.truth, replace(job, logs=tuple(logs)), case.baseline, case.cache)


def renamed(case: Case) -> tuple[Case, Rename] | None:
    """Nodes and their addresses under other names, everywhere; and who is now called what."""
    names = new_names(case)
    if not names:
        return None
    job, rename = case.parsed.job, renaming(names)
    logs, dumps = (
        tuple(sorted((_renamed_file(file, names) for file in files), key=lambda file: file.name))
        for files in (job.logs, job.dumps)
    )
    changed = Job(_renamed_manifest(job.manifest, rename), logs, dumps, problems=job.problems)
    return read_case(case.truth.renamed(rename), changed, case.baseline, case.cache), rename


def new_names(case: Case) -> dict[str, str]:
    """A new name for each node with a number in its name, and for each address of one, in no order."""
    manifest, random = case.parsed.job.manifest, _random(case, "names")
    addresses = [address for own in manifest.node_addresses.values() for address in own]
    spoke = case.parsed.table.nodes if case.parsed.unit == "node" else ()
    known = sorted({*manifest.nodes, *spoke, *addresses, *case.truth.faulty_nodes})
    numbers = iter(random.sample(range(1000, 9999), len(known)))
    names = {}
    for name in known:
        number = next(numbers)
        if _ADDRESS.fullmatch(name):
            names[name] = f"172.18.{number // 250}.{number % 250}"
        elif _NUMBERED.fullmatch(name) and not name.startswith("rank"):
            names[name] = f"cn{number}"
    return names


# --- files --------------------------------------------------------------------------------------------------------


def _content(file: LogFile) -> bytes:
    with file.open() as stream:
        return stream.read()


def _rewritten(file: LogFile, name: str, content: bytes) -> LogFile:
    return LogFile(name, file.size, f"{file.stamp} rewritten", lambda: BytesIO(content))


def _home(name: str, nodes: Iterable[str]) -> str | None:
    """The node in whose folder a file lies."""
    folders = name.split("/")[:-1]
    return next((node for node in nodes if node in folders), None)


def _renamed_file(file: LogFile, names: Mapping[str, str]) -> LogFile:
    rename, old = renaming(names), _content(file)
    text = rename(old.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return _rewritten(file, rename(file.name), text)


def renaming(names: Mapping[str, str]) -> Rename:
    """What replaces whole names in a text; the longest first, lest one be taken for the start of another."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, ordered))})(?![A-Za-z0-9])")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def _renamed_manifest(manifest: Manifest, rename: Rename) -> Manifest:
    return replace(
        manifest,
        nodes=tuple(map(rename, manifest.nodes)),
        node_ranks=_deep(manifest.node_ranks, rename),
        node_addresses=_deep(manifest.node_addresses, rename),
        extra=_deep(manifest.extra, rename),
    )


def _deep(value: Any, rename: Rename) -> Any:
    """The same value, with every text in it renamed."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {rename(key): _deep(item, rename) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_deep(item, rename) for item in value)
    return value


def _random(case: Case, what: str) -> Random:
    return Random(f"{SEED} {case.truth.job_id} {what}")  # noqa: S311 (not for secrets)
