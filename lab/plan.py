"""Which jobs a set consists of: decided by the seed and the arguments alone."""

import random
from collections.abc import Collection, Sequence
from dataclasses import replace

from lab.errors import LabError
from lab.fault_kinds import FAULTS
from lab.model import Fault, PlannedJob
from lab.settings import RESUMES, SETTINGS, Settings

EARLY, LATE = 14, 44  # iterations at which a fault may strike; checkpoints are at 25 and 50, evaluations every 20
NEAR = 3  # of a checkpoint or evaluation: not struck there, so that the stage is plain
SHARE = 3  # at most one job in so many is a successful one


def plan_jobs(
    seed: int,
    jobs: int,
    *,
    kinds: Collection[str] = (),
    settings: Sequence[str] = (),
    able: Collection[str] | None = None,
) -> tuple[PlannedJob, ...]:
    """Successful jobs first, of every group if there is room, then faults: each kind once before one comes twice.

    ``able`` holds what this machine can do; kinds that need more are left out. None: everything.
    """
    chance = random.Random(seed)  # noqa: S311 - a plan that can be made again, no secret
    groups = [_group(name) for name in settings or SETTINGS]
    wanted = [kind for kind in FAULTS if not kinds or kind in kinds]
    for kind in kinds:
        if kind not in FAULTS:
            raise LabError(f"There is no kind {kind}.", "python -m lab kinds lists them.")
    possible = [kind for kind in wanted if able is None or FAULTS[kind].needs <= set(able)]
    prefix, fresh = f"{seed:02d}", groups if jobs >= SHARE * len(groups) else chance.sample(groups, jobs // SHARE)
    resumed = [group for group in fresh if RESUMES in group.program.has][: jobs // SHARE - len(fresh)]
    plans = [_healthy(prefix, index, group, chance) for index, group in enumerate([*fresh, *resumed])]
    plans = [replace(plan, resume=index >= len(fresh)) for index, plan in enumerate(plans)]
    turn: list[str] = []
    uses = dict.fromkeys((group.name for group in groups), 0)
    while len(plans) < jobs and possible:
        turn = turn or chance.sample(possible, len(possible))
        fault = FAULTS[turn.pop()]
        suited = [group for group in (fresh if fault.resume else groups) if fault.suits(group)]
        if not suited:
            possible.remove(fault.kind)
            continue
        fewest = min(uses[group.name] for group in suited)
        group = chance.choice([group for group in suited if uses[group.name] == fewest])
        uses[group.name] += 1
        plans.append(_faulty(prefix, len(plans), group, fault, chance))
    return tuple(plans)


def _group(name: str) -> Settings:
    if name not in SETTINGS:
        raise LabError(f"There is no group of settings {name}.", f"There are {', '.join(SETTINGS)}.")
    return SETTINGS[name]


def _healthy(prefix: str, index: int, group: Settings, chance: random.Random) -> PlannedJob:
    return PlannedJob(
        f"lab{prefix}-{index:03d}", "none", group.name, chance.randrange(1 << 30), "", -1, 0, _noise(group, chance)
    )


def _faulty(prefix: str, index: int, group: Settings, fault: Fault, chance: random.Random) -> PlannedJob:
    nodes = {"any": group.nodes, "first": group.nodes[:1], "later": group.nodes[1:]}[fault.where]
    node = chance.choice(nodes)
    rank = chance.choice(group.ranks(node))
    calm = [step for step in range(EARLY, LATE) if min(step % 20, step % 25) > NEAR]
    return PlannedJob(
        f"lab{prefix}-{index:03d}", fault.kind, group.name, chance.randrange(1 << 30), node, rank, chance.choice(calm),
        _noise(group, chance), resume=fault.resume,
    )  # fmt: skip


def _noise(group: Settings, chance: random.Random) -> tuple[str, ...]:
    """Most of the group's noise, but not the same in every job."""
    return tuple(kind for kind in group.noise if chance.random() < 0.85)
