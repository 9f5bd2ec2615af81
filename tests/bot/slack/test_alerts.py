"""Alerts that name a job come in, and other programs are told of what came out."""

import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.client import HTTPConnection
from typing import Any

import pytest

from benchmarks.support.patience import PATIENCE
from bot.slack.alert_receiver import MAX_BODY, PATH, AlertReceiver
from bot.slack.alerts import is_alert, is_over, words_of
from bot.slack.envelopes import EnvelopeKind, envelope_of
from bot.slack.webhook import NotDelivered, Webhook
from bot.state.answers import SavedAnswer
from bot.state.followed import FollowStatus
from bot.state.state import State
from core.errors import SourceUnavailable
from tests.support import diagnoses
from tests.support import slack_samples as samples
from tests.support.program import listening

TOKEN, KEY = "a token of ours", "a key of ours"
SECRET = "hf_" + "aZ3" * 12
# The form is that of prometheus.io/docs/alerting/latest/notifications, as amtool sends it.
FIRING = {
    "version": "4",
    "status": "firing",
    "receiver": "firstfault",
    "alerts": [
        {"status": "firing", "labels": {"alertname": "JobFailed", "job_id": "f02"}, "annotations": {"summary": "died"}},
        {"status": "firing", "labels": {"alertname": "JobFailed"}, "annotations": {"summary": "f07 has failed"}},
        {"status": "resolved", "labels": {"alertname": "JobFailed", "job_id": "f42"}, "annotations": {}},
    ],
}
POSTED: dict[str, Any] = {
    "type": "message", "subtype": "bot_message", "bot_id": "B1", "channel": "C1", "ts": "9.1", "text": "",
    "attachments": [{"title": "[FIRING:1] JobFailed", "fields": [{"title": "job_id", "value": "f02"}]}],
}  # fmt: skip


def _known_in(text: str) -> str:
    return next((job for job in ("f02", "f07", "f42") if job in text), "")


def _nobody_knows(_: str) -> str:
    raise SourceUnavailable("The bucket does not answer.")


@contextmanager
def receiving(state: State, known_in: Callable[[str], str] = _known_in) -> Iterator[AlertReceiver]:
    receiver = AlertReceiver("127.0.0.1", 0, TOKEN, known_in=known_in, alert=lambda job: state.followed.alert(job, ""))
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()


def post(port: int, body: bytes, *, token: str = TOKEN, path: str = PATH) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", path, body, {"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_firing_alerts_queue_the_jobs_that_they_name_once(state: State) -> None:
    """51: by a label or in a sentence; what is resolved is no news, and Alertmanager repeats itself."""
    with receiving(state) as receiver:
        assert [post(receiver.port, json.dumps(FIRING).encode()) for _ in range(2)] == [200, 200]

    assert [(followed.job, followed.fate) for followed in state.followed.waiting()] == [
        ("f02", FollowStatus.WAITS), ("f07", FollowStatus.WAITS),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "token", "path", "status"),
    [
        (json.dumps(FIRING).encode(), "another", PATH, 401),
        (json.dumps(FIRING).encode(), TOKEN, "/", 404),
        (b"[]", TOKEN, PATH, 400),
        (b"{", TOKEN, PATH, 400),
        (b"[" * 100_000, TOKEN, PATH, 400),
        (b"\xff", TOKEN, PATH, 400),
    ],
)
def test_what_is_no_notification_of_ours_is_refused(
    state: State, body: bytes, token: str, path: str, status: int
) -> None:
    """52: another token, another address, another form; nothing is queued."""
    with receiving(state) as receiver:
        assert post(receiver.port, body, token=token, path=path) == status

    assert state.followed.waiting() == ()


def test_alertmanager_comes_again_while_jobs_cannot_be_listed(state: State) -> None:
    """52: an alert that nobody could compare with the jobs is not lost."""
    with receiving(state, _nobody_knows) as receiver:
        assert post(receiver.port, json.dumps(FIRING).encode()) == 503


@pytest.mark.parametrize("length", [str(MAX_BODY + 1), "0" * 12 + "9" * 9, "-1", "9" * 5000])
def test_a_body_without_a_fair_length_is_refused_unread(state: State, length: str) -> None:
    """52: nobody fills our memory."""
    with receiving(state) as receiver:
        connection = HTTPConnection("127.0.0.1", receiver.port, timeout=PATIENCE)
        connection.request("POST", PATH, headers={"Authorization": f"Bearer {TOKEN}", "Content-Length": length})
        assert connection.getresponse().status == 413
        connection.close()


def test_an_alert_is_news_of_a_job_that_was_none_but_only_once(state: State) -> None:
    """51: what had failed before anybody followed is told when an alert names it; what was told of stays told."""
    state.followed.add("f02", "", FollowStatus.NO_NEWS)
    state.followed.add("f07", "", FollowStatus.WAITS)
    state.followed.asked("f07", "r-1")

    for job in ("f02", "f07"):
        state.followed.alert(job, "llama")

    assert [(followed.job, followed.lineage) for followed in state.followed.waiting()] == [("f02", "llama")]


def test_a_message_of_a_program_is_read_with_its_attachments() -> None:
    """53: Alertmanager and Grafana write into attachments, and leave the text empty."""
    envelope = envelope_of({"type": "event_callback", "team_id": "T1", "event_id": "E1", "event": POSTED})

    assert envelope is not None
    assert envelope.kind is EnvelopeKind.ALERT
    assert envelope.body["text"].split() == ["[FIRING:1]", "JobFailed", "job_id", "f02"]


@pytest.mark.parametrize("field", [{"thread_ts": "9.0"}, {"bot_id": ""}, {"subtype": "message_changed"}])
def test_replies_people_and_edits_are_no_alerts(field: dict[str, str]) -> None:
    """54: only what a program says by itself, and first."""
    assert not is_alert({**POSTED, **field})


def test_good_news_is_no_alert() -> None:
    """54: what is resolved needs no diagnosis."""
    assert is_over("[RESOLVED] JobFailed f02")
    assert not is_over(words_of(POSTED))


def answer() -> SavedAnswer:
    """With a secret, and an end that a redactor of the whole body takes for the beginning of one."""
    headline = f"it said {SECRET} and then: login with password="
    return SavedAnswer("f07", replace(diagnoses.node_fault(), headline=headline))


def test_a_webhook_gets_the_json_of_the_diagnosis_clean_and_signed() -> None:
    """55: who has the key can prove where it came from, and knows a second delivery; no secret leaves."""
    with listening() as (address, heard):
        Webhook(f"{address}/hook", KEY).deliver(samples.run(), answer())

    (delivered,) = heard
    headers, body = delivered.headers, delivered.body
    assert delivered.path == "/hook"
    signed = f"{headers['X-Firstfault-Timestamp']}.".encode() + body
    assert headers["X-Firstfault-Signature"] == f"v1={hmac.new(KEY.encode(), signed, sha256).hexdigest()}"
    assert headers["X-Firstfault-Delivery"] == samples.run().id
    assert json.loads(body)["schema"] == "firstfault.diagnosis/1"
    assert json.loads(body)["headline"].endswith("login with password=")
    assert SECRET.encode() not in body


@pytest.mark.parametrize(("status", "again"), [(500, True), (429, True), (302, True), (404, False)])
def test_a_webhook_that_does_not_take_it_is_asked_again_unless_that_is_in_vain(status: int, again: bool) -> None:
    """56: what may work later is raised, for the queue to repeat; a redirect is not followed."""
    elsewhere = {"Location": "/elsewhere"} if status == 302 else None
    with listening(status, headers=elsewhere) as (address, heard):
        if again:
            with pytest.raises(NotDelivered):
                Webhook(f"{address}/hook", KEY).deliver(samples.run(), answer())
        else:
            Webhook(f"{address}/hook", KEY).deliver(samples.run(), answer())

    assert len(heard) == 1


def test_nobody_there_is_no_end() -> None:
    """56: a receiver that is down is asked again."""
    with pytest.raises(NotDelivered):
        Webhook("http://127.0.0.1:9/", KEY).deliver(samples.run(), answer())


def test_words_are_read_at_a_depth_that_messages_have_and_no_further() -> None:
    """Lists inside of lists counted for nothing: a deep one ended in a RecursionError."""
    deep: object = "f02"
    for _ in range(100_000):
        deep = [deep]

    assert words_of({"text": "f07", "attachments": deep}) == "f07"
