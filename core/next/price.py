"""What an action costs in node-hours, with the numbers that it is made of."""

from dataclasses import dataclass

from core.model import Cost

HOUR = 3600.0  # seconds
TEST_HOURS = 24.0  # that an evicted node spends in tests; half of StepFun's repairs took longer than 20 h
LEVEL_2 = 120.0  # seconds of dcgmi diag --run 2, as NVIDIA says
REPLAYS = 5  # runs a phase: a fault that half of the runs show is seen in both phases in 94 % of cases
NOTHING = Cost(0.0, "Costs nothing: the job goes on.")


def restart(total: int | None, startup: float | None, redo: float | None) -> Cost:
    """All nodes wait for the start, and compute again what no checkpoint holds."""
    if total is None:
        return Cost(None, "A restart; how many nodes wait for it, the logs do not tell.")
    known = [value for value in (startup, redo) if value is not None]
    if not known:
        return Cost(None, f"A restart of {_nodes(total)}; how long a start takes, the logs do not tell.")
    start = "start unknown" if startup is None else f"start {seconds(startup)}"
    again = "what must be computed again is unknown" if redo is None else f"to compute again {seconds(redo)}"
    return Cost(total * sum(known) / HOUR, f"A restart of {_nodes(total)}: {start}, {again}.")


def checks(total: int | None) -> Cost:
    """All nodes are idle while the checks of two minutes run."""
    if total is None:
        return Cost(None, "Two minutes of diagnostics on each node.")
    return Cost(total * LEVEL_2 / HOUR, f"Two minutes of diagnostics while {_nodes(total)} wait{'s' * (total == 1)}.")


def replay(total: int | None, startup: float | None) -> Cost:
    """Two phases of several runs, all groups side by side; a run takes a start at least."""
    if total is None or startup is None:
        return Cost(None, f"Two phases of {REPLAYS} runs on all nodes; how long a start takes, the logs do not tell.")
    return Cost(2 * REPLAYS * total * startup / HOUR, f"At least {2 * REPLAYS} starts of {_nodes(total)}.")


@dataclass(frozen=True, slots=True)
class OverEviction:
    """To take out a whole group with its healthy nodes, or to find the faulty one first, in node-hours.

    even: minutes of finding at which both cost the same.
    """

    evicting: float
    finding: float
    even: float

    @property
    def cheaper(self) -> bool:
        """Whether to take out the group costs less."""
        return self.evicting < self.finding


def over_eviction(total: int, group: int, locating: float, *, test_hours: float = TEST_HOURS) -> OverEviction:
    """The price of evicting a group (ByteRobust, section 9): healthy nodes in tests against all nodes that wait.

    Args:
        total: nodes of the job.
        group: nodes of the group, of which one is faulty.
        locating: minutes that it takes to find it.
        test_hours: hours that an evicted node is tested.
    """
    evicting = (group - 1) * test_hours
    return OverEviction(evicting, total * locating / 60, evicting / total * 60)


def seconds(value: float) -> str:
    """A time for a sentence: "45 s", "12 min", "3.4 h"."""
    if value < 2 * 60:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 2 * HOUR else f"{value / HOUR:.1f} h"


def _nodes(total: int) -> str:
    return "1 node" if total == 1 else f"{total:,} nodes"
