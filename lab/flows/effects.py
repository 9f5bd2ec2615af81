"""What a fault did to the steps of its job by the trainers' own clocks, beside what these do by themselves.

A fault is drawn by the work of its job, but a pipeline may have slack for it, a link may be wider than its traffic, and
ranks on a busy machine differ by more than it. What no clock of the job can tell from noise is no fault to find.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of a usual step, by which the steps of a lasting fault are longer at least, and deviations of the difference between
# two medians. Stretches placed by chance in twelve healthy jobs of d01 to d12 and of the lab were longer by .07 in one
# of twenty (the middle of the jobs; .005 to .47), and by 2.3 deviations (docs/LOG.md)
LONGER, DEVIATIONS = 0.08, 3.0
# Of a job's steps without a fault, that a stalled one is longer than: those of the same healthy jobs were longer than
# their neighbours by .11 to .57 in one of twenty, .22 in the middle of the jobs (docs/LOG.md)
BEYOND = 0.95
NEIGHBOURS = 16  # steps that one is compared with, as score and program do
SETTLED = 0.25  # last part of a drift that tells how far it came
DEVIATION, OF_MEDIAN = 1.4826, 1.2533  # of a normal distribution: in median absolute deviations, of the median itself


def split(
    fault: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], written: Collection[int] = ()
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """A fault as far as the steps of its job show it, and as far as they do not; None for nothing of it.

    Args:
        fault: of truth.json, with a number in place of each step.
        steps: of its job, with ``sync``: when the last rank left the communication of its data.
        written: steps that a checkpoint made longer.
    """
    if fault["kind"] == "hang":
        return dict(fault), None
    lengths = np.diff([step["sync"] for step in steps], prepend=np.nan)
    usable = np.isfinite(lengths)
    usable[[step for step in written if step < len(steps)]] = False
    if fault["kind"] == "stall":
        return _stalls(fault, lengths, usable)
    longer, deviations = _lasting(fault, lengths, usable)
    told = dict(fault) | {"effect": {"longer": round(longer, 3), "deviations": round(deviations, 1)}}
    return (told, None) if longer >= LONGER and deviations >= DEVIATIONS else (None, told)


def _lasting(fault: Mapping[str, Any], lengths: NDArray[np.float64], usable: NDArray[np.bool_]) -> tuple[float, float]:
    """By how much of a usual step the steps of a fault are longer, and in deviations of that difference."""
    inside = np.zeros(len(lengths), bool)
    first, last = fault["first_step"], min(fault["last_step"], len(lengths) - 1)
    inside[first : last + 1] = True
    outside = ~inside
    if fault["kind"] == "drift":
        inside[: last + 1 - max(1, round(SETTLED * (last + 1 - first)))] = False
    within, without = lengths[inside & usable], lengths[outside & usable]
    if not len(within) or not len(without):
        return 0.0, 0.0
    usual = float(np.median(without))
    rise = float(np.median(within)) - usual
    error = OF_MEDIAN * float(np.hypot(_spread(within) / len(within) ** 0.5, _spread(without) / len(without) ** 0.5))
    return rise / usual, rise / max(error, 1e-9)


def _stalls(
    fault: Mapping[str, Any], lengths: NDArray[np.float64], usable: NDArray[np.bool_]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Each stalled step by itself, beside all that neither stalled nor followed one that did."""
    stalled = [step for step in fault["steps"] if step < len(lengths) and np.isfinite(lengths[step])]
    quiet = usable.copy()
    quiet[[near for step in stalled for near in (step, step + 1) if near < len(lengths)]] = False
    places = np.flatnonzero(quiet)
    usually = np.array([_longer(lengths, places[places != step], step) for step in places.tolist()])
    parts: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
    for step in stalled:
        longer = _longer(lengths, places, step)
        parts[bool((usually < longer).mean() > BEYOND)].append((step, round(longer, 3)))
    told = [
        dict(fault)
        | {"steps": [step for step, _ in part], "first_step": part[0][0], "last_step": part[-1][0]}
        | {"effect": {"longer": [longer for _, longer in part]}}
        if (part := parts[felt])
        else None
        for felt in (True, False)
    ]
    return told[0], told[1]


def _longer(lengths: NDArray[np.float64], others: NDArray[np.int64], step: int) -> float:
    """By how much of the middle of its neighbours a step is longer than that."""
    near = others[np.argsort(np.abs(others - step), kind="stable")[:NEIGHBOURS]]
    return float(lengths[step] / np.median(lengths[near]) - 1) if len(near) else 0.0


def _spread(values: NDArray[np.float64]) -> float:
    return DEVIATION * float(np.median(np.abs(values - np.median(values))))
