"""Jobs of which no rule knows a word: what all complain of last concerns all of them."""

import pytest

from core.diagnose import diagnose
from core.job import Job
from core.model import Confidence, Scope
from tests.support.jobs import job, lines

FATAL = "[1,{rank}]<stderr>:gridfit: fatal: check_finite: loss is not finite, step 21"
STEP = "[1,{rank}]<stdout>:gridfit step {n} loss 2.5 read 0.1"


def ended(last: int = 20, behind: int = 0, ranks: int = 8) -> Job:
    """A log without a clock of ranks on two machines, which complain after step 20 and go on to the last one."""
    said = [f"[1,{rank}]<stdout>:rank {rank} on cn{rank // 4}" for rank in range(8)]
    for n in range(1, last + 1):
        said += [STEP.format(rank=rank, n=n) for rank in range(8)]
        said += [FATAL.format(rank=rank) for rank in range(ranks) if n == 20]
    said += [f"[1,{rank}]<stdout>:closing shard {n}" for n in range(behind) for rank in range(8)]
    return job({"gridfit.log": lines(*said)})


def test_what_all_complain_of_last_concerns_the_whole_job() -> None:
    """In words that nobody wrote down, and of which no clock tells when they were said."""
    found = diagnose(ended(), [])

    assert (found.scope, found.nodes, found.confidence) == (Scope.JOB, (), Confidence.WEAK)
    assert found.headline.startswith("All 2 nodes ended with “gridfit: fatal: check_finite: loss is not finite")


@pytest.mark.parametrize("one", [ended(last=40), ended(behind=30)], ids=["went on", "said much more"])
def test_what_did_not_end_the_job_is_not_told_so(one: Job) -> None:
    """A complaint after which all went on is none of the end."""
    assert "ended with “gridfit" not in diagnose(one, []).headline
