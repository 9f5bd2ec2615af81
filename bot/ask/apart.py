"""Numbers side by side: of one node or rank and the others, of this job and another one, before and since it is slow.

Whatever lines tell under a name again and again is compared by its middle; the name is the one that the question
speaks of, else the one that parts the sides most.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

import numpy as np

from bot.ask.find_values import FoundValue, asked_words, is_length, values_of_kind
from bot.ask.named_values import NamedValue
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.word_weights import WordWeights
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.naming import natural

MOST = 1e3  # times that stand for a number beside none
TIME = 0.1  # of all weight of a question, more for a time: who asks for no number asks for the pace
OFTEN = 0.25  # of the times that are told most often, how often a part of each step is told at least
FEW = 3  # speakers that are named one by one
FEWEST = 3  # values of a side of which a middle is taken
APART = 1.25  # times the middle of the other side; as between the levels of a series (bot/ask/level_change.py)
MAX_KINDS = 60  # kinds of messages whose numbers are read, those with most lines: a pace comes again and again
MAX_LISTED = 6  # speakers that are listed
SHOWN = 3  # names that are told of two jobs


@dataclass(frozen=True, slots=True)
class _Sides:
    """The middles of a number on two sides, and a row of each."""

    name: str
    unit: str
    one: float
    other: float
    rows: tuple[int, int]

    @property
    def times(self) -> float:
        """How many times the one is of the other."""
        low, high = sorted((abs(self.one), abs(self.other)))
        return min(high / low, MOST) if low else MOST if high else 1.0

    @property
    def differ(self) -> bool:
        """Whether the sides are apart."""
        return self.times >= APART


def beside_others(subject: Subject, question: Question) -> Lines:
    """A number of who is named beside that of the others, of the furthest one where nobody is named; else empty."""
    weights = WordWeights(subject, question)
    named = {f"rank {rank}" for rank in question.ranks} or set(question.nodes)
    found: list[tuple[float, _Sides, str, str]] = []
    for name, every in _told(subject).items():
        units = _by_unit(subject, every, of_ranks=bool(question.ranks))
        middles = {unit: median(_numbers(own)) for unit, own in units.items() if len(own) >= FEWEST}
        mine = sorted(named & middles.keys(), key=natural)
        others = sorted(middles.keys() - named, key=natural)
        if not named and len(middles) > 1:  # the one that is furthest from the middle of the others
            mine = [max(others, key=lambda unit: abs(middles[unit] - median(middles[key] for key in others)))]
            others = [unit for unit in others if unit not in mine]
        if not mine or not others:
            continue
        rows = units[mine[0]][-1].row, units[others[0]][-1].row
        middle = median(middles[unit] for unit in others)
        sides = _Sides(name, _unit_of(every), middles[mine[0]], middle, rows)
        range_ = ", ".join(f"{unit} {middles[unit]:.4g}" for unit in others[:MAX_LISTED])
        rest = range_ if len(others) <= FEW else f"the {len(others):,} others {_range(middles[key] for key in others)}"
        said = weights.share(weights.words, terms_of(name))
        score = (
            said
            + (TIME if not said and middles[mine[0]] > middle else 0.0)
            + (TIME if _is_time(every[0].named) else 0.0)
        )
        found.append((score, sides, ", ".join(f"{unit} {middles[unit]:.4g}" for unit in mine[:MAX_LISTED]), rest))
    best = max(found, key=lambda item: (item[0], item[1].times, item[1].name), default=None)
    if best is None:
        return []
    _, sides, own, rest = best
    says = f"{sides.name}{sides.unit and f' ({sides.unit})'}, medians: {own}; {rest}: {_much(sides)}."
    return [cited(says), *quoted(found_rows(subject.parsed, "", list(sides.rows)), 2)]


def beside_job(mine: Subject, other: Subject, name: str, question: Question) -> Lines:
    """The numbers of two jobs: those that are asked for, at the step that is named; else those that are furthest apart.

    Args:
        name: of the other job.
    """
    step = next(iter(question.iterations), None)
    reached = [subject.parsed.iterations.last for subject in (mine, other)]
    until = min((last for last in reached if last is not None), default=None)
    here, there = (_at(subject, step) if step is not None else _until(subject, until) for subject in (mine, other))
    weights = WordWeights(mine, question)
    both = []
    for key in sorted(here.keys() & there.keys()):
        middles = median(_numbers(here[key])), median(_numbers(there[key]))
        if step is not None or not _counts(here[key]):
            both.append(_Sides(key, _unit_of(here[key]), *middles, (here[key][-1].row, -1)))
    words = asked_words(weights)
    said = [sides for sides in both if weights.share(words, terms_of(sides.name))]
    told = sorted(said or [sides for sides in both if sides.differ], key=lambda sides: (-sides.times, sides.name))[
        :SHOWN
    ]
    if not told:
        return []
    parts = "; ".join(f"{one.name} {one.one:.5g}{one.unit} here, {one.other:.5g}{one.unit} in {name}" for one in told)
    when = f"At iteration {step:,}" if step is not None else f"Until iteration {until:,}" if until else "By the middle"
    return [cited(f"{when}: {parts}: {_much(told[0])}."), *quoted(found_rows(mine.parsed, "", [told[0].rows[0]]), 1)]


def before_and_since(subject: Subject, since: int, node: str = "") -> tuple[_Sides, ...]:
    """The times that each step is told to take, before an iteration and since it, what grew most first.

    Args:
        node: whose times they are; empty for those of all.
    """
    of_row = subject.parsed.iterations.of_row
    found = []
    times = [every for every in _told(subject).values() if _is_time(every[0].named)]
    most = max(map(_rounds, times), default=0.0)
    for name, own in _told(subject).items():
        every = [item for item in own if item.who.endswith(node)]
        if not every or not _is_time(every[0].named) or _rounds(every) < OFTEN * most:
            continue
        reached = of_row[np.array([item.row for item in every], np.intp)].tolist()
        before = [item for item, at in zip(every, reached, strict=True) if 0 <= at < since]
        after = [item for item, at in zip(every, reached, strict=True) if at >= since]
        if len(before) >= FEWEST and len(after) >= FEWEST:
            middles = median(_numbers(after)), median(_numbers(before))
            found.append(_Sides(name, _unit_of(every), *middles, (before[-1].row, after[0].row)))
    return tuple(sorted(found, key=lambda one: (-(one.one / one.other if one.other > 0 else 1.0), one.name)))


def told_parts(subject: Subject, question: Question, since: int, node: str = "") -> Lines:
    """Which parts of a step grew since an iteration and which did not; a yes or no to the part that is asked about.

    Args:
        node: whose parts they are; empty for those of all.
    """
    parts = before_and_since(subject, since, node)
    if len(parts) < 2 or not parts[0].differ:
        return []
    weights = WordWeights(subject, question)
    asked = [one for one in parts if weights.share(weights.words, terms_of(one.name))]
    no = "" if len(asked) != 1 else "Yes: " if asked[0].differ else "No: "
    ordered = sorted(parts, key=lambda one: one not in asked)  # what is asked about stands first
    grew, same = ([one for one in ordered if one.differ is apart][:SHOWN] for apart in (True, False))
    listed, kept = (
        "; ".join(f"{one.name} {one.other:.4g} to {one.one:.4g}{one.unit}" for one in every) for every in (grew, same)
    )
    of = f" on {node}" if node else ""
    says = f"{no}of the times of a step{of} since iteration {since:,} these grew (medians): {listed}"
    says += f"; these did not: {kept}." if kept else "."
    return [cited(wording.sentence(says)), *quoted(found_rows(subject.parsed, "", list(parts[0].rows)), 2)]


def at_step(subject: Subject, question: Question, step: int) -> Lines:
    """What a step took beside what is usual, and at the next one; empty where no line tells times of it."""
    weights = WordWeights(subject, question)
    found: list[tuple[float, float, str, int]] = []
    of_row = subject.parsed.iterations.of_row
    for name, own in _at(subject, step).items():
        every = _told(subject)[name]
        said = weights.share(weights.words, terms_of(name))
        if of_row[np.array([own[0].row], np.intp)][0] != step or not (said or _is_time(own[0].named)):
            continue
        usual = median(_numbers(every))
        most = max(own, key=lambda item: abs((item.named.number or 0.0) - usual))
        sides = _Sides(name, "", most.named.number or 0.0, usual, (most.row, most.row))
        near = min(every, key=lambda item: abs((item.named.number or 0.0) - usual)).named.value
        later = [item for item in every if of_row[np.array([item.row], np.intp)][0] > step and item.who == most.who]
        after = f", {later[0].named.value} at the next" if later and sides.differ else ""
        much = f" ({_much(sides)})" if sides.differ else ""
        found.append((said, sides.times, f"{name} {most.named.value}, usually {near}{after}{much}", most.row))
    best = sorted(found, key=lambda item: (-item[0], -item[1], item[2]))[:SHOWN]
    if not best:
        return []
    says = f"At iteration {step:,}: {'; '.join(item[2] for item in best)}."
    return [cited(says), *quoted(found_rows(subject.parsed, "", [best[0][3]]), 1)]


def _much(sides: _Sides) -> str:
    if not sides.differ:
        return "about the same"
    return f"{sides.times:.2g} times as {'much' if sides.one > sides.other else 'little'}"


def _range(numbers: Iterable[float]) -> str:
    every = sorted(numbers)
    return f"{every[0]:.4g} to {every[-1]:.4g}" if every[-1] > every[0] else f"{every[0]:.4g}"


def _by_unit(subject: Subject, every: Sequence[FoundValue], *, of_ranks: bool) -> dict[str, list[FoundValue]]:
    """The values of each rank, or of each node, where lines tell whose they are."""
    found: dict[str, list[FoundValue]] = defaultdict(list)
    for item in every:
        origin = subject.origin(item.row)
        rank = f"rank {origin.rank}" if origin.rank is not None else ""
        home = subject.home.get(origin.rank) if origin.rank is not None else None
        unit = rank if of_ranks else origin.node or home or rank
        if unit:
            found[unit].append(item)
    return found


def _at(subject: Subject, step: int) -> dict[str, list[FoundValue]]:
    """What lines tell at a step, else at the last one before it that they tell of."""
    of_row = subject.parsed.iterations.of_row
    found: dict[str, list[FoundValue]] = {}
    for name, every in _told(subject).items():
        reached = of_row[np.array([item.row for item in every], np.intp)].tolist()
        latest = max((at for at in reached if 0 <= at <= step), default=None)
        if latest is not None:
            found[name] = [item for item, at in zip(every, reached, strict=True) if at == latest]
    return found


def _until(subject: Subject, until: int | None) -> dict[str, list[FoundValue]]:
    of_row = subject.parsed.iterations.of_row
    found: dict[str, list[FoundValue]] = {}
    for name, every in _told(subject).items():
        reached = of_row[np.array([item.row for item in every], np.intp)].tolist()
        kept = [item for item, at in zip(every, reached, strict=True) if at > 0 and (until is None or at <= until)]
        if len(kept) >= FEWEST:
            found[name] = kept
    return found


@lru_cache(maxsize=4)
def _told(subject: Subject) -> dict[str, list[FoundValue]]:
    """The numbers that lines tell again and again, by their names."""
    table = subject.parsed.table
    rows = table.rows_of(range(len(table.templates)))
    often = sorted(
        (event for event, own in rows.items() if len(own) >= 2 * FEWEST), key=lambda event: -len(rows[event])
    )
    found: dict[str, list[FoundValue]] = defaultdict(list)
    for event in often[:MAX_KINDS]:
        for own in values_of_kind(subject, rows[event]).values():
            for item in own:
                for part in _of_pair(item):
                    if part.named.number is not None and np.isfinite(part.named.number):
                        found[part.named.name].append(part)
    return {name: own for name, own in found.items() if len(own) >= 2 * FEWEST and not _COUNTED_NAMES.search(name)}


def _of_pair(item: FoundValue) -> tuple[FoundValue, ...]:
    """A value, or its lowest and highest: "forward-compute ...: (1432.82, 2330.34)", as Megatron tells its timers."""
    match = _PAIR.fullmatch(item.named.value) if item.named.kind == "listed" else None
    if match is None or float(match[1]) > float(match[2]):
        return (item,)
    ends = (("lowest", match[1]), ("highest", match[2]))
    return tuple(
        replace(item, named=replace(item.named, name=f"{end} {item.named.name}", value=value, kind=PAIRED))
        for end, value in ends
    )


PAIRED = "paired"  # kind of a value that is the lowest or the highest of all ranks
_PAIR = re.compile(r"\(([0-9]{1,12}(?:\.[0-9]{1,9})?), {0,4}([0-9]{1,12}(?:\.[0-9]{1,9})?)\)")


def _is_time(named: NamedValue) -> bool:
    return named.kind == PAIRED or is_length(named)


# Names of what a line counts or numbers by, which are no measure
_COUNTED_NAMES = re.compile(
    r"^(?:.{0,40} )?(?:step|iteration|iter|it|epoch|ep|pid|rank|line|port|seed|update|batch)$", re.IGNORECASE
)


def _rounds(own: Sequence[FoundValue]) -> float:
    """How often each of the speakers tells it."""
    return len(own) / len({item.who for item in own})


def _numbers(own: Sequence[FoundValue]) -> list[float]:
    return [item.named.number or 0.0 for item in own]


def _counts(own: Sequence[FoundValue]) -> bool:
    """Whether numbers never fall: a counter or a total, which a longer job has more of."""
    steps = np.diff(np.array(_numbers(own)))
    return len(steps) >= FEWEST and bool((steps >= 0).all() and (steps > 0).any())


def _unit_of(every: Sequence[FoundValue]) -> str:
    match = _UNIT.search(every[0].named.value)
    return match[0] if match else ""


_UNIT = re.compile(r"(?<=[0-9]) ?[A-Za-z%][A-Za-z/%]{0,8}$")
