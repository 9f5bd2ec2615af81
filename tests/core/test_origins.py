"""Who spoke: programs, cohorts, and what nobody can know; test_origins_of_files and _of_labels have the layouts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.logs.origins import Program
from tests.support.jobs import at, job, lines, parse, raised
from tests.support.origins import NAMES_ONLY, TWO_NODES, origins


@pytest.mark.parametrize(
    ("file", "prefix", "program"),
    [
        ("node-00/run/attempt_0/0/stderr.log", b"", Program.RANK),
        ("node-00/torchrun.log", b"", Program.LAUNCHER),
        ("node-00/torchrun.log", b"[default0]:", Program.RANK),
        ("node-00/slurmd.log", b"", Program.DAEMON),
        ("slurmctld.log", b"", Program.SCHEDULER),
        ("job-77-node-01.log", b"", Program.DAEMON),
        ("job-77-node-01.log", b"[rank3]: ", Program.RANK),
        ("job-77-node-01-torchrun.log", b"", Program.LAUNCHER),
        ("rank_3.log", b"", Program.RANK),
    ],
)
def test_programs_are_told_apart(file: str, prefix: bytes, program: Program) -> None:
    """Training processes, a node's launcher, its daemons and the job's scheduler are weighed differently."""
    (origin,) = origins([(file, prefix)], TWO_NODES)

    assert origin.program is program


def test_voices_in_the_same_place_share_a_cohort() -> None:
    """The same program of two nodes should say the same; ranks 0 and last of a job never do, nor do two streams."""
    voices = [(f"{node}/run_{node}/attempt_0/{n}/stderr.log", b"") for node in ("node-00", "node-01") for n in (0, 1)]
    daemons = [("node-00/slurmd.log", b""), ("node-01/slurmd.log", b"")]

    first, lead_peer, lead, last, one, other = (o.cohort for o in origins([*voices, *daemons], TWO_NODES))

    assert len({first, lead_peer, lead, last}) == 4
    assert one == other
    assert one != first


def test_cohorts_know_no_names() -> None:
    """The same place in another job, on other machines and with other run folders, is the same cohort."""
    one = origins([("node-00/run_a1/attempt_0/1/stderr.log", b"")], TWO_NODES)
    other_nodes = {"nodes": ("gpu-17", "gpu-18"), "node_ranks": {"gpu-17": (0, 1), "gpu-18": (2, 3)}, "world_size": 4}
    other = origins([("gpu-17/run_z9/attempt_1/1/stderr.log", b"")], other_nodes)

    assert one[0].cohort == other[0].cohort


@pytest.mark.parametrize(
    "lies",
    [
        {"nodes": ("a", "b"), "node_ranks": {"a": (0, 1, 2), "b": (1, 2, 3)}, "world_size": 2},
        {"nodes": ("a", "b"), "node_ranks": {"a": (900_000,), "b": ()}, "world_size": 1},
        {"nodes": ("a",), "node_ranks": {"ghost": (0, 1)}, "world_size": 8},
        {"nodes": ("a", "b", "c"), "node_addresses": {"ghost": ("10.0.0.1",), "a": ()}},
        {"nodes": ("logs", "a.log", ""), "node_ranks": {"": (0,)}, "world_size": 1},
        {"world_size": 1, "total_iterations": 0},
    ],
)
def test_a_lying_manifest_crashes_nothing(lies: dict[str, Any]) -> None:
    """Claims that contradict the logs or each other are survived, by the whole method."""
    files = {
        "a/rank_0.log": lines(
            at(1, "iteration 1/ 9 | x"), *raised("RuntimeError: Connection closed by peer [10.0.0.1]:3")
        ),
        "b/run_x/attempt_3/7/stderr.log": lines("[rank3]: ValueError: boom", "7: [default9]: x"),
        "a.log": lines("5: hello", "6: hello"),
    }

    diagnosis = diagnose(job(files, **lies), [])

    assert diagnosis.coverage.files == 3


def test_a_real_job_is_read_from_its_lines() -> None:
    """Labels are learned from a file's lines, and what follows a label is not the speaker's name."""
    labelled = [f"{task}: {at(n, f'step {n}')}" for n in range(20) for task in range(4)]
    table = parse(job({"slurm.out": lines(*labelled, "srun: error: node-00: task 0: Killed")}, **TWO_NODES)).table

    assert {(origin.node, origin.rank) for origin in table.origins} == {
        ("node-00", 0),
        ("node-00", 1),
        ("node-01", 2),
        ("node-01", 3),
        (None, None),
    }


PARTS = st.sampled_from(
    ["node-00", "node-01", "run_x", "attempt_0", "attempt_1", "0", "1", "rank_3", "logs", "..", "a"]
)
FILES = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
PREFIXES = st.sampled_from(
    [b"", b"0: ", b"3: [default1]:", b"[rank2]: ", b"h1: ", b"(W pid=1) ", b"h:1:2 [0] ", b"[1,9]<stderr>:"]
)
MANIFESTS = st.sampled_from([{}, TWO_NODES, NAMES_ONLY, {"world_size": 1}, {"nodes": ("a",)}])


@given(st.lists(st.tuples(FILES, PREFIXES), max_size=8, unique=True), MANIFESTS)
def test_any_tree_has_origins(voices: list[tuple[str, bytes]], manifest: dict[str, Any]) -> None:
    """No path and no label is too odd; each voice gets one origin, and who has a rank is a training process."""
    found = origins(voices, manifest)

    assert len(found) == len(voices)
    for origin in found:
        assert origin.rank is None or origin.program is Program.RANK


@pytest.mark.parametrize("digits", [12, 5000])
@pytest.mark.parametrize(
    "form", ["[rank%s]: it failed", "[1,%s]<stderr>: it failed", "[default%s]:it failed", "%s: it failed"]
)
def test_a_number_that_no_rank_has_names_nobody(digits: int, form: str) -> None:
    """A program may write any number where launchers write a rank: it is text, and no table breaks on it."""
    said = [at(0, "it works"), form % ("9" * digits), *raised("RuntimeError: it failed")]
    files = {f"rank_{number}.log": lines(*said) for number in range(2)}

    found = parse(job(files))

    assert {origin.rank for origin in found.table.origins} == {0, 1}
