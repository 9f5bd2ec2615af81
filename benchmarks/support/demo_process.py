"""``firstfault demo`` as a person starts it: a process, what it prints, and Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]
_OURS = ("FIRSTFAULT_", "SLACK_", "OPENAI_")  # what the person who runs the tests has set


@dataclass(frozen=True)
class Demo:
    """A running one. said: until it told how to end it."""

    process: "subprocess.Popen[str]"
    output: str

    @property
    def page(self) -> str:
        found = re.search(r"Open +(http://\S+)", self.output)
        assert found, self.output
        return found[1]

    def interrupt(self) -> int:
        """Ctrl-C, as the terminal sends it to the whole group; the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE)


@contextmanager
def running_demo(*words: str, environment: Mapping[str, str] | None = None) -> Iterator[Demo]:
    """Start one and wait until it can be used; at the end it is interrupted if it still runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "demo", "--no-browser", *words],
        cwd=ROOT,
        env={**kept, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout
            text = ""
            for line in process.stdout:
                text += line
                if "Ctrl-C" in line:
                    break
            yield Demo(process, text)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
