"""Claims about suspects: who they are, what points to them, how their logs end beside those of the others."""

from collections.abc import Iterator

from bot.note.claim import Claim
from bot.note.claim_source import NAME, ClaimSource, claim, clock, distance
from bot.note.wordings import say
from bot.text import wording
from bot.text.wording import counted
from core.model import Confidence, NodeBar, NodeEvidence, Scope

MAX_REASONS = 4  # of a suspect, the most telling first
MAX_WHY = 3  # of them in one go
MIN_DISTANCE = 1_000_000  # microseconds; clocks of nodes that are closer tell no order (METHOD: NTP holds far below it)


def claims_of_suspects(about: ClaimSource) -> Iterator[Claim]:
    """The first suspect in full, the others in a sentence."""
    if about.diagnosis.scope is not Scope.NODE or not about.suspects:
        return
    first, *others = about.suspects
    yield from _who(about, first)
    yield from _reasons(about, first)
    yield from _cause(about, first)
    yield from _ended(about, first)
    yield from _local(about, first)
    for other in others:
        sentence = say(
            "suspect.other", node=about.clean(other.node, NAME), score=f"{other.score:.2f}", first=f"{first.score:.2f}"
        )
        yield from claim(f"{other.id}.other", "open", sentence, [other.id])


def _who(about: ClaimSource, first: NodeEvidence) -> list[Claim]:
    total = counted(about.total, "node") if about.total else "this job's parts"
    ranks = "" if first.node.startswith("rank") else wording.ranks(first.ranks)
    if ranks:
        sentence = say("suspect.who_ranks", node=about.suspect, ranks=ranks, total=total)
    else:
        sentence = say("suspect.who", node=about.suspect, total=total)
    return claim(f"{first.id}.who", "happened headline", sentence, [first.id])


def _reasons(about: ClaimSource, first: NodeEvidence) -> Iterator[Claim]:
    """Each by itself, and the most telling ones together."""
    reasons = [about.clean(reason) for reason in first.reasons or (first.because,)][:MAX_REASONS]
    shown = [reason for reason in reasons if claim("-", "open", reason, [])]
    if len(shown) > 1:
        yield from claim(f"{first.id}.why", "happened", " ".join(shown[:MAX_WHY]), [first.id], ground=not about.roots)
    for number, reason in enumerate(shown, start=1):
        name = f"{first.id}.why{number}" if len(shown) > 1 else f"{first.id}.why"
        yield from claim(name, "happened", reason, [first.id], ground=not about.roots)


def _cause(about: ClaimSource, first: NodeEvidence) -> list[Claim]:
    """What points to it, when no line says what broke."""
    reason = next(iter([about.clean(reason) for reason in first.reasons or (first.because,)]), "")
    if not reason:
        return []
    if not about.roots:
        sentence = say("suspect.unexplained", reason=reason)
    elif about.diagnosis.confidence is Confidence.WEAK:
        sentence = say("suspect.hint", reason=reason)
    else:
        sentence = reason
    return claim(f"{first.id}.cause", "cause", sentence, [first.id])


def _ended(about: ClaimSource, first: NodeEvidence) -> Iterator[Claim]:
    """When and at which iteration its log ends, beside the others."""
    bars = {bar.node: bar for bar in about.diagnosis.pictures.nodes}
    own, others = bars.get(first.node), [bar for node, bar in bars.items() if node != first.node]
    if own is None or not others:
        return
    last = max((bar.last for bar in others if bar.last is not None), default=None)
    if own.last is not None and last is not None and last - own.last >= MIN_DISTANCE:
        sentence = say("suspect.ended", node=about.suspect, clock=clock(own.last), distance=distance(last - own.last))
        yield from claim(f"{first.id}.ended", "happened", sentence, [first.id], at=own.last)
    yield from _behind(about, first, own, others)


def _behind(about: ClaimSource, first: NodeEvidence, own: NodeBar, others: list[NodeBar]) -> Iterator[Claim]:
    reached = [bar.last_iteration for bar in others if bar.last_iteration is not None]
    if own.last_iteration is not None and reached and min(reached) == max(reached) > own.last_iteration:
        sentence = say("suspect.behind", node=about.suspect, own=f"{own.last_iteration:,}", most=f"{max(reached):,}")
        yield from claim(f"{first.id}.behind", "happened", sentence, [first.id])


def _local(about: ClaimSource, first: NodeEvidence) -> Iterator[Claim]:
    """Local rank of a single rank that speaks, where the ranks of each node are known and follow each other."""
    coverage, ranks = about.diagnosis.coverage, first.ranks
    whole = coverage.ranks_expected and not coverage.ranks_missing and about.total
    if not whole or len(ranks) * about.total != coverage.ranks_expected or len(ranks) < 2:
        return
    in_order = ranks == tuple(range(ranks[0], ranks[0] + len(ranks))) and ranks[0] % len(ranks) == 0
    spoke = {rank for event in about.roots if event.id in first.events for rank in event.ranks if rank in ranks}
    if in_order and len(spoke) == 1:
        rank = spoke.pop()
        sentence = say("suspect.local", rank=rank, local=rank - ranks[0], node=about.suspect)
        yield from claim(f"{first.id}.local", "happened", sentence, [first.id])
