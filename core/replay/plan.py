"""Who replays with whom: each node in two groups, of which no two nodes share both.

Nodes stand in an order in which neighbours hold whole pipelines. In phase 1 node x is in group x div m, in phase 2 in
group x mod n; all groups of a phase run side by side, with the parallelism of the job but fewer data parallel parts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import BadSettings

CERTAIN = 0.9  # chance that both phases show the fault, from which on a plan has runs enough
MAX_RUNS = 50  # a fault that shows less than once in fifty runs is not found by replay in useful time
MOST_NODES, MOST_RUNS = 65_536, 10_000  # the largest training jobs have 16,000 nodes


@dataclass(frozen=True, slots=True)
class ReplayGroup:
    """Nodes that run together, by their place in the plan. name: "phase 1, group 3" is ``1-3``."""

    phase: int
    number: int
    members: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the group in files of results."""
        return f"{self.phase}-{self.number}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A replay of nodes in groups.

    size: nodes a group (m). parts: data parallel parts a group (k). runs: of each group. chance: that a run of a faulty
    node shows the fault. groups: of all phases. left: nodes that fit in no group.
    """

    nodes: tuple[str, ...]
    size: int
    parts: int
    runs: int
    chance: float
    groups: tuple[ReplayGroup, ...]
    left: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Groups in each phase (the paper's n)."""
        return len(self.nodes) // self.size

    @property
    def unique(self) -> bool:
        """Whether a group of each phase have one node in common at most."""
        return self.size <= self.count

    @property
    def both(self) -> float:
        """Chance that both phases show the fault of one node."""
        return (1 - (1 - self.chance) ** self.runs) ** 2


def make_plan(
    nodes: Sequence[str], *, pipeline: int = 1, chance: float = 0.5, runs: int | None = None, parts: int | None = None
) -> Plan:
    """The two phases of a replay.

    Args:
        nodes: of the job, in an order in which neighbours hold whole pipelines.
        pipeline: nodes that one pipeline takes.
        chance: that a run shows the fault when the faulty node takes part.
        runs: of each group; else as many as show the fault in both phases in nine of ten cases.
        parts: data parallel parts of a group; else two where four times two pipelines are there, so that their traffic
            is there too.

    Raises:
        BadSettings: too few nodes for two groups, or a number that makes no sense.
    """
    named = tuple(dict.fromkeys(nodes))
    if pipeline < 1 or not 0 < chance <= 1 or (runs is not None and runs < 1) or (parts is not None and parts < 1):
        raise BadSettings("A replay needs nodes a pipeline, runs and parts above 0, and a chance of 0 to 1.")
    if len(named) > MOST_NODES or (runs or 0) > MOST_RUNS:
        raise BadSettings(f"A replay has at most {MOST_NODES:,} nodes, and {MOST_RUNS:,} runs of each group.")
    pipelines = len(named) // pipeline
    own_parts = parts or (2 if 2 * pipeline <= pipelines / 2 else 1)  # size m = parts x pipeline, at most n groups
    size = own_parts * pipeline
    count = len(named) // size
    if count < 2:
        raise BadSettings(
            f"{len(named)} nodes make no two groups of {size}.", "Fewer data parallel parts, or shorter pipelines?"
        )
    used = named[: size * count]
    places = range(len(used))
    groups = (
        *(ReplayGroup(1, number, tuple(places[number * size : (number + 1) * size])) for number in range(count)),
        *(ReplayGroup(2, number, tuple(places[number::count])) for number in range(count)),
    )
    return Plan(used, size, own_parts, runs or runs_for(chance), chance, groups, named[size * count :])


def runs_for(chance: float) -> int:
    """The least number of runs a phase that shows a fault in both phases with the certainty of ``CERTAIN``."""
    if chance >= 1:
        return 1
    return min(MAX_RUNS, math.ceil(math.log(1 - math.sqrt(CERTAIN)) / math.log(1 - chance)))


def third_phase(plan: Plan, suspects: Sequence[int], healthy: Sequence[int]) -> Plan | None:
    """Each suspect alone among nodes that passed, all at once; None where those do not suffice."""
    need = plan.size - 1
    if plan.size < 2 or len(healthy) < need * len(suspects):
        return None
    groups = tuple(
        ReplayGroup(3, number, (suspect, *healthy[number * need : (number + 1) * need]))
        for number, suspect in enumerate(suspects)
    )
    return Plan(plan.nodes, plan.size, plan.parts, plan.runs, plan.chance, groups, plan.left)
