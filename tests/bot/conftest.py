"""What many tests of the bot begin with: a state, and the command line in this process."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.commandline.cli import main
from bot.state.state import State, open_state

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on loopback is asked directly."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = open_state(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def firstfault(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command: exit code, standard output, standard error."""

    def command(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["firstfault", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return command
