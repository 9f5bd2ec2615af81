"""``firstfault serve`` as a process: it connects, logs JSON, ends when told to, and says what it misses."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import slacksim
from benchmarks.support.forked_children import started
from benchmarks.support.patience import PATIENCE
from slacksim import Slack, Timing

Environment = dict[str, str]


@pytest.fixture(scope="module")
def slack() -> Iterator[Slack]:
    with slacksim.start(timing=Timing(ack=PATIENCE)) as running:
        yield running


@pytest.fixture
def environment(slack: Slack, tmp_path: Path) -> Environment:
    """Everything that it needs over Socket Mode."""
    app = slack.workspace.app
    return {
        "FIRSTFAULT_STATE": str(tmp_path / "state"),
        "FIRSTFAULT_LIBRARY": str(tmp_path / "library"),
        "FIRSTFAULT_HEALTH": "127.0.0.1:0",
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
    }


@contextmanager
def serving(environment: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "serve"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def log_until(process: "subprocess.Popen[str]", words: str) -> list[dict[str, str]]:
    """Its log, up to the line with these words; every line is one JSON object."""
    assert process.stderr
    lines = []
    for line in process.stderr:
        lines.append(json.loads(line))
        if words in lines[-1]["message"]:
            return lines
    raise AssertionError(f"{words!r} is not in {lines}")


def test_it_serves_until_it_is_told_to_end(slack: Slack, environment: Environment) -> None:
    """Connected, it answers a command; SIGTERM ends it with exit code 0; the log is JSON and holds no token.

    Also right after a first start, while the fault library is being embedded.
    """
    with serving(environment) as process:
        log = log_until(process, "listening")
        slack.wait_for_connection()
        reply = slack.user("alice").command("/diagnose help")
        process.terminate()
        log += log_until(process, "stopped")
        assert process.wait(PATIENCE) == 0

    assert reply.acknowledged
    assert {"time", "level", "logger", "message"} <= set(log[0])
    assert "Socket Mode" in next(line["message"] for line in log if "listening" in line["message"])
    app = slack.workspace.app
    assert not {app.bot_token, app.app_token, app.signing_secret} & set(re.findall(r"[\w-]+", json.dumps(log)))


def test_http_by_setting(environment: Environment) -> None:
    """With the transport http it listens for signed requests, and the same commands are answered; Ctrl-C ends it."""
    with slacksim.start(timing=Timing(ack=PATIENCE)) as slack:
        http = {
            "FIRSTFAULT_SLACK_TRANSPORT": "http",
            "FIRSTFAULT_LISTEN": "127.0.0.1:0",
            "SLACK_API_URL": slack.api_url,
            "SLACK_SIGNING_SECRET": slack.workspace.app.signing_secret,
            "SLACK_APP_TOKEN": "",
        }
        with serving({**environment, **http}) as process:
            line = log_until(process, "listening")[-1]["message"]
            port = re.search(r"HTTP on port (\d+)", line)
            assert port, line
            slack.use_http(f"http://127.0.0.1:{port[1]}/slack/events")

            assert slack.user("alice").command("/diagnose help").acknowledged
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"SLACK_BOT_TOKEN": ""}, "FIRSTFAULT_SLACK_BOT_TOKEN is not set."),
        ({"SLACK_APP_TOKEN": ""}, "FIRSTFAULT_SLACK_APP_TOKEN is not set."),
        ({"SLACK_BOT_TOKEN": "xoxb-wrong"}, "Slack does not take the bot token: invalid_auth."),
        ({"SLACK_APP_TOKEN": "xapp-wrong"}, "Slack does not take the app token: invalid_auth."),
        ({"SLACK_API_URL": "http://127.0.0.1:9/api/"}, "Slack does not answer at http://127.0.0.1:9/api/"),
        ({"FIRSTFAULT_SLACK_TRANSPORT": "http"}, "FIRSTFAULT_SLACK_SIGNING_SECRET is not set."),
        (
            {"FIRSTFAULT_SLACK_TRANSPORT": "http", "SLACK_SIGNING_SECRET": "x", "FIRSTFAULT_LISTEN": "192.0.2.1:80"},
            "Cannot listen on 192.0.2.1:80: ",  # an address of nobody, by RFC 5737
        ),
    ],
    ids=lambda it: next(iter(it), "") if isinstance(it, dict) else "",
)
@pytest.mark.usefixtures("forked")  # as a person starts it, it is above
def test_what_is_missing_is_told_with_a_hint(
    environment: Environment, setting: Environment, message: str, tmp_path: Path
) -> None:
    """Exit code 2, one line with what is wrong by name, one with what to do; no trace and no value of a secret.

    Before them nothing but the log of what was tried again: no warning of a library that nobody can act on.
    """
    variables = {**os.environ, **environment, **setting}
    with (
        (tmp_path / "log").open("wb") as log,
        started("bot.commandline.cli", "serve", env=variables, cwd=tmp_path, stderr=log) as process,
    ):
        assert process.wait(PATIENCE) == 2
    output = (tmp_path / "log").read_text(encoding="utf-8")
    output = (tmp_path / "log").read_text(encoding="utf-8")
    *before, error, hint = output.splitlines()
    assert error.startswith(f"error: {message}")
    assert hint.startswith("hint: ")
    assert all(json.loads(line)["level"] == "INFO" and "again in" in line for line in before)
    assert "xoxb-" not in output.replace("the xoxb- token", "")
