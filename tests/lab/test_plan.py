"""Which jobs a set consists of."""

from collections import Counter

import pytest

from lab.errors import LabError
from lab.fault_kinds import FAULTS
from lab.plan import SHARE, plan_jobs
from lab.settings import RESUMES, SETTINGS

MANY = 90
RESUMING = sum(RESUMES in settings.program.has for settings in SETTINGS.values())


def test_the_seed_alone_decides() -> None:
    """The same command makes the same plan, another seed another one."""
    assert plan_jobs(7, MANY) == plan_jobs(7, MANY)
    assert plan_jobs(7, MANY) != plan_jobs(8, MANY)


def test_every_group_has_successes_first() -> None:
    """Nobody has to compare a failed job with nothing: each group begins with a success, then some resume."""
    plans = [plan for plan in plan_jobs(1, MANY) if plan.kind == "none"]
    fresh = [plan.settings_id for plan in plans if not plan.resume]

    assert plans == list(plan_jobs(1, MANY)[: len(plans)])
    assert Counter(fresh) == dict.fromkeys(SETTINGS, 1)
    assert {plan.settings_id for plan in plans if plan.resume} == {
        name for name, settings in SETTINGS.items() if RESUMES in settings.program.has
    }


@pytest.mark.parametrize("jobs", [1, 2, 12, 30])
def test_a_small_set_is_not_all_successes(jobs: int) -> None:
    """At most a third of a set succeeds because nothing was done to it."""
    plans = plan_jobs(1, jobs)

    assert len(plans) == jobs
    assert sum(plan.kind == "none" for plan in plans) == min(jobs // SHARE, len(SETTINGS) + RESUMING)


def test_no_kind_comes_twice_before_all_came_once() -> None:
    """A set of some size holds every kind."""
    kinds = [plan.kind for plan in plan_jobs(3, MANY) if plan.kind != "none"]

    assert sorted(kinds[: len(FAULTS)]) == sorted(FAULTS)


@pytest.mark.parametrize("seed", range(5))
def test_a_fault_strikes_where_it_can(seed: int) -> None:
    """The struck rank is on the struck node, the node is one that the kind allows, and the group suits the kind."""
    for plan in plan_jobs(seed, MANY):
        fault, nodes = FAULTS.get(plan.kind), plan.settings.nodes
        if fault is not None:
            assert plan.rank in plan.settings.ranks(plan.node)
            assert {"any": True, "first": plan.node == nodes[0], "later": plan.node != nodes[0]}[fault.where]
            assert fault.suits(plan.settings)
            assert plan.resume == fault.resume


def test_what_the_machine_cannot_do_is_left_out() -> None:
    """Without rights there are fewer kinds, never jobs that cannot be made."""
    kinds = {plan.kind for plan in plan_jobs(1, MANY, able=())} - {"none"}

    assert kinds == {kind for kind, fault in FAULTS.items() if not fault.needs}


def test_ids_do_not_tell_the_kind() -> None:
    """A diagnosis cannot read the answer off the job's name."""
    plans = plan_jobs(12, MANY)

    assert [plan.job_id for plan in plans] == [f"lab12-{index:03d}" for index in range(MANY)]


@pytest.mark.parametrize(("kinds", "settings"), [(("no_such_kind",), ()), ((), ("no_such_group",))])
def test_an_unknown_name_is_refused(kinds: tuple[str, ...], settings: tuple[str, ...]) -> None:
    """A typing mistake is told, with a hint to the right names."""
    with pytest.raises(LabError, match="There is no") as caught:
        plan_jobs(1, MANY, kinds=kinds, settings=settings)

    assert caught.value.hint
