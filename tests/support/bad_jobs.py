"""Jobs that are not what they should be, and the program run on them, with what it took."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.commandline.cli import main

FAULT = (
    "Traceback (most recent call last):\n"
    '  File "/opt/train.py", line 7, in train_step\n'
    "    step()\n"
    "OSError: [Errno 5] Input/output error\n"
)


FOUND = "Storage failed"


MEGABYTE = 1 << 20


HANGS = 120  # seconds: idle machines take three, busy ones ten times that; what is quadratic takes hours


# A child's peak begins with what its parent held when it forked, and pytest holds much: a small process stands between.
PEAK = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(child.pid, 0)
with open(sys.argv[1], "w") as peak:
    peak.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Measured(Ended):
    """A process of its own that ended. seconds: of the clock. memory: the most that it held, bytes."""

    seconds: float
    memory: int


@dataclass(frozen=True)
class Jobs:
    """A jobs folder of one test."""

    path: Path
    capsys: pytest.CaptureFixture[str]

    def make(self, job_id: str, files: dict[str, bytes | str], manifest: bytes | dict[str, Any] | None = None) -> Path:
        """A job folder with these files."""
        home = self.path / job_id
        home.mkdir(parents=True)
        for name, content in files.items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        if manifest is not None:
            (home / "job.json").write_bytes(manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())
        return home

    def run(self, command: str, job: str, *options: str) -> Ended:
        """``firstfault COMMAND JOB --jobs HERE``, in this process: a process of its own takes seconds to begin."""
        with self._nothing_written() as here, pytest.MonkeyPatch.context() as patch:
            patch.chdir(here)
            patch.setattr(sys, "argv", ["firstfault", *self._words(command, job, *options)])
            with pytest.raises(SystemExit) as ended:
                main()
        return Ended(int(ended.value.code or 0), *self.capsys.readouterr())

    def measure(self, command: str, job: str, *options: str) -> Measured:
        """The same in a process of its own."""
        words = self._words(command, job, *options)
        out, err, peak = (self.path.with_name(name) for name in ("out", "err", "peak"))
        began = time.monotonic()
        with self._nothing_written() as here, out.open("wb") as stdout, err.open("wb") as stderr:
            code = subprocess.call(
                [sys.executable, "-c", PEAK, str(peak), sys.executable, "-m", "bot", *words],
                cwd=here,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        seconds = time.monotonic() - began
        said, told = out.read_text("utf-8"), err.read_text("utf-8")
        assert "Traceback (most recent call last)" not in told
        return Measured(code, said, told, seconds, int(peak.read_text()) * 1024)

    def diagnose(self, job: str) -> Ended:
        return self.run("diagnose", job)

    def _words(self, command: str, job: str, *options: str) -> list[str]:
        return [command, job, "--jobs", str(self.path), *options]

    @contextmanager
    def _nothing_written(self) -> Iterator[Path]:
        """An empty folder to run in; at the end it is empty, and nothing has changed below the jobs folder."""
        before, here = self.listing(), self.path.parent / "here"
        here.mkdir(exist_ok=True)
        yield here
        assert self.listing() == before, "something was written into the jobs folder"
        assert list(here.iterdir()) == [], "something was written into the current folder"

    def listing(self) -> list[tuple[str, int, int]]:
        """Name, time of change and size of everything below the folder."""
        return sorted(
            (str(path.relative_to(self.path)), path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in self.path.rglob("*")
        )


def loops(home: Path) -> None:
    (home / "logs" / "loop").symlink_to(".")
    (home / "logs" / "one").symlink_to("two")
    (home / "logs" / "two").symlink_to("one")


def leads_out(home: Path) -> None:
    secret = home.parent.parent / "secret.log"
    secret.write_text("SECRET\n")
    (home / "logs" / "out.log").symlink_to(secret)


def leads_nowhere(home: Path) -> None:
    (home / "logs" / "gone.log").symlink_to("not-there")


def pipe(home: Path) -> None:
    os.mkfifo(home / "logs" / "pipe.log")
