"""Pictures follow the answer: the slot is free for the next run, and what was not drawn is drawn later."""

import os
from pathlib import Path

import pytest

from benchmarks.support.processes import alive
from bot.jobs import tasks
from bot.jobs.child import MODEST
from bot.jobs.child_process import ChildProcess
from bot.jobs.messages import AnswerMessage, ChildOrder, Diagnose
from bot.jobs.spare_child import SpareChild
from bot.jobs.work_context import Limits
from bot.state.runs import RunRequest, Trigger
from bot.state.small_values import Status
from bot.state.state import State
from tests.support.states import ask, now
from tests.support.worker_tasks import TASKS
from tests.support.workers import Recorder, environment, until, working

pytestmark = pytest.mark.usefixtures("forked")  # as a bot starts them they are in test_diagnoses.py


def test_the_slot_is_free_before_the_pictures_are_drawn(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """With one slot the second answer comes while the pictures of the first wait; then these come, once."""
    first, second = ask(state, "still-1"), ask(state, "quick-2")

    with working(state, tmp_path, recorder):
        until(lambda: len(recorder.of("final")) == 2)
        assert [call[1] for call in recorder.of("final")] == [first.id, second.id]
        assert first.id not in [call[1] for call in recorder.of("drawn")]
        assert now(state, first).told
        (tmp_path / "starts.go").touch()
        until(lambda: {call[1] for call in recorder.of("drawn")} == {first.id, second.id})

    assert len(recorder.of("drawn")) == 2
    seconds = {call[0]: call[2] for call in recorder.counted if call[1] == "done"}
    assert 0 < seconds["diagnose"] < seconds["draw"]
    assert (tmp_path / "files" / first.id).as_posix() == state.runs.answer(first.id).report  # type: ignore[union-attr]


def test_pictures_that_cannot_be_drawn_cost_nothing_else(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """The answer stands as it was, and other programs are told; a child that dies twice is not started again."""
    run = ask(state, "undrawn-1")

    with working(state, tmp_path, recorder):
        until(lambda: ("draw", "failed") in [call[:2] for call in recorder.counted])

    assert recorder.counted.count(("draw", "died")) == 2
    assert now(state, run).status is Status.DONE
    assert [call[2].report for call in recorder.of("drawn", "failed")] == [""]


def test_what_was_not_drawn_when_the_worker_ended_is_drawn_by_the_next(
    state: State, tmp_path: Path, recorder: Recorder
) -> None:
    """Nothing is lost with a worker that ends between the answer and its pictures."""
    run = ask(state, "still-1")
    with working(state, tmp_path, recorder):
        recorder.first("final")
    assert recorder.of("drawn") == []

    (tmp_path / "starts.go").touch()
    with working(state, tmp_path, recorder):
        assert recorder.first("drawn")[1] == run.id


def test_what_a_watch_found_goes_first(state: State) -> None:
    """Its place in the queue says so too; the others stay in order."""
    others = [ask(state, f"quick-{number}") for number in range(2)]
    found = state.runs.ask(RunRequest("died", others[0].team, others[0].channel, "", Trigger.WATCH)).run

    assert [state.runs.place(run.id) for run in (found, *others)] == [1, 2, 3]
    assert [state.runs.leases.claim("w") for _ in range(3)] == [found.id, *(run.id for run in others)]


def test_a_spare_child_does_one_order_and_another_is_held_ready(
    state: State, tmp_path: Path, recorder: Recorder
) -> None:
    """It is the process that was there before somebody asked; with the worker the next one ends."""
    limits, table = Limits(poll_seconds=0.05, spare=True), {**TASKS, tasks.LOAD: tasks.TASKS[tasks.LOAD]}
    with working(state, tmp_path, recorder, limits=limits, tasks=table) as worker:
        spare = worker._spare
        assert spare is not None
        until(lambda: spare._process is not None)
        ready = spare._process
        assert ready is not None
        ask(state, "quick-1")
        worker.wake()
        recorder.first("final")
        assert (tmp_path / "starts").read_text().split() == ["quick-1", str(ready.pid)]
        until(lambda: spare._process is not None and spare._process is not ready)
        after = spare._process
        assert after is not None
    assert not alive(ready.pid)
    assert not alive(after.pid)


def test_a_spare_child_that_died_is_not_taken(tmp_path: Path) -> None:
    """Whoever needs one starts it then."""
    spare = SpareChild(tasks.TASKS[tasks.LOAD], temporary=tmp_path / "spare", environment=environment(tmp_path))
    spare.prepare()
    assert spare._process is not None
    spare._process.kill()
    until(lambda: spare._process is not None and not spare._process.alive())

    assert spare.take(ChildOrder(TASKS["diagnose"], Diagnose("quick-1"))) is None
    spare.stop()
    spare.prepare()
    assert spare._process is None


def test_a_child_takes_its_temporary_folder_from_the_order(tmp_path: Path) -> None:
    """What it leaves behind is where the worker removes it, although it was started before."""
    order = ChildOrder(TASKS["diagnose"], Diagnose("environment-1"), temporary=str(tmp_path))
    process = ChildProcess(None, temporary=tmp_path / "nowhere", environment=environment(tmp_path))
    process.order = order
    with process:
        first = next(process.messages())
    assert isinstance(first, AnswerMessage)
    assert f'"left": "{tmp_path}/' in first.answer.plot


def test_a_child_gives_way_to_the_bot(tmp_path: Path) -> None:
    """What a diagnosis takes is not missing where a command is to be acknowledged."""
    with ChildProcess(None, temporary=tmp_path / "nowhere", environment=environment(tmp_path)) as child:
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        until(lambda: os.getpriority(os.PRIO_PROCESS, child.pid) != mine)
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == min(19, mine + MODEST)
