"""How well the fault library finds a fault again, on labelled jobs and with questions in people's words.

Every labelled failed job becomes the pattern that a person would have confirmed. Then each job asks a library of the
patterns of all other jobs: does it find one of its own kind? And when its whole kind is taken out: is it told that
nothing similar is known? The sets are those of ``benchmarks.quality``.
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
from benchmarks.quality.recall_likeness import CROSS_CHOSEN, SetTally, cosines_of, cross_chosen
from benchmarks.quality.recall_taught import Ask, LibraryAnswer, Taught, in_all, joined, taught
from benchmarks.quality.report import NoMarkers, write
from bot.fetch.cache import FolderCache
from bot.library.session import known_faults
from core.errors import FirstfaultError
from faultlib.draft import roots_of
from faultlib.embedding import Embedder
from faultlib.likely_patterns import SHOWN_KILLED, Fit, likely
from faultlib.models import embedder_for
from faultlib.pattern import Entry, Origin, Status
from faultlib.recall import (
    LEXICAL,
    SEMANTIC,
    SIMILAR,
    Similar,
    rank,
)
from faultlib.seeds import read_seeds
from faultlib.signature import Match, find_matches
from sources.jobs import open_source

CROSSED = ("lab", "public")  # sets of which one chooses a threshold for the other
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
        text = report(cases, embedder, {} if options.jobs else blind_teams())
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
    failed = [case for case in cases if case.kind]
    healthy = [case for case in cases if not case.kind]
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
        "By likeness of words and meaning alone, as diagnoses were compared before patterns had traits:",
        f"Model {embedder.name}; {SEMANTIC} meaning + {LEXICAL} words, alike from {SIMILAR}.",
        _table(_AS_SHIPPED, _shipped(failed, healthy, seeds, embedder)),
        _strangers(failed, embedder),
        "Exact matches with the patterns of all other jobs:",
        _table(_EXACT, _exact(failed, healthy)),
    ]
    if {case.set_name for case in failed} >= set(CROSSED):
        parts.append("Which likeness, with the threshold that suits one set best, on the other set:")
        parts.append(_table(CROSS_CHOSEN, cross_chosen(failed, CROSSED, embedder)))
    if seeds:
        parts.append("Questions in people's words to the seeds, and how many were told something:")
        parts.append(_table(ASKED, rows(seeds, embedder)))
    return "\n\n".join(part for part in parts if part)


# --- taught ---------------------------------------------------------------------------------------------------------

_TAUGHT = (
    "set", "siblings", "theirs first", "pairs", "theirs first", "of faults", "theirs first", "is this", "wrong",
    "cause taken out", "told something", "successful", "told something",
)  # fmt: skip
_JOINED = (
    "set", "siblings", "theirs first", "is this", "wrong", "cause taken out", "told something", "successful",
    "told something",
)  # fmt: skip
_CALIBRATED = ("set", "answers", "calibration error", "if it were perfect", "said and right, by tenths (answers)")
Counts = Mapping[str, Taught]  # by set
Counting = Callable[[Sequence[RecallCase], Sequence[RecallCase], Ask], Taught]


def counted(counting: Counting, cases: Sequence[RecallCase], blind: Teams, seeds: Sequence[Entry]) -> Counts:
    """Lab and other ask one library, as they always did; of the blind sets each author has one, as a team has."""
    ask, found = Asked(cases, seeds).ask, {}
    for name in SETS:
        chosen = [case for case in cases if case.set_name == name]
        if any(case.kind for case in chosen):
            found[name] = counting(cases, chosen, ask)
    of_team = {name: counting(jobs, jobs, Asked(jobs, seeds).ask) for name, jobs in blind.items()}
    held = {name: counts for name, counts in of_team.items() if name not in FITTED}
    if of_team:
        found["blind, fitted"] = in_all(counts for name, counts in of_team.items() if name in FITTED)
    return found | held


def _taught(counts: Counts) -> Iterable[Sequence[object]]:
    for name, got in counts.items():
        pairs = (got.pairs, got.pair_first, got.fault_pairs, got.fault_first)
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
        claims = [
            fault for fault in told if fault.fit != Fit.SEEN or fault.score >= SHOWN_KILLED
        ]  # symptoms claim no cause
        return [LibraryAnswer(fault.pattern, fault.fit == Fit.IS, fault.score) for fault in claims]


# --- as shipped ---------------------------------------------------------------------------------------------------

_AS_SHIPPED = (
    "set", "library", "known kind", "first", "in three", "unknown kind", "told something", "successful",
    "told something",
)  # fmt: skip
_EXACT = ("set", "matches", "failed", "right first", "wrong first", "successful", "told something")


def tally(
    cases: Sequence[RecallCase], others: Sequence[RecallCase], more: Sequence[Entry], embedder: Embedder
) -> SetTally:
    """Each case against the patterns of all others, and against those without its kind."""
    kinds = [case.kind for case in others]
    first = three = known = similar_cases = 0
    for case in cases:
        if kinds.count(case.kind) > 1:
            known += 1
            rest = [other for other in others if other is not case]
            found = [_kind(item, others) for item in similar(case, _library(rest, more), embedder)]
            first += found[:1] == [case.kind]
            three += case.kind in found
        stranger = [other for other in others if other.kind != case.kind]
        similar_cases += bool(similar(case, _library(stranger, more), embedder))
    return SetTally(known, first, three, len(cases), similar_cases)


def similar(case: RecallCase, entries: Sequence[Entry], embedder: Embedder) -> tuple[Similar, ...]:
    """What the library says, as the bot asks it."""
    if not case.query.text:
        return ()
    return rank(case.query, entries, cosines_of(case.query.text, entries, embedder))


def matches(case: RecallCase, others: Sequence[RecallCase], *, agreed: bool) -> tuple[str, ...]:
    """Kinds of the patterns whose signature the job fulfils, in the order of ``find_matches``.

    Args:
        agreed: only those one of whose events the analysis calls a direct trace.
    """
    roots = {event.event for event in roots_of(case.seen.diagnosis)}
    kinds = {other.entry.id: other.kind for other in others}
    found = find_matches([other.entry for other in others], case.seen.occurrences, case.seen.nodes)
    return tuple(kinds[match.entry.id] for match in found if not agreed or roots & set(match.events))


def seed_entries() -> tuple[Entry, ...]:
    """The seeds as the library plants them."""
    return tuple(
        Entry(pattern=pattern, version=1, revision=1, status=Status.APPROVED, origin=Origin.SEED)
        for pattern in read_seeds()
    )


def _shipped(
    failed: Sequence[RecallCase], healthy: Sequence[RecallCase], seeds: Sequence[Entry], embedder: Embedder
) -> Iterable[Sequence[object]]:
    for name in SETS:
        own = [case for case in failed if case.set_name == name]
        good = [case for case in healthy if case.set_name == name]
        if not own:
            continue
        for library, more in (("other jobs", ()), ("and seeds", seeds))[: 1 + bool(seeds)]:
            counts = tally(own, failed, more, embedder)
            entries = _library(failed, more)
            noisy = sum(bool(similar(case, entries, embedder)) for case in good)
            cells = (counts.known, counts.first, counts.three, counts.unknown, counts.told)
            yield name, library, *cells, len(good), noisy


def _exact(failed: Sequence[RecallCase], healthy: Sequence[RecallCase]) -> Iterable[Sequence[object]]:
    for name in SETS:
        own = [case for case in failed if case.set_name == name]
        good = [case for case in healthy if case.set_name == name]
        for agreed in (False, True)[: 2 * bool(own)]:
            first = [matches(case, [it for it in failed if it is not case], agreed=agreed)[:1] for case in own]
            right = sum(kind == (case.kind,) for kind, case in zip(first, own, strict=True))
            recalled = sum(map(bool, first))
            noisy = sum(bool(matches(case, failed, agreed=agreed)) for case in good)
            yield (
                name,
                "that the analysis agrees with" if agreed else "all",
                len(own),
                right,
                recalled - right,
                len(good),
                noisy,
            )


def _strangers(failed: Sequence[RecallCase], embedder: Embedder) -> str:
    """Who was told something although its kind was taken out: a reader sees which of it is wrong."""
    sentences = [
        f"{case.job_id} {case.kind} → {_kind(item, failed)} ({item.score:.2f})"
        for case in failed
        for item in similar(case, _library([it for it in failed if it.kind != case.kind], ()), embedder)[:1]
    ]
    return f"Told something although the kind was taken out: {'; '.join(sentences) or 'nobody'}."


def _kind(item: Similar, cases: Sequence[RecallCase]) -> str:
    """The kind of a found pattern; empty for a seed."""
    return next((case.kind for case in cases if case.entry.id == item.entry.id), "")


def _library(cases: Sequence[RecallCase], more: Sequence[Entry]) -> list[Entry]:
    return [*(case.entry for case in cases), *more]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---", *("--:" for _ in head[1:])], *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall", description=__doc__)
    parser.add_argument("--jobs", metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder with one ID.json a job")
    parser.add_argument("--model", default="minilm", help="minilm, or a sentence-transformers model")
    parser.add_argument("--write", nargs="+", type=Path, metavar="FILE", help="write the tables into these documents")
    return parser


if __name__ == "__main__":
    sys.exit(main())
