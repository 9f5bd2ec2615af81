"""The roll of a job: which process is on which machine, in whatever words a program tells it."""

from collections.abc import Sequence

import pytest

from core.answer.build_diagnosis import TOO_MANY_REPORTS
from core.diagnose import diagnose
from core.job import Job
from core.nodes.rank_series import CLEAR
from core.nodes.told_subjects import MIN_SIDE
from core.parsing.places import TOO_MANY_RANKS
from core.parsing.rolls import _numbers_of_words, find_roll
from core.processes import MAX_NAMED, MAX_REPORTS, NamedProcess, listed, within_bounds
from tests.support.jobs import at, job, lines, parse, signs_of


def with_roll(roll: Sequence[str], said: Sequence[str] = (), **manifest: object) -> Job:
    """One log for all processes, which begins with these lines."""
    return job({"train.out": lines(*roll, *said)}, **manifest)


@pytest.mark.parametrize(
    ("roll", "expected"),
    [
        (
            [f">> rank {rank} -> nid00512{rank // 2} gpu {rank % 2} pid {4100 + 7 * rank}" for rank in (3, 0, 2, 1)],
            {"nid005120": (0, 1), "nid005121": (2, 3)},
        ),
        (
            [f"10.0.8.2{n} 30050   # machine {n}: trainers {2 * n},{2 * n + 1}" for n in range(3)],
            {"10.0.8.20": (0, 1), "10.0.8.21": (2, 3), "10.0.8.22": (4, 5)},
        ),
        (
            ["host gpu-a7 starts ranks 0-3 of 8", "host gpu-b2 starts ranks 4-7 of 8"],
            {"gpu-a7": (0, 1, 2, 3), "gpu-b2": (4, 5, 6, 7)},
        ),
        (
            [f"rank {rank} is up on z0{rank % 3}" for rank in (3, 0, 2, 1)],  # not as many each: "on" tells enough
            {"z00": (0, 3), "z01": (1,), "z02": (2,)},
        ),
    ],
)
def test_each_number_has_its_machine(roll: Sequence[str], expected: dict[str, tuple[int, ...]]) -> None:
    """In any order, and several in one line."""
    assert parse(with_roll(roll)).job.manifest.node_ranks == expected


@pytest.mark.parametrize(
    "roll",
    [
        [f"rank {rank} uses cuda{rank % 2} for its part" for rank in range(4)],  # a device is no machine
        [f"rank {rank} is in stage{rank // 2}" for rank in range(4)],
        [f"rank {rank} -> gpu-{rank % 3}x" for rank in range(4)],  # not as many on each
        [f"rank {rank} -> gpu-{rank // 2}x" for rank in (0, 1, 3)],  # one is missing
        [f"worker {rank} reads shard-{rank}x" for rank in range(4)],  # a name each: of anything
        [f"rank {rank} came to a barrier at iter{rank % 3}" for rank in range(4)],  # a time is no place
    ],
)
def test_what_else_is_numbered_is_no_machine(roll: Sequence[str]) -> None:
    """Devices, stages, and names of which nobody knows what they are."""
    assert not parse(with_roll(roll)).job.manifest.node_ranks


def test_machines_are_those_of_job_json() -> None:
    """Where it names them, each may have one process, and no other word is one."""
    roll = [f"actor {n} registered from sim-{name}:4100{n} (48 envs)" for n, name in enumerate(("a2", "b5", "c9"))]
    parsed = parse(with_roll(roll, nodes=("head-1", "sim-a2", "sim-b5", "sim-c9")))

    assert parsed.job.manifest.node_ranks == {"sim-a2": (0,), "sim-b5": (1,), "sim-c9": (2,)}


def test_machines_of_job_json_need_no_number() -> None:
    """Whatever they are called, also where nothing else names them."""
    roll = [f"rank={rank} host={('v-ada', 'v-bob')[rank // 3]} gpu={rank % 3} hello" for rank in range(6)]
    parsed = parse(with_roll(roll, nodes=("v-ada", "v-bob")))

    assert parsed.job.manifest.node_ranks == {"v-ada": (0, 1, 2), "v-bob": (3, 4, 5)}


def test_files_are_of_the_processes_that_they_are_called_after() -> None:
    """The learner has the roll, and each actor a file of its own."""
    roll = [f"actor {n} registered from sim-{name}:4100{n}" for n, name in enumerate(("a2", "b5", "c9"))]
    actors = {f"actors/actor_0{n}.log": lines(f"  {n}.70 start, 48 envs") for n in range(3)}
    parsed = parse(job({"learner.log": lines(*roll), **actors}, nodes=("sim-a2", "sim-b5", "sim-c9")))

    assert {(origin.node, origin.rank) for origin in parsed.table.origins if origin.node} == {
        ("sim-a2", 0),
        ("sim-b5", 1),
        ("sim-c9", 2),
    }


def test_who_speaks_may_tell_the_machine() -> None:
    """Ray's driver puts the address before what its workers say."""
    said = [
        f"(WorkerDict pid={7000 + rank}, ip=10.0.4.1{rank // 2}) rank {rank} local {rank % 2} ready"
        for rank in range(4)
    ]
    parsed = parse(with_roll(said))
    roll, _ = find_roll(parsed.table, parsed.files, parsed.job.manifest)

    assert roll is not None
    assert roll.homes == {"10.0.4.10": (0, 1), "10.0.4.11": (2, 3)}


def test_numbers_of_ranks_are_told_of_their_machines() -> None:
    """Timers that the last rank prints for all: the roll tells whose node became slow."""
    roll = [f">> rank {rank} -> nid00512{rank} gpu 0" for rank in range(4)]
    nodes = tuple(f"nid00512{rank}" for rank in range(4))
    said = []
    for n in range(4 * MIN_SIDE):
        slow = n >= 2 * MIN_SIDE
        said.append(at(n * (2.0 if slow else 1.0), f"iteration {n + 1} done"))
        said += [
            f"   rank {rank}: busy {(0.9 if slow and rank == 2 else 0.3) + n % 3 / 100:.2f} s" for rank in range(4)
        ]

    found = [sign for sign in signs_of(with_roll(roll, said, nodes=nodes)) if sign.weight >= CLEAR]

    assert {sign.node for sign in found} == {"nid005122"}


def test_a_table_of_seats_tells_the_machine_of_each_rank_that_spoke() -> None:
    """Whatever the program calls them: these are the numbers before its lines, and machines that have logs."""
    names = ("node-b", "node-c", "node-g")
    table = [f"   {name}   seats {2 * n:02} {2 * n + 1:02}" for n, name in enumerate(names)]
    said = {f"laps/rank_{seat}.log": lines(at(seat, f"lap 1 of {seat}")) for seat in range(6)}
    systems = {f"sys/{name}.log": lines("kernel: eth0: renamed from veth7") for name in names}
    parsed = parse(job({"kappa.txt": lines(*table)} | said | systems))

    assert parsed.job.manifest.node_ranks == {"node-b": (0, 1), "node-c": (2, 3), "node-g": (4, 5)}


@pytest.mark.parametrize("argument", ["--machine-rank {0} --num-machines 3", "--node_rank {0} --nnodes 3"])
def test_machines_that_a_launcher_counts_have_their_share_of_the_ranks(argument: str) -> None:
    """detectron2 and torchrun are told the number of the machine; each starts as many ranks, one after the other."""
    machines = [f"vision{n}.lab" for n in (2, 5, 8)]
    started = [f"[launch] {machine}: {argument.format(n)}" for n, machine in enumerate(machines)]
    files = {"launch.log": lines(*started)}
    files |= {
        f"dmesg/{machine}": lines("[1123411.409507] EXT4-fs (nvme0n1p1): mounted filesystem") for machine in machines
    }
    files |= {f"log.txt.rank{rank}": lines(at(rank, "iter: 20  total_loss: 2.5")) for rank in range(6)}

    assert parse(job(files)).job.manifest.node_ranks == dict(zip(machines, [(0, 1), (2, 3), (4, 5)], strict=True))


ALL_RANKS = ",".join(["0-999999"] * 30)


def test_lists_of_numbers_are_bounded() -> None:
    """A line of 10 kB names eleven million ranks, and each of thousands of lines again: the answer took hours."""
    texts = [f"host node{number}: ranks {number},{ALL_RANKS} up" for number in range(40)]

    numbers = _numbers_of_words(texts)["rank"]

    assert max(map(len, numbers)) <= MAX_REPORTS
    assert sum(map(len, numbers)) <= MAX_NAMED + MAX_REPORTS


def test_reports_of_tasks_are_bounded() -> None:
    """As srun tells of tasks that ended; what a job of 16,384 ranks may say is read whole."""
    of_all = NamedProcess(task=",".join(["0-8191"] * 1000), signal=9)
    of_eight = [(row, NamedProcess(task=f"{8 * row}-{8 * row + 7}", signal=9)) for row in range(2048)]

    assert len(list(listed(of_all.task or ""))) == MAX_REPORTS
    assert len(list(within_bounds((row, of_all) for row in range(100)))) == MAX_NAMED // MAX_REPORTS
    assert list(within_bounds(of_eight)) == of_eight


def reading_gaps(files: dict[str, str]) -> list[str]:
    return [skip.reason for skip in diagnose(job(files), ()).skipped if skip.step == "reading"]


def test_an_answer_tells_that_reports_name_too_many_tasks() -> None:
    """Who reads of one killed task has to know that others were not read: too many in a line, or in all of them."""
    steps = [f"2026-11-22 04:00:{n:02} step {n}" for n in range(9)]
    in_a_line = ["srun: error: node-1: tasks 0-16383: Killed"]
    together = [f"srun: error: node-{n}: tasks {n},0-8000: Killed" for n in range(9)]
    of_a_job = [f"srun: error: node-{n}: tasks {8 * n}-{8 * n + 7}: Killed" for n in range(64)]

    assert reading_gaps({"a.log": lines(*steps, *in_a_line)}) == [TOO_MANY_REPORTS]
    assert reading_gaps({"a.log": lines(*steps, *together)})[-1] == TOO_MANY_REPORTS
    assert reading_gaps({"a.log": lines(*steps, *of_a_job)}) == []


def test_an_answer_tells_that_lists_of_ranks_were_not_read_to_their_end() -> None:
    """Whose machine is not known because its list was too long; lists of bytes are none."""
    steps = [f"2026-11-22 04:00:{n:02} step {n}" for n in range(9)]

    def of(word: str, numbers: str) -> dict[str, str]:
        return {"a.log": lines(*(f"host node{n}: {word} {n},{numbers} up" for n in range(4)), *steps)}

    assert reading_gaps(of("ranks", "0-9999")) == [TOO_MANY_RANKS]
    assert reading_gaps(of("bytes", "0-9999")) == []
    assert reading_gaps(of("ranks", "100-199")) == []
