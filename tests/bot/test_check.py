"""``firstfault check``: what answers, what is missing by name, what is off, and the exit code."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import slacksim
from benchmarks.support.dask_cluster import Cluster, needs_dask
from bot.slack.manifest import scopes
from slacksim import App, Limits, Slack, Workspace
from tests.bot.conftest import Run
from tests.support.model_endpoint import Play, fails, playing, says
from tests.support.places import EXAMPLES

Check = Callable[..., tuple[int, dict[str, str]]]
ALERTS, GENERAL = "C0ALERTS", "C0GENERAL"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One for all: planting the seeds takes half a second."""
    return str(tmp_path_factory.mktemp("library"))


@pytest.fixture
def check(firstfault: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: str) -> Check:
    """Run it with these settings: exit code, and the line of each part by its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIRSTFAULT_LIBRARY", library)

    def run(*words: str, **settings: str) -> tuple[int, dict[str, str]]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        code, out, _ = firstfault("check", *words)
        lines = [line for line in out.splitlines() if line.startswith(("OK ", "missing ", "off "))]
        assert out.rstrip().splitlines()[-1].endswith(".")
        return code, {line[9:25].strip(): f"{line[:9].strip()}: {line[25:]}" for line in lines}

    return run


@contextmanager
def slack_with(scopes_of_token: tuple[str, ...] | None = None) -> Iterator[Slack]:
    app = App() if scopes_of_token is None else replace(App(), scopes=scopes_of_token)
    with slacksim.start(Workspace(app=app), limits=Limits(enforced=False)) as running:
        yield running


@pytest.fixture(scope="module")
def slack() -> Iterator[Slack]:
    with slack_with() as running:
        yield running


def settings_for(slack: Slack, tmp_path: Path) -> dict[str, str]:
    app = slack.workspace.app
    return {
        "FIRSTFAULT_STATE": str(tmp_path / "state"),
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
    }


def test_with_nothing_configured_all_but_slack_and_model_works(check: Check, tmp_path: Path) -> None:
    """A newcomer sees what is off, that the rest works, and what needs no account; nothing is made for the bot."""
    code, found = check()
    assert code == 0
    assert found["job source"].startswith("OK: 14 jobs in ")
    assert found["fault library"].startswith("OK: ")
    assert found["language model"].startswith("off: FIRSTFAULT_MODEL is not set")
    assert found["Slack"].startswith("off: No token is set: docs/how-to/slack.md")
    assert not (tmp_path / "state").exists()


def test_all_of_slack_answers(check: Check, slack: Slack, tmp_path: Path) -> None:
    """Tokens, scopes, every kind of approver, the channel, the state: each with its line."""
    approvers = {"FIRSTFAULT_APPROVERS": "U0ALICE, bob@example.com, @oncall"}
    code, found = check("--channel", ALERTS, **settings_for(slack, tmp_path), **approvers)
    assert code == 0, found
    assert found["bot token"] == "OK: @firstfault in Firstfault demo"
    assert found["scopes"] == f"OK: all {len(scopes())} that the bot needs"
    assert found["approvers"] == "OK: 3 entries, all known to Slack"
    assert {name for name, line in found.items() if line.startswith("OK")} >= {"app token", "channel", "state"}


def test_missing_scopes_are_named(check: Check, tmp_path: Path) -> None:
    """Which scopes the token lacks stands in the header of Slack's answers: each is told by name."""
    granted = tuple(scope for scope in scopes() if scope not in ("files:write", "im:history"))
    with slack_with(granted) as slack:
        code, found = check(**settings_for(slack, tmp_path))
    assert code == 1
    assert found["scopes"].startswith("missing: The bot token lacks files:write, im:history. Add them")


def test_unknown_approvers_are_named(check: Check, slack: Slack, tmp_path: Path) -> None:
    """Whom Slack does not know, and what is no user, address or group at all."""
    approvers = "U0ALICE,U0NOBODY,gone@example.com,@nogroup,bob,U0FIRSTFAULT"
    code, found = check(**settings_for(slack, tmp_path), FIRSTFAULT_APPROVERS=approvers)
    assert code == 1
    for words in ("U0NOBODY: user_not_found", "gone@example.com: users_not_found", "nogroup: no such user group"):
        assert words in found["approvers"]
    assert "bob: is no user id" in found["approvers"]
    assert "U0FIRSTFAULT: is a bot" in found["approvers"]
    assert "U0ALICE:" not in found["approvers"]


def test_no_approvers_means_nobody(check: Check, slack: Slack, tmp_path: Path) -> None:
    """An empty list is allowed, and what it means is said."""
    code, found = check(**settings_for(slack, tmp_path))
    assert code == 0
    assert found["approvers"] == "off: FIRSTFAULT_APPROVERS is empty: nobody may approve."


@pytest.mark.parametrize(
    ("setting", "part", "line"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-wrong"}, "bot token", "missing: Slack does not take the bot token: invalid_auth."),
        ({"SLACK_BOT_TOKEN": ""}, "bot token", "missing: FIRSTFAULT_SLACK_BOT_TOKEN is not set"),
        ({"SLACK_APP_TOKEN": "xapp-wrong"}, "app token", "missing: Slack does not take the app token: invalid_auth."),
        ({"SLACK_APP_TOKEN": ""}, "app token", "missing: FIRSTFAULT_SLACK_APP_TOKEN is not set"),
        ({"FIRSTFAULT_SLACK_TRANSPORT": "http"}, "signed HTTP", "missing: FIRSTFAULT_SLACK_SIGNING_SECRET is not set"),
        ({"FIRSTFAULT_STATE": "/dev/null/state"}, "state", "missing: The state file /dev/null/state"),
        ({"SLACK_API_URL": "http://127.0.0.1:9/api/"}, "bot token", "missing: Slack does not answer at "),
        ({"SLACK_API_URL": "http://127.0.0.1:9/api/"}, "app token", "missing: Slack does not answer at "),
    ],
    ids=lambda it: next(iter(it)) if isinstance(it, dict) else "",
)
def test_what_of_slack_is_missing_is_told(
    check: Check, slack: Slack, tmp_path: Path, setting: dict[str, str], part: str, line: str
) -> None:
    """Exit code 1, the part by name, and the reason in Slack's own word where it has one; never a token."""
    code, found = check(**{**settings_for(slack, tmp_path), **setting})
    assert code == 1
    assert found[part].startswith(line)
    assert not {"xoxb-wrong", "xapp-wrong"} & set(json.dumps(found).split())


@pytest.mark.parametrize(
    ("channel", "line"),
    [(GENERAL, "The bot is not in C0GENERAL. Write /invite"), ("C0NONE", "The bot sees no channel C0NONE.")],
)
def test_a_channel_without_the_bot_is_told(check: Check, slack: Slack, tmp_path: Path, channel: str, line: str) -> None:
    """The hint is the command that brings the bot there."""
    code, found = check("--channel", channel, **settings_for(slack, tmp_path))
    assert code == 1
    assert found["channel"].startswith(f"missing: {line}")


@pytest.mark.parametrize(
    ("play", "code", "line"),
    [
        (says('{"ready": true}'), 0, "OK: toy answered as JSON in "),
        (says('{"ready": "later"}'), 1, "missing: toy answers, but not as it was asked to."),
        (says("Yes, I am."), 1, "missing: The language model toy at "),
        (fails(401, "bad key sk-secret"), 1, "missing: The language model toy at "),
    ],
    ids=["ready", "other JSON", "no JSON", "wrong key"],
)
def test_the_model_is_asked_one_small_thing(check: Check, play: Play, code: int, line: str) -> None:
    """It has to answer, as a JSON object of the wanted form; a key is never shown."""
    with playing(play, play, play, play) as endpoint:
        ended, found = check(
            FIRSTFAULT_MODEL="toy", FIRSTFAULT_MODEL_URL=endpoint.url, FIRSTFAULT_MODEL_KEY="sk-secret"
        )
    assert (ended, found["language model"].startswith(line)) == (code, True), found
    assert "sk-secret" not in found["language model"]


@pytest.mark.parametrize(
    ("setting", "part", "line"),
    [
        ({"FIRSTFAULT_JOBS": "/nowhere"}, "job source", "missing: The jobs folder /nowhere cannot be listed"),
        ({"FIRSTFAULT_JOBS": str(EXAMPLES / "f07")}, "job source", "OK: "),
        ({"FIRSTFAULT_LIBRARY": "/dev/null/library"}, "fault library", "missing: "),
    ],
)
def test_job_source_and_library_are_opened(check: Check, setting: dict[str, str], part: str, line: str) -> None:
    """A place that cannot be listed or opened is told with what to set; the other parts are still looked at."""
    code, found = check(**setting)
    assert found[part].startswith(line)
    assert code == int(line.startswith("missing"))
    assert "Slack" in found


@needs_dask
@pytest.mark.slow
def test_a_scheduler_is_asked_who_would_read(check: Check, tmp_path: Path) -> None:
    """How many workers there are, that they would answer as this machine does, and that they see the jobs."""
    (tmp_path / "dask").mkdir()
    with closing(Cluster(tmp_path / "dask")) as cluster:
        cluster.add_worker("one")
        code, found = check(
            FIRSTFAULT_SCHEDULER=cluster.address, FIRSTFAULT_SCHEDULER_INSECURE="1", FIRSTFAULT_JOBS=str(EXAMPLES)
        )

    assert code == 0, found
    line = f"OK: {cluster.address}: 1 worker (1 thread), same Firstfault and Python, and they read logs/"
    assert found["scheduler"].startswith(line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("10.0.0.5", "missing: 10.0.0.5 is no address of a Dask scheduler. It is like tls://"),
        ("tcp://127.0.0.1:9", "missing: tcp://127.0.0.1:9 is a Dask scheduler that proves nothing"),
        pytest.param(
            "tcp://127.0.0.1:9",
            "missing: No Dask scheduler answers at tcp://127.0.0.1:9 within 8 seconds. Is it running",
            marks=needs_dask,
        ),
    ],
)
def test_a_scheduler_that_does_not_answer_is_told(check: Check, address: str, line: str) -> None:
    """Exit code 1 and what to try; the other parts are still looked at."""
    insecure = {"FIRSTFAULT_SCHEDULER_INSECURE": "1"} if "No Dask" in line else {}
    code, found = check(FIRSTFAULT_SCHEDULER=address, **insecure)

    assert code == 1
    assert found["scheduler"].startswith(line)
    assert "Slack" in found


def test_no_scheduler_is_no_word(check: Check) -> None:
    """Most read on one machine: nothing is off there."""
    _, found = check()

    assert "scheduler" not in found


def test_swapped_tokens_are_told_as_such(check: Check, slack: Slack, tmp_path: Path) -> None:
    """The most usual mistake, and Slack's word for it (not_allowed_token_type) helps nobody."""
    app = slack.workspace.app
    swapped = {"SLACK_BOT_TOKEN": app.app_token, "SLACK_APP_TOKEN": app.bot_token}
    code, found = check(**{**settings_for(slack, tmp_path), **swapped})
    assert code == 1
    assert all("The two tokens are swapped: xoxb- is the bot's" in found[part] for part in ("bot token", "app token"))


def test_wrong_use_is_exit_code_2(firstfault: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that makes no sense is told by name before anything is asked."""
    monkeypatch.setenv("FIRSTFAULT_RUNS", "many")
    code, _, err = firstfault("check")
    assert code == 2
    assert "FIRSTFAULT_RUNS makes no sense" in err
