"""Spatial: which node is special, why, and when none is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from core.nodes.sign import Sign, Suspicion, suspects
from core.nodes.spatial import SILENT
from tests.support.jobs import at, exited, four_nodes, job, lines, lost, raised, signs_of, steps, suspected, timed_out

DISK = raised("OSError: [Errno 5] Input/output error")


API = "7416 torch/distributed/elastic/multiprocessing/api.py"  # of torchrun


def signs(one: Job) -> dict[str, set[str]]:
    """Channels that point to each node."""
    found: dict[str, set[str]] = {}
    for sign in signs_of(one):
        found.setdefault(sign.node, set()).add(sign.channel)
    return found


def test_a_node_that_says_what_broke_is_the_suspect() -> None:
    """With the number of those that never said it."""
    diagnosis = diagnose(four_nodes({1: DISK}, usual=steps(9)), [])

    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-1"])
    assert "the other 3 nodes never did" in diagnosis.nodes[0].because
    assert diagnosis.nodes[0].ranks == (1,)


@pytest.mark.parametrize("said_by", [(0, 1, 2), (0, 1, 2, 3)])
def test_what_most_nodes_say_marks_no_node(said_by: tuple[int, ...]) -> None:
    """The same error nearly everywhere comes from what they share: code, settings, storage."""
    diagnosis = diagnose(four_nodes({n: raised("KeyError: 'lr'") for n in said_by}, usual=steps(9)), [])

    assert (diagnosis.scope, diagnosis.nodes) == (Scope.JOB, ())
    assert diagnosis.headline.endswith("; no node stands out.")


def test_a_variant_of_what_most_nodes_say_marks_no_node() -> None:
    """A traceback that was cut off on one node is the same failure."""
    said = {n: raised("KeyError: 'lr'") for n in range(3)} | {3: raised("KeyError: 'lr' was torn")}

    assert suspected(four_nodes(said, usual=steps(9))) == []


@pytest.mark.parametrize(
    ("exception", "expected"),
    [("KeyError: 'lr'", []), ("RuntimeError: CUDA error: uncorrectable ECC error encountered", ["node-0"])],
)
def test_a_single_node_is_special_only_by_its_hardware(exception: str, expected: list[str]) -> None:
    """There is nobody to compare it with; broken hardware needs no comparison."""
    one = job(
        {"node-0/rank_0.log": lines(*steps(5), *raised(exception))}, nodes=("node-0",), node_ranks={"node-0": (0,)}
    )

    assert suspected(one) == expected


def test_a_frozen_rank_is_named_when_all_others_time_out() -> None:
    """It says nothing, and nothing blames it: the time-outs of all others do."""
    diagnosis = diagnose(four_nodes({n: timed_out() for n in (0, 1, 3)}, usual=steps(9)), [])

    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-2"])
    assert "rank 2 on node-2 never complained; 3 of 4 ranks did" in diagnosis.nodes[0].because.lower()


def test_a_rank_that_loses_its_connection_after_the_time_outs_kept_the_others_waiting() -> None:
    """When a frozen process is woken up by its end it finds its peers gone."""
    said = {n: timed_out() for n in (0, 1, 3)} | {2: lost(0)}

    assert suspected(four_nodes(said, usual=steps(9))) == ["node-2"]


def test_when_everybody_times_out_nobody_is_silent() -> None:
    """The network between all of them, or a fault that no log shows."""
    diagnosis = diagnose(four_nodes({n: timed_out() for n in range(4)}, usual=steps(9)), [])

    assert diagnosis.nodes == ()
    assert diagnosis.scope in (Scope.UNKNOWN, Scope.JOB)


def test_one_complaint_makes_nobody_silent() -> None:
    """Of two nodes one times out: the other one may be silent for any reason."""
    files = {"node-0/rank_0.log": lines(*steps(3), *timed_out()), "node-1/rank_1.log": lines(*steps(3))}
    ranks = {"node-0": (0,), "node-1": (1,)}

    assert signs(job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=2)) == {}


def waiting(nodes: int, silent: tuple[int, ...]) -> Job:
    """Nodes of one rank each: all but the silent ones waited in vain."""
    ranks = {f"node-{n:02d}": (n,) for n in range(nodes)}
    files = {
        f"node-{n:02d}/rank_{n}.log": lines(*steps(3), *([] if n in silent else timed_out())) for n in range(nodes)
    }
    return job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=nodes)


def silence(one: Job) -> dict[str, float]:
    """Nodes by how much their silence weighs."""
    return {sign.node: sign.weight for sign in signs_of(one) if sign.channel == "silence"}


def test_two_silent_nodes_of_many_are_accused() -> None:
    """A switch took two with it: of 64 nodes so few are as telling as one."""
    two = waiting(64, (7, 50))

    assert silence(two) == {"node-07": SILENT, "node-50": SILENT}
    assert suspected(two) == ["node-07", "node-50"]


def test_two_silent_nodes_of_four_tell_less_than_one() -> None:
    """Half of the job may be silent for any reason."""
    two = waiting(4, (1, 2))

    assert set(silence(two)) == {"node-01", "node-02"}
    assert max(silence(two).values()) < SILENT
    assert suspected(two) == []


@pytest.mark.parametrize(("nodes", "few"), [(39, False), (40, True)])
def test_few_is_a_twentieth_of_the_nodes(nodes: int, few: bool) -> None:
    """Two of forty are, two of thirty-nine are not."""
    assert (min(silence(waiting(nodes, (3, 5))).values()) == SILENT) == few


@pytest.mark.parametrize(
    "said",
    [
        "ERROR dispatcher: node-2 reports exit code -9",
        "ERROR dispatcher: process on node-2 was killed by signal 9",
        "Warning OOMKilled pod/77-node-2 on node-2",
        "INFO switch kernel: port to node-2: link is down",
    ],
)
def test_what_the_scheduler_says_of_a_node_points_to_it(said: str) -> None:
    """The scheduler has no node of its own: a known fault that it tells is that of the node that it names."""
    told = four_nodes({}, usual=steps(9), others={"dispatcher.log": [at(10, said)]})

    assert signs(told) == {"node-2": {"named"}}
    assert suspected(told) == ["node-2"]


@pytest.mark.parametrize(
    "said",
    ["ERROR dispatcher: node-2 reports exit code 1", "INFO dispatcher: node-2 checked in", "ERROR node-2 is odd"],
)
def test_what_the_scheduler_says_of_the_end_points_to_nobody(said: str) -> None:
    """Reports of the end, of the start, and lines that nobody knows."""
    assert signs(four_nodes({}, usual=steps(9), others={"dispatcher.log": [at(10, said)]})) == {}


def test_broken_hardware_that_names_no_node_is_somewhere() -> None:
    """A part of one machine broke, which is no fault of the whole job; no log says whose part it was."""
    switch = {"dispatcher.log": [at(10, "INFO switch kernel: port to the seventh rack: link is down")]}

    diagnosis = diagnose(four_nodes({}, usual=steps(9), others=switch), [])

    assert (diagnosis.scope, diagnosis.nodes) == (Scope.UNKNOWN, ())
    assert diagnosis.headline.startswith("No log says on which node: a network link went down")


@pytest.mark.parametrize("reporter", [0, 2])
def test_who_reports_that_somebody_is_missing_is_not_accused(reporter: int) -> None:
    """The node of the store waited for clients that never came."""
    missing = raised("torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 3/4 joined.")

    diagnosis = diagnose(four_nodes({reporter: missing}, usual=["starting"]), [])

    assert f"node-{reporter}" not in [node.node for node in diagnosis.nodes]
    assert "never all met" in diagnosis.headline


def test_the_silent_majority_is_not_accused() -> None:
    """Two of eight ranks that complain say nothing of the six others."""
    files = {f"node-{n}/rank_{n}.log": lines(*steps(3), *(timed_out() if n < 2 else [])) for n in range(8)}
    ranks = {f"node-{n}": (n,) for n in range(8)}

    assert suspected(job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=8)) == []


def test_a_silence_tells_how_much_earlier_it_began() -> None:
    """The last word of the silent rank came before those of the others."""
    said = {n: [*steps(9), at(40, "x"), *timed_out()] for n in (0, 1, 3)} | {2: steps(9)}

    (suspect,) = diagnose(four_nodes(said), []).nodes

    assert "31 s before theirs" in suspect.because


def test_a_rank_that_is_behind_points_to_its_node() -> None:
    """All others completed two iterations more."""
    behind = four_nodes({n: steps(8 if n == 1 else 10) for n in range(4)})

    (sign,) = signs_of(behind)

    assert (sign.node, sign.channel) == ("node-1", "behind")
    assert sign.because == "rank 1 on node-1 completed iteration 8; the others reached 10."


def test_who_is_far_behind_the_others_only_lost_its_log() -> None:
    """Ranks of one job wait for each other: none goes on for ten iterations without another one."""
    assert not signs_of(four_nodes({n: steps(8 if n == 1 else 18) for n in range(4)}))


def test_when_half_of_the_ranks_are_behind_nobody_is() -> None:
    """The job ended in the middle of an iteration."""
    assert signs(four_nodes({n: steps(9 + n % 2) for n in range(4)})) == {}


def test_a_node_that_had_to_be_killed_was_frozen() -> None:
    """The processes of the others ended when they were told to."""
    told, forced = (
        "7416 torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers",
        f"{API}:1047] Unable to shutdown process 77 via 15, forcefully exiting via 9",
    )
    agents = {f"node-{n}/torchrun.log": [at(40, told)] for n in range(4)}
    agents["node-3/torchrun.log"] += [at(70, forced)]

    found = signs(four_nodes({n: timed_out() for n in (0, 1)}, usual=steps(9), others=agents))

    assert "stubborn" in found["node-3"]
    assert all("stubborn" not in channels for node, channels in found.items() if node != "node-3")


def test_a_node_of_which_no_rank_ever_spoke_is_missing() -> None:
    """A folder that is not there is evidence."""
    ranks = {f"node-{n}": (n,) for n in range(4)}
    files = {f"node-{n}/rank_{n}.log": lines("starting", *timed_out()) for n in range(3)}

    one = job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=4)

    assert "missing" in signs(one)["node-3"]
    assert suspected(one) == ["node-3"]


def test_a_node_whose_rank_was_killed_and_whose_peers_complain_is_established() -> None:
    """Direct trace, blame and silence agree."""
    killed = four_nodes(
        {n: lost(2) for n in (0, 1, 3)}, usual=steps(9), others={"node-2/torchrun.log": [exited(10, -9)]}
    )

    assert signs(killed)["node-2"] >= {"direct", "peers", "silence"}
    assert suspected(killed) == ["node-2"]


@pytest.mark.slow
@settings(deadline=None)  # a diagnosis each
@given(st.permutations(["gpu-17", "gpu-99", "gpu-01", "gpu-55"]))
def test_names_of_nodes_decide_nothing(names: list[str]) -> None:
    """Whatever the nodes are called, and however their names sort, the same one is accused."""
    files = {f"{names[n]}/rank_{n}.log": lines(*steps(5), *(timed_out() if n != 2 else [])) for n in range(4)}
    ranks = {names[n]: (n,) for n in range(4)}

    assert suspected(job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=4)) == [names[2]]


CHANNELS = st.sampled_from(["direct", "named", "peers", "silence", "behind"])
SIGNS = st.lists(
    st.builds(Sign, st.sampled_from(["a", "b", "c"]), CHANNELS, st.floats(0, 1), st.sampled_from(["x", "y"])),
    max_size=12,
)


@given(SIGNS.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_signs_add_up_whatever_their_order(orders: tuple[list[Sign], list[Sign]]) -> None:
    """Scores stay within 0..1, the strongest sign of a channel counts, ranks do not depend on the order of signs."""
    found, shuffled = orders

    ranked = suspects(found)

    assert ranked == suspects(shuffled)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    for one in ranked:
        assert 0 <= one.score <= 1
        assert len({sign.channel for sign in one.signs}) == len(one.signs)
        assert one.score >= max(sign.weight for sign in one.signs) - 1e-9


@given(SIGNS, st.builds(Sign, st.just("a"), CHANNELS, st.floats(0, 1), st.just("more")))
def test_one_more_sign_never_clears_a_node(found: list[Sign], more: Sign) -> None:
    """Evidence only adds."""
    assert _score(suspects([*found, more]), "a") >= _score(suspects(found), "a") - 1e-9


def _score(ranked: tuple[Suspicion, ...], node: str) -> float:
    return next((one.score for one in ranked if one.node == node), 0.0)
