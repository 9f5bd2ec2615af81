"""A scheduler's log of the whole cluster beside one job's own."""

from core.diagnose import diagnose
from core.job import Job
from tests.support.jobs import four_nodes, judged, slurm, steps

KILLED = "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={} uid 2210"


def beside(*controller: str, own: str = "900353") -> Job:
    """A job whose nodes lose one of them, and what the controller said of it and of others."""
    return four_nodes({}, usual=steps(30), others={"slurmctld.log": controller}, job_id=own)


def test_who_cancelled_another_job_did_not_stop_this_one() -> None:
    """The node that does not answer did."""
    one = beside(
        slurm(5, KILLED.format(491663)),
        slurm(200, "error: Nodes node-2 not responding, setting DOWN"),
        slurm(201, "Killing JobId=900353 on failed node node-2"),
    )

    assert [node.node for node in diagnose(one, []).nodes] == ["node-2"]
    assert not any("REQUEST_KILL_JOB" in candidate.text for candidate in judged(one))


def test_the_order_to_stop_this_one_stays() -> None:
    """Told among those of others."""
    one = beside(slurm(5, KILLED.format(491663)), slurm(31, KILLED.format(900353)))
    orders = [candidate for candidate in judged(one) if "REQUEST_KILL_JOB" in candidate.text]

    assert [len(order.rows) for order in orders] == [1]


def test_its_id_may_stand_in_its_allocation_only() -> None:
    """Folders are called as people like."""
    allocated = slurm(0, "sched: Allocate JobId=77123 NodeList=node-0,node-1,node-2,node-3 #CPUs=64 Partition=batch")
    one = beside(allocated, slurm(5, KILLED.format(491663)), slurm(31, KILLED.format(77123)), own="my-run")

    assert [len(item.rows) for item in judged(one) if "REQUEST_KILL_JOB" in item.text] == [1]


def test_where_nobody_knows_the_id_all_are_kept() -> None:
    """One of them may be this one's."""
    one = beside(slurm(5, KILLED.format(491663)), slurm(31, KILLED.format(77123)), own="my-run")

    assert [len(item.rows) for item in judged(one) if "REQUEST_KILL_JOB" in item.text] == [2]
