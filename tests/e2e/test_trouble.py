"""When something is down: it is named, and the rest is given; when Slack hiccups, nothing is lost or said twice."""

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import Message, Slack
from tests.support.scene import Folders, Scene, serving
from tests.support.scene_jobs import QUIET

NOBODY = "http://127.0.0.1:9/v1"  # the discard port: no model answers there


@pytest.fixture
def crippled(slack: Slack, folders: Folders, tmp_path: Path) -> Iterator[Scene]:
    """A bot whose library is no library and whose model does not answer."""
    home = tmp_path / "crippled"
    home.mkdir()
    (home / "library").write_text("not a folder", encoding="utf-8")
    elsewhere = replace(folders, home=home)
    with serving(slack, elsewhere, model="toy", model_url=NOBODY, model_timeout=5) as running:
        yield running


@pytest.mark.slow
def test_without_library_and_model_the_evidence_is_still_given(crippled: Scene, room: str) -> None:
    """38: both are named; approving says privately why it cannot be archived, and the note stays undecided."""
    answer = crippled.diagnosed("f07", room)

    crippled.user("alice").click(answer, "ff_approve")
    refused = crippled.told("alice", "library")

    edited = _edited(crippled, answer)

    assert answer.text.startswith("f07: Look at gpu018")
    details = crippled.details(answer).all_text
    assert "*Evidence*" in details
    assert "The cable was loose" in edited.all_text
    assert "Nothing similar was found. " in details
    assert "Written by code" in details
    assert "The language model gave no answer" in "".join(m.all_text for m in crippled.slack.snapshot().thread(answer))
    assert refused.channel == answer.channel
    assert "Approve and archive" in crippled.shown(answer).all_text


def _edited(scene: Scene, answer: Message) -> Message:
    """What alice has written is kept, and can be approved when the library is back: the button is about her words."""
    alice = scene.user("alice")
    alice.click(answer, "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    alice.submit({"cause": "The cable was loose"})
    edited = scene.until(answer, "The cable was loose")
    assert about_of(edited).endswith(":2")
    return edited


def about_of(message: Message) -> str:
    """What the approve button carries."""
    buttons = [one for block in message.blocks if block["type"] == "actions" for one in block["elements"]]
    return next(str(one["value"]) for one in buttons if one["action_id"] == "ff_approve")


@pytest.fixture
def jobless(slack: Slack, folders: Folders, tmp_path: Path) -> Iterator[Scene]:
    """A bot whose jobs folder is not there."""
    with serving(slack, Folders(tmp_path / "jobless", tmp_path / "gone", folders.cache)) as running:
        yield running


def test_a_source_that_is_down_is_named_to_the_asker(jobless: Scene, room: str) -> None:
    """38: privately, at once, with what to try; nothing is queued."""
    jobless.ask("f07", room, by="bob")

    told = jobless.told("bob", "The jobs folder")

    assert "cannot be listed" in told.all_text
    assert jobless.posts(room) == ()
    assert jobless.bot.state.runs.active("T0FIRSTFAULT") == ()


def test_health_and_metrics_are_there_for_operations(scene: Scene, room: str) -> None:
    """40: whether it is well, and numbers of what it did; no content of any job."""
    scene.diagnosed(QUIET, room)
    place = f"http://127.0.0.1:{scene.bot.health_port}"

    with urllib.request.urlopen(f"{place}/healthz") as health, urllib.request.urlopen(f"{place}/metrics") as metrics:
        well, numbers = health.status, metrics.read().decode()

    assert well == 200
    assert 'firstfault_tasks_finished_total{outcome="done",task="diagnose"}' in numbers
    assert QUIET not in numbers


@pytest.mark.slow
def test_a_bot_whose_keeper_of_watches_ended_is_not_well(slack: Slack, folders: Folders, tmp_path: Path) -> None:
    """Nobody would follow what people think is watched."""
    with serving(slack, replace(folders, home=tmp_path)) as scene:
        well = scene.bot.healthy()
        scene.bot._watch_service.thread.stop(PATIENCE)

        with pytest.raises(HTTPError) as told:
            urllib.request.urlopen(f"http://127.0.0.1:{scene.bot.health_port}/healthz")
        with told.value as answer:
            parts = json.load(answer)

        assert well
        assert not scene.bot.healthy()
        assert {name for name, good in parts.items() if not good} == {"watches"}
