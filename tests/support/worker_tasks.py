"""What the children of the tests do: the job's name says it. Each start is written down."""

# ruff: noqa: T201 a child that prints is what some tests are about

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bot.jobs import tasks
from bot.jobs.messages import Ask, Diagnose, Draw
from bot.jobs.tasks import TaskOutput
from bot.state.answers import SavedAnswer
from bot.text.known_fault import KnownFault
from core.errors import NoLogs, SourceUnavailable
from core.model import Skipped
from tests.support import diagnoses

TASKS = {name: f"tests.support.worker_tasks:{name}" for name in ("diagnose", "draw", "ask")}
MATCH = KnownFault("P1", "fp-1", 1, "Link down", "network", "link", "cause", "fix", True, True, 1.0, "because")
LONG = 600  # seconds; whoever waits for it has failed


def diagnose(order: Diagnose, voice: TaskOutput) -> SavedAnswer:
    with Path(os.environ["STARTS"]).open("a", encoding="ascii") as starts:
        starts.write(f"{order.job} {os.getpid()}\n")
    if order.job in ("f02", "f07", "f42"):
        return tasks.diagnose(order, voice)
    found = answer(order.job)
    JOBS[order.job.partition("-")[0]](found, voice)
    return found


def draw(order: Draw, voice: TaskOutput) -> SavedAnswer:
    if order.answer.job in ("f02", "f07", "f42"):
        return tasks.draw(order, voice)
    kind = order.answer.job.partition("-")[0]
    if kind == "undrawn":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "still":
        _wait_for_the_file()
    return replace(order.answer, report=order.folder)


def ask(order: Ask, voice: TaskOutput) -> str:
    del voice
    before = [(turn.user, turn.text, turn.reply) for turn in order.conversation]
    if order.text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if order.text == "hang":
        time.sleep(LONG)
    return f"{order.text} {order.answer.job} {before}"


def answer(job: str) -> SavedAnswer:
    found = replace(diagnoses.node_fault(), job=job)
    if job == "partial":
        skipped = Skipped("fault library", "The fault library /srv/library.db is damaged.")
        found = replace(found, skipped=(skipped,))
    return SavedAnswer(job, found)


def _quick(_: SavedAnswer, __: TaskOutput) -> None:
    pass


def _hang(found: SavedAnswer, voice: TaskOutput) -> None:
    voice.tell(found)
    time.sleep(LONG)


def _match(found: SavedAnswer, voice: TaskOutput) -> None:
    voice.tell(SavedAnswer(found.job, None, (MATCH,)))
    time.sleep(LONG)


def _silent(_: SavedAnswer, __: TaskOutput) -> None:
    time.sleep(LONG)


def _read(_: SavedAnswer, voice: TaskOutput) -> None:
    voice.progress("reading", 1, 2)
    time.sleep(LONG)


def _family(found: SavedAnswer, voice: TaskOutput) -> None:
    """A grandchild, whose number is the only thing told."""
    grandchild = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
    voice.tell(replace(found, report=str(grandchild.pid)))
    time.sleep(LONG)


def _die(_: SavedAnswer, voice: TaskOutput) -> None:
    print("last words \x1b[31m of a child", file=sys.stderr, flush=True)
    voice.progress("dying", 1, 2)
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(found: SavedAnswer, voice: TaskOutput) -> None:
    if Path(os.environ["STARTS"]).read_text(encoding="ascii").count(found.job) == 1:
        _die(found, voice)


def _leave(_: SavedAnswer, __: TaskOutput) -> None:
    print("leaving", file=sys.stderr, flush=True)
    os._exit(1)


def _eat(_: SavedAnswer, __: TaskOutput) -> None:
    bytearray(1 << 62)  # no machine has that, and nobody asks a kernel for it twice


def _raise(_: SavedAnswer, __: TaskOutput) -> None:
    raise ZeroDivisionError("secret of the trace")


def _refuse(found: SavedAnswer, _: TaskOutput) -> None:
    raise NoLogs(f"{found.job} has no logs.", "Look elsewhere.")


def _down(_: SavedAnswer, __: TaskOutput) -> None:
    raise SourceUnavailable("The jobs folder /srv/jobs cannot be listed: gone.", "Name it with --jobs.")


def _chatter(found: SavedAnswer, voice: TaskOutput) -> None:
    voice.tell(found)
    for number in range(100_001):
        voice.progress("counting", number, 100_000)


def _print(_: SavedAnswer, __: TaskOutput) -> None:
    """A library that prints, and floods."""
    print('["Told", "", {}]')
    os.write(1, b"\xff\xfe" * 100)
    for _number in range(20_000):
        print("noise " * 20, file=sys.stderr)


def _environment(found: SavedAnswer, voice: TaskOutput) -> None:
    """What of the surroundings a child can see, and a file that it leaves behind."""
    secrets = [name for name in os.environ if any(word in name for word in ("SLACK", "WEBHOOK", "ALERTS_TOKEN"))]
    left = Path(tempfile.mkdtemp(), "left")
    left.write_text("x", encoding="ascii")
    voice.tell(replace(found, plot=json.dumps({"secrets": secrets, "left": str(left), "group": os.getpgrp()})))


def _gate(found: SavedAnswer, voice: TaskOutput) -> None:
    """Wait for a file."""
    voice.tell(found)
    _wait_for_the_file()


def _wait_for_the_file() -> None:
    while not Path(os.environ["STARTS"] + ".go").exists():
        time.sleep(0.01)


JOBS: dict[str, Callable[[SavedAnswer, TaskOutput], None]] = {
    "quick": _quick,
    "still": _quick,
    "undrawn": _quick,
    "hang": _hang,
    "match": _match,
    "silent": _silent,
    "reading": _read,
    "family": _family,
    "die": _die,
    "once": _die_once,
    "leave": _leave,
    "eat": _eat,
    "raise": _raise,
    "refuse": _refuse,
    "down": _down,
    "partial": _quick,
    "chatter": _chatter,
    "print": _print,
    "environment": _environment,
    "gate": _gate,
}
