"""Agreement: what all ranks print alike, time after time, until one of them prints something else and stays apart.

Replicas hold the same weights, a reduced loss or norm is the same everywhere, parts of a checkpoint are of one size.
Nothing complains when a bit flips or a disk is full and nobody looks; the number does: who alone no longer agrees,
while all others still do, computes or writes something else since then.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.course.broken_number import BrokenNumber
from core.nodes.rank_values import Key, RankValues, enough
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import MIN_RANKS, few_of

ODD_ONE = 0.75  # surer than a vote: it agreed before, by itself and on all ranks
MIN_AGREED, MIN_ODD = 4, 3  # times that all print the same first, and that one prints something else then
_COUNTS = re.compile(
    r"(?:global[_ ])?(?:steps?|iter(?:ation)?s?|epochs?|batch(?:es)?|rounds?|episodes?|updates?)", re.IGNORECASE
)
DIGITS = 4  # of a number that never changes, and that is no measurement: those of several ranks differ in them


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Ranks that no longer agree: what with, since when, what they print and what all others do, and two that do."""

    ranks: tuple[int, ...]
    since: Key
    own: str
    usual: str
    shown: tuple[int, int]


def agreement_signs(
    parsed: Parsed, all_values: Iterable[RankValues], broken: BrokenNumber | None, home: Mapping[int, str]
) -> list[Sign]:
    """Signs for the nodes of the few ranks that left what all agreed on, or whose numbers broke before the others'.

    Args:
        all_values: those that most ranks tell.
        broken: what is no number any more.
        home: node of each rank.
    """
    if len(home) < MIN_RANKS:
        return []
    if broken is not None:
        return [_broke_first(parsed, broken, rank, home[rank]) for rank in broken.first if rank in home]
    signs: dict[str, Sign] = {}
    for values in all_values:
        if _COUNTS.fullmatch(values.name):
            continue  # who is ahead or behind in a count is no other replica
        for sign in _signs_of(parsed, values, home):
            signs.setdefault(sign.node, sign)
    return list(signs.values()) if len(signs) <= few_of(len(set(home.values()))) else []


def _signs_of(parsed: Parsed, values: RankValues, home: Mapping[int, str]) -> Iterator[Sign]:
    """Who left the others in a value."""
    if (apart := _find_apart(values, len(home))) is not None:
        yield from _left(parsed, values, apart, home)


def _left(parsed: Parsed, values: RankValues, apart: Disagreement, home: Mapping[int, str]) -> Iterator[Sign]:
    iteration = apart.since[0] if apart.since[0] > 0 else None
    since = f" from iteration {iteration} on" if iteration else ""
    for node, own in _by_node(apart.ranks, home):
        yield Sign(
            node,
            "agreement",
            ODD_ONE,
            f"{parsed.table.called(own, node)} says {values.name} {apart.own}{since}, all others {apart.usual}; "
            "until then all said the same.",
            values.event,
            says=f"its {values.name} is {apart.own}, that of all others {apart.usual}",
            check=f"Compare {node} with another node: free space, memory errors (ECC), its data; run a step twice and "
            "compare the results bit by bit.",
            ranks=tuple(own),
            iteration=iteration,
            rows=tuple(sorted(values.rows[apart.since, rank] for rank in apart.shown)),
        )


def _by_node(ranks: Iterable[int], home: Mapping[int, str]) -> Iterator[tuple[str, list[int]]]:
    for node in sorted({home[rank] for rank in ranks if rank in home}):
        yield node, [rank for rank in ranks if home.get(rank) == node]


def _broke_first(parsed: Parsed, broken: BrokenNumber, rank: int, node: str) -> Sign:
    who = parsed.table.called([rank], node)
    return Sign(
        node,
        "agreement",
        ODD_ONE,
        f"{who}: its {broken.name} was nan in iteration {broken.iteration} already, when that of all others was not.",
        says=f"its {broken.name} was nan before that of all others",
        check=f"Look at what {who} read and computed in that iteration: its data, and the memory of its device.",
        ranks=(rank,),
        iteration=broken.iteration,
        rows=(broken.row,),
    )


def _find_apart(values: RankValues, ranks: int) -> Disagreement | None:
    """Who printed something else from some time on, until the end, while all others agreed each time."""
    often = enough(values.values, ranks)
    common = [(key, values.values[key]) for key in sorted(values.values) if often <= values.values[key].keys()]
    common = [(key, {rank: of[rank] for rank in often}) for key, of in common]
    agreed = next((place for place, (_, of) in enumerate(common) if len(set(of.values())) > 1), len(common))
    since = common[agreed:]
    if agreed < MIN_AGREED or len(since) < MIN_ODD:
        return None
    key, first = since[0]
    usual, _ = Counter(first.values()).most_common(1)[0]
    before = {value for _, of in common[:agreed] for value in of.values()}
    if len(before) == 1 and (before != {usual} or _may_be_measured(usual)):
        return None  # of what had never changed, who changed is apart; and what is measured may stand for a while
    odd = {rank for rank, value in first.items() if value != usual}
    if len(odd) > few_of(len(first)):
        return None
    for _, of in since:
        others = {value for rank, value in of.items() if rank not in odd}
        if len(others) != 1 or others & {of[rank] for rank in odd}:
            return None
    return Disagreement(tuple(sorted(odd)), key, first[min(odd)], usual, (min(odd), min(first.keys() - odd)))


def _may_be_measured(value: str) -> bool:
    """Whether a number with a fraction is so short that it may be the same on all ranks by chance."""
    return not value.isdigit() and len(value.replace(".", "").strip("0-+")) < DIGITS
