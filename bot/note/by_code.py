"""The plan that code makes of claims: for a job without a model, and for fields that a model's plan leaves empty."""

from bot.note.claim import Claim, Claims, ClaimUse
from bot.note.joins import Join
from bot.note.note import Category
from bot.note.plan import Plan, Step
from bot.text.known_fault import KnownFault
from core.model import Diagnosis, Scope
from faultlib.draft import category_of as category_by_events

MAX_ROOTS, MAX_PEERS = 3, 1  # events that are told of; the evidence has all
MAX_CHECKS, MAX_GAPS = 3, 2  # chosen: a note is read on a phone


def plan_by_code(claims: Claims) -> Plan:
    """Where to look, what happened in order of time, the best ground for a cause, what to check and what helped."""
    return Plan(
        headline=("D1.look",),
        happened=tuple(_story(claims)),
        cause=_cause(claims),
        to_do=tuple(claim.id for claim in (*list(claims.about("C"))[:MAX_CHECKS], *claims.of(ClaimUse.FIX)[:1])),
    )


def gaps(claims: Claims) -> tuple[str, ...]:
    """Ids of what was not read, not done or not compared."""
    return tuple(claim.id for claim in claims.about("J1.gap"))[:MAX_GAPS]


def category_of(diagnosis: Diagnosis, known: tuple[KnownFault, ...]) -> Category:
    """Whose fault it is: as a matching pattern says, or as the direct traces name, or unknown."""
    if diagnosis.scope in (Scope.UNKNOWN, Scope.NONE):
        return Category.UNKNOWN
    named = next((fault.category for fault in known if fault.exact), "") or category_by_events(diagnosis)
    return Category(named) if named in set(Category) else Category.UNKNOWN


def _cause(claims: Claims) -> tuple[str, ...]:
    """A pattern whose events the diagnosis counts as well, the leading trace, the suspect, another pattern."""
    every = list(claims.of(ClaimUse.CAUSE))
    agreeing = [claim for claim in every if claim.id.startswith("P") and ClaimUse.HEADLINE in claim.uses]
    return tuple(claim.id for claim in (*agreeing, *sorted(every, key=_rank)))[:1]


_ORDER = ("E", "N", "P", "D")


def _rank(claim: Claim) -> int:
    return _ORDER.index(claim.id[0]) if claim.id[0] in _ORDER else len(_ORDER)


def _story(claims: Claims) -> list[Step]:
    events = [claim for claim in claims.about("E") if claim.id.endswith(".said")]
    roots = [claim for claim in events if claim.id not in claims.peers][:MAX_ROOTS]
    waiting = [claim for claim in events if claim.id in claims.peers][:MAX_PEERS]
    in_time = sorted((*roots, *waiting), key=lambda claim: (claim.at is None, claim.at or 0))
    course = list(claims.about("I"))[:1]
    suspect = list(claims.about("N1.why"))[:1]
    verdict = [] if in_time else list(claims.about("D1.why"))
    return [
        *(Step(claim=claim.id) for claim in course),
        *(Step(claim=claim.id, join=_join(claim, claims)) for claim in in_time),
        *(Step(claim=claim.id) for claim in (*suspect, *verdict)),
    ]


def _join(claim: Claim, claims: Claims) -> Join:
    """Peers are told to come later; a trace of the fault may be printed after what it caused."""
    return Join.THEN if claim.id in claims.peers else Join.NONE
