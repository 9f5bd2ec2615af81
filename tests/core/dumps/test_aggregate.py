"""A hang in which everybody communicates: the group that stands apart is named, as in the paper's figure 7."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Manifest, Status
from core.model import Diagnosis
from tests.support.jobs import log_file

C10D = "torch/distributed/distributed_c10d.py"
SYNC = f"    all_reduce ({C10D}:2810)\n    sync_gradients (train.py:90)\n"
RECEIVES = f"    recv ({C10D}:2400)\n    backward_step (schedules.py:31)\n"
GATHERS = f"    all_gather ({C10D}:3800)\n    backward (linear.py:12)\n"
NODES = {f"m{number:02d}": (2 * number, 2 * number + 1) for number in range(16)}


def answer(apart: dict[int, str]) -> Diagnosis:
    """TP 2, PP 4, DP 4 on 32 ranks, two a machine: who stands apart, by rank; all others in the gradients' sum."""
    dumps = tuple(
        log_file(
            f"dumps/pyspy_rank{rank}.txt",
            f'Process {100 + rank}: python\nThread {100 + rank} (idle): "MainThread"\n{apart.get(rank, SYNC)}'
            "    main (train.py:5)\n",
        )
        for rank in range(32)
    )
    manifest = Manifest(
        job_id="j1",
        status=Status.CANCELLED,
        world_size=32,
        nodes=tuple(NODES),
        node_ranks=NODES,
        parallel={"order": "tp-pp-dp"},
        extra={"parallel": {"tp": "2", "pp": "4", "dp": "4"}},
    )
    return diagnose(Job(manifest, (), dumps), [])


FIGURE_7 = {**dict.fromkeys(range(24, 30), RECEIVES), 30: GATHERS, 31: GATHERS}


def test_figure_7_names_the_pipeline_of_machines_12_to_15() -> None:
    """Its last stage hangs in a gather, the stages before it wait to receive, and all others wait for the sum."""
    found = answer(FIGURE_7)

    assert sorted(one.node for one in found.nodes) == ["m12", "m13", "m14", "m15"]
    assert "24 of 32 processes wait in all_reduce" in found.nodes[0].because


@pytest.mark.parametrize(
    "apart",
    [
        {0: RECEIVES, 9: GATHERS, 18: RECEIVES, 27: GATHERS},  # here and there
        dict.fromkeys(range(16, 32), RECEIVES),  # a tie
        {},
    ],
)
def test_what_no_small_group_holds_names_nobody(apart: dict[int, str]) -> None:
    """Neither does a tie, nor a job in which all stand in one place."""
    assert answer(apart).nodes == ()
