"""What of a fault the steps of its job show: the rest is no fault to find."""

from typing import Any

import numpy as np
import pytest

from lab.flows.effects import split


def steps_of(more: "np.ndarray[Any, Any]") -> list[dict[str, float]]:
    """Sixty steps of .4 s with noise of a twentieth, and what is added to each."""
    noise = 0.02 * np.random.default_rng(4).standard_normal(60)
    return [{"sync": float(end)} for end in 1.8e9 + np.cumsum(0.4 + noise + more)]


def lasting(kind: str = "slow_nic") -> dict[str, Any]:
    return {"kind": kind, "first_step": 20, "last_step": 59 if kind == "drift" else 44}


INSIDE = (np.arange(60) >= 20) & (np.arange(60) < 45)


@pytest.mark.parametrize(("more", "is_felt"), [(0.1, True), (0.015, False)])
def test_lasting_fault_is_felt_where_its_steps_are_longer(more: float, *, is_felt: bool) -> None:
    """By .25 of a step, or by less than a twelfth."""
    felt, unfelt = split(lasting(), steps_of(more * INSIDE))

    assert (felt is not None) == is_felt
    assert (unfelt is None) == is_felt
    told = felt or unfelt
    assert told is not None
    assert told["effect"]["longer"] == pytest.approx(more / 0.4, abs=0.03)


def test_fault_within_what_the_steps_do_by_themselves_is_not_felt() -> None:
    """A tenth of a step, where they differ by half of one."""
    rough = 0.2 * np.sin(np.arange(60) * 2.0)

    assert split(lasting(), steps_of(0.04 * INSIDE + rough))[0] is None


def test_drift_is_told_by_its_end() -> None:
    """What it adds in the middle is half."""
    felt, _ = split(lasting("drift"), steps_of(np.maximum(0, np.arange(60) - 20) * 0.004))

    assert felt is not None
    assert felt["effect"]["longer"] == pytest.approx(0.35, abs=0.05)


def test_stall_is_told_step_by_step() -> None:
    """A pipeline had slack for one of three; steps behind a stall and checkpoints are no measure."""
    more = np.zeros(60)
    more[[12, 40]] = 0.15
    more[[13, 50, 51]] = 1.0
    fault = {"kind": "stall", "steps": [12, 25, 40], "first_step": 12, "last_step": 40, "seconds": 0.15}

    felt, unfelt = split(fault, steps_of(more), [50, 51])

    assert felt is not None
    assert (felt["steps"], felt["first_step"], felt["last_step"]) == ([12, 40], 12, 40)
    assert unfelt is not None
    assert unfelt["steps"] == [25]


def test_hang_is_always_felt() -> None:
    """Whatever its steps took before."""
    hang = {"kind": "hang", "first_step": 30, "last_step": 30}

    assert split(hang, steps_of(np.zeros(60))) == (hang, None)
