"""Count how often the answer of a fault library was right, by how far job and pattern agree (faultlib/score.toml).

``python -m benchmarks.quality.recall_fit --write`` counts on the jobs of this repository and writes the file. Every
set of jobs is a team of its own, with a library of one job of each cause that it has met; which jobs those were, and
which of them teaches, is drawn anew each time.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

from benchmarks.quality.__main__ import BLIND, LAB, OTHER, ROOT, blind_jobs, labelled_jobs
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_taught import cause_of, is_one_fault
from bot.fetch.cache import FolderCache
from faultlib.levels import Agreement, Count, Level, agreement
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import causes_of
from faultlib.seeds import read_seeds
from faultlib.signature import find_matches
from sources.jobs import open_source

DRAWN = 60  # libraries of each set
PAST = (1.0, 0.25, 0.1)  # part of a set's jobs that a team has seen before, in turn: what is frequent is known first
FILE = ROOT / "faultlib" / "score.toml"
CACHE = Path(tempfile.gettempdir(), "firstfault-recall")
Counts = dict[tuple[Level, bool], Count]
Agreements = Mapping[int, Mapping[int, Agreement]]  # job -> other job, as a pattern -> how far they agree


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was counted, and write it when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    counts: list[Counts] = []
    with labelled_jobs(None, None) as (jobs, truth), blind() as (more, more_truth):
        own = blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
        unseen = blake2b(b"".join(archive.read_bytes() for archive in BLIND)).hexdigest()
        for source, origin, labels in ((jobs, own, truth), (more, unseen, more_truth)):
            cases = read_cases(open_source(source), origin, labels, FolderCache(CACHE))
            counts.append(count([case for case in cases if case.kind and is_one_fault(case)]))
    text = as_text(counts)
    sys.stdout.write(text)
    if options.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


@contextmanager
def blind() -> Iterator[tuple[str, Path]]:
    """Where the jobs of the blind sets and their truth are."""
    with blind_jobs() as chosen:
        yield chosen.jobs, Path(chosen.jobs).parent / "truth"


def as_text(teams: Sequence[Counts]) -> str:
    """What was counted, as ``faultlib.levels`` reads it: right answers and all, of each team."""
    lines = [
        "# How often the first answer of a team's library was right: [right, answers] of each team that was counted."
    ]
    for level in Level:
        lines.append(f"[{level.name.lower()}]")
        for name, alone in (("alone", True), ("beside", False)):
            found = [team.get((level, alone), Count(0, 0)) for team in teams]
            lines.append(f"{name} = {[[count.right, count.answers] for count in found]}")
    return "\n".join(lines) + "\n"


def agreements(cases: Sequence[RecallCase]) -> Agreements:
    """How far each job agrees with the pattern of each other one."""
    entries = [case.entry for case in cases]
    lexicon = Lexicon(pattern.words() for pattern in (*read_seeds(), *(entry.pattern for entry in entries)))
    found: dict[int, dict[int, Agreement]] = {}
    for row, case in enumerate(cases):
        traces = causes_of(case.seen.diagnosis)
        matches = find_matches(entries, case.seen.occurrences, case.seen.nodes)
        literal = {match.entry.id for match in matches if traces & set(match.events)}
        pairs = (
            (column, agreement(case.entry.pattern, entry.pattern, lexicon, literal=entry.id in literal))
            for column, entry in enumerate(entries)
            if column != row
        )
        found[row] = {column: how for column, how in pairs if how is not None}
    return found


def count(cases: Sequence[RecallCase], drawn: int = DRAWN) -> Counts:
    """How often the first answer was right in libraries that are drawn with a fixed seed."""
    agreed, draw = agreements(cases), np.random.default_rng(0)
    causes = [cause_of(case) for case in cases]
    jobs_of = {cause: [row for row, other in enumerate(causes) if other == cause] for cause in sorted(set(causes))}
    counts: Counts = {}
    for number in range(drawn):
        past = draw.random(len(cases)) < PAST[number % len(PAST)]
        seen_before = ([row for row in rows if past[row]] for rows in jobs_of.values())
        library = {int(draw.choice(rows)) for rows in seen_before if rows}
        for row, cause in enumerate(causes):
            known = [(how.order, column) for column, how in agreed[row].items() if column in library]
            if not known:
                continue
            _, best = min(known)
            level = agreed[row][best].level
            alone = sum(agreed[row][column].level is level for _, column in known) == 1
            before = counts.get((level, alone), Count(0, 0))
            counts[level, alone] = Count(before.right + (causes[best] == cause), before.answers + 1)
    return counts


if __name__ == "__main__":
    sys.exit(main())
