"""A running job: what is said of it, and above all what is not."""

import re
from collections.abc import Callable, Iterable, Sequence

import pytest

from benchmarks.watching import in_time, replay
from core.job import Status
from core.live.findings import STANDS_SECONDS, LiveKind
from core.live.job import LiveJob
from sources.jobs import open_path
from tests.support.live_jobs import START, Story, manifest, step
from tests.support.places import EXAMPLES

TRACEBACK = (
    b"Traceback (most recent call last):\n"
    b'  File "/opt/train/pretrain.py", line 7, in <module>\n'
    b"    main()\n"
    b"ValueError: the tokenizer has no padding token\n"
)
INTERRUPTED = TRACEBACK[: TRACEBACK.index(b"ValueError")] + b"KeyboardInterrupt\n"
SIGINT = b"torch.distributed.elastic.multiprocessing.api.SignalException: Process 17 got signal: 2\n"


# --- recorded jobs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job_id", ["s01", "s03", "s15", "s22"])
def test_a_job_that_succeeds_is_never_called_anything_else(job_id: str) -> None:
    """Telemetry errors, evaluations, checkpoints and the noise of the end raise no alarm."""
    job = open_path(str(EXAMPLES / job_id))

    told = replay(job, in_time(job))

    assert [finding.kind for finding in told.findings] == [LiveKind.COMPLETED]


@pytest.mark.parametrize("job_id", ["f01", "f02", "f05", "f07", "f15", "f42"])
def test_a_job_that_fails_is_told_before_its_last_line(job_id: str) -> None:
    """The first alarm comes while the launchers still wind the job up."""
    job = open_path(str(EXAMPLES / job_id))

    told = replay(job, in_time(job))

    first = next(finding for finding in told.findings if finding.kind is not LiveKind.NUMBERS)
    assert first.kind in (LiveKind.HUNG, LiveKind.SILENT, LiveKind.FAILED)
    assert first.at < told.last
    assert told.when(LiveKind.FAILED)


def test_a_frozen_rank_is_told_as_a_hang_before_the_time_limit_ends_it() -> None:
    """f03: nobody times out, and the metrics go on; the watch says within seconds that there is no progress."""
    job = open_path(str(EXAMPLES / "f03"))

    told = replay(job, in_time(job))

    hung = told.when(LiveKind.HUNG)
    assert hung is not None
    assert told.iteration is not None
    assert hung.at - told.iteration < 15
    assert "since iteration 34; its iterations took 0.20 s" in hung.says
    assert told.when(LiveKind.STOPPED)


# --- what is said of a job, in short --------------------------------------------------------------------------------

Step = Callable[[Story], object]


def train(count: int, *ranks: int) -> Step:
    """So many iterations, logged by these ranks, or by all."""
    return lambda story: story.train(count, ranks=ranks or (0, 1, 2, 3))


def wait(seconds: int) -> Step:
    """Nobody says anything."""
    return lambda story: story.wait(seconds)


def say(**said: bytes) -> Step:
    """Lines by the speaker."""
    return lambda story: story.say(**said)


def lose(*values: str) -> Step:
    """A loss each second."""
    lines = [b"iteration %d/ 900 | lm loss: %s |\n" % (n, value.encode()) for n, value in enumerate(values, 1)]
    return lambda story: say_each_second(story, lines)


def take(*milliseconds: float) -> Step:
    """A time per iteration each second."""
    line = b"iteration %d/ 900 | elapsed time per iteration (ms): %.1f |\n"
    return lambda story: say_each_second(story, [line % said for said in enumerate(milliseconds, 1)])


def say_each_second(story: Story, lines: Iterable[bytes]) -> None:
    for line in lines:
        story.wait(1, lambda _, said=line: {"r3": said})  # type: ignore[misc] # one argument, the other is bound


DONE = say(r0=b"training finished\n")
EXITED = b"srun: error: node-01: task 3: Exited with exit code 1\n"
RESTARTS = (
    b"failed (exitcode: -9) local_rank: 0\n"
    b"[default] Worker group FAILED. 2/3 attempts left; will restart worker group\n"
)
CANCELLED = b"slurmstepd: error: *** STEP 40.14 ON dell CANCELLED AT 2026-10-08T00:32:36 ***\n"


@pytest.mark.parametrize(
    ("steps", "kinds"),
    [
        # an alarm that was none is taken back, and one is told as long as nobody takes it back
        ([train(30), train(12, 0, 1, 3), train(5)], "silent resumed"),
        ([train(30), train(110, 0, 1, 2)], "silent"),
        # only the last rank prints iterations: the others started, and have nothing to say
        ([say(r0=b"starting\n", r1=b"starting\n", r2=b"starting\n", r3=b"starting\n"), train(200, 3)], ""),
        # a pause that was announced may take its time: minutes, where an iteration takes a second
        ([train(30), say(r0=b"saving checkpoint at iteration 30\n"), wait(300), train(30)], ""),
        ([train(30), say(r0=b"Evaluating on 512 samples\n"), wait(300), train(30)], ""),
        ([train(30), say(r0=b"loading checkpoint from /ckpt\n"), wait(300), train(30)], ""),
        ([train(30), say(r0=b"(before save_checkpoint for iteration 30)\n"), wait(300), train(30)], ""),
        # nothing hangs before there is a pace: start-up and compilation take as long as they take
        ([say(r0=b"compiling\n"), wait(3_000)], ""),
        # odd numbers that pass: loss scaling skips an iteration, a bad batch is one batch
        ([lose(*["2.5"] * 20, "inf", *["2.5"] * 20)], ""),
        ([lose(*["2.5"] * 20, *["9.9"] * 8, *["2.5"] * 20)], ""),
        ([lose(*["2.5"] * 20, "nan", "2.5", "nan", *["2.5"] * 20)], ""),
        # a stall of a minute costs nobody a diagnosis, and the next one counts from its own beginning
        ([train(30), train(100, 0, 1, 2), train(30)], "silent resumed"),
        ([train(30), *[train(200, 0, 1, 2), train(30)] * 2], "silent stands resumed silent stands resumed"),
        # silence is what comes after the end
        ([train(30), train(60, 0, 1, 2), DONE, wait(300)], "silent"),
        # import probes and failed writes that are tried again print tracebacks too
        ([train(30), say(r2=TRACEBACK), train(60)], ""),
        # it begins in the function that caught it
        ([say(r0=TRACEBACK.replace(b"in <module>", b"in load_plugin")), wait(60)], ""),
        # a script of the job that tries something out is followed by the start of the ranks
        ([say(slurm=TRACEBACK), wait(10), say(r0=b"initializing torch distributed ...\n"), wait(300)], ""),
        # the next attempt of a launcher may succeed
        ([train(30), say(torchrun=RESTARTS), wait(20)], ""),
        # the scheduler's word for it
        ([train(30), say(slurm=CANCELLED), wait(5)], "stopped"),
        # the first sign counts: the exception, and not the Ctrl-C of whoever saw it
        ([train(30), say(r2=TRACEBACK), wait(5), say(r0=INTERRUPTED), wait(20)], "failed"),
        # exit codes of srun and broken stores belong to the end of good jobs
        ([train(30), DONE, say(slurm=EXITED), wait(60)], ""),
    ],
)
def test_findings_come_and_are_taken_back(steps: Sequence[Step], kinds: str) -> None:
    """By kind, in their order."""
    story = Story()
    for step_of in steps:
        step_of(story)

    assert story.kinds() == kinds.split()


def test_a_job_that_did_all_its_iterations_does_not_hang() -> None:
    """The planned number is reached: what comes now is the end."""
    story = Story(total_iterations=30)
    story.train(30)
    story.wait(300)

    assert story.findings == []


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([train(30), train(12, 0, 1)], r"ranks 2-3 on node-01: .*"),  # power loss is told once, not once a rank
        ([train(30), train(1, 0, 1, 3), wait(60)], r".*; rank 2 did not finish it"),
        ([lose(*["2.5"] * 19, *["nan"] * 10)], "loss is nan since iteration 20"),
        (
            [take(*[250.0] * 29, *[900.0] * 30)],
            r"time per iteration \(ms\) rose from 250 to 900 at iteration 30 and .*",
        ),
    ],
)
def test_one_finding_says_it_all(steps: Sequence[Step], says: str) -> None:
    """Who, since when, and from what to what; once."""
    story = Story()
    for step_of in steps:
        step_of(story)

    (found,) = story.findings
    assert re.fullmatch(says, found.says)


# --- silence --------------------------------------------------------------------------------------------------------


def test_a_rank_that_stops_talking_while_its_peers_go_on_is_silent() -> None:
    """The finding names rank and node, the gap and the gap that was usual."""
    story = Story()
    story.train(30)

    story.train(12, ranks=(0, 1, 3))

    (silent,) = story.findings
    assert silent.kind is LiveKind.SILENT
    assert silent.subject == "node-01"
    assert silent.says == (
        "rank 2 on node-01: no word for 5.0 s; its longest pause before was 1.0 s,"
        " and the peers paused 1.0 s at most meanwhile"
    )


def test_a_beat_that_all_have_is_waited_for() -> None:
    """Telemetry every seven seconds, each rank at its own time: within one period nobody is silent."""
    story = Story()
    story.train(30)

    def beats(now: Story) -> dict[str, bytes]:
        second = round(now.now - START)
        return {f"r{rank}": b"telemetry: push failed\n" for rank in range(4) if (second + 2 * rank) % 7 == 0}

    story.wait(60, beats)

    assert story.kinds() == ["hung"]


# --- hangs ----------------------------------------------------------------------------------------------------------


def test_a_job_without_progress_hangs_and_says_how_long_its_iterations_took() -> None:
    """Nobody is singled out when all have stopped."""
    story = Story(total_iterations=1_000)
    story.train(30)

    story.wait(60)

    (hung,) = story.findings
    assert hung.kind is LiveKind.HUNG
    assert hung.says == (
        "the whole job has made no progress for 41 s, since iteration 30; its iterations took 1.0 s,"
        " its longest pause of late was 1.0 s"
    )


def test_a_second_checkpoint_is_measured_by_the_first() -> None:
    """Once the job has shown that a checkpoint takes a minute, more than two are a hang."""
    story = Story()
    for _ in range(2):
        story.train(30)
        story.say(r0=b"saving checkpoint at iteration %d\n" % story.iteration)
        story.wait(60)
    story.train(30)
    story.say(r0=b"saving checkpoint at iteration %d\n" % story.iteration)

    story.wait(150)

    assert story.kinds() == ["hung"]
    assert story.findings[0].quiet == pytest.approx(123, abs=2)


def test_a_hang_that_ends_is_told() -> None:
    """The alarm is taken back, with the length of the pause."""
    story = Story()
    story.train(30)
    story.wait(60)

    story.train(10)

    assert story.kinds() == ["hung", "resumed"]
    assert story.findings[1].says == "the job goes on after 61 s with iteration 31"


# --- alarms that stand ----------------------------------------------------------------------------------------------


def test_an_alarm_that_nobody_takes_back_stands_once() -> None:
    """After two minutes, about the first of them; another alarm meanwhile changes nothing."""
    story = Story()
    story.train(30)
    story.train(300, ranks=(0, 1, 2))
    story.wait(900)

    silent, stands, hung = story.findings
    assert (silent.kind, stands.kind, hung.kind) == (LiveKind.SILENT, LiveKind.STANDS, LiveKind.HUNG)
    assert stands.at - silent.at == STANDS_SECONDS
    assert stands.subject == silent.subject
    assert "has stood for 2 min 00 s" in stands.says


# --- the end --------------------------------------------------------------------------------------------------------


def test_a_traceback_at_top_level_is_a_failure_when_nothing_goes_on() -> None:
    """Within seconds, without any launcher, and with the line that says so."""
    story = Story()
    story.train(30)
    story.say(r2=TRACEBACK)

    story.wait(20)

    (failed,) = story.findings
    assert failed.kind is LiveKind.FAILED
    assert failed.at - START == pytest.approx(39, abs=1)
    assert failed.line is not None
    assert failed.line.text == "ValueError: the tokenizer has no padding token"
    assert failed.line.line == 34


def test_the_launchers_report_ends_the_job_at_once() -> None:
    """Two seconds are left for a restart."""
    story = Story()
    story.train(30)
    story.say(torchrun=b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")

    story.wait(5)

    assert story.kinds() == ["failed"]
    assert story.findings[0].at - story.now == pytest.approx(-3)


@pytest.mark.parametrize(
    "interrupted", [{"r0": INTERRUPTED}, {"launcher": SIGINT, "r1": INTERRUPTED, "r2": INTERRUPTED}]
)
def test_a_job_that_its_user_interrupts_was_stopped_and_did_not_fail(interrupted: dict[str, bytes]) -> None:
    """Ctrl-C ends in a top-level traceback too; the report of srun in the same second does not outweigh it."""
    story = Story()
    story.train(30)
    story.say(controller=b"srun: error: node-00: task 0: Exited with exit code 1\n", **interrupted)

    story.wait(20)

    (stopped,) = story.findings
    assert stopped.kind is LiveKind.STOPPED
    assert "the job was stopped at iteration 30: an operator or a closed terminal ended the run" in stopped.says


@pytest.mark.parametrize(
    ("status", "kind"),
    [(Status.COMPLETED, LiveKind.COMPLETED), (Status.FAILED, LiveKind.FAILED), (Status.CANCELLED, LiveKind.STOPPED)],
)
def test_the_status_in_job_json_ends_the_watch(status: Status, kind: LiveKind) -> None:
    """Once, whatever the logs say or do not say."""
    story = Story()
    story.train(30)

    said = [*story.live.status(Status.RUNNING, story.now), *story.live.status(status, story.now)]
    said += story.live.status(status, story.now)

    assert [finding.kind for finding in said] == [kind]
    assert story.live.over is not None


def test_after_the_end_the_last_words_are_waited_for() -> None:
    """Peers time out one after the other; daemons that never stop are not waited for."""
    story = Story()
    story.train(30)
    story.say(torchrun=b"ChildFailedError: \n")
    story.wait(3)
    settled = []

    def stack(_: Story) -> dict[str, bytes]:
        settled.append(story.live.settled(story.now))
        return {"r0": b"  frame #1: c10::Error\n"}

    story.wait(30, stack)
    story.wait(11)

    assert not any(settled)
    assert story.live.settled(story.now)


# --- catching up ----------------------------------------------------------------------------------------------------


def test_what_was_said_before_the_watch_teaches_the_pace() -> None:
    """A job that has run for an hour is known at once, by the clocks of its lines."""
    live = LiveJob(manifest(), year=2026)
    lines = b"".join(b"2026-11-21 03:%02d:%02d,000 " % divmod(n, 60) + step(0, n) for n in range(1, 600))

    live.catch_up({"logs/rank_0.log": lines}, START)

    standing = live.standing(START)
    assert standing.iteration == 599
    assert standing.seconds_per_iteration == pytest.approx(1.0)
    assert [finding.kind for now in range(60) for finding in live.look(START + now)] == [LiveKind.HUNG]


def test_the_standing_says_who_was_heard_and_the_last_word() -> None:
    """For one quiet line of status."""
    story = Story()
    story.train(3)

    standing = story.live.standing(story.now + 2)

    assert (standing.iteration, standing.ranks, standing.ranks_expected) == (3, 4, 4)
    assert standing.quiet == 2
    assert standing.last is not None
    assert standing.last.text.startswith("[rank3] iteration 3 timers")
