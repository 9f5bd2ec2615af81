"""Claims of the fault library: what a pattern says, whole and with its hedges, and who vouches for it."""

from collections.abc import Iterator

from bot.note.claim import Claim, Reason
from bot.note.claim_source import MAX_TEXT, ClaimSource, advice
from bot.note.wordings import say
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.model import Scope

MAX_FAULTS = 4  # chosen: the library itself shows six at most, and a note names the first
_QUIET = (Scope.NONE, Scope.UNKNOWN)  # no model and no pattern tells the cause of what nobody knows to have failed


def claims_of_library(about: ClaimSource) -> Iterator[Claim]:
    """Each fault that fits or looks alike."""
    for fault in about.known[:MAX_FAULTS]:
        yield from _exact(about, fault) if fault.exact else _alike(about, fault)


def reasons_of_library(about: ClaimSource, behind: frozenset[str]) -> Iterator[Reason]:
    """What exact patterns give as the cause."""
    if about.diagnosis.scope in _QUIET:
        return
    for fault in about.exact[:MAX_FAULTS]:
        claims = advice("-", "cause", _cause(about, fault), [])
        yield from (Reason(fault.id, claim.says, behind, whole=True) for claim in claims if fault.agrees)


def _exact(about: ClaimSource, fault: KnownFault) -> Iterator[Claim]:
    vouched, title = _vouched(about, fault), about.clean(fault.title, 200)
    slots = {"title": title, "id": fault.id, "vouched": vouched}
    claims = advice(f"{fault.id}.fits", "happened", say("library.fits", **slots), [fault.id])
    yield from claims
    if about.diagnosis.scope not in _QUIET:
        on_node = bool(about.suspect)
        head = say("library.head_node", node=about.suspect, **slots) if on_node else say("library.head", **slots)
        beside = [*(event.id for event in about.roots[:1]), *(suspect.id for suspect in about.suspects[:1])]
        cites = [fault.id, *beside]
        lead = "cause headline" if fault.agrees else "cause"
        yield from advice(f"{fault.id}.cause", lead, _cause(about, fault), cites, short=head)
    sentence = say("library.fix", fix=_bare(about.clean(fault.fix, MAX_TEXT)), id=fault.id, vouched=vouched)
    yield from advice(f"{fault.id}.fix", "fix", f"{sentence}.", [fault.id])


def _cause(about: ClaimSource, fault: KnownFault) -> str:
    cause = _bare(wording.sentence(about.clean(fault.cause, MAX_TEXT)))
    return f"{say('library.cause', cause=cause, id=fault.id, vouched=_vouched(about, fault))}."


def _alike(about: ClaimSource, fault: KnownFault) -> Iterator[Claim]:
    slots, how = {"id": fault.id, "vouched": _vouched(about, fault)}, "seen" if fault.fit == "seen with" else "alike"
    title = about.clean(fault.title, 200)
    yield from advice(f"{fault.id}.alike", "open", say(f"library.{how}", **slots, title=title), [fault.id])
    sentence = say(f"library.{how}_fix", **slots, fix=about.clean(fault.fix, MAX_TEXT))
    yield from advice(f"{fault.id}.fix", "fix", sentence, [fault.id])


def _vouched(about: ClaimSource, fault: KnownFault) -> str:
    return about.clean(wording.vouched(fault), 120)


def _bare(text: str) -> str:
    """Without the full stop, which comes behind who vouches for it."""
    return text.rstrip(". ")
