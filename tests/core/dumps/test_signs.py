"""Dumps in the diagnosis: suspects, sentence, stage, what to isolate; and nothing for jobs without."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.dumps.rank_groups import RankGroup, parallel_groups, smallest_around
from core.job import Job, Manifest, Status
from core.model import Confidence, Diagnosis, Scope, Stage
from core.naming import called, folded
from tests.support.jobs import four_nodes, lines, log_file, steps
from tests.support.recorded_dumps import Layout, files, hang

REDUCE = "all_reduce (torch/distributed/distributed_c10d.py:1316)"
WAITS = f'Process {{pid}}: python\nThread {{pid}} (idle): "MainThread"\n    {REDUCE}\n    evaluate (t.py:5)\n'
LOADS = WAITS.replace(REDUCE, "next_batch (loader.py:7)")


def hung(dumps: dict[str, str | bytes], **manifest: Any) -> Job:
    known: dict[str, Any] = {"job_id": "j1", "status": Status.FAILED} | manifest
    return Job(Manifest(**known), (), tuple(log_file(f"dumps/{name}", data) for name, data in sorted(dumps.items())))


def stacks(odd: int, count: int = 8) -> dict[str, str | bytes]:
    return {f"pyspy_rank{n}.txt": (LOADS if n == odd else WAITS).format(pid=100 + n) for n in range(count)}


def found(job: Job) -> Diagnosis:
    return diagnose(job, [])


@pytest.mark.parametrize("pickled", [True, False])
def test_a_job_of_recordings_only_is_diagnosed(pickled: bool) -> None:
    """No log, no node name: the rank is the suspect, with its file and numbers, and its group is what to isolate."""
    answer = found(hung(dict(files(hang(Layout(2, 4, 1), host=(5, 4)), pickled=pickled))))

    (suspect,) = answer.nodes
    assert (answer.scope, answer.confidence) == (Scope.NODE, Confidence.SUPPORTED)
    assert (suspect.node, suspect.ranks) == ("rank 5", (5,))
    assert answer.headline == "Look at rank 5: the program there never entered a collective that the others wait in."
    assert ("_dump_5" if pickled else "trace_rank_5.json") in suspect.because
    assert "isolate all of TENSOR_GROUP (ranks 4-5): that costs 1 healthy rank." in answer.checks[0]


@pytest.mark.parametrize(("dumped", "scope"), [(8, Scope.JOB), (5, Scope.UNKNOWN)])
def test_stacks_of_which_none_stands_apart_tell_that_a_job_hung(dumped: int, scope: Scope) -> None:
    """Nobody collects stacks of a job that trains; of all ranks they say that the fault is everywhere."""
    said = {f"rank_{n}.log": lines("step 1 loss: 2.5", "step 2 loss: 2.4") for n in range(8)}
    dumps = {name: data for name, data in stacks(odd=-1).items() if int(name[10]) < dumped}
    logs = tuple(log_file(f"logs/{name}", data) for name, data in said.items())

    answer = found(replace(hung(dumps, status=Status.CANCELLED), logs=logs))

    assert (answer.scope, answer.confidence, answer.nodes) == (scope, Confidence.WEAK, ())
    assert answer.headline.startswith("The job seems to have hung during evaluation, after iteration 2")


def test_a_job_of_stacks_only_is_diagnosed() -> None:
    """The node that its manifest names, the cited line, and the stage in which most processes stand."""
    nodes = {f"n{n}": (2 * n, 2 * n + 1) for n in range(4)}
    answer = found(hung(stacks(5), nodes=tuple(nodes), node_ranks=nodes, world_size=8))

    (suspect,) = answer.nodes
    assert (suspect.node, answer.stage) == ("n2", Stage.EVALUATION)
    assert [(line.file, line.line, line.text) for line in suspect.lines] == [
        ("dumps/pyspy_rank5.txt", 3, "    next_batch (loader.py:7)")
    ]
    assert "stands in next_batch (loader.py:7) while the others wait during evaluation" in answer.headline


def test_both_kinds_of_dumps_agree_in_one_suspect() -> None:
    """Evidence of two channels adds up."""
    both = stacks(5) | dict(files(hang(Layout(2, 4, 1), host=(5, 4))))

    (suspect,) = found(hung(both)).nodes

    assert suspect.node == "rank 5"
    assert suspect.score == pytest.approx(1 - 0.2 * 0.3)


@given(st.sampled_from([Layout(2, 2, 1), Layout(2, 2, 2), Layout(1, 4, 2)]))
@settings(max_examples=5, deadline=None)
def test_when_all_ranks_agree_nobody_is_accused(layout: Layout) -> None:
    """A job that ended everywhere alike gives no suspect, by recordings and by stacks."""
    dumps = dict(files(hang(layout))) | stacks(-1, layout.world)

    answer = found(hung(dumps))

    assert (answer.scope, answer.nodes) == (Scope.UNKNOWN, ())


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.pickle", b"\x80\x02cos\nsystem\n.", "was not read: its opcode b'c'"),
        ("x.pkl", b"\x80\x02}", "broken pickle"),
        ("x.json", b"{", "broken JSON"),
        ("core.17", b"\x7fELF\x02", "neither a stack dump nor a flight recorder dump"),
        ("empty.txt", b"", "neither a stack dump nor a flight recorder dump"),
    ],
)
def test_a_bad_dump_is_told_and_the_others_count(name: str, content: bytes, told: str) -> None:
    """One file that cannot be read costs nothing but itself."""
    answer = found(hung(stacks(5) | {name: content}))

    assert [one.node for one in answer.nodes] == ["rank 5"]
    assert [one.step for one in answer.skipped if told in one.reason] == ["dumps"]


def test_a_job_that_completed_is_never_accused_by_its_dumps() -> None:
    """Whatever the processes did when somebody looked."""
    assert found(hung(stacks(5), status=Status.COMPLETED)).nodes == ()


def test_a_dump_without_a_word_changes_nothing_of_what_the_logs_say() -> None:
    """A job with logs and a dump of another kind gives the same evidence as without."""
    job = four_nodes({}, usual=steps(9))
    beside = Job(job.manifest, job.logs, (log_file("dumps/readme", lines("nothing")),))

    one, other = found(job), found(beside)

    assert (one.headline, one.stage, one.nodes, one.events) == (other.headline, other.stage, other.nodes, other.events)


@given(st.sets(st.integers(0, 40), max_size=30))
def test_folded_ranks_unfold_to_themselves(ranks: set[int]) -> None:
    """A reader gets every rank, unless there are more runs than a sentence holds."""
    text = folded(ranks)
    runs = [part.split("-") for part in text.split(", ") if part]

    if "\u2026" not in text:
        assert {rank for run in runs for rank in range(int(run[0]), int(run[-1]) + 1)} == ranks
    assert called([3]) == "rank 3"


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_parallel_groups_are_those_of_megatron(tensor: int, data: int, pipeline: int) -> None:
    """By arithmetic from the sizes: the same groups as a layout written out."""
    layout = Layout(tensor, data, pipeline)
    sizes = {"tensor_model_parallel_size": tensor, "launch": {"n0": ["--pipeline-model-parallel-size", str(pipeline)]}}
    written = {
        ranks for kind, ranks in layout.groups().values() if kind != "default_pg" and 1 < len(ranks) < layout.world
    }

    groups = parallel_groups(Manifest("j", world_size=layout.world, extra=sizes))

    assert {group.ranks for group in groups} == written


def test_sizes_may_stand_in_the_settings_and_must_make_the_number_of_ranks() -> None:
    """tp2pp4dp2 of 16 ranks gives groups; of 12 ranks it is something else."""
    assert len(parallel_groups(Manifest("j", settings_id="v-tp2pp4dp2", world_size=16))) == 8 + 8 + 4
    assert parallel_groups(Manifest("j", settings_id="v-tp2pp4dp2", world_size=12)) == ()
    assert parallel_groups(Manifest("j", world_size=16)) == ()


def test_context_groups_and_another_order_are_laid_out_as_job_json_says() -> None:
    """Experts share the ranks of the data groups; without an order tensor, context, data, pipeline."""
    sizes = {"tp": 2, "cp": 2, "ep": 2, "dp": 2, "pp": 2}

    def of(kind: str, parallel: dict[str, Any]) -> list[tuple[int, ...]]:
        told = {name: str(value) for name, value in parallel.items()}
        groups = parallel_groups(Manifest("j", world_size=16, extra={"parallel": parallel}, parallel=told))
        return [group.ranks for group in groups if group.name.startswith(kind)]

    assert of("context", sizes)[:2] == [(0, 2), (1, 3)]
    assert of("data", sizes)[:2] == [(0, 4), (1, 5)]
    assert of("pipeline", sizes)[0] == (0, 8)
    assert of("pipeline", sizes | {"order": "tp-pp-cp-ep-dp"})[0] == (0, 2)


def test_the_smallest_group_around_the_suspects_is_taken() -> None:
    """And none, when no group holds them all."""
    groups = (RankGroup("b", (0, 1, 2, 3)), RankGroup("a", (0, 1)), RankGroup("c", (2, 3)))

    assert smallest_around((0,), groups) == groups[1]
    assert smallest_around((1, 2), groups) == groups[0]
    assert smallest_around((1, 9), groups) is None
