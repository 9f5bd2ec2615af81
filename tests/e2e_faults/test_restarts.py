"""Processes die or are told to end: whatever they had promised, the next one keeps."""

import os
import signal
from collections import Counter

from benchmarks.support.forked_children import ForkedProcess
from benchmarks.support.stage import FINISHED, WHOLE, Stage, assert_said_once, eventually
from bot.state.state import open_state

GRACE = 30.0  # seconds after which container platforms kill
REPORT = Counter(["report"])


def test_child_is_killed(stage: Stage) -> None:
    """When the kernel kills a diagnosis, it is made again, and answered once."""
    job = stage.job("once-1")
    with stage.bot():
        stage.alice.command(f"/diagnose {job}")
        stage.wait_told(job)
    assert len(stage.starts(job)) == 2
    assert_said_once(stage, job)


def test_bot_is_killed_in_a_run(stage: Stage) -> None:
    """After kill -9 of the bot in the middle of a run, with another one waiting, the next bot finishes both."""
    running, waiting = stage.job("gate-1"), stage.job("quick-2")
    with stage.other_bot() as bot:
        stage.alice.command(f"/diagnose {running}")
        stage.alice.command(f"/diagnose {waiting}")
        stage.wait_for_words(running, "dgx-a03")
        stage.parent(waiting)
        kill(bot)
    eventually(lambda: not _alive(stage.starts(running)[0]), "the end of the orphan")
    stage.slack.drop_sockets()
    stage.let_go(running)
    with stage.other_bot():
        stage.wait_told(running, waiting)
    assert_said_once(stage, running, waiting)


def test_cancelled_before_its_message_was_written_down(stage: Stage) -> None:
    """A message that Slack took, and whose ts nobody wrote down, is found again: once, and not as one that waits."""
    job = stage.job("gate-1")
    with stage.other_bot() as bot:
        stage.slack.faults.call("chat.postMessage", "lost")
        stage.slack.faults.call("conversations.history", "timeout", seconds=60)
        stage.alice.command(f"/diagnose {job}")
        stage.parent(job)
        kill(bot)
    stage.slack.faults.clear()
    stage.slack.drop_sockets()
    state = open_state(stage.state / "state.db")
    state.runs.cancel(state.database.query("SELECT id FROM runs")[0]["id"], "U0ALICE")
    state.close()
    with stage.other_bot():
        stage.wait_told(job)
        stage.wait_for_words(job, FINISHED)
    assert len(stage.parents(job)) == 1


def test_two_bots_on_one_state(stage: Stage) -> None:
    """Two replicas share the work, and neither repeats what the other has said."""
    jobs = [stage.job(f"quick-{number}") for number in range(6)]
    with stage.other_bot(), stage.other_bot():
        for job in jobs:
            stage.alice.command(f"/diagnose {job}")
        stage.wait_told(*jobs)
        stage.alice.reply(stage.parent(jobs[0]), "which node?")
        eventually(lambda: "which node?: N1" in " ".join(stage.thread(jobs[0])), "a reply")
    assert [len(stage.starts(job)) for job in jobs] == [1] * 6
    assert_said_once(stage, *jobs[1:])
    assert sum("which node?" in kind for kind in stage.thread(jobs[0]).elements()) == 1


def test_bot_is_told_to_end(stage: Stage) -> None:
    """On SIGTERM the bot ends in time with code 0, hands back what runs, and the next one finishes the queue."""
    running, waiting = stage.job("gate-1"), stage.job("quick-2")
    with stage.other_bot() as bot:
        stage.alice.command(f"/diagnose {running}")
        stage.alice.command(f"/diagnose {waiting}")
        stage.wait_for_words(running, "dgx-a03")
        stage.parent(waiting)
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(GRACE) == 0
    left = stage.run(running)
    assert left is not None
    assert (left.status, left.attempts) == ("queued", 0)
    stage.let_go(running)
    with stage.other_bot():
        stage.wait_told(running, waiting)
    assert_said_once(stage, running, waiting)


def test_run_ends_in_the_grace_period(stage: Stage) -> None:
    """A run that ends soon after SIGTERM is answered by the bot that was told to end; the next one draws its report."""
    job = stage.job("gate-1")
    with stage.other_bot() as bot:
        stage.alice.command(f"/diagnose {job}")
        stage.wait_for_words(job, "dgx-a03")
        bot.send_signal(signal.SIGTERM)
        stage.let_go(job)
        assert bot.wait(GRACE) == 0
    assert FINISHED in stage.parent(job).all_text
    assert stage.thread(job) - REPORT == WHOLE - REPORT
    with stage.other_bot():
        stage.wait_told(job)
    assert_said_once(stage, job)


def kill(process: ForkedProcess) -> None:
    process.kill()
    process.wait()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
