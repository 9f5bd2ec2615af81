"""A Slack and a folder for each test, and the one finished answer that all quick diagnoses give."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support import quick
from benchmarks.support.stage import PATIENT, Stage, local_slack, make_stage
from bot.fetch.jobs import Request
from bot.investigate import draft, investigate
from bot.settings import Settings
from bot.state.answers import SavedAnswer, answer_text
from slacksim import Slack
from tests.support.places import EXAMPLES


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answer with a note and a known fault, made by a real diagnosis; and a cache that only saves time."""
    place = tmp_path_factory.mktemp("faults")
    settings = Settings(jobs=str(EXAMPLES), cache=place / "cache", library=place / "library", state=place / "state")
    found = draft(investigate(Request("f42"), settings), settings)
    saved = SavedAnswer("f42", found.diagnosis, found.known, found.note)
    (place / quick.ANSWER).write_text(answer_text(saved), encoding="ascii")
    return place


@pytest.fixture(autouse=True, scope="module")
def children(forked: None) -> None:
    """Those of all bots here are forked."""


@pytest.fixture
def slack() -> Iterator[Slack]:
    with local_slack(timing=PATIENT) as running:
        yield running


@pytest.fixture
def stage(slack: Slack, shared: Path, tmp_path: Path) -> Stage:
    return make_stage(slack, shared, tmp_path)
