"""``firstfault demo`` as a newcomer starts it: a real process, its page, Ctrl-C, and ``make demo`` before it."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import URLError

import pytest

from benchmarks.support.demo_process import Demo, running_demo
from benchmarks.support.patience import PATIENCE
from bot.commandline.demo import FIRST, QUESTION, SECOND, greeting_message
from bot.commandline.local_slack import APPROVER, APPROVER_NAME, CHANNEL
from slacksim import Workspace
from tests.support.places import ROOT

OFFER = "[Y/n]"
T = TypeVar("T")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def demo(temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One for several tests, with settings of a person who has a real Slack and sits behind a proxy."""
    environment = {
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
        "FIRSTFAULT_SLACK_TRANSPORT": "http",
        "FIRSTFAULT_SLACK_BOT_TOKEN": "xoxb-of-the-real-slack",
        "FIRSTFAULT_APPROVERS": "U0REALBOSS",
        "FIRSTFAULT_JOBS": str(temporary),
        "HTTP_PROXY": "http://127.0.0.1:1",
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }
    with running_demo(environment=environment) as running:
        yield running


def test_the_terminal_tells_where_to_go_and_what_to_do(demo: Demo) -> None:
    """An address, four steps, who one is, who writes the notes, how to end it."""
    for words in (
        f"/diagnose {FIRST}",
        QUESTION,
        "Approve and archive",
        f"/diagnose {SECOND}",
        APPROVER_NAME,
        "by code",
    ):
        assert words in demo.output
    assert [line[:5] for line in demo.output.splitlines() if line[2:3].isdigit()] == [
        "  1. ",
        "  2. ",
        "  3. ",
        "  4. ",
    ]


def test_the_channel_tells_the_same(demo: Demo) -> None:
    """Who comes by the page alone finds the steps there, and the bot connected, whatever is set for the real Slack."""
    seen = state(demo)
    assert seen["app"]["connected"]
    assert [message["text"] for message in seen["messages"]] == [greeting_message().text]
    assert QUESTION in json.dumps(seen["messages"][0]["blocks"])


def test_the_first_step_works_behind_a_proxy(demo: Demo) -> None:
    """The command of step 1 ends in an answer that can be approved."""
    did = do(demo, {"do": "command", "user": APPROVER, "channel": CHANNEL, "text": f"/diagnose {FIRST}"})
    assert did["acknowledged"]

    answer = wait_for(lambda: [message for message in state(demo)["messages"] if "Look at tr-03" in message["text"]])

    wait_for(lambda: "ff_approve" in json.dumps(state(demo)["messages"]))
    assert answer[0]["channel"] == CHANNEL


def test_ctrl_c_ends_all_of_it(demo: Demo, temporary: Path) -> None:
    """Exit code 0, no child left, no file left."""
    assert demo.interrupt() == 0
    with pytest.raises(URLError):
        state(demo)
    assert [path for path in temporary.iterdir() if path.name.startswith("firstfault-demo-")] == []


def test_a_killed_demo_takes_its_local_slack_along(tmp_path: Path) -> None:
    """Not even kill -9 leaves a server behind; what was to be kept is there."""
    with running_demo("--keep", str(tmp_path / "kept")) as killed:
        assert str(tmp_path / "kept") in killed.output
        wait_for((tmp_path / "kept" / "library").is_dir)  # a child makes it, as soon as it has loaded
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait(PATIENCE)

        wait_for(lambda: not answers(killed))
    assert {"library", "bot.log"} <= {path.name for path in (tmp_path / "kept").iterdir()}


def test_a_taken_port_is_told() -> None:
    """A sentence and a hint, not a trace."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = subprocess.run(
            [sys.executable, "-m", "bot", "demo", "--no-browser", "--port", str(taken.getsockname()[1])],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert ended.returncode == 2
    assert "error: The local Slack did not start: " in ended.stderr
    assert "hint: Try another --port, or none." in ended.stderr


def test_the_workspace_is_the_one_that_the_demo_speaks_of() -> None:
    """Channel and approver are those of slacksim, which bot cannot import."""
    workspace = Workspace()
    assert workspace.channels[0].id == CHANNEL
    assert (APPROVER, APPROVER_NAME) in {(member.id, member.name) for member in workspace.members}


@pytest.mark.parametrize(("typed", "begins"), [("n\n", False), ("\n", True), ("y\n", True), ("\x04", False)])
def test_make_demo_offers_the_local_slack_on_a_terminal(tmp_path: Path, typed: str, begins: bool) -> None:
    """After the diagnosis it asks; Enter means yes, n and Ctrl-D mean no, and each ends well."""
    code, output, calls = make_demo(tmp_path, typed)
    assert code == 0, output
    assert OFFER in output
    assert calls == ["diagnose f07 --jobs examples", *(["demo"] if begins else [])]


def test_make_demo_never_waits_without_a_terminal(tmp_path: Path) -> None:
    """In CI it prints the diagnosis and ends, whether or not anything could be read from standard input."""
    with subprocess.Popen(
        make_words(tmp_path),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.wait(PATIENCE) == 0  # standard input is still open
        assert process.stdout
        assert OFFER not in process.stdout.read()
    assert calls_of(tmp_path) == ["diagnose f07 --jobs examples"]


def state(demo: Demo) -> dict[str, Any]:
    """What the page shows to Alice."""
    with opener().open(f"{demo.page}state", timeout=PATIENCE) as answer:
        return dict(json.load(answer))


def do(demo: Demo, order: dict[str, str]) -> dict[str, Any]:
    """What the page sends when a person acts."""
    request = urllib.request.Request(f"{demo.page}do", json.dumps(order).encode(), {"Content-Type": "application/json"})
    with opener().open(request, timeout=PATIENCE) as answer:
        return dict(json.load(answer)["result"])


def opener() -> urllib.request.OpenerDirector:
    """Whatever proxy is set: this goes to this machine."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def answers(demo: Demo) -> bool:
    try:
        state(demo)
    except OSError:
        return False
    return True


def wait_for(condition: Callable[[], T]) -> T:
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "not seen in time"
        time.sleep(0.1)
    return found


def make_words(folder: Path) -> list[str]:
    """``make demo`` with a program that only notes how it was called; nothing is installed."""
    program = folder / "bin" / "firstfault"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> "{folder}/calls"\n')
    program.chmod(0o755)
    return ["make", "--no-print-directory", "-o", "setup", "demo", f"BIN={program.parent}"]


def calls_of(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def make_demo(folder: Path, typed: str) -> tuple[int, str, list[str]]:
    """On a terminal: exit code, what was shown, how the program was called."""
    words = make_words(folder)
    person, terminal = pty.openpty()
    with subprocess.Popen(words, cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        output = ""
        while chunk := read(person):
            output += chunk
            if OFFER in output and typed:
                os.write(person, typed.encode())
                typed = ""
        code = process.wait(PATIENCE)
    os.close(person)
    return code, output, calls_of(folder)


def read(person: int) -> str:
    ready, _, _ = select.select([person], [], [], PATIENCE)
    assert ready, "nothing was shown"
    try:
        return os.read(person, 4096).decode()
    except OSError:  # how Linux says that nobody holds the other end any more
        return ""
