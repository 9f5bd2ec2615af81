"""Blame: whom raw lines name, by address, rank or name, and who is blamed and blames nobody."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from core.nodes.blame import Edge, Names, sinks
from core.parsing.identities import own_address, own_rank
from tests.support.jobs import four_nodes, job, lines, lost, parse, raised, signs_of, slurm, steps

NODES = [f"node-{n}" for n in range(6)]


def blamed(one: Job) -> set[str]:
    """Nodes that others name."""
    signs = signs_of(one)
    return {sign.node for sign in signs if sign.channel in ("peers", "named")}


def names(**manifest: Any) -> Names:
    one = four_nodes({}, usual=["hello"], **manifest)
    return Names(parse(one).table, one.manifest)


@pytest.mark.parametrize(
    ("said", "node"),
    [
        ("RuntimeError: [/gloo/pair.cc:534] Connection closed by peer [10.0.0.2]:4321", "node-2"),
        ("RuntimeError: [/gloo/pair.cc:534] Connection reset by peer, error [10.0.0.1]", "node-1"),
        ("torch.distributed.DistNetworkError: Connection closed by remote peer node-3<41234>", "node-3"),
        ("Ranks 2 failed to pass monitoredBarrier in 5000 ms", "node-2"),
        ("[ERROR] HCCL(77,python3): wait timeout, remote rank[1] did not answer", "node-1"),
    ],
)
def test_a_complaint_names_somebody(said: str, node: str) -> None:
    """Addresses, names and ranks in raw lines become nodes."""
    assert blamed(four_nodes({0: raised(said)}, usual=steps(3))) == {node}


@pytest.mark.parametrize(
    "said",
    [
        "RuntimeError: [/gloo/pair.cc:534] Connection closed by peer [172.16.0.99]:4321",
        "RuntimeError: [/gloo/pair.cc:534] Connection closed by peer [10.0.0.0]:4321",
        "RuntimeError: Timed out waiting 25000ms for recv operation to complete",
        "RuntimeError: notify wait timeout from rank 99",
        "RuntimeError: wait timeout after 30 s, device[2] is gone",
    ],
)
def test_who_cannot_be_named_is_not_blamed(said: str) -> None:
    """A stranger's address, the speaker's own, no address at all, an impossible rank, a device without its host."""
    assert blamed(four_nodes({0: raised(said)}, usual=steps(3))) == set()


def test_nobody_is_named_by_itself() -> None:
    """A daemon that talks of its own node accuses nobody."""
    daemon = [slurm(3, "error: Nodes node-0 not responding")]

    assert blamed(four_nodes({}, usual=steps(3), others={"node-0/slurmd.log": daemon})) == set()
    assert blamed(four_nodes({}, usual=steps(3), others={"node-1/slurmd.log": daemon})) == {"node-0"}


def test_the_scheduler_names_a_lost_node() -> None:
    """What the controller says of a node is said by nobody of the job's own; the node is the suspect."""
    controller = [slurm(13, "error: Nodes node-2 not responding, setting DOWN")]

    diagnosis = diagnose(four_nodes({}, usual=steps(9), others={"slurmctld.log": controller}), [])

    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-2"])
    assert "The scheduler says of node-2" in diagnosis.nodes[0].because


def test_the_scheduler_names_a_node_that_wrote_no_log() -> None:
    """Where no job.json says which nodes there are, a name that looks like one is one; else it is a stranger's."""
    files = {
        "slurm-77.out": lines(*steps(9)),
        "slurmctld.log": "[2026-11-21T04:00:10.554] error: Nodes cn042 not responding, setting DOWN\n",
    }

    diagnosis = diagnose(job(files), [])

    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["cn042"])
    assert diagnosis.headline.startswith("Look at cn042: ")
    assert diagnose(job(files, nodes=("cn001", "cn002")), []).nodes == ()
    assert [node.node for node in diagnose(job(files | {"cn041/rank_0.log": lines(*steps(9))}), []).nodes] == ["cn042"]
    assert diagnose(job(files | {"gpu-7/rank_0.log": lines(*steps(9))}), []).nodes == ()


def test_the_logs_themselves_tell_addresses() -> None:
    """Without addresses in job.json a speaker's own line gives them."""
    said = {n: [f"node-{n}:77:99 [0] NCCL INFO NET/Socket : Using [0]eth0:10.1.1.{n}<0>"] for n in range(4)}
    said[0] += raised("RuntimeError: Connection closed by peer [10.1.1.3]:4321")

    assert blamed(four_nodes(said, usual=steps(3), node_addresses={})) == {"node-3"}


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("node-2", "node-2"),
        ("node-2.cluster.example", "node-2"),
        ("10.0.0.2", "node-2"),
        ("node-22", None),
        ("10.0.0.22", None),
        ("", None),
    ],
)
def test_a_node_goes_by_several_names(name: str, node: str | None) -> None:
    """Its own, its long one, its address; and by nothing else."""
    assert names().node(name) == node


def test_addresses_are_not_cut_at_their_dots() -> None:
    """10.0.0.1 is not a long name of a host 10."""
    named = names(nodes=("10.0.0.1", "10.0.0.2"), node_ranks={}, node_addresses={})

    assert named.node("10.0.0.1") == "10.0.0.1"
    assert named.node("10") is None
    assert named.node("10.0.0.3") is None


def test_what_job_json_says_comes_before_what_logs_say() -> None:
    """Addresses inside of a container may belong to somebody else outside."""
    named = names()
    named.learn({"10.0.0.2": "node-0", "192.168.0.9": "node-3"}, {1: "node-3", 7: "node-0"}, {})

    assert (named.node("10.0.0.2"), named.node("192.168.0.9")) == ("node-2", "node-3")
    assert (named.of_rank(1), named.of_rank(7), named.of_rank(8)) == ("node-1", "node-0", None)


def test_a_rank_that_job_json_does_not_place_is_placed_by_its_log() -> None:
    """The folder that a rank writes to is its node."""
    assert names(node_ranks={}).of_rank(3) == "node-3"


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("Local node IP: 10.0.0.7", "10.0.0.7"),
        ("NCCL INFO NET/Socket : Using [0]eth0:10.0.0.7<0>", "10.0.0.7"),
        ("NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>", "10.0.0.7"),
        ("NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.7<0>", "10.0.0.7"),
        ("connected to 10.0.0.7", None),
        ("remote ip: 10.0.0.7", None),
    ],
)
def test_a_speaker_may_tell_its_own_address(line: str, address: str | None) -> None:
    """Only where the line says that it is the speaker's."""
    assert own_address(line) == address


def test_a_speaker_may_tell_its_own_rank() -> None:
    """Ascend and torch print it once, at the start."""
    assert own_rank("SetupAgent rankNum[8], rank[5]") == 5
    assert own_rank("initialized process group: rank 3/8") == 3
    assert own_rank("waiting for rank 3") is None


def edge(reporter: str, blamed_one: str) -> Edge:
    return Edge(reporter, blamed_one, 0)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], {}),
        ([("a", "d"), ("b", "d"), ("c", "d")], {"d": 3}),
        ([("a", "b"), ("b", "c")], {"c": 1}),
        ([("a", "b"), ("b", "a")], {}),
        ([("a", "b"), ("b", "c"), ("c", "a")], {}),
        ([("a", "b"), ("b", "a"), ("a", "d")], {"d": 1}),
        ([("a", "c"), ("a", "d")], {"c": 1, "d": 1}),
    ],
)
def test_who_is_blamed_and_blames_nobody_is_the_sink(edges: list[tuple[str, str]], expected: dict[str, int]) -> None:
    """A chain ends at its sink; a cycle of blame has none and accuses nobody."""
    assert sinks([edge(*pair) for pair in edges]) == expected


@given(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20))
def test_a_sink_never_blames(pairs: list[tuple[str, str]]) -> None:
    """Whatever is said, sinks are blamed and silent, each reporter counts once, and repeating it changes nothing."""
    edges = [edge(*pair) for pair in pairs]

    found = sinks(edges)

    for node, count in found.items():
        assert all(reporter != node for reporter, _ in pairs)
        assert count == len({reporter for reporter, named in pairs if named == node}) > 0
    assert sinks(edges * 3) == found
    assert list(found) == sorted(found)


def test_peers_blame_the_sink() -> None:
    """Two nodes lost their connection to a third, which lost one to the node that died."""
    said = {0: lost(1), 3: lost(1), 1: lost(2)}

    diagnosis = diagnose(four_nodes(said, usual=steps(9)), [])

    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-2"])


def test_a_cycle_of_blame_accuses_nobody() -> None:
    """Both ends of a broken line blame each other; the logs do not tell whose end it was."""
    diagnosis = diagnose(four_nodes({0: lost(1), 1: lost(0)}, usual=steps(9)), [])

    assert (diagnosis.scope, diagnosis.nodes) == (Scope.UNKNOWN, ())


def test_a_machine_without_a_log_that_all_others_lost_is_named_where_nobody_lists_the_nodes() -> None:
    """It is called like the others, but for its domain."""
    closed = "misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer gpu-c4.cluster<41523>"
    files = {f"gpu-c{n}.log": lines(*steps(9), closed) for n in (2, 3, 7)}

    assert [node.node for node in diagnose(job(files), []).nodes] == ["gpu-c4"]


@pytest.mark.parametrize(
    ("said", "node"),
    [
        ("ERROR node-0 dispatcher: node-1 declared dead", "node-1"),
        ("lost contact with node-2 from node-0", "node-2"),
        ("node-3 kernel: NVRM: Xid 79", "node-3"),
        ("nobody is named", None),
    ],
)
def test_a_line_speaks_of_whom_it_names_behind_its_speaker(said: str, node: str | None) -> None:
    """Syslog puts the speaker before the first colon; a line that names nobody else speaks of that one."""
    assert names().mentioned(said) == node


def test_the_number_of_a_process_is_known_where_nodes_tell_theirs() -> None:
    """``process 1/3 on gpu-b`` in each log; JAX's coordination service says task 1."""
    named = names(node_ranks={})
    named.learn({}, {}, {("process", 7): "node-2", ("round", 8): "node-3"})

    assert (named.of_rank(7), named.of_rank(8)) == ("node-2", None)


def test_a_pod_that_never_started_is_a_node_of_its_job() -> None:
    """No log of it is there; events of Kubernetes name it (kubelet, pkg/kubelet/images, 1.29)."""
    events = [f"2026-11-21T04:0{n}:57Z   Warning   Failed   pod/titan-worker-2   Error: ErrImagePull" for n in range(3)]
    pods = {f"titan-worker-{n}.log": lines(*steps(2)) for n in range(2)}

    assert blamed(job(pods | {"events.txt": lines(*events)})) == {"titan-worker-2"}


def test_a_process_is_the_pod_of_that_number() -> None:
    """JAX counts processes, and a JobSet its pods, before their random ends."""
    pods = {f"mt-slice-job-0-{n}-{end}.log": lines(*steps(2)) for n, end in enumerate(("2mmtp", "twvms", "fzbm8"))}
    called = names(nodes=(), node_ranks={}, node_addresses={})
    of_pods = Names(parse(job(pods)).table, job(pods).manifest)

    assert of_pods.of_process(1) == "mt-slice-job-0-1-twvms"
    assert called.of_process(9) is None


def test_what_files_are_called_after_is_another_name_of_their_node() -> None:
    """Events name pods, job.json and the lines name machines."""
    said = {f"sft-worker-{n}.log": lines(f"hello from node-{n}", *steps(3)) for n in range(3)}
    event = "2026-10-01T01:42:32Z  Warning  Evicted  pod/sft-worker-1  The node was low on resource: ephemeral-storage."

    found = parse(job(said | {"events.txt": lines(event)}, nodes=("node-0", "node-1", "node-2")))

    assert Names(found.table, found.job.manifest).node("sft-worker-1") == "node-1"


def test_a_list_of_pods_tells_on_which_machine_each_runs() -> None:
    """Events of Kubernetes name machines, and the files are called after pods."""
    said = {f"sft-worker-{n}.log": lines(*steps(3)) for n in range(3)}
    pods = [
        "NAME           READY   STATUS   RESTARTS     AGE   IP            NODE",
        *(
            f"sft-worker-{n}   0/1     Error    {n} (5m ago)   12m   10.101.1.1{n}   gke-pool-7{n}d9-hmj{n}"
            for n in range(3)
        ),
    ]

    found = parse(job(said | {"pods.txt": lines(*pods)}))

    assert Names(found.table, found.job.manifest).node("gke-pool-71d9-hmj1") == "sft-worker-1"


def test_a_pod_that_never_started_is_named_though_files_have_more_in_their_names() -> None:
    """Namespace and container stand around the pods in the names of files (kubernetes/kubectl, kubectl events)."""
    event = (
        "2026-10-16T09:51:19Z   Warning  Failed   pod/job-worker-1   Failed to pull image "
        '"registry.example/train:1": no space left on device'
    )
    files = {f"research_job-worker-{n}_pytorch.log": lines(f"start {n}", "waiting for others") for n in (0, 2, 3)}

    assert {node.node for node in diagnose(job({**files, "events.txt": lines(event)}), []).nodes} == {"job-worker-1"}
