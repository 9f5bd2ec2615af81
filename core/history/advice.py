"""How often to save, and how many nodes to hold ready."""

from dataclasses import dataclass
from math import exp, expm1

from scipy.special import bdtr

ENOUGH = 0.99  # of the times there are standbys enough (ByteRobust, section 6.2)
_LARGEST = 700.0  # e to that is near the largest float
_LONGEST = 20.0  # MTBFs: no best interval is longer


@dataclass(frozen=True, slots=True)
class Interval:
    """How long to train between two checkpoints, in seconds, and the ETTR of that."""

    seconds: float
    ettr: float


def ettr_of(seconds: float, *, mtbf: float, saving: float, restart: float) -> float:
    """ETTR of a save interval under exponential failures, also during restarts (Daly 2006); all in seconds."""
    exponent = (seconds + saving) / mtbf
    if max(exponent, restart / mtbf) > _LARGEST:
        return 0.0
    return seconds / (mtbf * exp(restart / mtbf) * expm1(exponent))


def best_interval(*, mtbf: float, saving: float, restart: float) -> Interval:
    """The interval with the highest ETTR; Young's square root is near it where failures are rare.

    Args:
        mtbf: seconds from failure to failure.
        saving: seconds that a checkpoint stops the training.
        restart: seconds from a failure to the first iteration.
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 takes a second to load, and few runs ask

    found = minimize_scalar(
        lambda seconds: -ettr_of(seconds, mtbf=mtbf, saving=saving, restart=restart),
        bounds=(1e-3, _LONGEST * mtbf),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return Interval(float(found.x), -float(found.fun))


def standbys(nodes: int, rate: float, hours: float) -> int:
    """The smallest number that holds with 99 %.

    Args:
        nodes: of the job.
        rate: failures a node-day.
        hours: until a standby that was used is replaced.
    """
    each = -expm1(-rate * hours / 24)
    return next(number for number in range(nodes + 1) if bdtr(number, nodes, each) >= ENOUGH)
