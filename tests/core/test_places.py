"""Who stands for nodes where nobody names a machine: ranks, as lines label them and as launchers report them."""

import pytest

from core.diagnose import diagnose
from core.job import Status
from core.model import Scope
from tests.support.jobs import at, job, lines, parse, raised, steps, suspected

AGENT = "torch/distributed/elastic/multiprocessing/api.py"  # of PyTorch 2.13
WATCHDOG = (
    "[rank{rank}]:[E1121 04:01:12.482935114 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective"
    " operation timeout: WorkNCCL(SeqNum=1233, OpType=ALLREDUCE, NumelIn=7340032, NumelOut=7340032,"
    " Timeout(ms)=600000) ran for 600029 milliseconds before timing out."
)


def asked(*pids: int) -> list[str]:
    return [f"W1121 04:01:12.771000 7519 {AGENT}:1002] Sending process {pid} closing signal SIGTERM" for pid in pids]


def report(rank: int, local_rank: int, code: int, pid: int) -> list[str]:
    """torchrun's, torch/distributed/elastic/multiprocessing/errors/__init__.py."""
    signal = f"Signal {-code} (SIGKILL) received by PID {pid}" if code < 0 else "To enable traceback see: https://x"
    return [
        f"E1121 04:01:12.843000 7519 {AGENT}:906] failed (exitcode: {code}) local_rank: {local_rank} (pid: {pid}) of x",
        "Traceback (most recent call last):",
        '  File "/opt/venv/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "=" * 60,
        "train.py FAILED",
        "-" * 60,
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        "-" * 60,
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : 2026-11-21_04:01:12",
        "  host      : gpu-1",
        f"  rank      : {rank} (local_rank: {local_rank})",
        f"  exitcode  : {code} (pid: {pid})",
        "  error_file: <N/A>",
        f"  traceback : {signal}",
        "=" * 60,
    ]


def labelled(*ranks: int) -> list[str]:
    return [f"[rank{rank}]: {at(n, f'INFO step {n} loss 2.5')}" for n in range(1, 41) for rank in ranks]


def spawned() -> list[str]:
    """torch/multiprocessing/spawn.py of PyTorch 2.13."""
    asking = [
        f"W1121 04:01:12.771000 4119 torch/multiprocessing/spawn.py:165] Terminating process {pid} via signal SIGTERM"
        for pid in (4388, 4395, 4397)
    ]
    return [
        *asking,
        "Traceback (most recent call last):",
        '  File "/home/anna/main.py", line 55, in <module>',
        "    mp.spawn(worker, nprocs=4)",
        '  File "/opt/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 192, in join',
        "    raise ProcessExitedException(",
        "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL",
    ]


@pytest.mark.parametrize(
    "said",
    [
        [*steps(40), *asked(7532, 7534, 7535), *report(1, 1, -9, 7533)],
        [*labelled(0, 1, 2, 3), *asked(7532, 7534, 7535), *report(1, 1, -9, 7533)],
        [*steps(40), *spawned()],
    ],
    ids=["torchrun", "torchrun, ranks labelled", "torch.multiprocessing"],
)
def test_the_process_that_a_launcher_reports_as_killed_is_a_rank_of_its_only_machine(said: list[str]) -> None:
    """All in one file, which names no node; that the launcher asked the others to end came before its report."""
    one = job({"train.log": lines(*said)})

    found = diagnose(one, [])

    assert parse(one).nodes == ("rank 0", "rank 1", "rank 2", "rank 3")
    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["rank 1"])
    assert "killed (SIGKILL)" in found.headline
    assert found.nodes[0].because.endswith("the other 3 ranks never did.")
    assert found.coverage.nodes_missing == ()


def test_a_local_rank_of_two_machines_is_the_rank_that_the_report_has_beside_its_process() -> None:
    """The line above the report tells the local rank and the process id alone."""
    one = job({"train.log": lines(*labelled(0, 1, 2, 3), *asked(7532), *report(3, 1, -9, 7533))})

    assert suspected(one) == ["rank 3"]


def test_what_the_only_labelled_rank_raised_is_told_from_those_that_only_the_launcher_tells_of() -> None:
    """torch labels tracebacks, and nothing else."""
    raised = (
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/home/u/train.py", line 61, in main',
        "[rank1]:     loss = model(x)",
        "[rank1]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    )
    one = job({"train.log": lines(*steps(40), *raised, *asked(7532, 7534, 7535), *report(1, 1, 1, 7533))})

    assert suspected(one) == ["rank 1"]


@pytest.mark.parametrize(("silent", "accused"), [((5,), ["rank 5"]), ((2, 3, 5), [])])
def test_few_ranks_that_are_lacking_in_the_count_were_waited_for(silent: tuple[int, ...], accused: list[str]) -> None:
    """Of ranks 0 to 7 all others timed out; where many lack, their logs may be elsewhere."""
    spoke = [rank for rank in range(8) if rank not in silent]
    said = [*steps(40), *(WATCHDOG.format(rank=rank) for rank in spoke), *report(0, 0, -6, 7532)]

    assert suspected(job({"train.log": lines(*said)})) == accused


def of_machine(host: str, ranks: range, silent: int | None = None) -> list[str]:
    """What all ranks of a machine but one say when they waited in vain, and the report of its launcher."""
    said = [WATCHDOG.format(rank=rank) for rank in ranks if rank != silent]
    return [*said, *(line.replace("host      : gpu-1", f"host      : {host}") for line in report(ranks[0], 0, -6, 77))]


def test_launchers_tell_the_machine_of_each_rank_in_one_file_of_all() -> None:
    """Each names its machine and the first rank on it; rank 5 is the second of the second, and never spoke."""
    said = [*steps(40), *of_machine("gpu-07", range(4)), *of_machine("gpu-11", range(4, 8), silent=5)]
    one = job({"slurm.out": lines(*said)})

    assert parse(one).nodes == ("gpu-07", "gpu-11")
    assert suspected(one) == ["gpu-11"]
    assert diagnose(one, []).nodes[0].because.startswith("Rank 5 on gpu-11 never complained; 7 of 8 ranks did")


def test_a_rank_that_lacks_in_the_count_is_of_the_machine_whose_block_it_is_in() -> None:
    """A file a machine; ranks are labelled, and no line of rank 5 exists."""
    files = {
        "node-0.log": lines(*steps(40), *of_machine("h0", range(4))),
        "node-1.log": lines(*of_machine("h1", range(4, 8), silent=5)),
    }

    assert suspected(job(files)) == ["node-1"]


def test_the_other_one_of_two_machines_that_says_nothing_was_waited_for() -> None:
    """All ranks of the first complain, and nobody knows which ranks the second has."""
    files = {
        "node-0.log": lines(*steps(40), *of_machine("h0", range(4))),
        "node-1.log": lines(at(0, "INFO all local ranks are up")),
    }
    found = diagnose(job(files), [])

    assert [node.node for node in found.nodes] == ["node-1"]
    assert found.nodes[0].because == "node-1 never complained; ranks 0-3 on node-0 did."


def test_ranks_that_one_voice_introduces_are_on_the_machines_that_it_names() -> None:
    """A log without any label: the Fortran of one program under mpirun, and how its rank 2 ended."""
    up = [f" RANK    {rank} ON z0{rank + 1} READS /local_nvme/samples.{rank:04}.dat" for rank in (0, 3, 1, 2)]
    ended = ["  Process name: [[45141,1],2]", "  Exit code:    2"]
    one = job({"run.out": lines(*up, *(f" STEP {n} LOSS 2.5" for n in range(1, 9)), *ended)}, status=Status.FAILED)

    assert parse(one).nodes == ("z01", "z02", "z03", "z04")
    assert suspected(one) == ["z03"]


def test_a_full_disk_of_the_only_machine_is_that_of_all_its_ranks() -> None:
    """Rank 0 is the one that saves."""
    full = raised("OSError: [Errno 28] No space left on device")
    one = job({"train.log": lines(*steps(40), *full, *asked(7533, 7534, 7535), *report(0, 0, 1, 7532))})
    found = diagnose(one, [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "A file system was full" in found.headline


def test_a_log_that_claims_any_number_of_processes_is_not_believed() -> None:
    """Nothing is counted up to it."""
    huge = 10**17
    said = [*steps(9), *report(huge, huge, -9, 7533), *labelled(0, 999_999)]
    many = [line.replace("gpu-1", f"gpu-{n}") for n in (1, 2) for line in report(n * huge, 0, -6, 70 + n)]

    assert parse(job({"train.log": lines(*said)})).nodes == ("rank 0", "rank 999999")
    assert parse(job({"train.log": lines(*steps(9), *many)})).nodes == ()


@pytest.mark.parametrize("known", [{}, {"nodes": ("gpu-07", "gpu-11", "gpu-12")}])
def test_nccl_tells_the_machine_of_each_rank_when_it_sets_up_the_communicator_of_all(known: dict[str, object]) -> None:
    """NCCL_DEBUG=INFO in one log of all: its lines name the machine, torch's the rank; smaller groups count anew."""

    def init(rank: int, of: int, host: str) -> str:
        return (
            f"{host}:80{rank}:81{rank} [{rank % 4}] NCCL INFO ncclCommInitRankConfig comm 0x55d0c0a0 rank {rank} nranks"
            f" {of} cudaDev {rank % 4} nvmlDev {rank % 4} busId 4{rank % 4}000 commId 0x9f3b1c2d - Init COMPLETE"
        )

    hosts = {rank: "gpu-07" if rank < 4 else "gpu-11" for rank in range(8)}
    said = [*(init(rank, 8, host) for rank, host in hosts.items()), *(init(n % 2, 2, hosts[n]) for n in range(8))]
    waited = [WATCHDOG.format(rank=rank) for rank in range(8) if rank != 5]
    one = job({"slurm.out": lines(*said, *steps(40), *waited)}, **known)

    assert suspected(one) == ["gpu-11"]
    assert parse(one).job.manifest.node_ranks == {"gpu-07": (0, 1, 2, 3), "gpu-11": (4, 5, 6, 7)}


def test_a_task_that_never_spoke_is_on_the_machine_that_sruns_report_names() -> None:
    """``srun --label`` names no machine; its reports of the end do, also of who ended before it said anything."""
    said = [f"{rank}: {text}" for rank in range(6) for text in ("building tokenizer", "waiting for peers")]
    ends = ["srun: error: gpu-3: tasks 6-7: Exited with exit code 1"]
    ends += [f"srun: error: gpu-{n}: tasks {2 * n}-{2 * n + 1}: Terminated" for n in range(3)]

    assert suspected(job({"slurm.out": lines(*said, *ends)}, world_size=8)) == ["gpu-3"]


def test_mpirun_tells_the_machine_of_each_rank_in_its_map() -> None:
    """``--display-map`` of Open MPI 4.1, above the lines that ``--tag-output`` marks."""
    told = [" ========================   JOB MAP   ========================"]
    for node in range(2):
        told.append(f" Data for node: p9-c0{node}\tNum slots: 2\tMax slots: 0\tNum procs: 2")
        told += [f" \tProcess OMPI jobid: [51877,1] App: 0 Process rank: {2 * node + n} Bound: N/A" for n in range(2)]
    said = [f"[1,{rank}]<stdout>:{at(n, f'step {n} loss 2.5')}" for n in range(9) for rank in range(4)]
    lacks = (
        "[1,3]<stderr>:unet_train: error while loading shared libraries: libcudnn.so.9: cannot open shared object file"
    )
    assert suspected(job({"job.out": lines(*told, *said, lacks)})) == ["p9-c01"]


def test_whom_a_scheduler_names_is_told_where_lines_have_but_the_numbers_of_tasks() -> None:
    """``srun --label`` and slurmctld: one says task 2, the other gpub034."""
    said = [f"{task}: {text}" for n in range(40) for task in range(4) for text in (at(n, f"step {n} loss 2.5"),)]
    waited = [f"{task}: [rank{task}]:{WATCHDOG.format(rank=task)[8:]}" for task in (0, 1, 3)]
    down = "[2026-11-21T04:05:00.000] error: Nodes gpub034 not responding, setting DOWN"
    found = diagnose(job({"slurm.out": lines(*said, *waited), "slurmctld.log": lines(down)}, world_size=4), [])

    assert found.nodes[0].node == "gpub034"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        # facebookincubator/submitit submitit/core/submission.py, job_environment.py (1.5)
        (
            "submitit INFO - Starting with JobEnvironment(hostname={host}, global_rank={rank}(4))",
            "77_{rank}_log.err",
        ),
        ("[{host}] rank {rank}/4 local 1 cuda:1 (NVIDIA RTX A6000)", "r{rank}.txt"),
    ],
)
def test_a_rank_tells_its_machine_by_any_name(line: str, name: str) -> None:
    """Where nothing but a machine's name stands, it needs no number; r3 is no machine but a rank."""
    hosts = ("noether", "noether", "turing", "turing")
    said = {
        name.format(rank=rank): lines(line.format(host=host, rank=rank), *(f"it {n} loss 2.5" for n in range(4)))
        for rank, host in enumerate(hosts)
    }

    origins = parse(job(said)).table.origins
    assert sorted((origin.rank, origin.node) for origin in origins) == list(enumerate(hosts))


@pytest.mark.parametrize(("first", "expected"), [(0, {0, 1, 2, 3}), (4, {4, 5, 6, 7})], ids=["from 0", "from 4"])
def test_files_that_count_the_processes_of_each_machine_are_of_the_ranks_that_job_json_tells(
    first: int, expected: set[int]
) -> None:
    """r04n2.1.txt is the second process of its machine, and no second log of rank 1."""
    nodes = {"r03n1": (first, first + 1), "r04n2": (first + 2, first + 3)}
    files = {f"out/{node}.{n}.txt": lines(*steps(5)) for node in nodes for n in range(2)}
    table = parse(job(files, nodes=tuple(nodes), node_ranks=nodes)).table

    assert set(table.ranks) == expected
    assert {origin.rank for origin in table.origins if origin.node == "r04n2"} == set(nodes["r04n2"])
