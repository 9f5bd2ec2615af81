"""Roles: what is the fault, what its echo, what the clearing up, by what else the job said and when."""

import pytest

from core.diagnose import diagnose
from core.failure_kinds import Kind
from core.job import Job, Status
from core.judge.candidates import Candidate
from core.model import Role, Scope
from tests.support.jobs import at, exited, four_nodes, job, judged, lines, lost, raised, steps, timed_out, told_to_end

API = "7416 torch/distributed/elastic/multiprocessing/api.py"  # of torchrun
LIMIT = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:12 DUE TO TIME LIMIT ***"
DISK = raised("OSError: [Errno 5] Input/output error")
PEERS = dict.fromkeys((0, 1, 3), lost(2))


def of_kind(kind: str, one: Job, *baseline: Job) -> Candidate:
    (only,) = (candidate for candidate in judged(one, *baseline) if candidate.fact.kind == kind)
    return only


def test_a_kill_that_nobody_asked_for_is_the_fault() -> None:
    """Exit code -9 without a request: an out-of-memory killer or a person."""
    killed = of_kind("killed", four_nodes(PEERS, usual=steps(9), others={"node-2/torchrun.log": [exited(10, -9)]}))

    assert (killed.role, killed.nodes) == (Role.ROOT, ("node-2",))


@pytest.mark.parametrize(
    "request_to_end",
    [
        f"{API}:1047] Unable to shutdown process 77 via 15, forcefully exiting via 9",
        "7416 torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers",
        f"{API}:1028] Sending process 77 closing signal SIGTERM",
    ],
)
def test_a_kill_after_a_request_to_end_is_clearing_up(request_to_end: str) -> None:
    """SIGKILL is what follows SIGTERM when a process waits for peers that are gone."""
    agent = [at(9, request_to_end), exited(10, -9)]

    killed = of_kind("killed", four_nodes(PEERS, usual=steps(9), others={"node-2/torchrun.log": agent}))

    assert (killed.role, killed.why) == (Role.TEARDOWN, "killed after the job had begun to fail")


def test_a_launcher_that_asks_the_others_to_stop_did_not_kill_the_one_that_died() -> None:
    """torchrun asks the siblings of a dead process to stop before it reports which one died."""
    asks = f"{API}:1028] Sending process 78 closing signal SIGTERM"

    agent = {"node-2/torchrun.log": [at(9, asks), exited(10, -9)]}
    killed = of_kind("killed", four_nodes(PEERS, usual=steps(9), others=agent))

    assert (killed.role, killed.nodes) == (Role.ROOT, ("node-2",))


def test_containers_of_all_nodes_count_their_own_processes() -> None:
    """That torchrun asks process 77 of another node to stop says nothing of the one that died here with that number."""
    asks = at(9, f"{API}:1028] Sending process 77 closing signal SIGTERM")
    others = {f"node-{n}/torchrun.log": [asks] for n in (0, 1, 3)} | {"node-2/torchrun.log": [exited(10, -9)]}

    killed = of_kind("killed", four_nodes({}, usual=steps(9), others=others))

    assert (killed.role, killed.nodes) == (Role.ROOT, ("node-2",))


def test_who_complained_of_others_and_was_killed_then_is_a_victim() -> None:
    """A rank that lost its peer is killed like all others, whatever the words of its launcher are."""
    killed = of_kind("killed", four_nodes(PEERS, usual=steps(9), others={"node-1/torchrun.log": [exited(40, -9)]}))

    assert killed.role is Role.TEARDOWN


@pytest.mark.parametrize(("waited_for", "role"), [(9, Role.TEARDOWN), (14, Role.ROOT)])
def test_a_watchdog_that_waited_in_vain_aborts_its_process(waited_for: float, role: Role) -> None:
    """SIGABRT after a time-out is how the watchdog ends a rank; before any time-out somebody aborted for a reason."""
    watchdog = at(
        waited_for, "[rank2]:[E1121 ProcessGroupNCCL.cpp:607] Watchdog caught collective operation timeout: x"
    )

    aborted = of_kind(
        "aborted", four_nodes({2: [watchdog]}, usual=steps(8), others={"node-2/torchrun.log": [exited(12, -6)]})
    )

    assert aborted.role is role


@pytest.mark.parametrize(("last", "role"), [(20, Role.ROOT), (60, Role.BENIGN)])
def test_the_ranks_of_a_killed_launcher_train_on_for_a_while(last: int, role: Role) -> None:
    """Nobody needs it until its store is missed; a job that trains on for long has lost nothing with it."""
    kubelet = at(9, "node-2 E kubelet: Container agent terminated by signal 9 (SIGKILL)")

    killed = of_kind("killed", four_nodes({}, usual=steps(last), others={"node-2/kubelet.log": [kubelet]}))

    assert killed.role is role


def test_a_request_to_another_node_explains_no_kill() -> None:
    """Each launcher clears up its own node; the first kill came before anybody was asked there."""
    agents = {
        "node-0/torchrun.log": [told_to_end(12), exited(13, -9)],
        "node-2/torchrun.log": [exited(10, -9)],
    }

    killed = of_kind("killed", four_nodes(PEERS, usual=steps(9), others=agents))

    assert (killed.role, killed.nodes, len(killed.rows)) == (Role.ROOT, ("node-2",), 1)


@pytest.mark.parametrize("baseline", [0, 1])
def test_a_periodic_error_that_the_job_survived_is_benign(baseline: int) -> None:
    """A metrics pusher that is refused all the time stopped nobody, with and without successful jobs to compare."""
    said = [line for n in range(1, 11) for line in (*steps(n, first=n), at(n, "ERROR push failed: quota exceeded"))]
    good = [four_nodes({2: ["hello"]}, status=Status.COMPLETED, job_id="s1")] * baseline

    periodic = of_kind("error", four_nodes({2: [*said, *DISK]}), *good)

    assert (periodic.role, periodic.why) == (Role.BENIGN, "the job went on after it")
    assert len(periodic.rows) == 10


def test_an_exception_at_the_end_is_the_fault_though_it_was_survived_before() -> None:
    """A retry that failed at last: exceptions are no beat."""
    retried = [*steps(3), *raised("ValueError: boom"), *steps(20, first=4), *raised("ValueError: boom")]

    assert of_kind("exception", four_nodes({1: retried})).role is Role.ROOT


def test_a_warning_alone_is_no_fault() -> None:
    """Most jobs warn."""
    warned = of_kind("warning", four_nodes({1: [at(3, "WARNING the cache is cold")]}))

    assert (warned.role, warned.why) == (Role.BENIGN, "a warning that nothing else supports")


def test_a_time_limit_after_a_fault_is_clearing_up() -> None:
    """A job that hung until its limit had a reason to hang."""
    hung = four_nodes({2: [at(11, "x"), *DISK]}, usual=steps(9), others={"slurm.out": [at(120, LIMIT)]})

    diagnosis = diagnose(hung, [])

    limit = of_kind("time limit", hung)
    assert (limit.role, limit.why) == (Role.TEARDOWN, "something had failed before")
    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-2"])


def test_a_time_limit_before_all_errors_is_the_answer() -> None:
    """What breaks when the scheduler ends a job did not end it."""
    stopped = four_nodes({2: [at(130, "x"), *DISK]}, usual=steps(119), others={"slurm.out": [at(120, LIMIT)]})

    diagnosis = diagnose(stopped, [])

    assert of_kind("storage", stopped).role is Role.TEARDOWN
    assert (diagnosis.scope, diagnosis.nodes) == (Scope.NONE, ())
    assert "time limit" in diagnosis.headline


def test_a_kill_was_there_before_a_launcher_went_through_its_list() -> None:
    """DeepSpeed's names all its processes, dead ones too; who was reported as killed before had died by itself."""
    listed = at(20, "[INFO] [launch.py:319:sigkill_handler] Killing subprocess 77")
    told = {"node-2/torchrun.log": [exited(10, -9)], "node-2/deepspeed.log": [listed]}

    one = of_kind("killed", four_nodes(PEERS, usual=steps(9), others=told))

    assert (one.role, one.nodes) == (Role.ROOT, ("node-2",))


@pytest.mark.parametrize(("last", "suspects"), [(9, ["node-2"]), (30.9, ["node-0"])])
def test_who_fell_silent_before_the_others_ended_in_words_of_their_own(last: float, suspects: list[str]) -> None:
    """A server that misses somebody, and workers that miss the server: nobody says it in known words."""
    lost = {n: [at(31 + n / 100, f"ERROR the server went away, {n} parts left")] for n in (1, 3)}
    told = {0: [at(31, "ERROR round not closed in 10 s")], 2: [at(last, "part is here")], **lost}

    found = diagnose(four_nodes(told, usual=steps(9)), [])

    assert [node.node for node in found.nodes] == suspects


def test_what_was_said_in_the_second_of_the_last_step_was_not_survived() -> None:
    """Lines of two streams of one program come in any order, and syslog counts seconds."""
    full = at(30.2, "write /srv/state.30: No space left on device")
    said = [text for n in range(3, 31, 3) for text in steps(n, first=n, total=90)]

    one = of_kind("disk full", four_nodes({2: [*said[:-1], full, at(30.6, "x"), *said[-1:]]}, usual=()))

    assert one.role is Role.ROOT


CANCELLED = LIMIT.replace(" DUE TO TIME LIMIT", "")


@pytest.mark.parametrize("stop", [LIMIT, CANCELLED], ids=["time limit", "cancelled"])
@pytest.mark.parametrize("scheduler", ["slurm.out", "node-0/slurmd.log"])
def test_a_stop_after_time_outs_of_peers_is_clearing_up(stop: str, scheduler: str) -> None:
    """Who timed out had waited for long: what kept the others waiting is older than the stop."""
    waited = {n: [at(40, "x"), *timed_out()] for n in (0, 1, 3)}
    hung = four_nodes(waited, usual=steps(9), others={scheduler: [at(120, stop)]})

    diagnosis = diagnose(hung, [])

    (stopped,) = (one for one in judged(hung) if one.fact.stop)
    assert (stopped.role, stopped.why) == (Role.TEARDOWN, "something had failed before")
    assert (diagnosis.scope, [node.node for node in diagnosis.nodes]) == (Scope.NODE, ["node-2"])


@pytest.mark.parametrize("stop", [LIMIT, CANCELLED], ids=["time limit", "cancelled"])
def test_a_stop_before_time_outs_of_peers_is_the_answer(stop: str) -> None:
    """Peers that the scheduler ended keep the others waiting too."""
    waited = {n: [at(160, "x"), *timed_out()] for n in (0, 1, 3)}
    stopped = four_nodes(waited, usual=steps(119, total=400), others={"slurm.out": [at(120, stop)]})

    diagnosis = diagnose(stopped, [])

    assert (diagnosis.scope, diagnosis.nodes) == (Scope.NONE, ())
    assert diagnosis.headline.startswith("Not a fault")


@pytest.mark.parametrize("exception", ["OSError: [Errno 5] Input/output error", "ValueError: boom"])
@pytest.mark.parametrize(("last_word", "role"), [(115, Role.TEARDOWN), (95, Role.ROOT), (80, Role.ROOT)])
def test_an_exception_without_a_time_came_some_time_after_the_words_above_it(
    exception: str, last_word: float, role: Role
) -> None:
    """While the job went on until the stop, the stop may have come first; after a long pause it did not."""
    made = steps(int(last_word) - 1, total=400)
    stopped = four_nodes(
        {2: [at(last_word, "x"), *raised(exception)]}, usual=made, others={"slurm.out": [at(120, LIMIT)]}
    )

    (failed,) = (one for one in judged(stopped) if not one.fact.stop)

    assert failed.role is role
    assert diagnose(stopped, []).scope is (Scope.NODE if role is Role.ROOT else Scope.NONE)


def test_a_timed_error_shortly_before_a_stop_came_before_it() -> None:
    """Where clocks tell, they are believed."""
    failed = four_nodes(
        {2: [at(115, "ERROR OSError: [Errno 5] Input/output error")]},
        usual=steps(9),
        others={"slurm.out": [at(120, LIMIT)]},
    )

    assert of_kind("time limit", failed).role is Role.TEARDOWN
    assert of_kind("storage", failed).role is Role.ROOT


def test_of_a_stop_that_is_told_twice_the_clock_tells_when() -> None:
    """The output of a job has no clock of its own: the stop below its last step may have come an hour later."""
    bare = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED DUE TO TIME LIMIT ***"
    failed = four_nodes(
        {2: [at(12, "ERROR OSError: [Errno 5] Input/output error")]},
        usual=steps(9),
        others={"slurm.out": [at(10, "srun: step began"), bare], "slurmctld.log": [at(900, LIMIT)]},
    )

    assert of_kind("storage", failed).role is Role.ROOT


def test_who_could_not_be_reached_and_never_spoke_was_not_survived() -> None:
    """However much the others say until they have waited in vain."""
    joined = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."
    waited = [*(f"loading shard {n}" for n in range(60)), *raised(joined)]
    said = ["pdsh@login: node-3: ssh exited with exit code 255"]
    said += [f"node-{n}: [rank{n}]: {text}" for n in range(3) for text in waited]
    ranks = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job({"console.log": lines(*said)}, nodes=tuple(ranks), node_ranks=ranks), [])

    assert (found.scope, [node.node for node in found.nodes][:1]) == (Scope.NODE, ["node-3"])


@pytest.mark.parametrize(("before", "role"), [(True, Role.ROOT), (False, Role.TEARDOWN)])
def test_in_the_file_of_the_stop_the_place_tells_what_came_before(before: bool, role: Role) -> None:
    """An exception right above the stop failed before it, however few seconds passed; one below it did not."""
    limit = [at(120, LIMIT)]
    said = [at(119, "x"), *DISK, *limit] if before else [at(119, "x"), *limit, *DISK]

    assert of_kind("storage", job({"all.log": lines(*steps(9), *said)})).role is role


@pytest.mark.parametrize(("ended", "role"), [("above", Role.TEARDOWN), ("below", Role.ROOT)])
def test_srun_that_tells_of_an_error_first_stops_the_others_because_of_it(ended: str, role: Role) -> None:
    """As --kill-on-bad-exit does; without clocks in what the ranks say, which cannot tell what came first."""
    exit_code = "srun: error: node-2: task 2: Exited with exit code 1"
    told = [exit_code, CANCELLED] if ended == "above" else [CANCELLED, exit_code]
    broken = {n: [at(11, "x"), *lost(2)] for n in (0, 1, 3)}

    stopped = four_nodes(broken, usual=steps(9), others={"slurm.out": told})

    assert of_kind("cancelled", stopped).role is role


def test_where_clocks_do_not_tell_the_place_in_the_file_does() -> None:
    """A log without times is read from top to bottom."""
    before, after = (lines("step", *order) for order in ((LIMIT, *DISK), (*DISK, "x", LIMIT)))

    assert of_kind("storage", job({"all.log": before})).role is Role.TEARDOWN
    assert of_kind("storage", job({"all.log": after})).role is Role.ROOT


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            "slurmstepd: error: *** STEP 77.0 ON node-0 CANCELLED AT 2026-11-21T04:00:12 DUE TO PREEMPTION ***",
            "preemption",
        ),
        ("slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:12 ***", "cancelled"),
        (
            "slurmstepd: error: *** STEP 77.0 ON node-0 CANCELLED AT 2026-11-21T04:00:12 DUE TO TIME LIMIT ***",
            "time limit",
        ),
    ],
)
def test_a_stop_from_outside_is_no_fault(said: str, kind: str) -> None:
    """Peers break, launchers kill: all of it came after the stop."""
    agent = {"node-2/slurmd.log": [at(9.5, said)], "node-2/torchrun.log": [exited(10, -9)]}
    stopped = four_nodes({n: [at(11, "x"), *lost(2)] for n in (0, 1, 3)}, usual=steps(9), others=agent)

    diagnosis = diagnose(stopped, [])

    assert of_kind(kind, stopped).role is Role.ROOT
    assert (diagnosis.scope, diagnosis.nodes) == (Scope.NONE, ())


def test_what_peers_say_is_propagated() -> None:
    """Who lost a connection tells of somebody else."""
    assert of_kind("peer lost", four_nodes(PEERS, usual=steps(9))).role is Role.PROPAGATED
    assert of_kind("peer silent", four_nodes(dict.fromkeys(range(4), timed_out()))).role is Role.PROPAGATED


def test_what_a_rank_says_after_its_own_node_was_ended_tells_nothing_of_peers() -> None:
    """Its launcher had told it to end; its broken connections are its own doing."""
    agents = {"node-1/torchrun.log": [told_to_end(10)]}
    said = {0: [at(9.5, "x"), *lost(2)], 1: [at(12, "x"), *lost(2)]}

    told = of_kind("peer lost", four_nodes(said, usual=steps(9), others=agents))

    assert (told.role, told.nodes) == (Role.PROPAGATED, ("node-0",))


def test_a_store_that_closes_after_its_node_failed_is_clearing_up() -> None:
    """Agents lose the rendezvous store when the first of them has ended."""
    store = at(12, "W1121 [c10d] recvValue failed on SocketImpl: Broken pipe")
    others = {f"node-{n}/torchrun.log": [store] for n in range(4)}

    early = of_kind("store lost", four_nodes({}, usual=steps(9), others=others))
    late = of_kind(
        "store lost", four_nodes({n: [at(11, "x"), *lost(2)] for n in range(4)}, usual=steps(9), others=others)
    )

    assert early.role is Role.PROPAGATED
    assert late.role is Role.TEARDOWN


def torchrun(code: int, rank_says: list[str]) -> Job:
    """A node whose launcher reports that its rank ended, and what the rank had said."""
    return job(
        {
            "node-0/torchrun.log": lines(exited(10, code)),
            "node-0/run/attempt_0/0/stderr.log": lines(at(5, "x"), *rank_says),
            "node-1/run/attempt_0/0/stderr.log": lines(at(5, "x"), *lost(0)),
        },
        nodes=("node-0", "node-1"),
        node_ranks={"node-0": (0,), "node-1": (1,)},
    )


def test_a_process_that_ended_without_a_word_is_the_only_trace() -> None:
    """``sys.exit(1)`` somewhere in a library: the launcher's report is all there is."""
    silent, loud = torchrun(1, []), torchrun(1, raised("ValueError: boom"))

    end = of_kind("silent exit", silent)

    assert (end.role, end.why, end.nodes) == (Role.ROOT, "the process ended without a word", ("node-0",))
    assert of_kind("end of the job", loud).role is Role.TEARDOWN
    assert diagnose(silent, []).headline.startswith("Look at node-0: a process there ended with an error")


def test_the_second_process_of_a_node_is_not_the_one_that_spoke() -> None:
    """Rank 4 complains of its neighbour, and is no victim because rank 5, which never said a word, was killed."""
    gone = raised("RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.9]:14522.")
    says = {n: [at(k, f"step {k} loss 2.{k}") for k in range(9)] for n in range(4)}
    says = {n: [*said, *(at(9, f"[rank{2 * n}]: {line}") for line in gone)] for n, said in says.items()}
    killed = "E1121 04:00:10.687000 451 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 554) of binary: /opt/conda/bin/python"  # noqa: E501
    files = {f"node-{n}.log": lines(*said, *([killed] if n == 2 else [])) for n, said in says.items()}

    assert of_kind("killed", job(files)).role is Role.ROOT


def test_sigterm_is_a_fault_only_when_nothing_came_before_it() -> None:
    """torchrun ends the other ranks of a node by SIGTERM; the first one of all was ended by somebody else."""
    first = of_kind("terminated", torchrun(-15, []))
    second = of_kind("terminated", torchrun(-15, raised("ValueError: boom")))

    assert first.role is Role.ROOT
    assert (second.role, second.why) == (Role.TEARDOWN, "its node was ending already")


def test_advice_and_reports_of_the_end_are_never_the_fault() -> None:
    """``CUDA_LAUNCH_BLOCKING``, ``ChildFailedError``: they come with every failure."""
    said = [
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
    ]

    assert {one.role for one in judged(four_nodes({1: said}))} <= {Role.TEARDOWN, Role.BENIGN}


def test_what_is_compared_with_the_first_rank_is_told_by_its_speaker() -> None:
    """It names rank 0 as the measure of all."""
    says = {3: [at(1, "ERROR model differs from rank 0")], 2: [at(1, "ERROR weights differ from rank 3")]}
    roles = {candidate.nodes: candidate.role for candidate in judged(four_nodes(says, status=Status.FAILED))}

    assert roles == {("node-3",): Role.ROOT, ("node-2",): Role.PROPAGATED}


def without_clocks(error: str) -> Job:
    """Four nodes without a clock: one raises before it meets the others, who wait for it in vain."""
    waited = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."
    texts = {n: raised(error if n == 2 else waited) for n in range(4)}
    return job({f"node-{n}/rank_{n}.log": lines("initializing process group", *texts[n]) for n in range(4)})


def test_who_waits_for_one_that_a_known_fault_kept_away_is_an_echo() -> None:
    """A volume that cannot be mounted, as the kubelet tells it; what the waiting node itself had said is its own."""
    waited = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."
    mount = 'Warning FailedMount pod/node-3 MountVolume.SetUp failed for volume "pvc-6b0b0f1e" : rpc error'
    roles = {
        candidate.fact.kind: candidate.role
        for candidate in judged(four_nodes({0: [at(700, waited)]}, others={"events.txt": [at(60, mount)]}))
    }
    alone = judged(
        four_nodes({0: [at(60, "socket.gaierror: [Errno -3] Temporary failure in name resolution"), at(700, waited)]})
    )

    assert (roles[Kind.STORAGE], roles[Kind.RENDEZVOUS]) == (Role.ROOT, Role.PROPAGATED)
    assert {candidate.fact.kind: candidate.role for candidate in alone}[Kind.RENDEZVOUS] is Role.ROOT


def test_who_waits_for_one_that_had_raised_is_an_echo_also_without_clocks() -> None:
    """An exception that nobody knows: its process has ended, so it came to no meeting."""
    told = of_kind("rendezvous", without_clocks("frobnicate.BadShard: shard 7 is empty"))

    assert (told.role, told.nodes) == (Role.PROPAGATED, ("node-0", "node-1", "node-3"))


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ('level=error collector=infiniband err="invalid port state"', Role.BENIGN),
        ("Memory cgroup out of memory: Killed process 9981 (python) total-vm:4kB, anon-rss:3kB", Role.ROOT),
    ],
)
def test_words_that_nobody_knows_are_no_fault_when_daemons_alone_say_them(text: str, role: Role) -> None:
    """Exporters complain on machines that are well; what the kernel says is known."""
    daemon = [
        f"Nov 21 04:00:0{n} node-2 {'node_exporter[1822]' if role is Role.BENIGN else 'kernel'}: {text}" for n in (8, 9)
    ]
    quiet = [f"Nov 21 04:00:0{n} node-2 systemd[1]: Started Session {n} of user root." for n in range(8)]
    one = four_nodes({}, usual=steps(9), others={"node-2/messages": [*quiet, *daemon]})

    assert {candidate.role for candidate in judged(one) if candidate.text.find(text[:12]) >= 0} == {role}


def test_who_ends_a_job_because_it_is_slow_did_not_break() -> None:
    """A guard of the first rank, in words of its own, once every step takes eight times as long."""
    clock, said = 0.0, []
    for n in range(1, 61):
        clock += 1.0 if n <= 30 else 8.0
        said.append(at(clock, f"step {n} loss 2.5"))
    guard = [at(clock + 1, "ERROR throughput guard: below 25% of the start for 20 steps, aborting the run")]

    assert {item.role for item in judged(four_nodes({0: guard}, usual=said)) if "guard" in item.text} == {Role.ROOT}
    assert not diagnose(four_nodes({0: guard}, usual=said), []).nodes


@pytest.mark.parametrize(("first", "role"), [(70, Role.PROPAGATED), (8, Role.ROOT)])
def test_what_a_driver_raises_after_most_ranks_had_waited_in_vain_is_how_they_ended(first: float, role: Role) -> None:
    """Ray's driver raises again what ended the first of its workers, and names its address; before that it is news."""
    waits = {n: [at(69, "giving up"), *timed_out()] for n in range(4)}
    driver = [at(first, "ray.exceptions.RayTaskError: ray::_Inner.train() (pid=4108, ip=10.0.0.1)")]
    one = four_nodes(waits, usual=steps(9), others={"job-driver-raysubmit_1.log": driver})

    assert of_kind("exception", one).role is role
