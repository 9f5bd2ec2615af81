"""Runs are carried out in processes of their own, and end in one of a few plain ways."""

import json
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.support.forked_children import Forker
from benchmarks.support.processes import alive
from bot.jobs.tasks import TASKS
from bot.jobs.work_context import Limits
from bot.outgoing.errors import ASK
from bot.state.small_values import Status
from bot.state.state import State, open_state
from tests.support.states import Hands, ask, now
from tests.support.workers import Recorder, starts, until, working


@pytest.fixture
def forked_here(forker: Forker) -> Iterator[None]:
    """For what is not about how a child starts and ends: its packages need not be loaded again."""
    with forker.used():
        yield


@pytest.mark.slow
def test_a_real_job_is_diagnosed(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """Progress with real counts, then the evidence, then the whole answer with its report and plot, both private."""
    run = ask(state, "f07")

    with working(state, tmp_path, recorder, tasks=TASKS, version="0.0.test"):
        _, _, finished, _ = recorder.first("final")
        answer = recorder.first("drawn")[2]

    kinds = [call[0] for call in recorder.told]
    assert (
        kinds.index("progress")
        < kinds.index("answered")
        < kinds.index("final")
        < kinds.index("drawn")
        == len(kinds) - 1
    )
    assert finished.status is Status.DONE
    assert answer.diagnosis.nodes[0].node == "gpu018"
    assert state.runs.answer(run.id) == answer
    report, plot = Path(answer.report), Path(answer.plot)
    sheets = report.with_suffix(".pdf")
    assert "0.0.test" in report.read_text(encoding="utf-8")
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert answer.plot_text.startswith("f07. Anomaly score of 4 nodes")
    assert {path.name for path in (tmp_path / "files" / run.id).iterdir()} == {report.name, sheets.name, plot.name}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (report, sheets, plot, report.parent)] == [0o600] * 3 + [
        0o700
    ]
    assert now(state, run).told


@pytest.mark.parametrize(("job", "kind"), [("nope", "JobNotFound"), ("../f07", "BadJobId"), ("/etc", "BadJobId")])
@pytest.mark.usefixtures("forked_here")
def test_what_cannot_be_diagnosed_is_told_plainly(
    state: State, tmp_path: Path, recorder: Recorder, job: str, kind: str
) -> None:
    """The error's own words and hint, at once and without a second try; no path of a chat is opened."""
    run = ask(state, job)

    with working(state, tmp_path, recorder, tasks=TASKS):
        _, _, failure = recorder.first("failed")

    assert failure.kind == kind
    assert failure.message
    assert (now(state, run).attempts, now(state, run).begun) == (0, 1)


@pytest.mark.usefixtures("forked_here")
def test_trouble_with_the_server_is_for_the_log(
    state: State, tmp_path: Path, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    """The asker reads what happened, whom to ask and a reference; path and option stand in the log beside it."""
    run = ask(state, "down")
    with working(state, tmp_path, recorder):
        _, _, failure = recorder.first("failed")

    assert (failure.message, failure.hint) == ("The jobs folder cannot be listed: gone.", ASK)
    assert now(state, run).failure == failure
    (logged,) = [line for line in caplog.messages if failure.reference in line and "--jobs" in line]
    assert "/srv/jobs" in logged


@pytest.mark.usefixtures("forked_here")
def test_why_a_part_is_missing_names_no_place(
    state: State, tmp_path: Path, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer without the library says so in the channel, and where the library lies only in the log."""
    run = ask(state, "partial")
    with working(state, tmp_path, recorder):
        answer = recorder.first("drawn")[2]

    assert [skipped.reason for skipped in answer.diagnosis.skipped] == ["The fault library is damaged."]
    assert state.runs.answer(run.id) == answer
    assert "/srv/library.db" in caplog.text


def test_a_cancel_ends_the_child(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """And everything that the child had started; by itself it would go on for ten minutes."""
    run = ask(state, "family")
    with working(state, tmp_path, recorder):
        grandchild = int(recorder.first("answered")[3].report)
        child = starts(tmp_path)[0][1]
        assert alive(child)
        assert alive(grandchild)

        state.runs.cancel(run.id, "U2")
        _, _, cancelled = recorder.first("cancelled")

    assert (cancelled.status, cancelled.cancel_by) == (Status.CANCELLED, "U2")
    assert not alive(child)
    until(lambda: not alive(grandchild))
    assert recorder.of("final", "failed") == []


def test_what_waits_is_cancelled_while_others_run(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """The one who asked is told at once, also when all slots are busy."""
    ask(state, "hang")
    waiting = ask(state, "quick")
    with working(state, tmp_path, recorder):
        recorder.first("answered")
        state.runs.cancel(waiting.id, "U1")
        recorder.first("cancelled")

    assert [job for job, _ in starts(tmp_path)] == ["hang"]


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def timed(tmp_path: Path, hands: Hands) -> Iterator[State]:
    """A state whose clock the test moves."""
    opened = open_state(tmp_path / "timed.db", clock=hands)
    yield opened
    opened.close()


def test_a_deadline_gives_what_there_is(timed: State, hands: Hands, tmp_path: Path, recorder: Recorder) -> None:
    """The answer so far, with a sentence that it is a part."""
    run = ask(timed, "hang")

    with working(timed, tmp_path, recorder):
        recorder.first("answered")
        hands.forward(seconds=900)
        _, _, expired, answer = recorder.first("final")

    assert expired.status is Status.EXPIRED
    assert answer.diagnosis.nodes
    assert [skipped.step for skipped in answer.diagnosis.skipped][-1] == "deadline"
    assert timed.runs.answer(run.id) == answer
    assert not alive(starts(tmp_path)[0][1])


def test_a_deadline_before_the_evidence_gives_known_faults(
    timed: State, hands: Hands, tmp_path: Path, recorder: Recorder
) -> None:
    """What only matched is shown as that: no diagnosis, and why."""
    ask(timed, "match")

    with working(timed, tmp_path, recorder):
        recorder.first("answered")
        hands.forward(seconds=900)
        _, _, _, answer = recorder.first("final")

    assert answer.known[0].pattern == "fp-1"
    assert "deadline" in answer.diagnosis.headline
    assert answer.diagnosis.skipped[0].reason == "Stopped after 900 s: what would have come later is missing."


def test_a_deadline_with_nothing_to_show_fails_aloud(
    timed: State, hands: Hands, tmp_path: Path, recorder: Recorder
) -> None:
    """Nobody waits for ever; what it was at, and what gives it more time, is told."""
    ask(timed, "reading")

    with working(timed, tmp_path, recorder):
        recorder.first("progress")
        hands.forward(seconds=900)
        _, _, failure = recorder.first("failed")

    assert failure.kind == "Deadline"
    assert "It was at: reading, 1 of 2." in failure.hint
    assert "FIRSTFAULT_DEADLINE" in failure.hint


def test_a_child_that_dies_once_is_forgiven(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """An accident of the machine costs time and nothing else."""
    run = ask(state, "once")

    with working(state, tmp_path, recorder):
        recorder.first("final")

    assert len(starts(tmp_path)) == 2
    assert now(state, run).attempts == 1
    assert ("diagnose", "died") in recorder.counted
    assert recorder.of("failed") == []


@pytest.mark.parametrize(
    ("job", "kind", "told", "logged"),
    [
        ("die", "ChildDied", "killed by signal 9", "last words  of a child"),
        ("leave", "ChildDied", "exit code 1", "leaving"),
        ("eat", "OutOfMemory", "not enough memory", ""),
        ("raise", "ZeroDivisionError", "Something went wrong", "secret of the trace"),
    ],
)
def test_what_fails_fails_aloud(
    state: State, tmp_path: Path, recorder: Recorder, caplog: pytest.LogCaptureFixture,
    job: str, kind: str, told: str, logged: str,
) -> None:  # fmt: skip
    """A child that died is tried once more, another failure would come again; what the log has, the asker has not."""
    ask(state, job)

    with working(state, tmp_path, recorder):
        _, _, failure = recorder.first("failed")

    assert failure.kind == kind
    assert len(starts(tmp_path)) == (2 if kind == "ChildDied" else 1)
    assert told in failure.message
    entries = [record.getMessage() for record in caplog.records if failure.reference and logged in record.getMessage()]
    assert not logged or any(failure.reference in entry for entry in entries)
    assert not logged or logged not in failure.message + failure.hint


@pytest.mark.usefixtures("forked_here")
def test_progress_is_throttled(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """A hundred thousand reports become a few, and the last one is among them."""
    ask(state, "chatter")

    with working(state, tmp_path, recorder):
        recorder.first("final")

    steps = [(step, done) for _, _, step, done, _ in recorder.of("progress")]
    assert steps[-1] == ("counting", 100_000)
    assert len(steps) < 100


def test_what_a_library_prints_is_no_message(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """Neither a print that looks like a message nor a flood on standard error disturbs the answer."""
    ask(state, "print")

    with working(state, tmp_path, recorder):
        recorder.first("drawn")

    assert [call[0] for call in recorder.told] == ["final", "drawn"]


def test_a_child_has_no_token_and_leaves_nothing(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """What reads hostile logs cannot post to Slack or sign for us, and its temporary files go with it."""
    ask(state, "environment")
    names = ("SLACK_BOT_TOKEN", "FIRSTFAULT_SLACK_X", "FIRSTFAULT_WEBHOOK_SECRET", "FIRSTFAULT_ALERTS_TOKEN")
    surroundings = {**os.environ, "STARTS": str(tmp_path / "starts"), **dict.fromkeys(names, "x")}

    with working(state, tmp_path, recorder, environment=surroundings):
        saw = json.loads(recorder.first("answered")[3].plot)
        recorder.first("drawn")

    assert saw["secrets"] == []
    assert saw["group"] == starts(tmp_path)[0][1]
    assert Path(saw["left"]).is_relative_to(tmp_path / "files")
    assert not Path(saw["left"]).exists()
    assert list((tmp_path / "files").iterdir()) == []


@pytest.mark.usefixtures("forked_here")
def test_a_listener_that_fails_on_the_way_costs_nothing(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """Slack may be down while the logs are read."""
    recorder.raises = {"progress", "answered"}
    run = ask(state, "chatter")

    with working(state, tmp_path, recorder):
        recorder.first("final")
        until(lambda: now(state, run).told)

    assert recorder.of("progress")
    assert recorder.of("answered")


@pytest.mark.usefixtures("forked_here")
def test_fifty_ask_while_diagnoses_run(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """Whoever asks is in the queue, also when every slot is busy: what runs would go on for ten minutes."""
    for job in ("hang", "silent"):
        ask(state, job)
    with working(state, tmp_path, recorder, limits=Limits(runs=2, poll_seconds=0.05)):
        until(lambda: len(starts(tmp_path)) == 2)
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(lambda number: ask(state, f"quick-{number}"), range(50)))
        assert len(state.runs.active("T1")) == 52
