"""Who held a job up that raised no error: by durations, stacks that cannot be read, launchers that never report."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.phrase import phrase, without_head
from core.model import Confidence, Scope
from tests.support.jobs import at, four_nodes, job, lines, lost, raised, saves, signs_of, slurm, suspected, timed_out


@pytest.mark.parametrize("status", [Status.RUNNING, Status.UNKNOWN])
def test_a_rank_that_does_not_end_what_the_others_ended_is_named_though_nobody_tells_how_the_job_ended(
    status: Status,
) -> None:
    """In words of no known program; the logs end with the job, so no clock tells for how long it stood still."""
    found = diagnose(four_nodes(saves({2: 3}), status=status), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert found.confidence is Confidence.WEAK
    assert (
        "said \u201cdumping tensors of step 40\u201d and never came to \u201cdumped tensors of step …\u201d"
        in found.nodes[0].because
    )
    assert "; 3 of 4 ranks did." in found.nodes[0].because


def test_the_only_rank_with_work_of_its_own_is_named_when_all_wait_for_it() -> None:
    """Rank 0 alone tells that the tensors are dumped; the last time it does not, and the job hangs."""
    said = saves({0: 3}, speaks=(0,))
    order = [slurm(60, "error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:00 ***")]

    found = diagnose(four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["node-0"]
    assert "all came so far, and only it had something left to do" in found.nodes[0].because


@pytest.mark.parametrize("ends", [{}, {1: 3, 2: 3}, {0: 3, 1: 3, 2: 3, 3: 3}])
def test_work_that_most_left_open_names_nobody(ends: dict[int, int]) -> None:
    """The logs may have been copied in the middle of it."""
    assert diagnose(four_nodes(saves(ends), status=Status.RUNNING), []).nodes == ()


def test_who_lost_its_connection_while_the_others_timed_out_was_not_silent() -> None:
    """One of those that gave up closed it."""
    clocks = [at(n, f"step {n} loss 2.5") for n in range(1, 6)]
    said = {n: [*clocks, *(at(30, line) for line in (lost(3) if n == 1 else timed_out()))] for n in range(4)}

    assert diagnose(four_nodes(said), []).nodes == ()


def test_a_node_whose_rank_nobody_knows_may_be_the_silent_one() -> None:
    """It said hello and nothing else; only the others' tracebacks tell their ranks."""
    said = {n: [f"[rank{n}]: {line}" for line in raised(timed_out()[-1])] for n in (0, 1, 3)}
    files = {f"node-{n}/train.log": lines(at(1, "hello"), *said.get(n, [])) for n in range(4)}

    assert suspected(job(files, nodes=tuple(f"node-{n}" for n in range(4)))) == ["node-2"]


def test_few_complaints_before_a_stop_leave_the_job_hanging() -> None:
    """The node that is cut off loses its store; the others wait on until somebody cancels the job."""
    said = {n: [at(k * 0.2, f"step {k} loss 2.5") for k in range(1, 34)] for n in range(4)}
    poll = "[c10d] waitForInput: poll for socket SocketImpl(fd=3) returned 0, likely a timeout"
    store = f"[W1121 04:00:12.101 socket.cpp:469] {poll}"
    said[3] += [at(12, store)]
    order = [at(40, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:40 ***")]
    codes = {"node-0": 1, "node-1": 1, "node-2": 1, "node-3": -9}

    found = diagnose(four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED, exit_codes=codes), [])

    assert [node.node for node in found.nodes] == ["node-3"]
    assert "the job hung" in found.headline


def test_those_who_say_last_that_they_wait_tell_the_end() -> None:
    """No job.json tells one: from the last progress to the last word is how long they waited."""
    said = {n: [at(k * 0.8, f"tick {4 * k}/? energy 0.5") for k in range(1, 12)] for n in range(4)}
    for n in (0, 1, 3):
        said[n] += [at(8.8 + wait, f"still waiting for a neighbour, {wait} s") for wait in (3, 6, 12)]
    files = {f"r-{name}.log": lines(*said[n]) for n, name in enumerate(("ams", "fra", "lon", "mad"))}

    found = diagnose(job(files, status=Status.UNKNOWN), [])

    assert [node.node for node in found.nodes] == ["r-lon"]
    assert "the job hung" in found.headline


def test_a_node_that_spoke_without_a_label_is_not_missing() -> None:
    """The first rank prints no label; it said as much as the others."""
    said = {0: "loss 2.5", 1: "[rank1] loss 2.5", 2: "[rank2] loss 2.5", 3: "[rank3] loss 2.5"}
    files = {f"node-{n}.log": lines(*(at(k, f"INFO {text}") for k in range(20))) for n, text in said.items()}
    nodes = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert not any("left any log" in node.because for node in found.nodes)


def test_expired_credentials_concern_all() -> None:
    """Whoever uploads first is told."""
    expired = raised(
        "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: "
        "The provided token has expired."
    )

    assert diagnose(four_nodes({1: expired}), []).scope is Scope.JOB


@pytest.mark.parametrize(
    ("named", "accused"),
    [("3", ["node-3"]), ("2, 3", []), ("0, 1, 2, 3", [])],
    ids=["one", "of two nodes", "all"],
)
def test_an_exception_that_all_relay_is_of_the_ranks_that_it_names(named: str, accused: list[str]) -> None:
    """torch.distributed.checkpoint raises on every rank what failed on some; those of several nodes are the job's."""
    relayed = [
        "Traceback (most recent call last):",
        '  File "/opt/torch/distributed/checkpoint/utils.py", line 250, in all_gather',
        "    raise CheckpointException(step, node_failures)",
        f"torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([{named}])",
        "Traceback (most recent call last): (RANK 3)",
        '  File "/opt/torch/distributed/checkpoint/filesystem.py", line 400, in _write_item',
        "    stream.write(data)",
        "OSError: [Errno 28] No space left on device",
    ]

    assert suspected(four_nodes(dict.fromkeys(range(4), relayed))) == accused


def test_a_machine_whose_name_ends_like_that_of_a_daemon_trains() -> None:
    """flow-a to flow-d, a file each: the last one is no daemon, and the one that stands still is another."""
    said = saves({1: 3})
    files = {f"flow-{'abcd'[rank]}.err": lines(*texts) for rank, texts in said.items()}

    for known in ({"nodes": ("flow-a", "flow-b", "flow-c", "flow-d")}, {}):
        found = diagnose(job(files, status=Status.UNKNOWN, **known), [])
        assert [node.node for node in found.nodes] == ["flow-b"]


def test_of_two_nodes_the_one_that_did_not_end_what_the_other_ended_holds_it_up() -> None:
    """Half of all ranks; the others ended it, every one."""
    read = [line for n in range(8) for line in (at(n, f"open shard {n}"), at(n + 0.1, f"read shard {n}, 2000 bytes"))]
    steps = [at(n + 0.5, f"step {n} loss 2.5") for n in range(8)]
    own = sorted((*read, *steps))
    files = {
        f"{host}/rank_{rank}.log": lines(
            *own, at(8, "open shard 8"), *([at(8.1, "read shard 8, 2000 bytes")] if host == "a" else [])
        )
        for rank, host in enumerate(("a", "a", "b", "b"))
    }
    files["slurm.out"] = (
        at(60, "slurmstepd: error: *** STEP 7.0 ON a CANCELLED AT 2026-11-21T04:01:00 DUE TO TIME LIMIT ***") + "\n"
    )
    one = job(dict(files), nodes=("a", "b"), node_ranks={"a": (0, 1), "b": (2, 3)}, world_size=4)

    assert suspected(one) == ["b"]


def test_what_a_launcher_says_of_most_nodes_marks_none() -> None:
    """pdsh reports the same exit code of each."""
    says = [f"pdsh@login1: node-{n}: train exited with exit code 134" for n in range(4)]
    found = diagnose(four_nodes({}, usual=[at(1, "start")], others={"pdsh.out": says}), [])

    assert found.nodes == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<TS> [gcn02:2] vit_ft: open shard train-0063.tar", "vit_ft: open shard train-0063.tar"),
        ("| INFO     | __main__:<module>:53 - writing snapshot", "writing snapshot"),
        ("INFO: open part <NUM>", "open part \u2026"),
        ("[3/8] CXX main.o", "CXX main.o"),
    ],
)
def test_a_quote_begins_with_what_was_said(text: str, shown: str) -> None:
    """Its clock, its level, its speaker and the place in the code tell nothing of the work."""
    assert without_head(text) == shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("133 \u901a\u4fe1", "\u901a\u4fe1"),
        ("\u0448\u0430\u0433 7 \u043e\u0431\u043c\u0435\u043d", "\u0448\u0430\u0433 \u043e\u0431\u043c\u0435\u043d"),
        ("gn02 r3: \u00e9criture de 7 parts, 0x7f10", "\u00e9criture de parts"),
    ],
)
def test_what_two_speakers_say_alike_is_told_in_letters_of_any_language(text: str, words: str) -> None:
    """Numbers, names of machines and single letters are no words."""
    assert phrase(text, ("gn",)) == words


def test_the_only_one_that_never_came_to_what_all_others_did_once_holds_them_up() -> None:
    """Before any iteration: each opens its part of the corpus, and node-2 never tells how much it read."""
    says = {
        n: [at(n, f"worker {n}/4 opens /corpus/part.{n}"), *([] if n == 2 else [at(n + 0.5, "read 262144 tokens")])]
        for n in range(4)
    }
    found = diagnose(four_nodes(says, status=Status.UNKNOWN), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "never came to \u201cread \u2026 tokens\u201d; 3 of 4 ranks did." in found.nodes[0].because


def test_a_node_that_never_spoke_is_why_the_others_never_began() -> None:
    """Nothing else tells why: the job was cancelled while they connected; after it had trained nobody is missing."""

    def job_of(*says: str) -> Job:
        files = {
            f"rank_{n}.log": lines(*(at(k, text) for k, text in enumerate(says))) if n != 1 else "" for n in range(4)
        }
        ranks = {f"node-{n}": (n,) for n in range(4)}
        return job(dict(files), nodes=tuple(ranks), node_ranks=ranks, world_size=4, status=Status.CANCELLED)

    assert suspected(job_of("connecting", "still connecting")) == ["node-1"]
    assert diagnose(job_of(*(f"step {n} loss 2.5" for n in range(1, 30))), []).nodes == ()


def test_what_each_rank_measured_is_no_vote() -> None:
    """Watchdogs fire after 16.4 s and 16.5 s; what they say that each was doing is one."""
    says = {
        rank: [
            *(at(n, f"step {n} loss 2.5") for n in range(1, 9)),
            at(
                30,
                f"ERROR no progress phase={'data' if rank == 1 else 'allreduce'} stuck_s={16.4 if rank == 0 else 16.5}",
            ),
        ]
        for rank in range(4)
    }

    assert suspected(four_nodes(says, status=Status.FAILED)) == ["node-1"]


@pytest.mark.parametrize(("trained", "accused"), [(0, ["node-2"]), (20, [])], ids=["never began", "trained on"])
def test_last_words_of_the_set_up_tell_nothing_where_training_began(trained: int, accused: list[str]) -> None:
    """Without a clock: of a job that came no further they tell where it stands."""
    said = [f"{rank}: {text} is ready" for text in ("the loader", "the model") for rank in range(8)]
    said += ["5: its cache was cold and had to be read"]
    said += [f"0: step {n} loss 2.5" for n in range(1, trained + 1)]
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}
    order = "slurmstepd: error: *** STEP 77.0 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***"
    files = {"train.out": lines(*said), "slurm.out": lines(order)}
    signs = signs_of(job(files, nodes=tuple(nodes), node_ranks=nodes))

    assert [sign.node for sign in signs if sign.because.startswith("The last word of rank 5")] == accused


@pytest.mark.parametrize(("own", "found"), [((), ["node-2"]), (("still in the barrier",), [])])
def test_who_alone_does_not_say_what_all_others_say_once_it_stands_still(
    own: tuple[str, ...], found: list[str]
) -> None:
    """Its program is silent, and what watches its machine goes on; who says something else only waits otherwise."""
    said = {
        n: [f"[rank{rank}]: {at(k, f'step {k} loss 2.5')}" for k in range(1, 40) for rank in (2 * n, 2 * n + 1)]
        for n in range(4)
    }
    for n in range(4):
        texts = own if n == 2 else ("peers: seen 0 s ago, 3 s ago",)
        said[n] += [at(60 * k, text) for k in range(2, 30) for text in texts]
    files: dict[str, str | bytes] = {f"node-{n}.log": lines(*said[n]) for n in range(4)}
    ranks = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}

    signs = signs_of(job(files, nodes=tuple(ranks), node_ranks=ranks, status=Status.CANCELLED))

    assert [sign.node for sign in signs if "said the same again and again" in sign.because] == found
