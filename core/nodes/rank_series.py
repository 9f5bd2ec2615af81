"""Who alone changed, in whatever is told of it again and again: numbers without a name that anybody knows.

Programs of one's own print their numbers in lines that count nothing and in words that no rule has. What tells needs
neither: a number that is told of all ranks or nodes leaves its level on one node and stays there, or on all but one.
Two such numbers that point to the same node are told, and one that may be a time, and rose far above its noise. No
other is told alone: queues fill and waits end for who is next to the one that is slow.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.course.level_shift import LONG_DRIFT, MAD_TO_SIGMA
from core.course.timings import is_rate, may_be_duration
from core.judge.slowdown import Slowdown
from core.naming import figure
from core.nodes.odd_values import TIMES
from core.nodes.sign import Sign
from core.nodes.slow import WAITS
from core.nodes.told_numbers import Told
from core.nodes.told_subjects import MIN_SIDE, Subject
from core.parsed import Parsed
from core.quantiles import median
from core.shares import MAJORITY, MIN_RANKS, few_of

AGREED = 0.6  # as a gauge: it tells who differs since then, not why
CLEAR = 0.55  # as sure as what is worth acting on after a look (core.answer.confidence)
ERRORS = 6.0  # standard errors of the difference of two means: chance makes none in any number of series
TWO_ERRORS = 2.0  # standard errors: one of twenty values without a change is further off
CLEAR_ELSEWHERE = 0.1  # of the change, by which the others moved at most where it is clear (docs/LOG.md)
SEVERAL = 2  # numbers that point to one node: what it does takes longer, and what the others do is wait
ELSEWHERE = 1 / 3  # of the change, in octaves: by no more may it move on the others
ALIKE = 2 / 3  # of what it changed by on most: by so much at least it has to on each of them
SHORT = 2  # letters of a word that names nothing ("in 8.3 s")
PAIR = 2  # machines, of which either may be the odd one
AT_ONSET = 2  # values on either side of the iteration from which on the job is slower: nobody chose that place by them
FIRST = 1.0  # octaves by which first values are beyond all others: the first step compiles and connects
WARM_UP = 0.1  # of the values: first steps compile, fill caches and connect
CUT_OFF = 0.75  # of the values that most have: of fewer the log was cut off, or began late, and tells of other times
GAP = 1 / 2  # of the change, that then lies between the highest before and the lowest after
GRAINS = 3  # of its resolution that a number has to change by: from 0 to 1 a rounding goes


@dataclass(frozen=True, slots=True)
class _Split:
    """Where a series left its level, as a share of its values and a time, and by how many octaves, by medians.

    least: values on either side.
    """

    share: float
    time: int | None
    octaves: float
    least: int = MIN_SIDE

    def place(self, told: Told) -> int:
        """Where that is in another series, with values enough on either side."""
        place = round(self.share * len(told.values))
        if self.time is not None and len(told.times):
            place = int(np.searchsorted(told.times, self.time))
        return min(max(self.least, place), len(told.values) - self.least)

    def moved(self, told: Told) -> float:
        """By how many octaves the median of another series moved there."""
        place = self.place(told)
        return median(told.octaves[place:]) - median(told.octaves[:place])

    def certainly_moved(self, told: Told) -> float:
        """By how many octaves it moved for certain: two standard errors less than its medians did."""
        place = self.place(told)
        return max(0.0, abs(self.moved(told)) - TWO_ERRORS * _error(told.octaves[:place], told.octaves[place:]))


@dataclass(frozen=True, slots=True)
class _Change:
    """A number that changed on one node alone, or on all others. before, after: its levels, as they are printed.

    clear: the others hardly moved. few: values tell of it, so that another number has to agree. number: which of all
    numbers that are told it is; many have no name.
    """

    node: str
    ranks: tuple[int, ...]
    event: int
    name: str
    before: float
    after: float
    row: int  # the first of the event table with the new level
    alone: bool
    clear: bool = False
    few: bool = False
    number: int = -1

    @property
    def is_longer(self) -> bool:
        """Whether its own work takes longer since then, for certain."""
        own_time = may_be_duration(self.name) and not WAITS.search(self.name)
        worse = self.after < self.before if is_rate(self.name) else self.after > self.before
        return self.alone and self.clear and own_time and worse and not self.few

    @property
    def is_named(self) -> bool:
        """Whether a word names it, by which work is told from waits."""
        return self.name[:1].isalpha() and len(self.name) > SHORT

    @property
    def says(self) -> str:
        """What changed, as the end of a sentence about the node."""
        known = self.is_named
        went = f"went from {figure(self.before)} to {figure(self.after)}"
        if not self.alone:
            return f"{self.name if known else 'a number'} {went} on all others, and not there"
        return f"its {self.name} {went}, and no other\u2019s" if known else f"its number {went}, and no other\u2019s"


def series_signs(
    parsed: Parsed,
    told: Sequence[tuple[int, str, Mapping[Subject, Told]]],
    onset: int | None = None,
    slow: Slowdown | None = None,
) -> list[Sign]:
    """A sign for the one node that numbers tell from all others since some moment.

    Args:
        told: numbers with their message, their name and whom they are of.
        onset: the iteration from which on the job is slower; None where it is not.
        slow: how much slower it is.
    """
    found: dict[str, list[_Change]] = defaultdict(list)
    for number, (event, name, all_values) in enumerate(told):
        values = _whole(all_values)
        for change in (
            _changes(event, name, values)
            or _changes(event, name, values, _places(parsed, values, onset))
            or _few_changes(event, name, values)
        ):
            if slow is None or not _is_step_of_job(change, values, slow):
                found[change.node].append(replace(change, number=number))
    ordered = sorted(found.items(), key=lambda entry: (-len(_numbers(entry[1])), entry[0]))
    if not ordered or (len(ordered) > 1 and len(_numbers(ordered[0][1])) < SEVERAL * len(_numbers(ordered[1][1]))):
        return []  # they point to several: to nobody
    node, changes = ordered[0]
    best = sorted(changes, key=lambda change: (not change.is_longer, not change.alone, change.name, change.ranks))
    both_ways = len({change.alone for change in changes}) > 1  # what others wait for takes longer, and they wait
    agreed = len(_numbers(changes)) >= SEVERAL and (both_ways or any(change.clear for change in changes))
    if not agreed and not best[0].is_longer and not any(_is_of_machine(parsed, change) for change in changes):
        return []
    ranks = best[0].ranks
    told_of = list(dict.fromkeys(change.says for change in best))[:SEVERAL]
    since = int(parsed.iterations.of_row[best[0].row])
    return [
        Sign(
            node,
            "series",
            AGREED if agreed else CLEAR,
            f"{parsed.table.called(ranks, node) if ranks else node}: {'; '.join(told_of)}.",
            best[0].event,
            says=best[0].says,
            check=f"Compare {node} with a healthy node: load, clocks and throttling, memory, network, storage.",
            ranks=ranks,
            iteration=since if since > 0 else None,
            rows=tuple(sorted({change.row for change in best[:SEVERAL]})),
        )
    ]


def _is_of_machine(parsed: Parsed, change: _Change) -> bool:
    """Whether it is what a machine measures beside the program that trains, and is several times what it was."""
    most, least = max(change.before, change.after), min(change.before, change.after)
    counting = parsed.table.file[parsed.iterations.marks]
    is_beside = not change.ranks and parsed.table.file[np.array([change.row])][0] not in counting
    return is_beside and change.alone and change.clear and not change.few and most >= TIMES * least > 0


def _whole(told: Mapping[Subject, Told]) -> Mapping[Subject, Told]:
    """Those of whom about as many values are told as of most."""
    usual = float(np.median([len(of.values) for of in told.values()]))
    return {subject: of for subject, of in told.items() if len(of.values) >= CUT_OFF * usual}


def _few_changes(event: int, name: str, told: Mapping[Subject, Told]) -> list[_Change]:
    """Which node changed alone, as so few values tell that no noise is known: at the place where it changed most.

    Only of a time by its name: addresses and numbers of processes are others on every node.
    """
    most = max((len(of.values) for of in told.values()), default=0)
    if most >= 2 * MIN_SIDE or len(name) <= SHORT or is_rate(name) or not may_be_duration(name):
        return []
    found = [
        change
        for place in range(AT_ONSET, most - AT_ONSET + 1)
        for change in _changes(event, name, told, dict.fromkeys(told, place))
    ]
    best = max(found, key=lambda change: abs(np.log2(max(change.after, 1e-9) / max(change.before, 1e-9))), default=None)
    return [] if best is None else [replace(best, few=True)]


def _is_step_of_job(change: _Change, told: Mapping[Subject, Told], slow: Slowdown) -> bool:
    """Whether it is how long all work together for a step, told by whoever leads, where the others tell of a part."""
    others = np.concatenate([of.values for subject, of in told.items() if subject.node != change.node])
    usual = float(np.median(others))
    is_step = any(
        slow.is_like(replace(slow, before=change.before / scale, after=change.after / scale)) for scale in (1, 1000)
    )
    return is_step and change.alone and max(usual, change.before) > LONG_DRIFT * min(usual, change.before)


def _numbers(changes: Sequence[_Change]) -> set[int]:
    return {change.number for change in changes}


def _places(parsed: Parsed, told: Mapping[Subject, Told], onset: int | None) -> dict[Subject, int]:
    """The first value of each series that was told in an iteration from the onset on."""
    if onset is None:
        return {}
    every = [of.rows for of in told.values()]
    of_row = parsed.iterations.of_row[np.concatenate([np.zeros(0, np.intp), *every])]
    own = np.split(of_row, np.cumsum([len(rows) for rows in every])[:-1])
    return {subject: int(np.searchsorted(reached, onset)) for subject, reached in zip(told, own, strict=True)}


def _changes(
    event: int, name: str, told: Mapping[Subject, Told], places: Mapping[Subject, int] | None = None
) -> list[_Change]:
    """Which node changed alone, or alone did not; of two nodes, either may be the odd one.

    Args:
        places: where they may have; None for anywhere.
    """
    least = MIN_SIDE if places is None else AT_ONSET
    told = {subject: of for subject, of in told.items() if len(of.values) >= 2 * least}
    machines = len({subject.node for subject in told})
    pair = machines == PAIR
    if machines < PAIR or (pair and len(told) <= MIN_RANKS):
        return []
    grain = resolution(told.values())
    if places is None:
        told, found = _without_warm_up(told, grain)
    else:
        found = {subject: _split_near(of, grain, places.get(subject, 0)) for subject, of in told.items()}
    splits = {subject: split for subject, split in found.items() if split is not None}
    odd = _odd_ones(event, name, told, splits)
    if pair:  # of two machines only few processes are odd, if their own work takes longer,
        few = 0 < len(splits) <= few_of(len(told))
        at_onset = places is not None  # or one of them, whose work by its name took longer when the job became slow
        return [change for change in odd if change.is_longer and (few or (at_onset and change.is_named))]
    return [change for change in odd if places is None or (change.alone and change.clear)]


def _without_warm_up(
    told: Mapping[Subject, Told], grain: float
) -> tuple[Mapping[Subject, Told], Mapping[Subject, _Split | None]]:
    """The numbers without their first ones, where they leave their level on most at once soon after the start.

    Also where each leaves its level then.
    """
    splits = {subject: find_split(of, grain) for subject, of in told.items()}
    early = {subject: split for subject, split in splits.items() if split is not None and split.share <= WARM_UP}
    if len(early) <= len(told) * MAJORITY or len({split.octaves > 0 for split in early.values()}) > 1:
        return told, splits
    first = max(split.place(told[subject]) for subject, split in early.items())
    later = {subject: of.since(first) for subject, of in told.items()}
    if min(len(of.values) for of in later.values()) < 2 * MIN_SIDE:
        return told, splits
    return later, {subject: find_split(of, grain) for subject, of in later.items()}


def _odd_ones(
    event: int, name: str, told: Mapping[Subject, Told], splits: Mapping[Subject, _Split]
) -> Iterator[_Change]:
    """Which node changed alone, or alone did not."""
    nodes = sorted({subject.node for subject in told})
    most = max((abs(split.octaves) for split in splits.values()), default=0.0)
    splits = {subject: split for subject, split in splits.items() if abs(split.octaves) > ELSEWHERE * most}
    for node in nodes:
        others = {subject: of for subject, of in told.items() if subject.node != node}
        own = {subject: split for subject, split in splits.items() if subject.node == node}
        if own and not others.keys() & splits.keys():
            yield from _alone(event, name, told, own, others.values())
        elif others.keys() <= splits.keys():
            yield from _stood(event, name, node, told, [splits[subject] for subject in others])


def _alone(
    event: int, name: str, told: Mapping[Subject, Told], own: Mapping[Subject, _Split], others: Collection[Told]
) -> Iterator[_Change]:
    """The node of which some changed, if nobody elsewhere did."""
    first = max(own, key=lambda subject: (abs(own[subject].octaves), subject))
    split = own[first]
    moved = max(abs(split.moved(other)) for other in others)
    if moved <= ELSEWHERE * abs(split.octaves):
        ranks = tuple(sorted(subject.rank for subject in own if subject.rank >= 0))
        before, after, _ = levels_of(told[first], split)
        row = min(levels_of(told[subject], own[subject])[2] for subject in own)
        clear = max(split.certainly_moved(other) for other in others) <= CLEAR_ELSEWHERE * abs(split.octaves)
        yield _Change(first.node, ranks, event, name, before, after, row, alone=True, clear=clear)


def _stood(
    event: int, name: str, node: str, told: Mapping[Subject, Told], splits: Sequence[_Split]
) -> Iterator[_Change]:
    """The node of which some did not change when all elsewhere did, or against them."""
    octaves = float(np.median([split.octaves for split in splits]))
    if not all(split.octaves * octaves > 0 and abs(split.octaves) >= ALIKE * abs(octaves) for split in splits):
        return
    split = sorted(splits, key=lambda split: split.share)[len(splits) // 2]
    still = [
        subject
        for subject, of in told.items()
        if subject.node == node and split.moved(of) * np.sign(octaves) <= ELSEWHERE * abs(octaves)
    ]
    if still:
        levels = [levels_of(of, split) for subject, of in told.items() if subject.node != node]
        before, after = (float(np.median([level[side] for level in levels])) for side in (0, 1))
        ranks = tuple(sorted(subject.rank for subject in still if subject.rank >= 0))
        yield _Change(node, ranks, event, name, before, after, levels_of(told[still[0]], split)[2], alone=False)


def levels_of(told: Told, split: _Split) -> tuple[float, float, int]:
    """Medians before and after, and the first row after that is nearer to the second."""
    place = split.place(told)
    before, after = median(told.octaves[:place]), median(told.octaves[place:])
    later = np.abs(told.octaves[place:] - after) < np.abs(told.octaves[place:] - before)
    row = int(told.rows[place + (int(np.argmax(later)) if later.any() else 0)])
    return median(told.values[:place]), median(told.values[place:]), row


def resolution(told: Iterable[Told]) -> float:
    """The resolution that numbers are printed with: a unit of the last decimal place that any of them has."""
    decimals = max(
        len(f"{value:.12g}".partition(".")[2]) for of in told for value in of.values[: 2 * MIN_SIDE].tolist()
    )
    return float(10.0**-decimals)


def find_split(told: Told, grain: float) -> _Split | None:
    """Where a series left its level, by far more than its noise; None where it did not.

    The split is where the means of both sides differ most for their number of values (CUSUM statistic).
    """
    of = _without_first_steps(told.octaves)
    places = np.arange(MIN_SIDE, len(of) - MIN_SIDE + 1)
    sums = np.cumsum(of)[places - 1]
    apart = (of.sum() - sums) / (len(of) - places) - sums / places
    place = int(places[np.argmax(apart**2 * places * (len(of) - places))])
    before, after = of[:place], of[place:]
    octaves = median(after) - median(before)
    if abs(octaves) < max(float(np.log2(LONG_DRIFT)), ERRORS * _error(before, after)):
        return None
    grains = abs(median(told.values[place:]) - median(told.values[:place])) / grain
    time = int(told.times[place]) if len(told.times) else None
    return _Split(place / len(of), time, octaves) if grains >= GRAINS else None


def _without_first_steps(octaves: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same with the values of first steps, one of each process of a node, as the one behind them."""
    early = max(1, int(len(octaves) * WARM_UP))
    if len(octaves) <= early:
        return octaves
    far = octaves[:early] > octaves[early:].max() + FIRST
    first = early if far.all() else int(np.argmin(far))
    return np.append(np.full(first, octaves[first]), octaves[first:])


def _error(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """The standard error of the difference of two levels, by the spread of the wider one."""
    spread = max(median(np.abs(side - median(side))) for side in (before, after)) * MAD_TO_SIGMA
    return spread * float(np.sqrt(1 / len(before) + 1 / len(after)))


def _split_near(told: Told, grain: float, place: int) -> _Split | None:
    """Whether a series left its level at a place that others told of, or one beside it, of however few values."""
    found = [split for near in (place, place - 1, place + 1) if (split := _split_at(told, grain, near)) is not None]
    return max(found, key=lambda split: abs(split.octaves), default=None)


def _split_at(told: Told, grain: float, place: int) -> _Split | None:
    before, after = told.octaves[: max(0, place)], told.octaves[max(0, place) :]
    if min(len(before), len(after)) < AT_ONSET:
        return None
    octaves = median(after) - median(before)
    gap = float(after.min() - before.max()) if octaves > 0 else float(before.min() - after.max())
    grains = abs(median(told.values[place:]) - median(told.values[:place])) / grain
    if abs(octaves) < np.log2(LONG_DRIFT) or gap < GAP * abs(octaves) or grains < GRAINS:
        return None
    time = int(told.times[place]) if len(told.times) else None
    return _Split(place / len(told.values), time, octaves, AT_ONSET)
