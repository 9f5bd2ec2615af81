"""kill -9 between every two steps of whatever people do: nothing is lost, and nothing is done twice.

The bot ends itself after its first step, then after its second, and so on until it does not get there any more. After
each death another bot takes over, and what was asked for must be there once. What Slack was not told to have arrived
may also be missing altogether: then the person was told that it did not work, or Slack sends it again.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from benchmarks.support import quick
from benchmarks.support.forked_bots import NEVER
from benchmarks.support.patience import PATIENCE
from benchmarks.support.processes import alive
from benchmarks.support.stage import FINISHED, ROOMS, WHOLE, Stage, eventually, looked_at
from bot.slack.envelopes import EnvelopeKind
from bot.state.audit import AuditEntry
from bot.state.runs import Run
from bot.state.state import State
from slacksim import Message
from tests.e2e_faults.test_half_an_approval import approved
from tests.support.places import ROOT
from tests.support.states import not_dealt_with

# Else the first steps, and then with longer and longer gaps: minutes in place of most of an hour.
EVERY_STEP = "KILLS" in os.environ
TITLE = "A title that a person wrote"


@dataclass
class Theatre:
    """Bots on one stage, one at a time."""

    stage: Stage
    zygote: "subprocess.Popen[str]"
    library: Path  # nothing is approved in it
    environment: Mapping[str, str]  # of the bots
    pid: int = 0
    deaths: int = 0  # since the last one was started that shall kill itself
    doomed: bool = False  # the one that runs will kill itself

    def start(self, kind: str, number: int) -> None:
        """A bot that kills itself after so many steps; it is connected when this returns."""
        self.end()
        self.stage.slack.drop_sockets()
        eventually(lambda: self.stage.slack.snapshot().connections == 0, "no connection")
        assert self.zygote.stdin
        assert self.zygote.stdout
        self.zygote.stdin.write(f"{kind} {number} {json.dumps(self.environment)}\n")
        self.zygote.stdin.flush()
        self.pid, self.deaths, self.doomed = int(self.zygote.stdout.readline()), 0, number != NEVER
        self.stage.slack.wait_for_connection(PATIENCE)

    def calm(self) -> None:
        """A bot runs that does not kill itself; who took over from one that did may stay."""
        if self.doomed or self.died():
            self.start("none", NEVER)

    def forget_patterns(self) -> None:
        """All answers are alike, so that each approval after the first would be asked whether it is the same fault."""
        self.end()
        self.pid = 0
        shutil.rmtree(self.stage.home / "library")
        shutil.copytree(self.library, self.stage.home / "library")

    def lives(self) -> bool:
        """Whether a bot is there; when one has killed itself, another from now on, which does not."""
        if self.died():
            deaths = self.deaths + 1
            self.start("none", NEVER)
            self.deaths = deaths
        return True

    def idle(self) -> bool:
        """Whether everything that was stored is dealt with."""
        state = self.state()
        return not not_dealt_with(state) and not state.drafts.pending(state.clock())

    def died(self) -> bool:
        return not self.pid or not alive(self.pid)

    def end(self) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            eventually(self.died, "the end of the bot")

    def state(self) -> State:
        return looked_at(self.stage.state)

    def runs(self, job: str) -> list[Run]:
        rows = self.state().database.query("SELECT id FROM runs WHERE job = ? ORDER BY seq", job)
        return [run for row in rows if (run := self.state().runs.get(row["id"])) is not None]

    def deeds(self, job: str) -> list[AuditEntry]:
        runs = {run.id for run in self.runs(job)}
        return [entry for entry in self.state().audit.entries() if entry.target in runs and entry.what != "asked"]

    def whats(self, job: str) -> list[str]:
        return [entry.what for entry in self.deeds(job)]

    def room(self, job: str) -> str:
        return ROOMS[int(job.rpartition("-")[2]) % len(ROOMS)]

    def whole(self, job: str) -> bool:
        """Whether its one run was told of, and drawn."""
        return [run.told and not self.stage.to_draw(run) for run in self.runs(job)] == [True]

    def answered(self, job: str) -> bool:
        """Its one run was answered, and all of that stands there once."""
        if not self.whole(job):
            return False
        (parent,) = self.stage.parents(job)
        assert self.stage.thread(job) == WHOLE
        return FINISHED in parent.all_text

    def prepared(self, job: str) -> Message:
        """A job that was answered, while no bot kills itself."""
        self.stage.alice.command(f"/diagnose {job}", self.room(job))
        self.stage.wait_told(job)
        return self.stage.parent(job)


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[str]"]:
    """The process that bots are forked from, each with the environment of its test: it takes 4 s of CPU to start."""
    home = tmp_path_factory.mktemp("zygote")
    with (home / "log").open("ab") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.support.forked_bots", quick.__name__],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            cwd=home, text=True,
        )  # fmt: skip
    yield running
    running.kill()
    running.communicate()


@pytest.fixture
def theatre(stage: Stage, shared: Path, zygote: "subprocess.Popen[str]") -> Iterator[Theatre]:
    environment = {**os.environ, **stage.environment, "PYTHONPATH": str(ROOT), "KILLED": str(stage.home / "kills")}
    environment["FIRSTFAULT_ALERT_CHANNELS"] = ",".join(ROOMS)  # only what programs post there is an alert
    found = Theatre(stage, zygote, shared / "library", environment)
    yield found
    found.end()


# --- what people do: whether Slack was told that it has arrived, and whether it was done ---


@dataclass(frozen=True)
class Act:
    """What a person or a program does.

    do: whether it was acknowledged. done: it is there, once. prepare: what comes before, undisturbed, if anything does.
    approves: what was approved before has to go.
    """

    kind: str
    do: Callable[[Theatre, str], bool]
    done: Callable[[Theatre, str], bool]
    prepare: Callable[[Theatre, str], object] | None = None
    job: str = "quick"
    approves: bool = False


def ask(theatre: Theatre, job: str) -> bool:
    return theatre.stage.alice.command(f"/diagnose {job}", theatre.room(job)).acknowledged


def mention(theatre: Theatre, job: str) -> bool:
    theatre.stage.alice.say(f"@firstfault diagnose {job}", theatre.room(job))
    return True  # Slack sends it again until it is acknowledged


def write(theatre: Theatre, job: str) -> bool:
    theatre.stage.alice.direct(f"diagnose {job}")
    return True


def use_shortcut(theatre: Theatre, job: str) -> bool:
    message = theatre.stage.alice.say(f"look at job {job}", theatre.room(job))
    return theatre.stage.alice.shortcut("diagnose_message", message).acknowledged


def answered_in_thread(theatre: Theatre, job: str) -> bool:
    if not theatre.whole(job):
        return False
    (run,) = theatre.runs(job)
    said = [m for m in theatre.stage.slack.snapshot().everything if m.by_app and m.thread_ts == run.thread_ts]
    assert len(said) == 1 + WHOLE.total()
    return True


def fire(theatre: Theatre, job: str) -> bool:
    theatre.stage.slack.post_by_program(theatre.room(job), f"[FIRING:1] JobFailed {job}")
    return True


def open_home(theatre: Theatre, _: str) -> bool:
    theatre.stage.alice.open_home()
    return True


def in_home(theatre: Theatre, job: str) -> bool:
    pages = [page for page in theatre.stage.slack.snapshot().homes if page.user == theatre.stage.alice.id]
    return any(job in page.all_text for page in pages)


def click(action: str) -> Callable[[Theatre, str], bool]:
    def do(theatre: Theatre, job: str) -> bool:
        return theatre.stage.alice.click(theatre.stage.parents(job)[0], action).acknowledged

    return do


def begin(theatre: Theatre, job: str) -> None:
    ask(theatre, job)
    theatre.stage.wait_for_words(job, "Look at ")  # its evidence


def cancelled(theatre: Theatre, job: str) -> bool:
    (run,) = theatre.runs(job)
    assert theatre.whats(job) in ([], ["cancelled"])
    return run.told and run.status == "cancelled" and theatre.whats(job) == ["cancelled"]


def answered_again(theatre: Theatre, job: str) -> bool:
    runs = theatre.runs(job)
    assert len(runs) <= 2
    return [run.told for run in runs] == [True, True] and len(theatre.stage.parents(job)) == 2


def is_approved(theatre: Theatre, job: str) -> bool:
    assert theatre.whats(job) in ([], ["approved"])
    patterns = [entry for entry in approved(theatre.stage) if job in {one.job for one in entry.sightings}]
    assert len(patterns) <= 1
    said = [kind for kind in theatre.stage.thread(job).elements() if "approved" in kind]
    assert len(said) <= 1
    return (
        len(theatre.whats(job)) == len(patterns) == len(said) == 1 and "Approved" in theatre.stage.parent(job).all_text
    )


def prepare_approval(theatre: Theatre, job: str) -> None:
    theatre.prepared(job)
    click("ff_approve")(theatre, job)
    theatre.stage.wait_for_words(job, "Fault pattern `")
    eventually(lambda: is_approved(theatre, job), "the approval")


def undone(theatre: Theatre, job: str) -> bool:
    assert theatre.whats(job) in (["approved"], ["approved", "undone"])
    patterns = [entry for entry in approved(theatre.stage) if job in {one.job for one in entry.sightings}]
    said = [kind for kind in theatre.stage.thread(job).elements() if "taken back" in kind]
    assert len(said) <= 1
    return len(theatre.whats(job)) == 2 and not patterns and len(said) == 1


def submit(action: str, values: dict[str, object]) -> Callable[[Theatre, str], bool]:
    def do(theatre: Theatre, job: str) -> bool:
        if theatre.stage.alice.modal() is not None:  # of an act before, which was not acknowledged
            theatre.stage.alice.cancel()
        click(action)(theatre, job)
        theatre.stage.alice.wait_for_modal(next(iter(values)), PATIENCE)  # it is filled
        return theatre.stage.alice.submit(values).acknowledged

    return do


def edited(theatre: Theatre, job: str) -> bool:
    assert theatre.whats(job) in ([], ["edited"], ["edited", "approved"])
    return theatre.whats(job) == ["edited", "approved"] and TITLE in " ".join(theatre.stage.thread(job))


def rejected(theatre: Theatre, job: str) -> bool:
    assert theatre.whats(job) in ([], ["rejected"])
    said = [kind for kind in theatre.stage.thread(job).elements() if "was rejected" in kind]
    assert len(said) <= 1
    return len(theatre.whats(job)) == len(said) == 1


def question(theatre: Theatre, job: str) -> bool:
    theatre.stage.alice.reply(theatre.stage.parents(job)[0], "which node?")
    return True


def replied(theatre: Theatre, job: str) -> bool:
    said = [kind for kind in theatre.stage.thread(job).elements() if "which node?: N1" in kind]
    assert len(said) <= 1
    return len(said) == 1


def open_window(theatre: Theatre, job: str) -> bool:
    while theatre.stage.alice.modal() is not None:
        theatre.stage.alice.cancel()
    return theatre.stage.alice.click(theatre.stage.details(job), "ff_lines").acknowledged


def shown_or_told(theatre: Theatre, job: str) -> bool:
    """The window is filled; or it is too late for one, which the person reads."""
    window = theatre.stage.alice.modal()
    told = [m for m in theatre.stage.slack.snapshot().ephemerals(theatre.stage.alice.id) if "interrupted" in m.text]
    return bool(window and "raw lines" in window.title) or any(m.channel == theatre.room(job) for m in told)


ACTS = {
    "command": Act("command", ask, Theatre.answered),
    "mention": Act("mention", mention, Theatre.answered),
    "message": Act("message", write, Theatre.answered),
    "shortcut": Act("shortcut", use_shortcut, answered_in_thread),
    "alert": Act("alert", fire, answered_in_thread),
    "home": Act("home", open_home, in_home, Theatre.prepared),
    "cancel": Act("click", click("ff_cancel"), cancelled, begin, job="gate"),
    "again": Act("click", click("ff_again"), answered_again, Theatre.prepared),
    "approve": Act("click", click("ff_approve"), is_approved, Theatre.prepared, approves=True),
    "undo": Act("click", click("ff_undo"), undone, prepare_approval, approves=True),
    "window": Act("opening", open_window, shown_or_told, Theatre.prepared),
    "edit": Act("form", submit("ff_edit", {"Title": TITLE}), edited, Theatre.prepared, approves=True),
    "reject": Act("form", submit("ff_reject", {"Why is it wrong?": "no"}), rejected, Theatre.prepared),
    "question": Act("message", question, replied, Theatre.prepared),
}


def test_an_act_of_each_kind_is_killed_over() -> None:
    """A new kind of envelope needs an act here."""
    assert {act.kind for act in ACTS.values()} == set(EnvelopeKind)


def _with_gaps() -> Iterator[int]:
    """1, 2, 4, 8, 15, 27, 48: what is near the acknowledgement counts most; KILLS=1 takes every one."""
    number = 1
    while True:
        yield number
        number += 1 + number * 3 // 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTS)
def test_killed_between_every_two_steps(theatre: Theatre, name: str) -> None:
    """Whatever people do, and wherever the bot dies over it."""
    act, survived = ACTS[name], 0
    for number in count(1) if EVERY_STEP else _with_gaps():
        job = theatre.stage.job(f"{act.job}-{name}-{number}")
        if act.approves:
            theatre.forget_patterns()
        if act.prepare is not None:
            theatre.calm()
            act.prepare(theatre, job)
        theatre.start(act.kind, number)

        acknowledged = act.do(theatre, job)
        eventually(lambda: theatre.died() or act.done(theatre, job), f"{name}, or a death")  # noqa: B023 at once
        if acknowledged:
            eventually(lambda: theatre.lives() and act.done(theatre, job), f"{name}, once, after step {number}")  # noqa: B023
        # what was stored and not acknowledged is done as well
        eventually(lambda: theatre.lives() and theatre.idle(), "an empty inbox")
        act.done(theatre, job)
        theatre.stage.let_go(job)  # whom a lost click did not cancel would keep the next one waiting in the queue
        survived = 0 if theatre.deaths else survived + 1
        if survived == (2 if EVERY_STEP else 1):  # there are not so many steps, more or less
            return
