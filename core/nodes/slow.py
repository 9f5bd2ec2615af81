"""Who made a job slow: a part of a step that few ranks take longer for, while the others wait for them.

The whole step takes longer everywhere, so nobody's step tells. What tells is a part of it: what one rank measures of
its own work rises there alone, and what the others measure of waiting rises everywhere else.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from core.course.time_spent import find_spent
from core.course.timings import LAG, is_milliseconds, is_rate
from core.judge.ending import Ending
from core.judge.slowdown import TOTAL, Slowdown
from core.naming import figure
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, are_few

OWN_PART = 0.7  # as sure as a stack dump: it tells where the time goes
HINT, HINT_ROSE = 0.4, 2.0  # a part that doubled on one rank,
HINT_APART = 0.25  # and moved by no more than a quarter of that elsewhere
LAGS = 0.3  # a hint: its processor is slow, or what its neighbour in a ring sends comes late
SHARE = 0.25  # of what a step became slower by; less does not explain it
LAG_OF_STEP = 0.2  # of a slow step's time: printing and flushing take less
UNIT = 10.0  # slow steps: no part takes so long, and hardly any is a hundredth of a step
RATE_ROSE = 0.6  # times the level before, of a rate, whose unit is unknown: ranks of a healthy job differ by less
WHOLE = 0.8  # of what a step became slower by; what rose by more is no part
APART = 0.5  # of how far the odd ones are from the middle; the others are nearer to it

# Names of what ranks do together, as MPI, NCCL and torch.distributed have them: who takes longer there waits for
# others; but who waits for its data waits for no rank: "input_wait_s", "wait for batch".
WAITS = re.compile(
    r"^(?!.*(?:input|data|load|loader|read|fetch|batch|\bio)[-_ ]?wait)"
    r"(?!.*wait(?:ing)?[-_ ](?:for[-_ ])?(?:data|input|batch))"
    r".*(?:send|recv|receive|wait|idle|blocked|bubble|comm|reduce|gather|scatter|all.?to.?all|broadcast|barrier|sync)",
    re.IGNORECASE,
)

_SENDS, _RECEIVES = re.compile(r"send|\btx", re.IGNORECASE), re.compile(r"recv|receive|\brx", re.IGNORECASE)

# What all ranks do alike, each for its own share of the data
READS = re.compile(r"data|input|load|read|fetch|batch|io\b|storage", re.IGNORECASE)
_QUOTES_A_LINE = "time after "
_HEAD = re.compile(r"^(?:<TS>|\W|DEBUG|INFO)+")  # of a template: its clock and level tell nothing of where time goes

Change = tuple[float, float]  # medians before and after the onset


def slow_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> tuple[list[Sign], list[Sign]]:
    """Signs for the nodes of the few ranks that made a job slow: by what they print, and by what passes between lines.

    The second tell less than any number that ranks print of their own work, in whatever line.

    Args:
        home: node of each rank.
    """
    slow = ending.slow or ending.drift
    if slow is None or len(home) < MIN_RANKS:
        return [], []
    enough = max(MIN_RANKS, len(home) * MAJORITY)
    parts = {name: changes for name, changes in _parts(parsed, slow).items() if len(changes) >= enough}
    everywhere = {name for name, changes in parts.items() if _rose_everywhere(name, changes, slow)}
    found = {name: odd for name, changes in parts.items() if (odd := _odd(name, changes, slow, home)) is not None}
    if len({odd.ranks for odd in found.values() if odd.weight == HINT}) > 1:
        found = {name: odd for name, odd in found.items() if odd.weight != HINT}  # they point to several: to nobody
    found = {name: odd for name, odd in found.items() if not (odd.waits and everywhere - {name})}
    # what ranks print of their own work tells more than what passes between two lines
    prints = any(odd.weight == OWN_PART and not odd.waits and _is_printed(name) for name, odd in found.items())
    if prints or any(_explains_all(name, changes, slow) for name, changes in parts.items()):
        found = {name: odd for name, odd in found.items() if not name.startswith(_QUOTES_A_LINE)}
    does = {odd.ranks for name, odd in found.items() if name != LAG and not odd.waits and odd.weight == OWN_PART}
    found = {name: odd for name, odd in found.items() if not (odd.waits and odd.ranks in does)}  # told better already
    if not any(odd.weight == OWN_PART for name, odd in found.items() if name != LAG):
        links = _both_ways(parts, slow)
        found = {name: odd for name, odd in found.items() if not (links and WAITS.search(name))}
        found |= links
    printed, between = list[Sign](), list[Sign]()
    for name, odd in found.items():
        signs = between if name.startswith(_QUOTES_A_LINE) else printed
        signs += _signs(parsed, name, parts.get(name), odd, slow, home)
    return printed, between


def _is_printed(name: str) -> bool:
    return name != LAG and not name.startswith(_QUOTES_A_LINE)


def _parts(parsed: Parsed, slow: Slowdown) -> dict[str, dict[int, Change]]:
    """What each rank took before and after the onset: for what it prints, and behind what it says."""
    parts = {
        name: {rank: change for rank, of in values.items() if (change := _change(of, slow)) is not None}
        for name, values in parsed.timings.items()
    }
    if slow.than_good_jobs:
        return parts
    for event, of_rank in sorted(find_spent(parsed.table, parsed.iterations.course, slow.iteration).items()):
        if any(before > 0 for before, _ in of_rank.values()):  # what nobody said before has no level that it left
            phrase = short(_HEAD.sub("", parsed.table.templates[event].sample))
            parts[f"{_QUOTES_A_LINE}\u201c{phrase}\u201d"] = dict(of_rank)
    return parts


def slowed(name: str) -> str:
    """That one rank slowed the others down, and by what where the name of that part of a step tells it.

    The name of a log line that it follows tells of what was done before, and a lag of everything.
    """
    if name == LAG or is_rate(name) or _QUOTES_A_LINE in name:
        return "it slowed the others down"
    longer = "it took longer to read its data" if _reads(name) else "its own work took longer"
    if _waits(name):
        longer = "it took longer to send or to receive"
    return f"{longer} and slowed the others down"


def _waits(name: str) -> bool:
    return any(words.search(name) for words in (WAITS, _SENDS, _RECEIVES))


def _reads(name: str) -> bool:
    return READS.search(name) is not None or "feed" in name.lower()


@dataclass(frozen=True, slots=True)
class SlowerPart:
    """A part of a step that most ranks take longer for. before, after: seconds a step, medians over the ranks."""

    name: str
    before: float
    after: float

    @property
    def says(self) -> str:
        """What took longer, in words that fit every program."""
        if _waits(self.name):
            return "all ranks waited longer for each other"
        return (
            "all ranks took longer to read their data"
            if _reads(self.name)
            else "a part of the work of all ranks took longer"
        )


def slower_part(parsed: Parsed, slow: Slowdown) -> SlowerPart | None:
    """The printed part of a step that rose the most on most ranks, if it explains a good part of the slowdown.

    What took nearly as long as a step before is the step itself; where only good jobs tell that it was slow, nobody
    knows what a part took before.
    """
    if slow.than_good_jobs:
        return None
    found = []
    for name, values in parsed.timings.items():
        changes = {rank: change for rank, of in values.items() if (change := _change(of, slow)) is not None}
        most = len(changes) > len(parsed.table.ranks) * MAJORITY and len(changes) >= MIN_RANKS
        if not most or name == LAG or is_rate(name) or TOTAL.search(name):
            continue
        scale = _scale(name, changes, slow)
        before, after = (float(np.median(side)) / scale for side in zip(*changes.values(), strict=True))
        if before <= WHOLE * slow.before and after - before >= SHARE * (slow.after - slow.before):
            found.append(SlowerPart(name, before, after))
    return max(found, key=lambda part: (part.after - part.before, part.name), default=None)


def _both_ways(parts: Mapping[str, Mapping[int, Change]], slow: Slowdown) -> dict[str, "_Odd"]:
    """The only rank that takes longer to send and to receive: of a slow link each neighbour meets one end."""

    def longer(way: re.Pattern[str]) -> tuple[list[str], set[int]]:
        names = sorted(name for name in parts if way.search(name) and not is_rate(name))
        more = SHARE * (slow.after - slow.before)
        ranks = {
            rank
            for name in names
            for rank, (before, after) in parts[name].items()
            if (after - before) / _scale(name, parts[name], slow) >= more
        }
        return names, ranks

    (sends, sending), (receives, receiving) = longer(_SENDS), longer(_RECEIVES)
    both = sending & receiving
    if len(both) != 1 or not (sending - both and receiving - both):
        return {}
    does = "it takes longer to send and to receive, its neighbours only the one or the other"
    return {" and ".join((sends[0], receives[0])): _Odd(frozenset(both), does)}


def _rose_everywhere(name: str, changes: Mapping[int, Change], slow: Slowdown) -> bool:
    """Whether a part, and not the whole step, takes longer on most ranks: then all are slow, and some wait for less."""
    rose = float(np.median([after - before for before, after in changes.values()]))
    rose /= _scale(name, changes, slow)
    more = slow.after - slow.before
    return name != LAG and not is_rate(name) and SHARE * more <= rose <= WHOLE * more


def _explains_all(name: str, changes: Mapping[int, Change], slow: Slowdown) -> bool:
    """Whether a printed part of the work itself takes longer on most ranks: then what few say more often tells nothing.

    What took nearly as long as a step before is the step itself.
    """
    if name == LAG or is_rate(name) or name.startswith(_QUOTES_A_LINE) or WAITS.search(name) or TOTAL.search(name):
        return False
    scale = _scale(name, changes, slow)
    before, after = (float(np.median(side)) / scale for side in zip(*changes.values(), strict=True))
    return before <= WHOLE * slow.before and after - before >= SHARE * (slow.after - slow.before)


def _scale(name: str, changes: Mapping[int, Change], slow: Slowdown) -> int:
    """How many of its units make a second: what takes longer than whole steps is told in milliseconds."""
    longest = float(np.median([after for _, after in changes.values()]))
    return 1000 if is_milliseconds(name) or longest > UNIT * slow.after else 1


def _change(values: Mapping[int, float], slow: Slowdown) -> Change | None:
    """Medians (of uneven steps means) of a series before and after the onset; None where one side is missing."""
    before = [value for iteration, value in values.items() if iteration < slow.iteration]
    after = [value for iteration, value in values.items() if iteration >= slow.iteration]
    if not after or not (before or slow.than_good_jobs):
        return None
    middle = np.mean if slow.uneven else np.median
    return (float(middle(before)) if before else 0.0), float(middle(after))


@dataclass(frozen=True, slots=True)
class _Odd:
    """Ranks whose part rose more, or, where the others wait for them, less than that of the others."""

    ranks: frozenset[int]
    does: str
    waits: bool = False
    weight: float = OWN_PART


def _odd(name: str, changes: Mapping[int, Change], slow: Slowdown, home: Mapping[int, str]) -> _Odd | None:
    """The few ranks whose numbers changed by another amount than those of most, if that explains the slowdown."""
    more = slow.after - slow.before
    if name == LAG:
        rose = {rank: after - before for rank, (before, after) in changes.items()}
        need, less_tells, does = LAG_OF_STEP * slow.after, False, "falls behind the clocks of the others"
    elif is_rate(name):
        rose = {rank: after / before - 1 if before > 0 else 0.0 for rank, (before, after) in changes.items()}
        need, less_tells, does = RATE_ROSE, True, f"its {name} changed for the worse"
    else:
        scale = _scale(name, changes, slow)
        rose = {rank: (after - before) / scale for rank, (before, after) in changes.items()}
        less_tells = not slow.than_good_jobs or WAITS.search(name) is not None  # what has no before may be no wait
        need, does = SHARE * more, f"its {name} is longer" if slow.than_good_jobs else f"its {name} rose"
    if alone := _one_node(name, rose, need, home):
        return _Odd(alone, does)
    middle = float(np.median(list(rose.values())))
    apart = {rank: value - middle for rank, value in rose.items()}
    odd = {rank for rank, value in apart.items() if abs(value) >= need}
    if not odd and name != LAG:
        return None if WAITS.search(name) else _hint(name, changes, rose, apart)  # who waits longer is not who is slow
    least = min((abs(apart[rank]) for rank in odd), default=0.0)
    near = all(abs(value) <= APART * least for rank, value in apart.items() if rank not in odd)
    if not odd or not near or not are_few(odd, changes, home):
        return None
    if all(apart[rank] > 0 for rank in odd):
        return _longer(name, odd, rose, does)
    is_longer = name.startswith(_QUOTES_A_LINE) and middle > more / WHOLE  # than a step: others say nothing in between
    waited_for = not is_longer and all(rose[rank] <= APART * middle for rank in odd)  # what rises for all is no wait
    if less_tells and middle >= need and waited_for:
        return _Odd(
            frozenset(odd), f"its {name} did not rise as much as that of the others, who wait for it", waits=True
        )
    return None


def _longer(name: str, odd: Collection[int], rose: Mapping[int, float], does: str) -> _Odd | None:
    """Ranks whose part rose; None where it takes longer for all, and for some still more."""
    few_only = float(np.median(list(rose.values()))) <= APART * min(rose[rank] for rank in odd)
    return _Odd(frozenset(odd), does, weight=HINT if WAITS.search(name) else OWN_PART) if few_only else None


def _one_node(name: str, rose: Mapping[int, float], need: float, home: Mapping[int, str]) -> frozenset[int]:
    """All ranks of the one node on which a part of their own work rose, and on no other; of two nodes half of all."""
    if name == LAG or is_rate(name) or WAITS.search(name):
        return frozenset()
    for node in sorted({home[rank] for rank in rose if rank in home}):
        own = {rank: value for rank, value in rose.items() if home.get(rank) == node}
        rest = [value for rank, value in rose.items() if rank not in own]
        if rest and min(own.values()) - max(rest) >= need and max(rest) <= APART * min(own.values()):
            return frozenset(own)
    return frozenset()


def _hint(
    name: str, changes: Mapping[int, Change], rose: Mapping[int, float], apart: Mapping[int, float]
) -> _Odd | None:
    """The only rank whose part doubled, too little to explain the slowdown: what is printed may be a part of a part."""
    first, *others = sorted(apart, key=lambda rank: (-apart[rank], rank))
    before, after = changes[first]
    doubled = after >= HINT_ROSE * before > 0
    alone = apart[first] >= APART * rose[first] > 0 and all(
        abs(apart[rank]) <= HINT_APART * apart[first] for rank in others
    )
    return _Odd(frozenset((first,)), f"its {name} rose, and no other's", weight=HINT) if doubled and alone else None


def _signs(
    parsed: Parsed, name: str, changes: Mapping[int, Change] | None, odd: _Odd, slow: Slowdown, home: Mapping[int, str]
) -> list[Sign]:
    signs = []
    for node in sorted({home[rank] for rank in odd.ranks if rank in home}):
        own = sorted(rank for rank in odd.ranks if home.get(rank) == node)
        levels = f"from iteration {slow.iteration} on"
        if changes is not None:
            before, after = changes[own[0]]
            others = [changes[rank][1] for rank in changes if rank not in odd.ranks]
            levels = f"{figure(before)} before iteration {slow.iteration}, {figure(after)} after"
            if slow.than_good_jobs and others:
                levels = f"{figure(after)}; on the others {figure(float(np.median(others)))}"
        signs.append(
            Sign(
                node,
                "own part" if name != LAG else "lag",
                odd.weight if name != LAG else LAGS,
                f"{parsed.table.called(own, node)}: {odd.does} ({levels}).",
                says=slowed(name) if not odd.waits else "it slowed the others down",
                check=f"Compare {node} with a healthy node: load, clocks and throttling, memory, network, storage.",
                ranks=tuple(own),
            )
        )
    return signs
