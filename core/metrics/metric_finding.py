"""What metrics tell: a claim about a node, a rank or the whole job."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.metrics.series import SECOND, Metric
from core.model import Line, MetricEvidence

MAX_POINTS = 400  # of a picture; more cannot be told apart
_CLOCK = slice(11, 19)  # of an ISO date: its clock


class Says(StrEnum):
    """What kind of claim it is."""

    DEVICE = "device"  # the device of one node reports its own fault
    APART = "apart"  # one node leaves its peers
    ENDS = "ends"  # the metrics of one node end, those of the others go on
    STANDS = "stands"  # no traffic, and no progress
    NUMBERS = "numbers"  # a loss or gradient norm that is no number any more, or does not come back
    SPIKE = "spike"  # the same, and it came back
    PACE = "pace"  # slower for good


ALARMS = (Says.NUMBERS, Says.STANDS)  # of the whole job, and worth a headline


@dataclass(frozen=True, slots=True)
class MetricFinding:
    """A claim with its number. who: the node or rank, empty of the whole job; weight: as in ``core.nodes.sign``.

    says: what broke, a clause. peers: the middle of the others at the same moments, for the picture.
    """

    kind: Says
    who: str
    weight: float
    because: str
    says: str
    lines: tuple[Line, ...]
    metric: Metric
    since: int
    peers: tuple[float, ...] = ()

    def evidence(self, number: int) -> MetricEvidence:
        """The finding for the reader, with what its picture shows."""
        every = max(1, -(-len(self.metric.times) // MAX_POINTS))
        return MetricEvidence(
            id=f"M{number}",
            score=self.weight,
            because=self.because,
            lines=self.lines,
            metric=self.metric.name,
            who=self.metric.subject,
            since=self.since if self.since >= 0 else None,
            times=tuple(self.metric.times[::every].tolist()),
            values=tuple(self.metric.values[::every].tolist()),
            peers=self.peers[::every],
        )


def clock(time: int) -> str:
    """The clock of a moment, for a sentence."""
    return str(np.datetime64(time // SECOND, "s"))[_CLOCK]
