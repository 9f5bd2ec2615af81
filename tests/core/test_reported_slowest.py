"""Reports of all ranks that name somebody: by chance while all are well, always the same one since it is slow."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes, job, lines

FORMS = {
    "a script": "[perf] step {step}: compute median 1.33s, slowest rank {rank} (node-{rank}) {time:.3f}s",
    "joined": "window={step} own-time median=1.805 slowest=rank{rank} x2.38 after {time:.3f}s",
    # megatron/core/utils.py, StragglerDetector.report
    "Megatron": "INFO:megatron.core.utils:[2026-11-21 04:00:00] | MnTmp/Rnk: 51.00C/3 | MxTmp/Rnk: 87.00C/{rank} |",
}


def reporting(form: str, slowest: list[int], steps: list[float]) -> Job:
    """A leader that counts steps of these seconds, and says every fourth time who is the slowest."""
    clock, said = 0.0, []
    for n, seconds in enumerate(steps, start=1):
        clock += seconds
        said.append(at(clock, f"step {n} loss 2.5"))
        if n % 4 == 0:
            said.append(at(clock, FORMS[form].format(step=n, rank=slowest[n // 4 - 1], time=seconds)))
    order = at(clock + 1, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***")
    return four_nodes({0: said}, usual=["ready"], others={"slurm.out": [order]}, status=Status.CANCELLED)


CHANCE = [0, 3, 1, 2, 0, 1, 3, 2]
SLOW = [1.0] * 32 + [2.2] * 32


@pytest.mark.parametrize("form", FORMS)
def test_who_is_named_ever_since_the_job_is_slow_is_the_suspect(form: str) -> None:
    """Rank 2 is the slowest in each of eight reports, and was one of four before."""
    found = diagnose(reporting(form, [*CHANCE, *[2] * 8], SLOW), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "Since iteration 33 8 reports name node-2" in found.nodes[0].because


@pytest.mark.parametrize(
    ("slowest", "steps"),
    [([*CHANCE, *CHANCE], SLOW), ([2] * 16, SLOW), ([*CHANCE, *[2] * 8], [1.0] * 64)],
    ids=["now this one, now that", "always, before too", "of a job that is not slow"],
)
def test_names_that_come_by_chance_or_by_place_accuse_nobody(slowest: list[int], steps: list[float]) -> None:
    """Chance names all; a report that always names one tells what it is, not that it changed."""
    assert diagnose(reporting("a script", slowest, steps), []).nodes == ()


def test_a_node_whose_devices_are_rated_below_all_others_is_the_suspect() -> None:
    """nvidia-resiliency-ext prints the worst and the best ranks, each on a line of its own."""
    clock, said = 0.0, []
    for n in range(1, 65):
        clock += 1.0 if n <= 32 else 2.2
        said.append(at(clock, f"step {n} loss 2.5"))
        if n % 4 == 0:
            scores = [1.0, 0.98, 0.59 if n > 32 else 0.97, 0.99]
            said += [
                at(clock, f"  Rank={rank} Node=node-{rank} Score={score:.2f}") for rank, score in enumerate(scores)
            ]
    order = at(clock + 1, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***")

    found = diagnose(four_nodes({0: said}, usual=["ready"], others={"slurm.out": [order]}, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "rated 0.59 since iteration 33" in found.nodes[0].because


def test_reports_that_rate_some_ranks_tell_the_machines_of_all() -> None:
    """One log, in which nothing else names a machine: ranks between those that are rated are in the same blocks."""
    said = []
    for n in range(1, 65):
        said.append(f"0: {at(n if n <= 32 else 2 * n, f'step {n} loss 2.5')}")
        if n % 4 == 0:
            rated = {5: 0.59 if n > 32 else 0.97, 0: 1.0, n % 16: 0.98}
            said += [f"0:   Rank={rank} Node=eos{rank // 4:04d} Score={score:.2f}" for rank, score in rated.items()]
    labels = [f"{rank:2d}: [NeMo I] ready" for rank in range(16)]
    found = diagnose(job({"log.out": lines(*labels, *said)}, world_size=16, status=Status.RUNNING), [])

    assert [(node.node, node.ranks) for node in found.nodes] == [("eos0001", (4, 5, 6, 7))]


def test_who_is_named_in_every_report_from_some_time_on_is_the_suspect_where_no_pace_is_known() -> None:
    """A table without clocks, in which a column has the slowest host of each cycle."""
    chance = [0, 3, 1, 2, 0, 1, 3, 2]
    rows = [f"step {n} loss 2.5 compute 1.80 node-{chance[n % 8] if n < 20 else 2}:1.75" for n in range(1, 61)]
    guard = "FATAL pace guard: 40 cycles over 1.2 s (plan 0.75), giving the allocation back"
    found = diagnose(four_nodes({0: [*rows, guard]}, usual=["ready"]), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert found.iterations[0].iteration == 19


def test_one_of_many_ranks_that_is_rated_below_all_others_is_the_suspect_though_all_ended_without_a_word() -> None:
    """The detector ends the job; srun tells of each node that its tasks ended with an error."""
    clock, said = 0.0, []
    for n in range(1, 65):
        clock += 1.0 if n <= 32 else 2.2
        said.append(at(clock, f"step {n} loss 2.5"))
        if n % 8 == 0:
            scores = [1.0, 0.98, 0.97, 0.99, 0.57 if n > 32 else 0.98, 0.98, 0.99, 0.97]
            said += [
                at(clock, f"  Rank={rank} Node=node-{rank // 2} Score={score:.2f}") for rank, score in enumerate(scores)
            ]
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}
    ended = [
        f"srun: error: {node}: tasks {ranks[0]}-{ranks[1]}: Exited with exit code 1" for node, ranks in nodes.items()
    ]
    files = {f"node-{rank // 2}/rank_{rank}.log": lines("ready", *(said if rank == 0 else ())) for rank in range(8)}
    found = diagnose(job({**files, "slurm.out": lines(*ended)}, nodes=tuple(nodes), node_ranks=nodes), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert found.nodes[0].because.startswith("Rank 4 on node-2 is rated 0.57 since iteration 33")
