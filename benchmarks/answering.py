"""How soon the bot answers: command to posted answer, and to the report below it, of the real bot in the local Slack.

    python -m benchmarks.answering                          the failed example jobs: a minute
    python -m benchmarks.answering --write benchmarks/results/answering.md
    python -m benchmarks.answering f01 f07

One job after the other, each asked for when a child is held ready again, as on a bot that nobody has asked for a while.
Beside the seconds of the clock stands the processor time of bot, children and local Slack in them: on an idle machine
an answer takes about that long, and on a busy one the clock says more of the other programs than of this one.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.crowd import shared_means
from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write
from benchmarks.support.patience import PATIENCE
from benchmarks.support.processes import children_rest, cpu_seconds
from benchmarks.support.stage import EXAMPLES, FINISHED, ROOMS, Stage, eventually, local_slack, make_stage
from slacksim import Snapshot

JOBS = ("f01", "f02", "f03", "f05", "f07", "f15", "f22", "f42", "j03")
GOAL = 5.0  # seconds from command to posted answer, on an idle machine
REPORT = "The full report"  # stands below an answer once its pictures are drawn
LOOKS, LOOK_EVERY = 5, 0.2  # seconds between looks at whether a child still loads what it needs


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", default=JOBS, metavar="JOB", help="of the example jobs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table between the marks of this document")
    options = parser.parse_args(arguments)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, local_slack() as slack:
        shared, home = Path(folder, "shared"), Path(folder, "home")
        shared.mkdir()
        home.mkdir()
        stage = make_stage(slack, shared_means(shared), home)
        with stage.bot(real=True, jobs=EXAMPLES):
            rows = [_row(stage, job, ROOMS[place]) for place, job in enumerate(options.jobs)]
    loads = f"load average {before:.1f} before and {os.getloadavg()[0]:.1f} at the end"
    head = ("job", "answer, s", "processor, s", "with its report, s")
    measured = f"Measured on {machine()}; {loads}. Goal: {GOAL:.0f} s on an idle machine."
    text = f"{table(head, rows)}\n\n{measured}"
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("answering"))
    return 0


def _row(stage: Stage, job: str, room: str) -> tuple[str, ...]:
    """Ask for one job, and look at the clocks when its answer and its report stand there."""
    eventually(_is_still, "a child that is held ready")
    asked, spent = time.monotonic(), cpu_seconds()
    stage.alice.command(f"/diagnose {job}", room)
    _wait(stage, room, FINISHED, job)
    answered, used = time.monotonic() - asked, cpu_seconds() - spent
    _wait(stage, room, REPORT, job)
    return job, f"{answered:.1f}", f"{used:.1f}", f"{time.monotonic() - asked:.1f}"


def _wait(stage: Stage, room: str, words: str, job: str) -> None:
    """Until a message of the channel, or of a thread in it, holds these words."""

    def stands(now: Snapshot) -> bool:
        return any(words in message.all_text for message in now.messages(room) if message.by_app)

    stage.slack.wait_for(stands, PATIENCE, f"{words!r} of {job}")


def _is_still() -> bool:
    """Whether nothing of ours works: the next child has loaded what it needs."""
    for _ in range(LOOKS):
        time.sleep(LOOK_EVERY)
        if not children_rest():
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
