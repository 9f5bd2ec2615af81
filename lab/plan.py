"""Which jobs a set consists of: decided by the seed and the arguments alone."""

import random
from collections.abc import Collection, Sequence

from lab.errors import LabError
from lab.kinds import FAULTS
from lab.model import Fault, PlannedJob
from lab.settings import SETTINGS, Settings

EARLY, LATE = 14, 44  # iterations at which a fault may strike; checkpoints are at 25 and 50, evaluations every 20
NEAR = 3  # of a checkpoint or evaluation: not struck there, so that the stage is plain
BASELINE = 2  # successful jobs of each group: a fresh one and one that resumes


def plan_jobs(
    seed: int,
    jobs: int,
    *,
    kinds: Collection[str] = (),
    settings: Sequence[str] = (),
    able: Collection[str] | None = None,
) -> tuple[PlannedJob, ...]:
    """Baseline jobs of every group first, then faults: each kind once before one comes twice.

    ``able`` holds what this machine can do; kinds that need more are left out. None: everything.
    """
    chance = random.Random(seed)  # noqa: S311 - a plan that can be made again, no secret
    groups = [_group(name) for name in settings or SETTINGS]
    wanted = [kind for kind in FAULTS if not kinds or kind in kinds]
    for kind in kinds:
        if kind not in FAULTS:
            raise LabError(f"There is no kind {kind}.", "python -m lab kinds lists them.")
    possible = [kind for kind in wanted if able is None or FAULTS[kind].needs <= set(able)]
    plans = [_healthy(f"{seed:02d}", index, group, chance) for index, group in enumerate(groups * BASELINE)]
    plans = [_resumes(plan) if index >= len(groups) else plan for index, plan in enumerate(plans)]
    turn: list[str] = []
    uses = dict.fromkeys((group.name for group in groups), 0)
    while len(plans) < jobs and possible:
        turn = turn or chance.sample(possible, len(possible))
        fault = FAULTS[turn.pop()]
        suited = [group for group in groups if fault.suits(group)]
        if not suited:
            possible.remove(fault.kind)
            continue
        fewest = min(uses[group.name] for group in suited)
        group = chance.choice([group for group in suited if uses[group.name] == fewest])
        uses[group.name] += 1
        plans.append(_faulty(f"{seed:02d}", len(plans), group, fault, chance))
    return tuple(plans)


def _group(name: str) -> Settings:
    if name not in SETTINGS:
        raise LabError(f"There is no group of settings {name}.", f"There are {', '.join(SETTINGS)}.")
    return SETTINGS[name]


def _healthy(prefix: str, index: int, group: Settings, chance: random.Random) -> PlannedJob:
    return PlannedJob(
        f"lab{prefix}-{index:03d}", "none", group.name, chance.randrange(1 << 30), "", -1, 0, _noise(group, chance)
    )


def _resumes(plan: PlannedJob) -> PlannedJob:
    return PlannedJob(plan.job_id, "none", plan.settings_id, plan.seed, "", -1, 0, plan.noise, resume=True)


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
