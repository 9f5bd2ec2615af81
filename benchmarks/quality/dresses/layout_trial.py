"""Whether the program knows who wrote each line of a job that was laid out anew, and answers as before.

The job is read without the successful ones beside it, as it is undressed too: they would have to be laid out alike.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random

from benchmarks.quality.case import Case, read_case
from benchmarks.quality.dresses.jobs import Labelled, read_archives
from benchmarks.quality.dresses.layouts import BY_MACHINE, BY_RANK, ONE_FILE, Layout, Writer, draw, lay_out
from benchmarks.quality.dresses.wearer import Wearer
from benchmarks.quality.labels import Place
from benchmarks.quality.report import table
from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from core.diagnose import diagnose_parsed
from core.events.table import EventTable
from core.logs.voices import Origin, rank_called
from core.model import Diagnosis

ARCHIVES = tuple(
    Path(__file__).parent.parent / f"{name}.tar.xz" for name in ("lab", "blind-an", "blind-ap", "blind-as")
)
SEED, COUNT = 4242, 39  # of the published table
RIGHT = 0.95  # of a layout's lines have the right machine, and the right rank


@dataclass(frozen=True, slots=True)
class Tried:
    """A job in a layout. node, rank: the share of its ranks' lines that are known to be of the right one.

    wrong: who wrote the most lines of another's, and for whom they were taken. same: whether the verdict is the same.
    """

    job_id: str
    layout: Layout
    node: float
    rank: float
    wrong: str
    same: bool

    @property
    def is_right(self) -> bool:
        """Whether nearly all lines have their writer."""
        return min(self.node, self.rank) >= RIGHT


def try_layouts(
    count: int = COUNT, seed: int = SEED, archives: Sequence[Path] = ARCHIVES, workers: int | None = None
) -> Iterator[Tried]:
    """So many layouts, each of any job that can be laid out so."""
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        yield from pool.map(partial(try_layout, seed=seed, archives=tuple(archives)), range(count))


def try_layout(place: int, seed: int, archives: tuple[Path, ...] = ARCHIVES) -> Tried:
    """One of the layouts of a seed."""
    random = Random(f"{seed} {place}")  # noqa: S311 (not for secrets)
    layout, jobs = draw(random), sorted(labelled(archives).truths)
    random.shuffle(jobs)
    return next(tried for job_id in jobs if (tried := try_job(job_id, layout, labelled(archives))) is not None)


def try_job(job_id: str, layout: Layout, jobs: Labelled) -> Tried | None:
    """A job in a layout; None where it cannot be laid out so."""
    case = _read(job_id, jobs.folders[job_id], jobs)
    wearer = Wearer(case, jobs.folders[job_id])
    laid = lay_out(layout, wearer)
    if laid is None:
        return None
    parsed = _read(job_id, laid.outfit.files, jobs).parsed
    node, rank, wrong = shares(parsed.table, laid.writers)
    of_ranks = {rank_called(rank): node for node, own in wearer.manifest.node_ranks.items() for rank in own}
    same = verdict(diagnose_parsed(case.parsed), {}) == verdict(diagnose_parsed(parsed), {**of_ranks, **laid.nodes})
    return Tried(job_id, layout, node, rank, wrong, same)


def shares(events: EventTable, writers: Mapping[Place, Writer]) -> tuple[float, float, str]:
    """The share of the lines with the right machine, that of those with the right rank, and the commonest mistake."""
    nodes, ranks, wrong = 0, 0, Counter[str]()
    for file, line, voice in zip(events.file.tolist(), events.line.tolist(), events.voice.tolist(), strict=True):
        writer, origin = writers.get((events.files[file], line)), events.origins[voice]
        if writer is not None:
            is_node, is_rank = _is_node(origin, writer), _is_rank(origin, writer)
            nodes, ranks = nodes + is_node, ranks + is_rank
            wrong[f"{_named(writer)} -> {origin.node} {origin.rank} {origin.local_rank}"] += not (is_node and is_rank)
    count = sum(place in writers for place in _places(events))
    commonest = max(sorted(wrong), key=wrong.__getitem__, default="")
    return nodes / max(1, count), ranks / max(1, count), commonest if wrong[commonest] else ""


def verdict(diagnosis: Diagnosis, nodes: Mapping[str, str]) -> tuple[str, str]:
    """What a person acts on: the scope, and the first suspect by its undressed name."""
    suspect = diagnosis.nodes[0].node if diagnosis.nodes else ""
    return diagnosis.scope.value, nodes.get(suspect, suspect)


def layout_table(tried: Sequence[Tried]) -> str:
    """How many layouts of each kind are read right, and how many keep the verdict."""
    rows = []
    for kind in (ONE_FILE, BY_MACHINE, BY_RANK, "all"):
        own = [item for item in tried if kind in (item.layout.kind, "all")]
        right, same = sum(item.is_right for item in own), sum(item.same for item in own)
        rows.append((kind, str(len(own)), f"{right / max(1, len(own)):.0%}", f"{same / max(1, len(own)):.0%}"))
    return table(("layout", "tried", "writers right", "verdict the same"), rows)


@cache
def labelled(archives: tuple[Path, ...]) -> Labelled:
    """One a process."""
    return read_archives(*archives)


def _read(job_id: str, files: Mapping[str, bytes], jobs: Labelled) -> Case:
    return read_case(jobs.truths[job_id], FakeJobs({job_id: files}).job(job_id), (), MemoryCache())


def _places(events: EventTable) -> Iterator[Place]:
    return ((events.files[file], line) for file, line in zip(events.file.tolist(), events.line.tolist(), strict=True))


def _is_node(origin: Origin, writer: Writer) -> bool:
    short = {name.partition(".")[0] for name in writer.names if not name[0].isdigit()}
    return origin.node in writer.names | short


def _is_rank(origin: Origin, writer: Writer) -> bool:
    if origin.rank is None and origin.local_rank is not None:
        return origin.local_rank == writer.local_rank
    return origin.rank == writer.rank or (origin.rank is None and writer.beside == 1)


def _named(writer: Writer) -> str:
    return f"{min(writer.names)} {writer.rank}"
