"""One metric of one machine, rank or job over time."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.logs.lines import NO_TIME
from core.model import Line

SECOND = 1_000_000  # microseconds
JOB = "job"  # who: the metric is of all of it


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """Samples of one metric in the order of their times.

    who: node, "rank 3", or ``JOB``. part: which of several of the same name on one node ("gpu 3"). label: as its file
    calls it. times: microseconds since the epoch, NO_TIME where unknown. iterations: as told beside values, else -1.
    lines: number of the line of each sample, 1 where the file has no lines of samples.
    """

    name: str
    who: str
    part: str
    label: str
    file: str
    times: NDArray[np.int64]
    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    iterations: NDArray[np.int64]

    @property
    def subject(self) -> str:
        """Whose it is: "node-3", "node-3 (gpu 5)"."""
        return f"{self.who} ({self.part})" if self.part else self.who

    def cite(self, at: int) -> Line:
        """A sample as a line of evidence, with the name of its series."""
        return Line(self.file, int(self.lines[at]), f"{self.label} = {self.values[at]:.6g}{self._when(at)}")

    def _when(self, at: int) -> str:
        time = int(self.times[at])
        when = f" at {np.datetime64(time, 'us')}"[:24] if time != NO_TIME else ""
        return when if self.iterations[at] < 0 else f"{when} (iteration {self.iterations[at]})"

    def between(self, first: int, last: int) -> "Metric":
        """The samples of a stretch of time."""
        inside = (self.times >= first) & (self.times <= last)
        return replace(
            self,
            times=self.times[inside],
            values=self.values[inside],
            lines=self.lines[inside],
            iterations=self.iterations[inside],
        )


def of_samples(
    name: str, who: str, part: str, label: str, file: str, samples: list[tuple[int, float, int, int]]
) -> Metric:
    """A metric of (time, value, line, iteration), in any order."""
    order = sorted(samples, key=lambda sample: (sample[0], sample[3], sample[2]))
    times, values, lines, iterations = zip(*order, strict=True)
    return Metric(
        name,
        who,
        part,
        label,
        file,
        np.array(times, np.int64),
        np.array(values, np.float64),
        np.array(lines, np.int64),
        np.array(iterations, np.int64),
    )


def span_of(table: EventTable) -> tuple[int, int] | None:
    """First and last moment of the logs; None where they have no clock."""
    first, last = table.spoke.first, table.spoke.last
    if not (first != NO_TIME).any():
        return None
    return int(first[first != NO_TIME].min()), int(last.max())
