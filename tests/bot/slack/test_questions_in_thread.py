"""What in a thread is a question to the bot, and what people say to each other."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.ask.chatter import is_chatter
from bot.slack.commands import names_in
from bot.slack.envelopes import EnvelopeKind, envelope_of
from bot.slack.text_listener import is_asked
from tests.support.slack_samples import AT, run

ME = "U0BOT"


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "Thank you so much",
        ":+1:",
        ":tada: :pray:",
        "\U0001f44d",
        "<@U0ADA> can you look?",
        "ok, got it",
        "...",
    ],
)
def test_the_bot_is_silent(text: str) -> None:
    """42: thanks, emoji, somebody else is meant."""
    assert is_chatter(text, ME)


@pytest.mark.parametrize(
    "text",
    [
        "why?",
        "what did rank 3 log last?",
        "thanks, and which node was first?",
        f"<@{ME}> thanks to whom?",
        "show me E2",
        "how many nodes",
    ],
)
def test_a_question_is_a_question(text: str) -> None:
    """25: also a polite one."""
    assert not is_chatter(text, ME)


def test_in_a_thread_of_people_and_after_a_day_only_a_mention_asks() -> None:
    """42: below an alert that people discuss, and when the answer is old."""
    ours, theirs, late = run(), replace(run(), thread_ts="1.0"), AT + timedelta(hours=25)

    assert is_asked("which node?", ours, me=ME, direct=False, at=AT)
    assert not is_asked("which node?", theirs, me=ME, direct=False, at=AT)
    assert not is_asked("which node?", ours, me=ME, direct=False, at=late)
    assert is_asked(f"<@{ME}> which node?", theirs, me=ME, direct=False, at=late)
    assert is_asked("which node?", theirs, me=ME, direct=True, at=late)


@pytest.mark.parametrize("text", ["why did f10 fail?", "job f10", "`f10`", "is “f10” dead", "(f10)", "look: f10."])
def test_a_name_is_found_in_any_sentence(text: str) -> None:
    """44: whatever people put around it."""
    assert "f10" in names_in(text)


def test_a_mention_in_a_group_of_people_is_a_mention() -> None:
    """45: Slack has no event for it there; should both come they have one key."""
    event = {"channel": "G1", "user": "U0ADA", "ts": "1.1", "text": f"<@{ME}> f10"}
    body = {"type": "event_callback", "team_id": "T0"}
    spoken = envelope_of({**body, "event": {**event, "type": "message", "channel_type": "mpim"}})
    called = envelope_of({**body, "event": {**event, "type": "app_mention"}})

    assert spoken is not None
    assert called is not None
    assert spoken.kind == EnvelopeKind.MENTION
    assert spoken.key == called.key
