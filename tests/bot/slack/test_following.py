"""When the bot speaks by itself, and when it holds its tongue."""

from datetime import UTC, datetime

import pytest

from bot.settings import read_channels, read_quiet
from bot.slack.failed_jobs import FollowRules, again_message, digest_message
from bot.state.followed import FollowedJob, FollowStatus
from tests.support.slack_payloads import violations
from tests.support.slack_samples import AT, EVIL


@pytest.mark.parametrize(
    ("span", "hour", "quiet"),
    [
        ("22:00-07:00", 23, True),
        ("22:00-07:00", 6, True),
        ("22:00-07:00", 7, False),
        ("12:00-13:00", 12, True),
        ("", 3, False),
    ],
)
def test_quiet_hours_may_go_over_midnight(span: str, hour: int, quiet: bool) -> None:
    """48: the end of a span is no part of it; without a span no hour is quiet."""
    manners = FollowRules("T0", "C0", 6, read_quiet(span), UTC)

    assert manners.is_quiet(datetime(2026, 11, 21, hour, tzinfo=UTC)) == quiet


def test_a_team_has_a_channel() -> None:
    """48: one channel is for all jobs, the others for teams, whose names may be written in any case."""
    assert read_channels("C0ALL, LLM:C0LLM,vision: C0SEE") == ("C0ALL", {"llm": "C0LLM", "vision": "C0SEE"})
    for wrong in ("llm:C0LLM", "C0ALL,C0MORE"):
        with pytest.raises(ValueError, match="one channel is for all"):
            read_channels(wrong)


def test_slack_takes_what_is_said_unasked() -> None:
    """Any name of a job or run, and any number of jobs."""
    jobs = [FollowedJob(f"job-{number}", "llama", AT, FollowStatus.WAITS) for number in range(99)]

    for message in (digest_message(jobs), digest_message(jobs[:1]), again_message(EVIL, 4, 3, EVIL)):
        assert violations(message.arguments()) == []
    assert "and 79 more" in str(digest_message(jobs).blocks)
