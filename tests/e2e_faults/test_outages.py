"""The model, the library, the logs or the disk fail: the answer says which, and gives the rest."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.support.outages import MODEL_TIMEOUT, endpoint, fill, remove, small_disk
from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import FINISHED, Stage, assert_said_once, eventually, health
from tests.support.places import EXAMPLES


@pytest.fixture
def real_jobs(stage: Stage) -> Stage:
    """One real job beside those that are made up."""
    shutil.copytree(EXAMPLES / "f42", stage.jobs / "f42")
    return stage


@pytest.mark.parametrize(
    "how", ["hangs", *(pytest.param(how, marks=pytest.mark.slow) for how in ("refuses", "is garbage", "is broken"))]
)
def test_model_fails(real_jobs: Stage, how: str) -> None:
    """The evidence is shown before the model has answered; when it fails, the note is by code and says so.

    Who hangs hangs as long as the test lasts: that there is an answer shows that nobody waited for it.
    """
    stage = real_jobs
    with (
        endpoint(how) as url,
        stage.bot(real=True, model="small", model_url=url, model_key="none", model_timeout=MODEL_TIMEOUT),
    ):
        stage.alice.command("/diagnose f42")
        stage.wait_told("f42")
    said = _whole(stage)
    assert "Written by code from the evidence" in said
    assert "The language model gave no answer" in said
    edits = [str(call.args["blocks"]) for call in stage.slack.journal.calls("chat.update", "ok")]
    before = [blocks for blocks in edits if FINISHED not in blocks]
    assert any("dgx-a03" in blocks for blocks in before)


@pytest.mark.parametrize("how", ["damaged", *(pytest.param(how, marks=pytest.mark.slow) for how in ("locked", "gone"))])
def test_library_fails(real_jobs: Stage, how: str) -> None:
    """A library that does not answer costs its part of the answer, with a sentence; it can be approved later."""
    stage = real_jobs
    library = Path(stage.environment["FIRSTFAULT_LIBRARY"])
    with _broken(library, how) as repair, stage.bot(real=True):
        stage.alice.command("/diagnose f42")
        parent = stage.wait_for_words("f42", FINISHED)
        stage.wait_told("f42")
        assert "dgx-a03" in parent.text
        # a reader does not mind that somebody writes; else the answer says what is missing
        assert ("known fault" if how == "locked" else "fault library") in _whole(stage).lower()
        stage.alice.click(parent, "ff_approve")
        stage.alice.wait_for_ephemeral("library", PATIENCE)
        assert "Approved" not in stage.parent("f42").all_text
        repair()
        stage.alice.click(stage.parent("f42"), "ff_approve")
        stage.wait_for_words("f42", "Approved")
    assert len(stage.parents("f42")) == 1


def test_job_goes_before_its_turn(real_jobs: Stage) -> None:
    """A job whose folder is removed between the question and its turn gets a message that says so."""
    stage = real_jobs
    job = stage.job("7001")
    with stage.bot(real=True):
        stage.alice.command("/diagnose f42")
        stage.parent("f42")
        stage.alice.command(f"/diagnose {job}")
        stage.parent(job)
        shutil.rmtree(stage.jobs / job)
        stage.wait_told(job)
    (message,) = stage.parents(job)
    assert "no job" in message.all_text.lower() or "no logs" in message.all_text.lower()


def test_job_goes_before_a_question(real_jobs: Stage) -> None:
    """When the logs are gone, a question is answered with that, and the button shows the lines of the diagnosis."""
    stage = real_jobs
    with stage.bot(real=True):
        stage.alice.command("/diagnose f42")
        parent = stage.wait_for_words("f42", FINISHED)
        stage.wait_told("f42")
        shutil.rmtree(stage.jobs / "f42")
        stage.alice.reply(parent, "which rank went silent first?")
        eventually(lambda: "f42" in _last_reply(stage) and "?" not in _last_reply(stage)[:10], "a reply")
        assert "job" in _last_reply(stage)
        stage.alice.click(stage.details("f42"), "ff_lines")
        view = stage.alice.wait_for_modal("exitcode: -9", PATIENCE)
    assert "f42" in view.all_text


def test_disk_is_full(stage: Stage) -> None:
    """With a full disk the asker is told so and health as well; with space again all goes on, without a restart."""
    place = Path(stage.environment["FIRSTFAULT_STATE"])
    before, at_work, during, after = (stage.job(name) for name in ("quick-0", "gate-1", "quick-2", "quick-3"))
    with small_disk(place), stage.bot(lease=timedelta(seconds=3)) as bot:
        stage.alice.command(f"/diagnose {before}")
        stage.wait_told(before)
        stage.alice.command(f"/diagnose {at_work}")
        stage.wait_for_words(at_work, "dgx-a03")
        ballast = fill(place)
        stage.let_go(at_work)
        stage.alice.command(f"/diagnose {during}")
        stage.alice.wait_for_ephemeral("disk is full", PATIENCE)
        eventually(lambda: health(bot.health_port)[1]["state"] is False, "a bad health")
        ballast.unlink()
        stage.alice.command(f"/diagnose {after}")
        stage.wait_told(at_work, after)
        eventually(lambda: health(bot.health_port)[0] == 200, "a good health")
        assert_said_once(stage, before, at_work, after)
        assert stage.parents(during) == ()


# --- what fails ---


@contextmanager
def _broken(library: Path, how: str) -> Iterator[Callable[[], None]]:
    """A library that cannot be used, and how to repair it."""
    database, kept = library / "library.db", library.with_name("kept")
    shutil.copytree(library, kept)

    def restore() -> None:
        remove(library)
        shutil.copytree(kept, library)

    if how == "gone":  # and a file stands where the folder was
        remove(library)
        library.write_text("no folder", encoding="ascii")
        yield restore
    elif how == "damaged":
        database.write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
        yield restore
    else:
        other = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN EXCLUSIVE")
        yield other.close
        other.close()


def _whole(stage: Stage) -> str:
    """The message and what stands below it."""
    (parent,) = stage.parents("f42")
    return " ".join(m.all_text for m in (parent, *stage.slack.snapshot().thread(parent)))


def _last_reply(stage: Stage) -> str:
    return next(m.all_text for m in reversed(stage.slack.snapshot().thread(stage.parent("f42"))))
