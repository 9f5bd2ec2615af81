"""Which joins between claims are true: order and distance in time, that nobody knows a reason, a likely reason.

What a model joins falsely is shown unjoined: two true sentences, one after the other.
"""

from enum import StrEnum

from bot.note.about_suspects import MIN_DISTANCE
from bot.note.claim import Claim, Claims
from bot.note.claim_source import distance
from bot.note.wordings import say

MAX_DISTANCE = 86_400_000_000  # microseconds; logs whose clocks are a day apart are of different runs


class Join(StrEnum):
    """How a claim is joined to the one before, or what is said of its reason."""

    NONE = "none"
    THEN = "then"
    WHILE = "while"
    UNKNOWN_WHY = "so far unknown why"
    BECAUSE = "likely because"


def joined(claim: Claim, before: Claim | None, join: Join, because: str, claims: Claims) -> tuple[str, tuple[str, ...]]:
    """The words of a claim with its join, as far as that is true, and what they stand on.

    Args:
        before: what was told right before it.
        because: the id of a mechanism, for ``Join.BECAUSE``.
    """
    match join:
        case Join.THEN if (apart := _later(before, claim)) and claim.clause:
            return say("join.later", distance=distance(apart), clause=claim.clause), claim.cites
        case Join.WHILE if _together(before, claim) and claim.clause:
            return say("join.together", clause=claim.clause), claim.cites
        case Join.UNKNOWN_WHY if claim.ground and not claims.knows:
            return say("join.unexplained", says=claim.says), claim.cites
        case Join.BECAUSE:
            return _explained(claim, because, claims)
    return claim.says, claim.cites


def _explained(claim: Claim, because: str, claims: Claims) -> tuple[str, tuple[str, ...]]:
    reason = claims.reason(because)
    if reason is None or claim.id not in reason.behind or because in claim.cites:
        return claim.says, claim.cites
    seen_later = reason.at is not None and claim.at is not None and reason.at > claim.at
    if seen_later and claim.id in claims.peers:  # a silence is reported after it began; what peers say has come before
        return claim.says, claim.cites
    slots = {"says": claim.says, "id": reason.id, "reason": reason.says}
    return say("join.pattern" if reason.whole else "join.reason", **slots), (*claim.cites, reason.id)


def _apart(before: Claim | None, claim: Claim) -> int | None:
    """Microseconds from one claim to the next; None where one has no time."""
    return None if before is None or before.at is None or claim.at is None else claim.at - before.at


def _later(before: Claim | None, claim: Claim) -> int:
    """The same; 0 where clocks do not tell that it came later."""
    apart = _apart(before, claim)
    return apart if apart is not None and MIN_DISTANCE <= apart <= MAX_DISTANCE else 0


def _together(before: Claim | None, claim: Claim) -> bool:
    """Whether clocks do not tell which of the two came first."""
    apart = _apart(before, claim)
    return apart is not None and abs(apart) < MIN_DISTANCE
