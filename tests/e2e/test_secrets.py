"""A job that prints its secrets: none of them reaches Slack, the model, an uploaded file, or what the bot keeps."""

import json
from collections.abc import Iterator

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import Slack
from tests.support.model_endpoint import Endpoint, playing, says
from tests.support.scene import Folders, Scene, serving
from tests.support.scene_jobs import CARELESS, SECRETS


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with playing(says("{}")) as running:
        yield running


@pytest.fixture(scope="module")
def scene(slack: Slack, folders: Folders, endpoint: Endpoint) -> Iterator[Scene]:
    with serving(slack, folders, model="toy", model_url=endpoint.url, model_timeout=20) as running:
        yield running


@pytest.mark.slow
def test_no_secret_leaves_the_machine_or_is_kept(scene: Scene, endpoint: Endpoint) -> None:
    """Diagnosed, looked at, asked about, edited and archived: all that was sent, and all files of the bot."""
    alice = scene.user("alice")

    answer = scene.diagnosed(CARELESS)
    alice.click(scene.details(answer), "ff_lines")
    alice.wait_for_modal("rank_1.log", PATIENCE)
    alice.cancel()
    alice.reply(answer, "show me the errors of rank 1")
    scene.in_thread(answer, "rank_1.log")
    alice.click(answer, "ff_approve")
    scene.until(answer, "Fault pattern")

    comment = scene.in_thread(answer, "The full report")
    sent = [
        *(json.dumps(dict(call.args), default=str).encode() for call in scene.slack.journal.calls()),
        *(json.dumps(delivery.answer, default=str).encode() for delivery in scene.slack.journal.deliveries()),
        *(file.data or b"" for file in map(scene.slack.snapshot().file, comment.files)),
        *(json.dumps(asked).encode() for asked in endpoint.heard),
    ]
    kept = [path.read_bytes() for path in sorted(scene.folders.home.rglob("*")) if path.is_file()]
    assert endpoint.heard
    assert any(b"cannot connect" in one for one in sent)
    assert any(b"cannot connect" in one for one in kept)
    assert {secret for secret in SECRETS.values() if any(secret.encode() in one for one in (*sent, *kept))} == set()
