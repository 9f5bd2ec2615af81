"""How well a library that was taught a few jobs knows their siblings: the same fault on other nodes and programs.

The first job of each cause teaches; with the seeds that is the library. A sibling is found when the team's pattern of
its cause is told first. A stranger is a failed job whose cause nobody taught. ``recall_faults`` says what the same
cause is, and which pairs of jobs have the same fault.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from benchmarks.quality.recall_calibration import Told
from benchmarks.quality.recall_cases import RecallCase
from benchmarks.quality.recall_faults import same_fault
from faultlib.pattern import Entry, Status

PAIRS = 3  # teachers of a cause whose pairs are counted: more would let the two largest causes decide


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """What a job is told of a library. is_this: in these words, else it only looks alike. likely: 0..1."""

    pattern: str
    is_this: bool
    likely: float


Ask = Callable[[RecallCase, Sequence[Entry]], Sequence[LibraryAnswer]]  # the seeds are asked as well


@dataclass(frozen=True, slots=True)
class Taught:
    """Counts over the failed and the good jobs of a set.

    siblings, first: of jobs whose cause was taught, those told their pattern first. pairs, pair_first: the same with
    one taught job at a time; fault_pairs, fault_first: of these the same fault, printed: and both print it. exact,
    wrong: patterns of the team that were said to be this, and of another cause.
    strangers, told: all failed jobs with their cause taken out of the library, and those told any pattern of the team.
    likely: how likely each told pattern of the team was said to be, and whether it was right.
    """

    siblings: int
    first: int
    exact: int
    wrong: int
    strangers: int
    told: int
    good: int
    good_told: int
    likely: tuple[Told, ...]
    pairs: int = 0
    pair_first: int = 0
    fault_pairs: int = 0
    fault_first: int = 0
    printed: int = 0
    printed_first: int = 0


def cause_of(case: RecallCase) -> str:
    """The kind of its label, in the words that labellers agree in."""
    return case.fault.cause


def taught(cases: Sequence[RecallCase], chosen: Sequence[RecallCase], ask: Ask) -> Taught:
    """Teach the first job of each cause among ``cases`` and ask the ``chosen`` ones."""
    failed = [case for case in cases if case.kind]
    pairs = list(_pairs(failed, chosen))
    first = [_first(ask(case, [teacher.entry]), teacher.entry.id) for teacher, case in pairs]
    asked = [
        (found, teacher.fault.prints)
        for found, (teacher, case) in zip(first, pairs, strict=True)
        if same_fault(teacher.fault, case.fault)
    ]
    counted = _counted(chosen, ask, {cause: jobs[:1] for cause, jobs in _by_cause(failed).items()})
    return replace(
        counted,
        pairs=len(pairs),
        pair_first=sum(first),
        fault_pairs=len(asked),
        fault_first=sum(found for found, _ in asked),
        printed=sum(prints for _, prints in asked),
        printed_first=sum(found for found, prints in asked if prints),
    )


def joined(cases: Sequence[RecallCase], chosen: Sequence[RecallCase], ask: Ask) -> Taught:
    """Teach every job: each has joined the pattern of its cause. Who asks has not; pairs are not counted."""
    return _counted(chosen, ask, _by_cause([case for case in cases if case.kind]))


def _counted(chosen: Sequence[RecallCase], ask: Ask, library: Mapping[str, Sequence[RecallCase]]) -> Taught:
    """Ask the chosen ones of a library with these jobs of each cause."""
    patterns = {cause: entries_of_pattern(jobs) for cause, jobs in library.items()}
    causes = {case.entry.id: cause for cause, jobs in library.items() for case in jobs}
    siblings = first = told = strangers = 0
    judged: list[tuple[bool, LibraryAnswer]] = []
    for case in chosen:
        if not case.kind:
            continue
        cause, strangers = cause_of(case), strangers + 1
        rest = [entry for name, entries in patterns.items() if name != cause for entry in entries]
        own = entries_of_pattern([job for job in library[cause] if job is not case])
        answers = ask(case, [*rest, *own])
        siblings += bool(own)
        first += bool(own) and bool(answers) and causes.get(answers[0].pattern) == cause
        judged += [(causes[answer.pattern] == cause, answer) for answer in _team(answers, causes)]
        told += bool(_team(ask(case, rest), causes))
    good = [case for case in chosen if not case.kind]
    every = [entry for entries in patterns.values() for entry in entries]
    return Taught(
        siblings=siblings,
        first=first,
        exact=sum(answer.is_this for _, answer in judged),
        wrong=sum(answer.is_this and not right for right, answer in judged),
        strangers=strangers,
        told=told,
        good=len(good),
        good_told=sum(bool(_team(ask(case, every), causes)) for case in good),
        likely=tuple(Told(answer.likely, right) for right, answer in judged),
    )


def in_all(counts: Iterable[Taught]) -> Taught:
    """The counts of several teams, each with a library of its own."""
    every = list(counts)
    names = [field.name for field in fields(Taught) if field.name != "likely"]
    sums = {name: sum(getattr(one, name) for one in every) for name in names}
    return Taught(**sums, likely=tuple(told for one in every for told in one.likely))


def entries_of_pattern(jobs: Sequence[RecallCase]) -> list[Entry]:
    """The pattern that the first of these jobs taught, and the drafts of the others, which joined it."""
    if not jobs:
        return []
    joins = {"status": Status.SUPERSEDED, "superseded_by": jobs[0].entry.id}
    return [jobs[0].entry, *(job.entry.model_copy(update=joins) for job in jobs[1:])]


def _by_cause(failed: Iterable[RecallCase]) -> Mapping[str, Sequence[RecallCase]]:
    found: dict[str, list[RecallCase]] = {}
    for case in failed:
        found.setdefault(cause_of(case), []).append(case)
    return found


def _pairs(failed: Sequence[RecallCase], chosen: Sequence[RecallCase]) -> Iterable[tuple[RecallCase, RecallCase]]:
    wanted = {case.job_id for case in chosen}
    seen: dict[str, int] = {}
    for teacher in failed:
        cause = cause_of(teacher)
        seen[cause] = seen.get(cause, 0) + 1
        if seen[cause] <= PAIRS:
            yield from (
                (teacher, case)
                for case in failed
                if case is not teacher and cause_of(case) == cause and case.job_id in wanted
            )


def _team(answers: Iterable[LibraryAnswer], causes: Mapping[str, str]) -> list[LibraryAnswer]:
    return [answer for answer in answers if answer.pattern in causes]


def _first(answers: Sequence[LibraryAnswer], pattern: str) -> bool:
    return bool(answers) and answers[0].pattern == pattern
