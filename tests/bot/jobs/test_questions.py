"""Follow-up questions are answered in turn, from what was diagnosed."""

from pathlib import Path

import pytest

from bot.jobs.tasks import TASKS
from bot.jobs.work_context import Limits
from bot.state.runs import Run
from bot.state.small_values import Status
from bot.state.state import State
from tests.support.states import ask
from tests.support.worker_tasks import answer
from tests.support.workers import Recorder, until, working

pytestmark = pytest.mark.usefixtures("forked")  # as a bot starts them they are in test_diagnoses.py


def answered(state: State) -> Run:
    """A run with an answer, and a thread about it."""
    run = ask(state, "f07")
    assert state.runs.leases.claim("w1") == run.id
    state.runs.save_answer(run.id, "w1", answer("f07"))
    state.runs.leases.conclude(run.id, "w1", Status.DONE)
    state.runs.leases.mark_told(run.id, "w1")
    state.threads.own("T1", "C1", "1.0", run.id)
    return run


def question(state: State, ts: str, text: str, user: str = "U1") -> None:
    assert state.threads.add("T1", "C1", "1.0", ts=ts, user=user, text=text)


def test_a_reply_knows_what_was_said_before(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """The second of two people gets an answer that follows the first one's."""
    answered(state)
    question(state, "1.1", "why?")
    question(state, "1.2", "who?", "U2")

    with working(state, tmp_path, recorder):
        until(lambda: len(recorder.of("replied")) == 2)

    replies = [reply for _, _, reply in recorder.of("replied")]
    assert replies == ["why? f07 []", "who? f07 [('U1', 'why?', 'why? f07 []')]"]
    assert [one.reply for one in state.threads.conversation("T1", "C1", "1.0")] == replies
    assert list((tmp_path / "files").iterdir()) == []


def test_questions_do_not_wait_for_diagnoses(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """A long diagnosis keeps nobody from asking about another."""
    answered(state)
    ask(state, "hang")
    with working(state, tmp_path, recorder) as worker:
        recorder.first("answered")
        question(state, "1.1", "why?")
        worker.wake()

        assert recorder.first("replied")[2] == "why? f07 []"


@pytest.mark.parametrize(("text", "kind"), [("die", "ChildDied"), ("hang", "Deadline")])
def test_a_question_without_reply_is_told(
    state: State, tmp_path: Path, recorder: Recorder, text: str, kind: str
) -> None:
    """Nobody waits for ever, and the next question is answered."""
    answered(state)
    question(state, "1.1", text)
    question(state, "1.2", "why?")

    with working(state, tmp_path, recorder, limits=Limits(question_seconds=3, poll_seconds=0.05)):
        _, _, failure = recorder.first("not replied")
        recorder.first("replied")

    assert failure.kind == kind
    assert failure.reference


def test_a_question_before_the_answer_is_told(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """There is nothing yet that could be asked about."""
    run = ask(state, "hang")
    state.threads.own("T1", "C1", "1.0", run.id)
    state.runs.cancel(run.id, "U1")
    question(state, "1.1", "why?")

    with working(state, tmp_path, recorder):
        _, _, failure = recorder.first("not replied")

    assert "no answer yet" in failure.message


def test_the_real_task_answers_from_what_was_diagnosed(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """The raw lines are read again, the verdict is the one that people see."""
    answered(state)
    question(state, "1.1", "why?")

    with working(state, tmp_path, recorder, tasks=TASKS):
        _, _, reply = recorder.first("replied")

    diagnosis = answer("f07").diagnosis
    assert diagnosis is not None
    assert reply.startswith(diagnosis.headline.rstrip("."))
