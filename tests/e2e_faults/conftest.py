"""A Slack and a folder for each test, and the one finished answer that all quick diagnoses give."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.fetch.jobs import Request
from bot.investigate import draft, investigate
from bot.settings import Settings
from bot.state.answers import SavedAnswer, answer_text
from slacksim import Slack
from tests.e2e_faults import quick
from tests.e2e_faults.stage import Stage, local_slack

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answer with a note and a known fault, made by a real diagnosis; and a cache that only saves time."""
    place = tmp_path_factory.mktemp("faults")
    settings = Settings(jobs=str(EXAMPLES), cache=place / "cache", library=place / "library", state=place / "state")
    found = draft(investigate(Request("f42"), settings), settings)
    saved = SavedAnswer("f42", found.diagnosis, found.known, found.note)
    (place / quick.ANSWER).write_text(answer_text(saved), encoding="ascii")
    return place


@pytest.fixture
def slack() -> Iterator[Slack]:
    with local_slack() as running:
        yield running


@pytest.fixture
def stage(slack: Slack, shared: Path, tmp_path: Path) -> Stage:
    return make_stage(slack, shared, tmp_path)


def make_stage(slack: Slack, shared: Path, home: Path) -> Stage:
    app = slack.workspace.app
    shutil.copy(shared / quick.ANSWER, home)
    shutil.copytree(shared / "library", home / "library")  # its vectors are made: a minute of one core
    (home / "jobs").mkdir()
    told = {
        "JOBS": home / "jobs",
        "STATE": home / "state",
        "LIBRARY": home / "library",
        "CACHE": shared / "cache",
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SLACK_SIGNING_SECRET": app.signing_secret,
        "LISTEN": "127.0.0.1:0",
        "HEALTH": "127.0.0.1:0",
        "APPROVERS": "U0ALICE",
    }
    return Stage(slack, home, {"QUICK": str(home), **{f"FIRSTFAULT_{name}": str(it) for name, it in told.items()}})
