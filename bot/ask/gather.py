"""Carrying out looks: from the diagnosis where it knows, else from the raw lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from bot import wording
from bot.ask.plan import Look
from bot.known import KnownFault
from core.answer import look as looking
from core.answer.look import Found
from core.model import Diagnosis, Evidence
from core.parsing.parsed import Parsed

MAX_PLACES = 6  # of a hang most processes stand in two or three


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a question is about: a job that was read, what the diagnosis says of it, and known faults like it."""

    parsed: Parsed
    diagnosis: Diagnosis
    known: tuple[KnownFault, ...] = ()


def gather(subject: Subject, looks: Sequence[Look]) -> tuple[Found, ...]:
    """What each look finds; a look that finds nothing says so."""
    return tuple(_LOOKS[look.name](subject, look) for look in looks)


_LOOKS: Mapping[str, Callable[[Subject, Look], Found]] = {
    "verdict": lambda subject, _: _verdict(subject.diagnosis),
    "evidence": lambda subject, look: _evidence(subject, _word(look)),
    "known": lambda subject, _: _known(subject.known),
    "coverage": lambda subject, _: _coverage(subject.diagnosis),
    "of_node": lambda subject, look: looking.of_node(subject.parsed, look.node),
    "of_rank": lambda subject, look: looking.of_rank(subject.parsed, _number(look)),
    "of_iteration": lambda subject, look: looking.of_iteration(subject.parsed, _number(look)),
    "compare": lambda subject, look: looking.compare(subject.parsed, look.node, look.other),
    "ends": lambda subject, _: looking.ends(subject.parsed),
    "numbers": lambda subject, look: looking.numbers(subject.parsed, _word(look)),
    "stacks": lambda subject, _: _stacks(subject.diagnosis),
    "search": lambda subject, look: _search(subject.parsed, look),
}


def _word(look: Look) -> str:
    return look.words[0] if look.words else ""


def _number(look: Look) -> int:
    return -1 if look.number is None else look.number


def _search(parsed: Parsed, look: Look) -> Found:
    """Lines with all words; when there is none, with all but one of them, else with the one that fewest lines hold."""
    node, words = look.node or None, look.words
    whole = looking.search(parsed, words, node=node, rank=look.number)
    for size in (len(words) - 1, 1):
        if whole.lines or size < 1:
            break
        parts = [looking.search(parsed, some, node=node, rank=look.number) for some in combinations(words, size)]
        whole = min((one for one in parts if one.lines), key=lambda one: one.total, default=whole)
    return whole


def _verdict(diagnosis: Diagnosis) -> Found:
    why = " ".join(wording.sentence(one) for one in diagnosis.why[:2])
    check = f" First check: {diagnosis.checks[0]}" if diagnosis.checks else ""
    roots = [event for event in diagnosis.events[:1] if event.lines]
    headline = diagnosis.headline.rstrip(".")
    sure = f"{headline} ({diagnosis.confidence}, scope {diagnosis.scope}{f', {roots[0].id}' if roots else ''})."
    lines = tuple(line for event in roots for line in event.lines[:2])
    return Found(" ".join(part for part in (sure, why) if part) + check, lines, ("",) * len(lines), ("",) * len(lines))


def _evidence(subject: Subject, name: str) -> Found:
    diagnosis = subject.diagnosis
    pieces: Mapping[str, Evidence] = {
        piece.id: piece for piece in (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations)
    }
    if piece := pieces.get(name):
        empty = ("",) * len(piece.lines)
        return Found(f"{name}: {piece.because}", piece.lines, empty, empty)
    if fault := next((fault for fault in subject.known if fault.id == name), None):
        return Found(_fault(fault))
    return Found(f"This diagnosis has no evidence {name}.")


def _known(known: Sequence[KnownFault]) -> Found:
    if not known:
        return Found("Nothing in the fault library looks like this.")
    return Found(" ".join(_fault(fault) for fault in known[:2]))


def _fault(fault: KnownFault) -> str:
    return f"{fault.id}: {fault.title} ({wording.vouched(fault)}). Cause: {fault.cause} Fix: {fault.fix}"


def _stacks(diagnosis: Diagnosis) -> Found:
    """The innermost frames of the merged stacks, with who stands there."""
    indents = [len(line) - len(line.lstrip()) for line in (*diagnosis.stacks, "")]
    below = zip(diagnosis.stacks, pairwise(indents), strict=True)
    ends = [" ".join(line.split()) for line, (own, following) in below if following <= own]
    if not ends:
        return Found("There is no stack dump of this job.")
    more = f"; and {len(ends) - MAX_PLACES} more places" if len(ends) > MAX_PLACES else ""
    return Found(f"The dumped processes stand in {'; '.join(ends[:MAX_PLACES])}{more}.")


def _coverage(diagnosis: Diagnosis) -> Found:
    coverage = diagnosis.coverage
    missing = "; ".join(wording.missing(coverage)) or "nothing that was promised"
    return Found(f"Read: {wording.read(coverage)}. Missing: {missing}. Compared {wording.compared(coverage)}.")
