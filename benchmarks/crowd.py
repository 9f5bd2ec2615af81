"""The bot under a crowd, and over a long time: 200 commands in one moment, 300 diagnoses one after the other.

    python -m benchmarks.crowd                              some minutes
    python -m benchmarks.crowd --write benchmarks/results/crowd.md
    python -m benchmarks.crowd --commands 50 --diagnoses 40

The local Slack with its limits, and bots in processes of their own. While the commands come, two real diagnoses keep
the cores busy. In the long row the children give a finished answer: what is measured is the bot.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write
from benchmarks.support import quick
from benchmarks.support.stage import EXAMPLES, ROOMS, Stage, make_stage, workspace
from bot.fetch.jobs import Request
from bot.investigate import draft, investigate
from bot.settings import Settings
from bot.state.answers import SavedAnswer, answer_text
from bot.state.state import open_state
from slacksim import Limits, Outcome, start

COMMANDS, DIAGNOSES = 200, 300
JOB = "f42"
AT_ONCE = 20  # of the long row: so many wait at a time
LOOKED_AT = 5  # times at which memory and files are read
PATIENCE = 900.0  # seconds
ACKNOWLEDGED = 3.0  # seconds that Slack gives


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", type=int, default=COMMANDS, metavar="N")
    parser.add_argument("--diagnoses", type=int, default=DIAGNOSES, metavar="N")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks of this document")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        shared = shared_means(Path(folder))
        crowds = [_crowd(shared, options.commands, bots) for bots in (1, 2)]
        row = _long_row(shared, options.diagnoses)
    head = ("bots", "commands", "acknowledged", "in 3 s", "median s", "longest s", "stored", "runs", "all queued, s")
    circumstances = f"Measured on {machine()}; load average {os.getloadavg()[0]:.1f} at the end."
    after = table(("diagnoses", "memory MB", "open files"), row, texts=())
    text = "\n\n".join((table(head, crowds, texts=()), after, circumstances))
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("crowd"))
    return 0


def shared_means(place: Path) -> Path:
    """What all bots share: a library with its vectors, a cache, and a finished answer."""
    settings = Settings(jobs=str(EXAMPLES), cache=place / "cache", library=place / "library", state=place / "state")
    found = draft(investigate(Request(JOB), settings), settings)
    saved = SavedAnswer(JOB, found.diagnosis, found.known, found.note)
    (place / quick.ANSWER).write_text(answer_text(saved), encoding="ascii")
    return place


@contextmanager
def _stage(shared: Path, *, limits: bool) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory() as home, start(workspace(), limits=Limits(enforced=limits)) as slack:
        yield make_stage(slack, shared, Path(home))


def _crowd(shared: Path, number: int, bots: int) -> tuple[str, ...]:
    """So many commands at once, while every bot has two diagnoses at work."""
    with _stage(shared, limits=True) as stage, ExitStack() as running:
        for _ in range(bots):
            running.enter_context(stage.other_bot(runs=2))
        at_work = [stage.real_job(f"real-{place}", EXAMPLES / JOB) for place in range(2 * bots)]
        for place, job in enumerate(at_work):
            stage.alice.command(f"/diagnose {job}", ROOMS[place])
        _wait(lambda: all((run := stage.run(job)) and run.started_at for job in at_work), "diagnoses at work")
        jobs = [stage.job(f"quick-{place:03}") for place in range(number)]

        def ask(place: int) -> Outcome:
            return stage.alice.command(f"/diagnose {jobs[place]}", ROOMS[place % len(ROOMS)])

        with ThreadPoolExecutor(number) as people:
            began = time.monotonic()
            outcomes = list(people.map(ask, range(number)))
        stored = _count(stage, "SELECT count(*) AS n FROM inbox WHERE kind = 'command'") - len(at_work)
        runs = "SELECT count(DISTINCT id) AS n FROM runs WHERE job LIKE 'quick-%'"
        _wait(lambda: _count(stage, runs) >= stored, "all runs")
        seconds = time.monotonic() - began
        took = sorted(outcome.seconds for outcome in outcomes)
        yes = [outcome for outcome in outcomes if outcome.acknowledged and not outcome.answer]  # no word of trouble
        in_time = sum(outcome.seconds < ACKNOWLEDGED for outcome in yes)
        counts = (bots, number, len(yes), in_time)
        return (
            *map(str, counts), f"{median(took):.2f}", f"{took[-1]:.2f}", str(stored), str(_count(stage, runs)),
            f"{seconds:.1f}",
        )  # fmt: skip


def _long_row(shared: Path, number: int) -> list[tuple[str, ...]]:
    """Memory and open files of one bot after more and more diagnoses."""
    with _stage(shared, limits=False) as stage, stage.other_bot(runs=2) as bot:
        rows: list[tuple[str, ...]] = []
        step = max(AT_ONCE, number // LOOKED_AT)
        for done in range(0, number, AT_ONCE):
            jobs = [stage.job(f"quick-{place:04}") for place in range(done, min(number, done + AT_ONCE))]
            for place, job in enumerate(jobs):
                stage.alice.command(f"/diagnose {job}", ROOMS[place % len(ROOMS)])
            _wait(partial(_all_told, stage, jobs), "answers")
            answered = done + len(jobs)
            if answered in (AT_ONCE, number) or answered % step < AT_ONCE:
                rows.append((str(answered), f"{resident(bot.pid) / 1e6:.0f}", str(_files(bot.pid))))
        return rows


def _all_told(stage: Stage, jobs: Sequence[str]) -> bool:
    return all((run := stage.run(job)) is not None and run.told for job in jobs)


def _count(stage: Stage, sql: str) -> int:
    state = open_state(stage.state / "state.db")
    try:
        return int(state.database.query(sql)[0]["n"])
    finally:
        state.close()


def _wait(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


def resident(pid: int) -> int:
    """Bytes of memory that a process has now."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096


def _files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


if __name__ == "__main__":
    sys.exit(main())
