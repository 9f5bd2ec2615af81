"""Claims about events: who logged what, how often and after which iteration, what it means, who alone did."""

from collections.abc import Iterator

from bot.note.claim import Claim, Reason
from bot.note.claim_source import ClaimSource, claim, clock
from bot.note.wordings import say
from bot.text.wording import counted, sentence, times
from core.model import Confidence, EventEvidence, Scope

MAX_ROOTS, MAX_PEERS = 5, 3  # events that are told of; the evidence below a note has all
_SURE = {Confidence.ESTABLISHED: "established", Confidence.SUPPORTED: "supported", Confidence.WEAK: "weak"}


def claims_of_events(about: ClaimSource) -> Iterator[Claim]:
    """What the direct traces of the fault and the peers say, the most telling first."""
    for number, event in enumerate(_distinct(about, about.roots)[:MAX_ROOTS]):
        yield from _said(about, event)
        yield from _cause(about, event)
        if not number:
            yield from _compared(about, event)
    for event in _distinct(about, about.peers)[:MAX_PEERS]:
        yield from _said(about, event)


def reasons_of_events(about: ClaimSource, behind: frozenset[str]) -> Iterator[Reason]:
    """Mechanisms that direct traces name; of a node's fault only those that stand as evidence against it."""
    against = {name for suspect in about.suspects[:1] for name in suspect.events}
    for event in about.roots[:MAX_ROOTS]:
        says = about.says(event)
        if says and (about.diagnosis.scope is Scope.JOB or event.id in against):
            yield Reason(event.id, says, behind, at=event.first_time)


def _distinct(about: ClaimSource, events: list[EventEvidence]) -> list[EventEvidence]:
    """The first event of each meaning: three lines of one fault are told once."""
    first: dict[str, EventEvidence] = {}
    for event in events:
        first.setdefault(about.says(event) or event.id, event)
    return list(first.values())


def _said(about: ClaimSource, event: EventEvidence) -> list[Claim]:
    quote, says = about.quote(event), about.says(event)
    slots = {"who": about.who(event), "times": times(event.count), "when": about.when(event)}
    if not event.says and event.because:
        full, clause = about.because(event), ""
    elif quote and says:
        full, clause = (
            say(f"event.{name}", **slots, quote=quote, says=says) for name in ("said_meaning", "clause_meaning")
        )
    elif quote:
        full, clause = (say(f"event.{name}", **slots, quote=quote) for name in ("said", "clause"))
    elif says:
        full, clause = (say(f"event.{name}", **slots, says=says) for name in ("unquoted", "unquoted_clause"))
    else:
        full, clause = about.clean(event.because), ""
    full = about.capital(full)
    return claim(f"{event.id}.said", "happened", full, [event.id], clause=clause, at=event.first_time) or claim(
        f"{event.id}.said", "happened", about.clean(event.because), [event.id], at=event.first_time
    )


def _cause(about: ClaimSource, event: EventEvidence) -> list[Claim]:
    says, quote = about.says(event), about.quote(event)
    if event.ordinary or about.diagnosis.scope in (Scope.UNKNOWN, Scope.NONE):
        return []
    if not says:
        return claim(f"{event.id}.cause", "cause", _hedged(about, about.because(event)), [event.id])
    sure = _SURE[about.diagnosis.confidence]
    text = sentence(says) if about.diagnosis.confidence is Confidence.ESTABLISHED else says
    if quote:
        full = say(f"event.{sure}", says=text, who=about.who(event), quote=quote)
    else:
        full = say(f"event.{sure}_bare", says=text, who=about.who(event))
    short = f"{about.suspect}: {says}" if about.suspect else says
    against = {name for suspect in about.suspects[:1] for name in suspect.events}
    leads = not about.suspect or event.id in against
    return claim(
        f"{event.id}.cause", "cause headline" if leads else "cause", full, [event.id], short=short if leads else ""
    )


def _hedged(about: ClaimSource, text: str) -> str:
    return say("suspect.hint", reason=text) if about.diagnosis.confidence is Confidence.WEAK else text


def _compared(about: ClaimSource, event: EventEvidence) -> Iterator[Claim]:
    """What sets the leading trace apart: from successful jobs, from the other nodes, from what came later."""
    good, quote, cites = about.diagnosis.coverage.baseline_jobs, about.quote(event), [event.id]
    if event.unseen and good and quote:
        slots = {"id": event.id, "quote": quote}
        text = say("event.unseen", good=f"{good:,}", **slots) if good > 1 else say("event.unseen_one", **slots)
        yield from claim(f"{event.id}.unseen", "happened", text, cites)
    if len(event.nodes) == 1 and about.total > 1:
        others = counted(about.total - 1, "node")
        text = say("event.alone", node=about.clean(event.nodes[0], 80), id=event.id, others=others)
        yield from claim(f"{event.id}.alone", "happened", text, cites)
    first = min((root.first_time for root in about.roots if root.first_time is not None), default=None)
    if quote and first is not None and event.first_time == first:
        text = say("event.first", clock=clock(first), who=about.who(event), quote=quote)
        yield from claim(f"{event.id}.first", "happened", text, cites, at=first)
