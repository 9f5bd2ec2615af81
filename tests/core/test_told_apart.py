"""What tells one node from the others in programs of their own: names, barriers, stacks that a watchdog took."""

import pytest

from core.diagnose import diagnose
from core.facts import fact_of
from core.job import Job, Manifest, Status
from core.logs.telling_words import level
from core.logs.voices import Program
from core.model import Scope
from tests.support.jobs import at, job, lines, parse, signs_of, suspected
from tests.support.wrapped_logs import wrapped

NODES = {f"farm-{letter}": (2 * n, 2 * n + 1) for n, letter in enumerate("abcd")}


def test_the_host_that_ssh_does_not_reach_is_the_one_that_never_came() -> None:
    """However it is called; the others wait for it in vain."""
    # OpenSSH sshconnect.c (9.6), PyTorch torch/csrc/distributed/c10d/TCPStore.cpp (2.13)
    refused = "ssh: connect to host mime port 22: No route to host"
    waited = [
        "Traceback (most recent call last):",
        '  File "/srv/train.py", line 7, in <module>',
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 2/3 clients joined.",
    ]
    files = {
        "launch.log": lines("starting three", refused),
        "freia/run.txt": lines(at(0, "rank 0 of 3"), *waited),
        "loge/run.txt": lines(at(0, "rank 1 of 3")),
    }
    assert suspected(job(files, status=Status.FAILED)) == ["mime"]


# openxla/xla xla/tsl/distributed_runtime/coordination/coordination_service.cc (2024)
BARRIER = (
    "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: {name}. "
    "Timed out task names:"
)


def at_barriers(*names: str) -> Job:
    files = {}
    for n, (node, name) in enumerate(zip(NODES, names, strict=True)):
        others = [f"/job:jax_worker/replica:0/task:{m}" for m, other in enumerate(names) if other != name]
        trace = ["Traceback (most recent call last):", '  File "/srv/train.py", line 9, in <module>']
        steps = [at(k, f"step {k} loss 2.5") for k in range(1, 20)]
        files[f"{node}.log"] = lines(*steps, *trace, BARRIER.format(name=name), *others, at(90 + n, "leaving"))
    return job(files, nodes=tuple(NODES), status=Status.FAILED)


def test_the_first_process_in_another_barrier_than_all_others_was_led_there_by_the_program() -> None:
    """It evaluates alone, while the others save."""
    found = diagnose(at_barriers("eval_gather_200", *["ckpt_commit_200"] * 3), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "ranks wait in different collectives" in found.headline.lower()


# PaddlePaddle/Paddle paddle/phi/core/distributed/comm_task_manager.cc, nccl_comm_task.cc (2.6)
PADDLE = (
    "W0403 16:08:{second}.653699 31015 comm_task_manager.cc:150] Find timeout start but not finish task:"
    "group_key:nccl_ids/0/0,group_ranks:[0, 1, 2, 3, 4, 5, 6, 7],global_rank:{rank},local_rank:{local},"
    "comm_count:48177,op:{op},started:1,completed:0,numel:2359296,nranks:8"
)


def paddle(operation: dict[int, str]) -> Job:
    """Each process of a machine has a file that is numbered anew there."""
    files = {}
    for node, ranks in NODES.items():
        for local, rank in enumerate(ranks):
            said = [at(n, f"step {n} loss 2.5") for n in range(1, 20)]
            if rank in operation:
                said.append(PADDLE.format(second=20 + rank, rank=rank, local=local, op=operation[rank]))
            files[f"{node}/workerlog.{local}"] = lines(*said)
    return job(files, nodes=tuple(NODES), node_ranks=NODES, world_size=8, status=Status.FAILED)


def test_the_rank_that_lacks_the_report_of_all_others_is_the_suspect() -> None:
    """A file's number counts the processes of its machine."""
    assert suspected(paddle({rank: "ALLREDUCE" for rank in range(8) if rank != 5})) == ["farm-c"]


def test_ranks_that_wait_in_two_operations_were_parted_by_the_program() -> None:
    """The odd ones broadcast what the even ones reduce."""
    found = diagnose(paddle({rank: "BROADCAST" if rank % 2 else "ALLREDUCE" for rank in range(8)}), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())


def test_of_files_that_name_themselves_the_one_that_does_not_is_of_who_started_them() -> None:
    """Words without a digit are names of machines, where all but one say so."""
    files = {
        f"{name}.txt": lines(f"Good morning, this is {name}.", "I am ready.") for name in ("lyra", "vela", "norma")
    }
    parsed = parse(job(files | {"boss.txt": lines("starting three over ssh")}))

    assert set(parsed.table.nodes) == {"lyra", "vela", "norma"}


# benfred/py-spy src/dump.rs (0.4), as a watchdog prints it for each rank of its machine
TAKEN = """\
--- stacks of rank {rank} ---
Process 42{rank:02d}: /usr/bin/python3 -u train.py --rank {rank}
Python v3.10.14 (/usr/bin/python3.10)

Thread 42{rank:02d} (active): "MainThread"
    {inner}
    main (/srv/train.py:181)
    <module> (/srv/train.py:302)"""


def test_stacks_that_a_watchdog_took_into_a_log_tell_who_stands_elsewhere() -> None:
    """All others stand where they wait for the device."""
    inner = {5: "get (multiprocessing/queues.py:365)"}
    files = {}
    for node, ranks in NODES.items():
        steps = [f"[r{rank:02d}] step {n} loss 2.5" for n in range(1, 20) for rank in ranks]
        usual = "synchronize (torch/cuda/__init__.py:892)"
        files[f"{node}.log"] = lines(*steps, *(TAKEN.format(rank=r, inner=inner.get(r, usual)) for r in ranks))
    found = diagnose(job(files, nodes=tuple(NODES), node_ranks=NODES, world_size=8, status=Status.FAILED), [])

    assert [node.node for node in found.nodes] == ["farm-c"]
    assert "stands in get (multiprocessing/queues.py:365) while the others wait" in found.headline.lower()


def test_what_ray_prints_once_for_several_processes_tells_of_none_that_it_is_silent() -> None:
    """ray-project/ray python/ray/_private/ray_logging (2.40) leaves out lines that others have said."""
    last = "(Worker pid=4107, ip=10.0.3.17) step 20 is stored [repeated 7x across cluster]"
    said = [
        f"(Worker pid={4100 + rank}, ip=10.0.3.{10 + rank}) step {n} loss 2.5"
        for n in range(1, 20)
        for rank in range(8)
    ]
    one = job({"driver.log": lines(*said, last)}, status=Status.CANCELLED)

    assert not [sign for sign in signs_of(one) if sign.channel == "lacks"]


def test_the_raylet_of_a_machine_speaks_there() -> None:
    """Ray names its address without a process; src/ray/common/file_system_monitor.cc (2.40)."""
    full = (
        "(raylet, ip=10.0.3.12) [2026-11-21 22:00:44,100 E 2210 2240] (raylet) file_system_monitor.cc:116: "
        "/tmp/ray/session_1 is over 95% full, available space: 21.0 GB; capacity: 484.4 GB. Object creation will fail "
        "if spilling is required."
    )
    said = [f"(Worker pid={4100 + n}, ip=10.0.3.{10 + n}) step {k} loss 2.5" for k in range(1, 9) for n in range(4)]
    assert suspected(job({"driver.log": lines(*said, full)}, status=Status.FAILED)) == ["10.0.3.12"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[rank 3] \u9519\u8bef\uff1adata service does not answer", "E"),
        ("23.11.2026 19:29:44 [FEHLER  ] Anmeldung abgelehnt", "E"),
        ("Erreur : fichier introuvable", "E"),
        ("[WARNUNG ] Knoten 2 nicht erreichbar", "W"),
        ("fehlerfrei: alles gut", ""),
    ],
)
def test_levels_are_known_in_other_languages(text: str, expected: str) -> None:
    """Where they stand as levels do."""
    assert level(text) == expected


def test_an_exception_whose_text_is_none_is_one() -> None:
    """open-mmlab/mmdetection mmdet/engine/hooks/checkloss_hook.py asserts so: it is no setting that is None."""
    fact = fact_of("AssertionError: None", block=True)

    assert fact is not None
    assert fact.kind == "exception"
    assert fact_of("resume: None", block=False) is None


def gives_up(*, silent: bool) -> Job:
    """Four machines that stand still for five minutes; then those that waited raise an error of their own."""
    files = {}
    for n, node in enumerate(NODES):
        said = [at(k, f"step {k} loss 2.5") for k in range(1, 40)]
        if not (silent and n == 2):
            said += [at(40 + 30 * k, f"nothing has come for {30 * k} s, holding on") for k in range(1, 10)]
            said += ["Traceback (most recent call last):", '  File "/srv/a.py", line 3, in <module>']
            said += ["__main__.Starved: nothing came for 300 s", at(341 + n, "leaving")]
        files[f"{node}.log"] = lines(*said)
    return job(files, nodes=tuple(NODES), status=Status.FAILED)


def test_who_gave_up_after_a_long_wait_did_not_break() -> None:
    """In words that nobody knows, said by all but the one that they waited for."""
    assert suspected(gives_up(silent=True)) == ["farm-c"]
    assert not diagnose(gives_up(silent=False), []).nodes


@pytest.mark.parametrize(("workers", "scope"), [(4, Scope.JOB), (0, Scope.NODE)])
def test_what_the_only_process_that_leads_all_others_raises_is_of_no_machine(workers: int, scope: Scope) -> None:
    """ray-project/ray python/ray/exceptions.py (2.40); verl's main_ppo.py runs its loop in one such actor."""
    said = [f"(TaskRunner pid=5120, ip=10.0.3.10) step {k} reward 2.5" for k in range(1, 9)]
    said += [
        f"(Worker pid={4100 + n}, ip=10.0.3.{11 + n}) step {k} is done" for k in range(1, 9) for n in range(workers)
    ]
    said += [f"(Rollout pid=77, ip=10.0.3.20) step {k} is done" for k in range(1, 9)]
    raised = [
        "Traceback (most recent call last):",
        '  File "/srv/main_ppo.py", line 42, in main',
        "    ray.get(runner.run.remote(config))",
        "ray.exceptions.RayTaskError(RuntimeError): ray::TaskRunner.run() (pid=5120, ip=10.0.3.10)",
        "RuntimeError: reward timeouts in 5 steps in a row",
    ]
    found = diagnose(job({"driver.log": lines(*said, *raised)}, status=Status.FAILED), [])

    assert found.scope is scope


def test_a_log_of_the_kernel_is_of_the_host_that_another_log_names() -> None:
    """ESPnet (espnet2/bin, its logging format) puts host, rank and world size before each line; few ranks say much."""
    said = [
        f"[asr-node{rank // 2 + 1}:{rank}/8] {at(rank / 10, '(asr:525) INFO: pytorch.version=2.4.0')}"
        for rank in range(8)
    ]
    said += [f"[asr-node1:0/8] {at(k, f'(trainer:762) INFO: 1epoch:train:{k}batch: loss=2.5')}" for k in range(1, 60)]
    bad = "[1128740.516436] nvme0n1: I/O Cmd(0x2) @ LBA 1874210840, 8 blocks, I/O Error (sct 0x2 / sc 0x81)"
    kernel = {
        f"dmesg/asr-node{n}": lines("[1123411.409507] EXT4-fs (nvme0n1p1): mounted filesystem") for n in range(1, 5)
    }
    kernel["dmesg/asr-node3"] = lines(bad, "[1128742.282897] Buffer I/O error on dev nvme0n1p1, logical block 23")
    parsed = parse(job({"exp/train.log": lines(*said), **kernel}))

    assert set(parsed.table.nodes) == {f"asr-node{n}" for n in range(1, 5)}
    assert [origin.node for origin in parsed.table.origins if "dmesg" in origin.cohort][2] == "asr-node3"


def test_daemons_of_a_journal_train_nothing_whoever_else_speaks_in_it() -> None:
    """A unit that nobody knows may be what trains; kernel and cron beside it are not."""
    logs = []
    for n in range(1, 4):
        said = [
            f"Sep 09 01:00:{k:02d} worker-{n} {unit}: said {k}"
            for k, unit in enumerate(("kernel", "CRON[8301]", "frobnicator[12]") * 8)
        ]
        steps = [at(k, f"step {k} loss 2.5") for k in range(9)]
        logs.append(wrapped(f"logs/worker-{n}/journal.txt", lines(*said).encode()))
        logs.append(wrapped(f"logs/worker-{n}/train.log", lines(*steps).encode()))
    manifest = Manifest(job_id="j1", status=Status.FAILED, nodes=("worker-1", "worker-2", "worker-3"))
    parsed = parse(Job(manifest, tuple(logs)))

    units = [origin for origin in parsed.table.origins if origin.cohort.endswith(("kernel|", "CRON|"))]
    assert len(units) == 6
    assert {origin.program for origin in units} == {Program.DAEMON}


def test_who_has_an_empty_log_beside_those_of_all_others_never_spoke() -> None:
    """No scheduler tells which machines there are; the shell opened the file before the machine was asked."""
    gave_up = [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 4/5 clients joined.",
    ]
    files = {f"log/c0{n}.out": lines(at(n, "joining the others"), *gave_up) if n != 3 else "" for n in range(1, 6)}
    parsed = parse(job(files))

    assert "c03" in parsed.nodes
    assert suspected(job(files)) == ["c03"]


def ended_apart(last: str, before: str = "") -> Job:
    """Eight ranks that count to 20 without a clock until somebody cancels them; rank 3 says something else in the end.

    before: what it said after iteration 10.
    """
    steps = [f"it {k} loss 2.5 fetch 50 ms" for k in range(1, 21)]
    own = [*steps[:10], *([before] if before else []), *steps[10:], last]
    files = {f"host-{n // 2}/rank{n}.log": lines(*(own if n == 3 else steps)) for n in range(8)}
    files["slurm.out"] = lines(at(900, "slurmstepd: error: *** JOB 77 ON host-0 CANCELLED AT 2026-11-21T04:15:00 ***"))
    return job(dict(files), status=Status.CANCELLED)


@pytest.mark.parametrize(
    ("last", "before", "who"),
    [
        ("opening shard_3", "", ["host-1"]),
        ("saved ckpt_20 for all", "saved ckpt_10 for all", []),
        ("11-1", "", []),
    ],
)
def test_who_saves_for_all_or_whose_log_is_cut_off_stands_nowhere_else(last: str, before: str, who: list[str]) -> None:
    """It said the same after an iteration before, and the job went on; a part of a clock is no word."""
    assert suspected(ended_apart(last, before)) == who


@pytest.mark.parametrize("stands", ["DataLoader.__next__", None], ids=["one in its loader", "none"])
def test_who_says_that_it_stands_elsewhere_is_named(stands: str | None) -> None:
    """A watchdog of one's own tells where each rank stood when it gave up; a rule below it is no word of anybody."""
    says = "[ERROR] guard.py:58 - no step for 600 s, now in {}, leaving"
    files = {}
    for rank in range(16):
        at_work = [at(n, f"train.py:188 - step {n}/100 loss 2.5") for n in range(1, 32)] if rank % 4 == 0 else []
        place = stands if rank == 6 and stands else "ProcessGroupNCCL::AllReduce"
        end = [at(640, says.format(place))] + ["--------------------"] * (rank % 4 > 0)
        files[f"node-{rank // 4}/rank_{rank}.log"] = lines(at(0, "start"), *at_work, *end)
    nodes = {f"node-{n}": tuple(range(4 * n, 4 * n + 4)) for n in range(4)}
    told = job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=16)

    assert suspected(told) == (["node-1"] if stands else [])


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("[<TS>] [E] engine: deserialization went wrong", "E"),  # spdlog (%L), TensorRT's logger
        ("[<NUM> s] (F) 24 regions do not fit", "F"),
        ("<TS> | W | 3 buffers grew", "W"),
        ("step <NUM> (F) 24 regions", ""),
        ("(a) <NUM> regions", ""),
    ],
)
def test_a_letter_between_signs_is_a_level(said: str, letter: str) -> None:
    """Only behind a clock or at the beginning."""
    assert level(said) == letter
