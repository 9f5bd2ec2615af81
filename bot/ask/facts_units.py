"""Facts about nodes and ranks that a question names, and about the first suspect: how each ended, and why."""

from collections.abc import Iterator

from bot.ask.about_fate import ending
from bot.ask.fact import Fact
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.text import wording
from core.model import EventEvidence, Role
from core.naming import natural

MAX_UNITS = 4  # nodes or ranks of a question of which each value is told; chosen: a reply has five lines
_ENDED = "what happened last when ended died exited fell silent quiet"


def facts_of_units(subject: Subject, question: Question) -> Iterator[Fact]:
    """The end of each, and what it complained of first; the order of first complaints."""
    named = [*(f"rank {rank}" for rank in question.ranks), *question.nodes]
    suspects = [suspect.node for suspect in subject.diagnosis.nodes[:1]]
    for unit in dict.fromkeys((*named[:MAX_UNITS], *suspects)):
        node = subject.home.get(int(unit[5:]), unit) if unit.startswith("rank ") and unit[5:].isdecimal() else unit
        ranks = (int(unit[5:]),) if node != unit else ()
        yield Fact(ending(subject, unit), _ids(subject, node), topic=_ENDED, nodes=(node,), ranks=ranks)
        first = _first_complaint(subject, node)
        if first is not None:
            event, says = first
            yield Fact(says, (event.id,), topic=f"{_ENDED} complain error first why", nodes=(node,), ranks=ranks)
    yield from _who_disconnected(subject)


def _first_complaint(subject: Subject, node: str) -> tuple[EventEvidence, str] | None:
    """The first event of the evidence that a node logged."""
    events = [event for event in subject.diagnosis.events if node in event.nodes and event.role is not Role.BENIGN]
    if not events:
        return None
    event = min(events, key=lambda event: (event.first_time is None, event.first_time or 0, event.id))
    says = f": {event.says}" if event.says else ""
    sentence = f"{node} complained with {event.id}{says} ({wording.role_of(event)})."
    return event, sentence


def _who_disconnected(subject: Subject) -> Iterator[Fact]:
    """Who lost whom, or waited in vain."""
    blamed = {suspect.node for suspect in subject.diagnosis.nodes[:1]}
    peers = [event for event in subject.diagnosis.events if event.role is Role.PROPAGATED]
    nodes = sorted({node for event in peers for node in event.nodes} - blamed, key=natural)
    ranks = sorted({rank for event in peers for rank in event.ranks})
    if nodes:
        who = f"{wording.names(nodes, 8, 60)}{f' ({wording.ranks(ranks)})' if ranks else ''}"
        says = f"Of the others {who} lost a connection or waited in vain; that is a consequence."
        topic = "who which others ranks victims disconnected affected went down rest die lost connection peers"
        yield Fact(says, tuple(event.id for event in peers[:3]), topic=topic)


def _ids(subject: Subject, node: str) -> tuple[str, ...]:
    return tuple(suspect.id for suspect in subject.diagnosis.nodes if suspect.node == node)
