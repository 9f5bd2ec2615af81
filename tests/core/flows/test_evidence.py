"""What flows tell of a job beside its logs: the named node becomes a suspect, and nothing is taken from other jobs."""

from datetime import timedelta

import pytest

from benchmarks.flow_sets import Fault, Layout, simulate
from core.diagnose import diagnose_parsed
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import table_from
from core.flows.topology import topology_from
from core.job import Job
from core.model import Diagnosis, Scope
from tests.support.jobs import START, at, four_nodes, parse, steps

FAULT = Fault("nic", 15, 39, 0.02, 0, 3)
STOP = at(400, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:06:40 DUE TO TIME LIMIT ***")


def flows(*faults: Fault, first_server: int = 0, days: float = 0.0) -> FlowsAnswer:
    start = (START + timedelta(days=days)).timestamp()
    layout = Layout(dp=4, pp=1, faults=faults, first_server=first_server, start=start)
    frame, topology, _ = simulate(layout)
    return analyse(table_from(frame, "made up"), topology_from(topology))


def hung_job() -> Job:
    """Four nodes that all stop at once in iteration 20, long before somebody ends the job; none says why."""
    addresses = {f"node-{n}": (f"10.0.{n}.10",) for n in range(4)}
    return four_nodes({0: [STOP]}, usual=steps(20), node_addresses=addresses)


def diagnosed(network: FlowsAnswer | None) -> Diagnosis:
    return diagnose_parsed(parse(hung_job()), network=network)


def test_the_flows_name_the_node_of_a_hung_job() -> None:
    """Logs alone name nobody; with the flows the node with the late link is the suspect, and its log is told silent."""
    alone, joined = diagnosed(None), diagnosed(flows(FAULT))

    assert (alone.scope, alone.nodes) == (Scope.JOB, ())
    assert joined.scope is Scope.NODE
    assert [node.node for node in joined.nodes] == ["node-3"]
    assert "its link is slow" in joined.headline
    assert "Steps 15 to 39 took longer" in joined.nodes[0].because
    assert joined.nodes[0].because.endswith("Its own log says nothing of it.")


def test_what_names_nobody_is_told_and_accuses_nobody() -> None:
    """A slowdown of all alike stands in the reasons."""
    alike = tuple(Fault("compute", 15, 30, 1.5, 0, replica) for replica in range(4))

    answer = diagnosed(flows(*alike))

    assert answer.nodes == ()
    assert [why for why in answer.why if "nobody stands out" in why and why.startswith("The network, J1:")]


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (flows(FAULT, first_server=500), "None of the 1 jobs in the flows"),
        (flows(FAULT, days=40), "another time"),
    ],
    ids=["other machines", "other days"],
)
def test_flows_of_something_else_change_nothing(network: FlowsAnswer, reason: str) -> None:
    """Flows without a NIC of this job, or of another month, are told as left out."""
    alone, joined = diagnosed(None), diagnosed(network)

    assert (joined.scope, joined.headline, joined.nodes, joined.why) == (alone.scope, alone.headline, (), alone.why)
    assert reason in next(skip.reason for skip in joined.skipped if skip.step == "network")
