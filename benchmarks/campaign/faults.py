"""The faults: which there are, how often each is drawn, and how it strikes."""

import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.campaign.bots import Bots
from benchmarks.campaign.child import CHANGES
from benchmarks.support.outages import fill, remove
from benchmarks.support.stage import Stage
from slacksim.faults import CALL_FAULTS, DELIVERY_FAULTS

AT_STEP = "bot killed between two steps"
SECOND_BOT = "two bots on one state"
CHILD = "child killed"
DISK_FULL = "disk full"
DAMAGED_STATE = "state damaged while no bot runs"
FILE, MODEL = "log file ", "model "
MODELS = ("hangs", "refuses", "is garbage", "is broken")
_CALL, _DELIVERY, _LINE = "Slack: ", "Slack delivers: ", "line to Slack: "
_LINES = ("breaks", "is closed", "is renewed", "is dead")
# How often a fault is drawn beside the others: those that cost a real diagnosis, or many seconds, more rarely.
WEIGHTS: Mapping[str, int] = {
    AT_STEP: 40,
    "bot killed": 12,
    "bot told to end": 6,
    SECOND_BOT: 12,
    CHILD: 20,
    DISK_FULL: 8,
    "state locked": 8,
    "library locked": 8,
    "library gone": 4,
    "library damaged": 4,
    **{f"{_CALL}{kind}": 7 for kind in CALL_FAULTS},
    **{f"{_DELIVERY}{kind}": 8 for kind in DELIVERY_FAULTS},
    **{f"{_LINE}{how}": 1 if how == "is dead" else 4 for how in _LINES},
    **{f"{FILE}{change}": 1 for change in CHANGES},
    **{f"{MODEL}{how}": 1 for how in MODELS},
}
_METHODS = ("*", "*", "*", "chat.postMessage", "chat.update", "files.completeUploadExternal", "conversations.replies")
_MOST_STEPS = 90  # a round has some hundred


@dataclass
class FaultTally:
    """How often each fault was drawn, and how often it struck: one that waits for a call may never see it."""

    drawn: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, *, struck: bool) -> None:
        """One more."""
        self.drawn[kind] += 1
        self.struck[kind] += struck


@dataclass
class Ground:
    """Where faults strike. ``can_fill``: whether the state is on a disk of its own, which can be filled."""

    stage: Stage
    bots: Bots
    chance: Random
    can_fill: bool

    @property
    def library(self) -> Path:
        """The folder of the fault library."""
        return Path(self.stage.environment["FIRSTFAULT_LIBRARY"])

    def draw(self, number: int) -> list[str]:
        """So many kinds."""
        kinds = [kind for kind in WEIGHTS if self.can_fill or kind != DISK_FULL]
        return self.chance.choices(kinds, [WEIGHTS[kind] for kind in kinds], k=number)

    def steps(self) -> int:
        """After which a bot shall kill itself; the first ones, around the acknowledgement, count most."""
        return 1 + int(_MOST_STEPS * self.chance.random() ** 2)

    def strike(self, kind: str, tally: FaultTally) -> None:
        """Let it happen now; faults of Slack wait for its next call or delivery, and are counted by ``count_slack``."""
        slack, seconds = self.stage.slack, self.chance.uniform(0.3, 2.0)
        for prefix, add, targets in (
            (_CALL, slack.faults.call, _METHODS),
            (_DELIVERY, slack.faults.delivery, ("*", "events_api")),
        ):
            if kind.startswith(prefix):
                tally.add(kind, struck=True)
                add(self.chance.choice(targets), kind.removeprefix(prefix), seconds=seconds)
                return
        if kind.startswith(_LINE):
            tally.add(kind, struck=self._line(kind.removeprefix(_LINE)))
        elif kind.startswith("bot "):
            number = signal.SIGKILL if kind == "bot killed" else signal.SIGTERM
            tally.add(kind, struck=self.bots.end(number, self.chance))
        else:
            tally.add(kind, struck=True)
            with self._lasting()[kind]():
                time.sleep(self.chance.uniform(0.2, 4.0))

    def count_slack(self, tally: FaultTally) -> None:
        """Whatever of Slack's faults did not strike is taken back."""
        faults = self.stage.slack.faults
        left = faults.coming()
        faults.clear()
        tally.struck -= Counter(f"{_CALL if fault.kind in CALL_FAULTS else _DELIVERY}{fault.kind}" for fault in left)

    def _line(self, how: str) -> bool:
        slack = self.stage.slack
        there = slack.snapshot().connections > 0
        if how == "is dead":
            slack.mute_sockets()
        elif how == "is renewed":
            slack.disconnect("refresh_requested")
        else:
            slack.drop_sockets(hard=how == "breaks")
        return there

    def _lasting(self) -> Mapping[str, Callable[[], AbstractContextManager[None]]]:
        return {
            DISK_FULL: self._full_disk,
            "state locked": lambda: _locked(self.stage.state / "state.db"),
            "library locked": lambda: _locked(self.library / "library.db"),
            "library gone": lambda: self._without_library(b""),
            "library damaged": lambda: self._without_library(b"SQLite format 3\0" + b"\xff" * 8192),
        }

    @contextmanager
    def _full_disk(self) -> Iterator[None]:
        ballast = fill(self.stage.state)
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def _without_library(self, instead: bytes) -> Iterator[None]:
        """Another one, or a file, stands where it was."""
        kept = self.library.with_name("kept")
        self.library.rename(kept)
        with suppress(FileNotFoundError):  # a bot may have begun a new one
            remove(self.library)
        if instead:
            self.library.mkdir()
            (self.library / "library.db").write_bytes(instead)
        else:
            self.library.write_text("no folder", encoding="ascii")
        try:
            yield
        finally:
            remove(self.library)
            kept.rename(self.library)


@contextmanager
def _locked(database: Path) -> Iterator[None]:
    """Another writer has it, and takes its time."""
    with suppress(sqlite3.OperationalError):  # a bot was faster
        writer = sqlite3.connect(database, isolation_level=None, timeout=5.0)
        try:
            writer.execute("BEGIN IMMEDIATE")
            yield
            return
        finally:
            writer.close()
    yield
