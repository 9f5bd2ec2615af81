"""Claims about the verdict: where to look, how sure it is and why, and what was ruled out."""

from collections.abc import Iterator

from bot.note.claim import Claim
from bot.note.claim_source import NAME, ClaimSource, claim, listed
from bot.note.wordings import say
from bot.text import wording
from core.model import Scope

MAX_WHY = 5  # chosen: a note tells the first; the others are for whoever asks
MAX_HEADLINE = 300  # characters; as bot.text.wording.first_line
_OF_SCOPE = {Scope.JOB: "job", Scope.NONE: "scope_none", Scope.UNKNOWN: "scope_unknown"}
_NO_CAUSE = {Scope.NONE: "none", Scope.UNKNOWN: "unknown"}


def claims_of_verdict(about: ClaimSource) -> Iterator[Claim]:
    """The headline of the diagnosis or, when it cannot be shown, its scope in words; why; how sure."""
    diagnosis = about.diagnosis
    headline = about.clean(diagnosis.headline, MAX_HEADLINE)
    yield from claim("D1.look", "headline", headline, ["D1"]) or _scope(about)
    for number, why in enumerate(wording.why(diagnosis)[:MAX_WHY], start=1):
        leads = number == 1 and diagnosis.scope is Scope.JOB and not about.roots
        uses = "happened cause" if leads else "happened open"
        yield from claim(f"D1.why{number}", uses, about.clean(why), ["D1"], ground=leads)
    if diagnosis.scope not in _NO_CAUSE:
        sure = wording.CONFIDENCE[diagnosis.confidence]
        yield from claim("D1.sure", "open", say("verdict.sure", confidence=sure), ["D1"])
    if diagnosis.scope in _NO_CAUSE or not (about.roots or about.exact or diagnosis.nodes):
        name = _NO_CAUSE.get(diagnosis.scope, "not_shown")
        yield from claim("D1.cause", "cause", say(f"verdict.{name}"), ["D1"])


def claims_of_ruled_out(about: ClaimSource) -> Iterator[Claim]:
    """Who and what is not at fault, by what the core decided."""
    diagnosis = about.diagnosis
    suspects = {suspect.node for suspect in diagnosis.nodes}
    if diagnosis.scope is Scope.JOB and about.total > 1:
        yield from claim("D1.nobody", "happened open", say("ruled_out.node"), ["D1"])
    if diagnosis.scope is Scope.NODE and about.peers:
        blamed = suspects | {node for event in about.roots for node in event.nodes}
        nodes = dict.fromkeys(node for event in about.peers for node in event.nodes if node not in blamed)
        cites = [event.id for event in about.peers[:3]]
        if nodes:
            who = listed([about.clean(node, NAME) for node in nodes])
            sentence = say("ruled_out.peer" if len(nodes) == 1 else "ruled_out.peers", who=who)
            yield from claim("N.peers", "happened open", sentence, cites)
    if about.benign:
        ids = [event.id for event in about.benign]
        sentence = say("ruled_out.benign_one" if len(ids) == 1 else "ruled_out.benign", ids=listed(ids))
        yield from claim("E.benign", "open", sentence, ids[:3])


def _scope(about: ClaimSource) -> list[Claim]:
    if about.diagnosis.scope is not Scope.NODE:
        return claim("D1.look", "headline", say(f"verdict.{_OF_SCOPE[about.diagnosis.scope]}"), ["D1"])
    named = claim("D1.look", "headline", say("verdict.named", node=about.suspect), ["D1"]) if about.suspect else []
    return named or claim("D1.look", "headline", say("verdict.node"), ["D1"])
