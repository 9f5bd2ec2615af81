"""Who is slower than the others from the first iteration on: what it works longer is what all others wait."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from tests.support.jobs import at, job, lines

NODES = {f"farm-{letter}": (2 * n, 2 * n + 1) for n, letter in enumerate("abcd")}


def works_and_waits(
    slow: tuple[int, ...],
    *,
    work: float = 1.6,
    waits: bool = True,
    wait: str = "sync_s",
    form: str = "compute_s={:.3f}",
) -> Job:
    """Eight ranks, a file each, that print what they worked and waited in each step of the same length."""
    files = {}
    for rank in range(8):
        said = []
        for step in range(1, 31):
            noise = 0.001 * ((step * 37 + rank * 61) % 41)
            worked = (work if rank in slow else 1.1) + noise
            waited = f"{wait}={1.9 - worked:.3f} " if waits else ""
            said.append(at(2 * step, f"rank={rank} step={step} {form.format(worked)} {waited}step_s=1.900"))
        files[f"rank_{rank}.log"] = lines(*said)
    return job(files, nodes=tuple(NODES), node_ranks=NODES, world_size=8, status=Status.COMPLETED)


def told_at_the_end(totals: dict[str, tuple[int, int]]) -> Job:
    """A job that counts its rounds without a clock; each node tells once what it did in all."""
    said = [f"{node} starts round {n}" for n in range(1, 41) for node in totals]
    said += [f"{node} totals: compute {own} s, waiting {waited} s" for node, (own, waited) in totals.items()]
    return job({"out.log": lines(*said)}, nodes=tuple(totals), status=Status.CANCELLED)


@pytest.mark.parametrize("slow", [(4, 5), (4,)], ids=["a node", "a rank"])
def test_who_works_longer_by_as_much_as_the_others_wait_is_the_suspect(slow: tuple[int, ...]) -> None:
    """Nothing changes; the job completed, and took half as long again."""
    found = diagnose(works_and_waits(slow), [])

    assert [node.node for node in found.nodes] == ["farm-c"]
    assert found.confidence is Confidence.SUPPORTED
    assert "they wait for it by as much as it works longer" in found.nodes[0].because


@pytest.mark.parametrize(
    ("form", "wait"),
    [("gpu_s={:.3f}", "hvd"), ("gpu_s={:.3f}", "all-grads-sync"), ("gpu={:.3f}s", "stalled")],
)
def test_a_time_is_one_by_its_unit_whatever_else_its_name_may_mean(form: str, wait: str) -> None:
    """``gpu`` alone may be how busy it is, ``grads`` how large they are."""
    assert [node.node for node in diagnose(works_and_waits((4, 5), form=form, wait=wait), []).nodes] == ["farm-c"]


def test_a_stage_of_a_pipeline_that_works_longer_than_its_neighbours_is_not_accused() -> None:
    """The last stage has the loss as well, by design; its neighbours wait to receive."""
    assert diagnose(works_and_waits((4, 5), wait="recv_wait"), []).nodes == ()


def test_ranks_that_all_work_alike_accuse_nobody() -> None:
    """Noise is no level."""
    assert diagnose(works_and_waits(()), []).nodes == ()


def test_a_lone_rank_among_many_that_agree_needs_no_waits() -> None:
    """The first and the last rank do more than others in many programs."""
    assert [node.node for node in diagnose(works_and_waits((4,), waits=False), []).nodes] == ["farm-c"]
    assert diagnose(works_and_waits((0,), waits=False), []).nodes == ()


def test_what_each_tells_once_at_the_end_is_compared() -> None:
    """No clock, no step of which a time is told: the sums tell."""
    found = diagnose(
        told_at_the_end({"vega": (245, 220), "deneb": (243, 223), "sirius": (444, 22), "rigel": (242, 223)}), []
    )

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["sirius"])


@pytest.mark.parametrize(
    "sirius", [(246, 221), (444, 220), (243, 22)], ids=["alike", "works longer, waits as well", "only waits less"]
)
def test_sums_that_do_not_trade_work_for_waits_accuse_nobody(sirius: tuple[int, int]) -> None:
    """What is longer must be missing elsewhere."""
    others = {"vega": (245, 220), "deneb": (243, 223), "rigel": (242, 223)}

    assert diagnose(told_at_the_end({**others, "sirius": sirius}), []).nodes == ()


def by_rank(slow: int) -> Job:
    """A leader that lists a time of all ranks in one line, and no other."""
    said = []
    for step in range(5, 155, 5):
        said.append(at(step, f"step {step:5d} loss 2.5 1600 ms/step"))
        times = [1040 + (step * 7 + rank * 61) % 17 + (360 if rank == slow else 0) for rank in range(8)]
        said.append(at(step, f"  compute ms by rank: {' '.join(map(str, times))}"))
    return job({"train.out": lines(*said)}, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


def test_a_list_by_rank_is_no_rank_of_that_number() -> None:
    """The line has a column for each: by rank: 1043 1048."""
    assert [node.node for node in diagnose(by_rank(3), []).nodes] == ["farm-b"]
