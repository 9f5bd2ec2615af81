"""Lists of all ranks that one of them prints: below a complaint, and step by step."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from core.nodes.told_numbers import told_numbers
from tests.support.jobs import at, job, lines, parse

NODES = {f"farm-{letter}": (2 * n, 2 * n + 1) for n, letter in enumerate("abcd")}
# facebookresearch/fairseq fairseq/trainer.py, _check_grad_norms (0.12)
INCONSISTENT = (
    "Traceback (most recent call last):",
    '  File "/opt/fairseq/fairseq/trainer.py", line 1428, in _check_grad_norms',
    "    raise FloatingPointError(",
    (
        "FloatingPointError: Fatal error: gradients are inconsistent between workers. Try --ddp-backend=legacy_ddp. "
        "Or are you mixing up different generation of GPUs in training?"
    ),
    "-" * 80,
    "grad_norm across the workers:",
)


def inconsistent(norms: list[float]) -> Job:
    said = [at(n, f"epoch 001: {n} / 400 loss=2.5, ppl=12") for n in range(1, 30)]
    listed = [f"rank {rank:3d} = {norm:.8f}" for rank, norm in enumerate(norms)]
    files = {"train.log": lines(*said, *INCONSISTENT, *listed, "", "-" * 80)}
    return job(files, nodes=tuple(NODES), node_ranks=NODES, status=Status.FAILED)


def test_the_only_rank_with_another_norm_is_the_suspect() -> None:
    """Replicas have the same gradients, but for the one that computes wrongly."""
    found = diagnose(inconsistent([1.38742] * 6 + [771.2] + [1.38742]), [])

    assert [node.node for node in found.nodes] == ["farm-d"]
    assert "rank 6 on farm-d is listed with 771.2, all others with 1.38742" in " ".join(found.nodes[0].reasons).lower()


@pytest.mark.parametrize(
    "norms",
    [[1.0 + rank / 10 for rank in range(8)], [1.38742] * 8, [1.38742] * 7 + [1.39], [1.38742] * 5 + [9.1] * 3],
    ids=["all differ", "all alike", "hardly", "three"],
)
def test_a_list_that_tells_no_rank_from_the_others_accuses_nobody(norms: list[float]) -> None:
    """Then the program is at fault, or nobody knows."""
    assert diagnose(inconsistent(norms), []).scope is Scope.JOB


def timers(slow: tuple[int, ...]) -> Job:
    """Megatron's timers of all ranks, as the last one prints them (megatron/core/timers.py, log option "all")."""
    said = []
    for step in range(1, 31):
        said += [f"7: {at(step, f'iteration {step:8d}/ 400 | lm loss: 2.5E+00')}", "7: times across ranks (ms):"]
        for name, usual in (("forward-compute", 2400.0), ("backward-compute", 4800.0)):
            said.append(f"7:   {name}:")
            for rank in range(8):
                own = usual * (2 if rank in slow and step > 15 else 1) + (step * 37 + rank * 61) % 41
                said.append(f"7:      rank {rank:2d}: {own:.2f}")
    files = {"slurm.out": lines(*said)}
    return job(files, nodes=tuple(NODES), node_ranks=NODES, world_size=8, status=Status.CANCELLED)


def test_lists_of_several_timers_are_read_each_by_its_name() -> None:
    """The rank that prints them is not the one that they are of."""
    found = diagnose(timers((2, 3)), [])

    assert [node.node for node in found.nodes] == ["farm-b"]
    assert "its backward-compute went from" in found.nodes[0].because
    assert not diagnose(timers(()), []).nodes


def two_digits(slow: tuple[int, ...]) -> Job:
    """The same of 32 ranks on two machines, of whose lists most rows look like a label: "rank 10: 2400.00"."""
    homes = {"farm-a": tuple(range(16)), "farm-b": tuple(range(16, 32))}
    files = {
        node: [
            f"{node}:7{n}:9{n} [0] NCCL INFO comm 0x5 rank {n} nRanks 32 nNodes 2 localRanks 16 localRank 0 MNNVL 0"
            for n in ranks
        ]
        for node, ranks in homes.items()
    }
    clock = 0.0
    for step in range(1, 41):
        clock += 5.0 if step <= 20 or not slow else 9.0
        files["farm-b"] += [at(clock, f"iteration {step:8d}/ 400 | lm loss: 2.5E+00"), "times across ranks (ms):"]
        files["farm-b"].append("  forward-backward:")
        for rank in range(32):
            own = 2400.0 * (2 if rank in slow and step > 20 else 1) + (step * 37 + rank * 61) % 41
            files["farm-b"].append(f"     rank {rank:2d}: {own:.2f}")
    return job(
        {f"{node}.log": lines(*said) for node, said in files.items()}, nodes=tuple(homes), status=Status.CANCELLED
    )


def test_a_row_of_a_list_is_no_speech_of_that_rank() -> None:
    """Its home is where its communicator was set up; of two machines the one whose work took longer is told."""
    found = diagnose(two_digits(tuple(range(16))), [])

    assert [node.node for node in found.nodes] == ["farm-a"]
    assert "its forward-backward went from" in found.nodes[0].because
    assert not diagnose(two_digits(()), []).nodes


def test_a_list_of_all_ranks_is_read_where_only_some_have_a_home() -> None:
    """srun's four tasks are nodes, which go by their own numbers; the lists are of all eight ranks."""
    told = list(told_numbers(parse(timers((2, 3))), dict(enumerate(NODES))))
    homes = {rank: node for node, ranks in NODES.items() for rank in ranks}

    assert [name for _, name, _ in told] == ["backward-compute", "forward-compute"]
    assert [{subject.rank: subject.node for subject in values} for _, _, values in told] == [homes, homes]


def test_a_list_behind_the_label_of_srun_is_one_list() -> None:
    """Its rows of two digits look like a second label; who works longer lets the others wait as much less."""
    homes = {f"farm-{place}": tuple(range(8 * place, 8 * place + 8)) for place in range(4)}
    said = []
    for step in range(1, 21):
        said += [
            f"31: {at(5.0 * step, f'iteration {step:8d}/ 400 | lm loss: 2.5E+00')}",
            "31: times across ranks (ms):",
        ]
        for name, usual, more in (("forward-backward", 3100.0, 1100.0), ("all-grads-sync", 1530.0, -1100.0)):
            said.append(f"31:   {name}:")
            said += [
                f"31:      rank {rank:2d}: {usual + (more if rank == 18 else 0) + (step * 37 + rank * 61) % 41:.2f}"
                for rank in range(32)
            ]
    one = job({"slurm.out": lines(*said)}, nodes=tuple(homes), node_ranks=homes, world_size=32)

    told = {name: values for _, name, values in told_numbers(parse(one), {r: n for n, of in homes.items() for r in of})}

    assert sorted(told) == ["all-grads-sync", "forward-backward"]
    assert {subject.rank for subject in told["forward-backward"]} >= {18, 31}
