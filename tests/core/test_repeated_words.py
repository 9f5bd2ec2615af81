"""What a job said again and again while it stood still, of which no node stands apart."""

from core.diagnose import diagnose
from core.job import Status
from core.model import Diagnosis
from tests.support.jobs import at, four_nodes

LOCK = "data: lock /srv/run/packed_index/index.lock is taken, waiting"
# As slurmstepd of Slurm 23.11 and srun print them (src/slurmd/slurmstepd/req.c, src/srun/libsrun/launch.c)
ORDER = "slurmstepd: error: *** STEP 77.0 ON node-0 CANCELLED AT 2026-11-21T04:05:00 DUE TO TIME LIMIT ***"
TERMINATED = "srun: error: node-2: task 2: Terminated"


def stood_still(said: dict[float, str], early: str = "") -> Diagnosis:
    """The answer for a job that made 40 steps of a second, and no more until its time limit, 200 s later.

    Args:
        said: lines of the driver by the second.
        early: a line of it in each step.
    """
    logs: dict[int, list[str]] = {n: [] for n in range(4)}
    for step in range(1, 41):
        for n in range(4):
            logs[n].append(at(step, f"step {step} loss 2.5"))
    driver = [at(step + 0.5, early) for step in range(1, 41) if early]
    driver += [at(when, text) for when, text in sorted(said.items())]
    others = {"driver.log": driver, "slurm.out": [at(240, ORDER), *[TERMINATED] * 4]}
    return diagnose(four_nodes(logs, others=others, status=Status.CANCELLED), [])


def test_what_a_driver_repeats_while_all_stand_still_is_shown_first() -> None:
    """The driver waits for a lock, and all ranks for the driver: the lock is what to look at."""
    found = stood_still({float(when): LOCK for when in range(45, 240, 10)})

    assert found.events[0].lines[0].text.endswith(LOCK)
    assert f"While the job stood still, the job said \u201c{LOCK}\u201d, 20 times." in found.why


def test_what_it_always_said_is_not_what_it_waits_for() -> None:
    """A heartbeat goes on while nothing else does."""
    found = stood_still({float(when): LOCK for when in range(45, 240, 10)}, early=LOCK)

    assert not any("stood still" in sentence for sentence in found.why)


def test_what_was_over_soon_or_tells_of_the_end_is_not_what_it_waits_for() -> None:
    """Three tries at first, and how srun says that its tasks ended."""
    found = stood_still({45.0: LOCK, 46.0: LOCK, 47.0: LOCK})

    assert not any("stood still" in sentence for sentence in found.why)
