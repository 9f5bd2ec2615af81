"""How well the fault library finds a fault again, on labelled jobs and with questions in people's words.

Every labelled failed job becomes the pattern that a person would have confirmed. Then each job asks a library of such
patterns: is its own told first? And when its whole cause is taken out: is it told nothing? The sets are those of
``benchmarks.quality``; of the blind ones each author has a library.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from benchmarks.quality.__main__ import LAB, OTHER, SETS, labelled_jobs
from benchmarks.quality.recall_asked import ASKED, rows
from benchmarks.quality.recall_calibration import bins_of, calibration_error, least_error
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_fit import FITTED, Teams, blind_teams
from benchmarks.quality.recall_taught import Ask, LibraryAnswer, Taught, in_all, joined, taught
from benchmarks.quality.report import NoMarkers, write
from bot.fetch.cache import FolderCache
from bot.library.session import known_faults
from core.errors import FirstfaultError
from faultlib.embedding import Embedder
from faultlib.likely_patterns import Fit, likely
from faultlib.models import embedder_for
from faultlib.pattern import Entry, Origin, Status
from faultlib.seeds import read_seeds
from faultlib.signature import Match, find_matches
from sources.jobs import open_source

BEGIN, END = "<!-- recall:begin -->", "<!-- recall:end -->"
CACHE = Path(tempfile.gettempdir(), "firstfault-recall")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write them into a document when asked to."""
    options = _parser().parse_args(arguments)
    try:
        embedder = embedder_for(options.model, FolderCache(CACHE))
        with labelled_jobs(options.jobs, options.truth) as (jobs, truth):
            origin = options.jobs or blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
            cases = read_cases(open_source(jobs), origin, truth, FolderCache(CACHE))
        if not any(case.kind for case in cases):
            print("None of these jobs failed and has a truth.", file=sys.stderr)
            return 2
        text = report(cases, embedder, {} if options.jobs else blind_teams(options.blind))
    except FirstfaultError as error:
        print(f"{error}\n{error.hint}", file=sys.stderr)
        return 2
    print(text)
    return _write(text, options.write or ())


def _write(text: str, documents: Iterable[Path]) -> int:
    try:
        for document in documents:
            write(document, text, BEGIN, END)
    except NoMarkers as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def report(cases: Sequence[RecallCase], embedder: Embedder, blind: Teams = MappingProxyType({})) -> str:
    """All tables as markdown; ``blind``: jobs of other teams, each with a library of its own."""
    seeds = seed_entries()
    first, every = (counted(counting, cases, blind, seeds) for counting in (taught, joined))
    parts = [
        "A library that was taught the first job of each cause, and the seeds:",
        _table(_TAUGHT, _taught(first)),
        "How far the likelihoods of its answers are from what was right, and how far true ones would be:",
        _table(_CALIBRATED, _calibrated(first)),
        "The same where every other job was confirmed and has joined the pattern of its cause:",
        _table(_JOINED, _joined(every)),
        _table(_CALIBRATED, _calibrated(every)),
    ]
    if seeds:
        parts.append("Questions in people's words to the seeds, and how many were told something:")
        parts.append(_table(ASKED, rows(seeds, embedder)))
    return "\n\n".join(part for part in parts if part)


# --- taught ---------------------------------------------------------------------------------------------------------

_TAUGHT = (
    "set", "siblings", "theirs first", "pairs", "theirs first", "same fault", "theirs first", "of these print it",
    "theirs first", "is this", "wrong", "cause taken out", "told something", "successful", "told something",
)  # fmt: skip
_JOINED = (
    "set", "siblings", "theirs first", "is this", "wrong", "cause taken out", "told something", "successful",
    "told something",
)  # fmt: skip
_CALIBRATED = ("set", "answers", "calibration error", "if it were perfect", "said and right, by tenths (answers)")
Counts = Mapping[str, Taught]  # by set
Counting = Callable[[Sequence[RecallCase], Sequence[RecallCase], Ask], Taught]


def counted(counting: Counting, cases: Sequence[RecallCase], blind: Teams, seeds: Sequence[Entry]) -> Counts:
    """Lab and other ask one library, and the lab one of its own; of the blind sets each author has one."""
    ask, found = Asked(cases, seeds).ask, {}
    for name in SETS:
        chosen = [case for case in cases if case.set_name == name]
        if any(case.kind for case in chosen):
            found[name] = counting(cases, chosen, ask)
    if lab := [case for case in cases if case.set_name == "lab"]:
        found["lab alone"] = counting(lab, lab, Asked(lab, seeds).ask)
    of_team = {name: counting(jobs, jobs, Asked(jobs, seeds).ask) for name, jobs in blind.items()}
    for part, fitted in (("blind, fitted", True), ("blind, held", False)):
        if counts := [of_team[name] for name in of_team if (name in FITTED) is fitted]:
            found[part] = in_all(counts)
    return found | {name: counts for name, counts in of_team.items() if name not in FITTED}


def _taught(counts: Counts) -> Iterable[Sequence[object]]:
    for name, got in counts.items():
        pairs = (got.pairs, got.pair_first, got.fault_pairs, got.fault_first, got.printed, got.printed_first)
        cells = (got.exact, got.wrong, got.strangers, got.told, got.good, got.good_told)
        yield name, got.siblings, got.first, *pairs, *cells


def _joined(counts: Counts) -> Iterable[Sequence[object]]:
    for name, got in counts.items():
        cells = (got.siblings, got.first, got.exact, got.wrong, got.strangers, got.told)
        yield name, *cells, got.good, got.good_told


def _calibrated(counts: Counts) -> Iterable[Sequence[object]]:
    for name, got in counts.items():
        bins = ", ".join(f"{one.said:.2f} {one.right:.2f} ({one.weight:.0f})" for one in bins_of(got.likely))
        errors = (f"{calibration_error(got.likely):.2f}", f"{least_error(got.likely):.2f}")
        yield name, len(got.likely), *errors, bins


class Asked:
    """Asks as a diagnosis does: what matched, what is likely, and public facts; what matches is found once."""

    def __init__(self, cases: Sequence[RecallCase], seeds: Sequence[Entry]) -> None:
        self._every = [*(case.entry for case in cases if case.kind), *seeds]
        self._seeds = list(seeds)
        self._matches: dict[str, tuple[Match, ...]] = {}

    def ask(self, case: RecallCase, library: Sequence[Entry]) -> list[LibraryAnswer]:
        """What the job is told, in the order in which it is told."""
        if not case.kind:  # a job that completed matches nothing (bot.library.session), and what it shows is no fault
            return []
        if case.job_id not in self._matches:
            self._matches[case.job_id] = find_matches(self._every, case.seen.occurrences, case.seen.nodes)
        entries = [*library, *self._seeds]
        known = {entry.id for entry in entries if entry.status is Status.APPROVED}
        matches = [match for match in self._matches[case.job_id] if match.entry.id in known]
        likely_causes = likely(case.seen.diagnosis, entries, matches, {}, least=0.0)
        told = known_faults(case.seen.diagnosis, matches, likely_causes)
        return [LibraryAnswer(fault.pattern, fault.fit == Fit.IS, fault.score) for fault in told]


def seed_entries() -> tuple[Entry, ...]:
    """The seeds as the library plants them."""
    return tuple(
        Entry(pattern=pattern, version=1, revision=1, status=Status.APPROVED, origin=Origin.SEED)
        for pattern in read_seeds()
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---", *("--:" for _ in head[1:])], *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall", description=__doc__)
    parser.add_argument("--jobs", metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder with one ID.json a job")
    parser.add_argument("--blind", nargs="+", default=(), metavar="SET", help="only these blind sets: blind-ad ...")
    parser.add_argument("--model", default="minilm", help="minilm, or a sentence-transformers model")
    parser.add_argument("--write", nargs="+", type=Path, metavar="FILE", help="write the tables into these documents")
    return parser


if __name__ == "__main__":
    sys.exit(main())
