"""What names of files beside each other tell: a machine, and a process of it."""

from collections.abc import Mapping

import pytest

from core.job import Job
from core.logs.speaker_columns import speakers_in
from core.parsing.file_names import nodes_by_likeness
from tests.support.jobs import at, job, lines, parse
from tests.support.wrapped_logs import unwrapped


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ["out.tulip.0", "out.tulip.1", "out.orchid.2", "out.orchid.3"],
            {"out.tulip.1": ("tulip", 1, False), "out.orchid.2": ("orchid", 2, False)},
        ),
        (
            [f"metrics/ix-04{n}_gpu{k}" for n in range(2) for k in range(4)],
            {"metrics/ix-041_gpu3": ("ix-041", 3, True)},
        ),
        (
            [f"2026-05-01/{host}/gpu{k}" for host in ("amsel", "dohle") for k in range(2)],
            {"2026-05-01/dohle/gpu1": ("dohle", 1, True)},
        ),
        (
            [f"logs.{n}.10.12.{1 + n // 4}.7" for n in range(8)],
            {"logs.5.10.12.2.7": ("10.12.2.7", 5, False)},
        ),
        (
            [f"brk-{n // 2}-a/{kind}-r{n:03d}" for n in range(6) for kind in ("metrics", "run")],
            {"brk-1-a/metrics-r003": ("brk-1-a", 3, False), "brk-1-a/run-r003": ("brk-1-a", 3, False)},
        ),
        (
            [f"p{n}@cn-r1u{n // 4:02d}" for n in range(8)],
            {"p5@cn-r1u01": ("cn-r1u01", 5, False)},
        ),
    ],
)
def test_a_name_before_a_number_is_a_machine(names: list[str], expected: Mapping[str, tuple[str, int, bool]]) -> None:
    """The numbers are ranks where they count those of the job, else those of each machine."""
    found = speakers_in(names)

    assert {name: found[name] for name in expected} == expected
    assert len(found) == len(names)


@pytest.mark.parametrize(
    "names",
    [
        [f"{phase}.{n}" for phase in ("train", "eval") for n in range(3)],
        [f"gpu-{n}" for n in range(4)],
        [f"node-{n}/part{k}" for n in range(2) for k in range(4)],
        [f"proc-rank-{n}-device-{n}" for n in range(8)],
        [f"out-{n}-a/{kind}-c{k:03d}" for n in range(3) for kind in ("shard", "run") for k in range(n, 4)],
        [f"out.tulip.{n}" for n in range(4)],
        ["out.tulip.0", "out.orchid.7", "out.daffodil.9"],
    ],
)
def test_parts_of_a_run_and_numbers_that_count_nothing_are_none(names: list[str]) -> None:
    """Nor a name that all have."""
    assert speakers_in(names) == {}


def test_who_said_least_has_a_file_that_is_called_like_the_others() -> None:
    """Launchers name two machines; the third never came to say anything of its own."""
    files = {0: "logs/gpu-7.sft.log", 1: "logs/gpu-8.sft.log", 2: "logs/gpu-9.sft.log", 3: "logs/launch.txt"}

    assert nodes_by_likeness(files, {0: "gpu-7", 1: "gpu-8"}) == {2: "gpu-9"}
    assert nodes_by_likeness(files, {0: "gpu-7"}) == {}


def labelled(names: Mapping[str, range]) -> Job:
    """Files of a machine each, in which its processes put a number of their own before what they say."""
    return job(
        {
            f"train.{node}.log": unwrapped(
                lines(*(at(n, f"INFO [g{k}] k={n} loss 2.{n}") for n in range(1, 12) for k in ranks)).encode()
            )
            for node, ranks in names.items()
        },
        nodes=tuple(names),
        node_ranks={node: tuple(ranks) for node, ranks in names.items()},
    )


def test_processes_of_a_files_machine_are_ranks_whatever_they_are_called() -> None:
    """``[g4]`` in the log of gpu-8 is rank 4, and no machine."""
    table = parse(labelled({"gpu-7": range(4), "gpu-8": range(4, 8)})).table

    assert table.nodes == ("gpu-7", "gpu-8")
    assert table.ranks == tuple(range(8))


def test_numbers_that_go_on_from_machine_to_machine_are_ranks() -> None:
    """As many on each, in order, from 0 on; what has a number of its own is a machine."""
    names = [f"{host}-{2 * n + k}" for n, host in enumerate(("bee", "cat", "dog")) for k in range(2)]

    found = speakers_in(names)

    assert [found[name] for name in names[:3]] == [("bee", 0, False), ("bee", 1, False), ("cat", 2, False)]
    assert speakers_in([f"{host}-{n}" for n, host in enumerate(("bee", "cat", "dog"))]) == {}
