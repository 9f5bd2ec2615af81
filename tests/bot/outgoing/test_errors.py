"""What is left of an error for people who only ask."""

import pytest

from bot.outgoing.errors import ASK, public_failure, whole_failure, without_places
from bot.slack.actions import BadButton
from bot.slack.posting import MayNotPost
from bot.state.errors import OutOfDate
from core.errors import BadJobId, BadSettings, FirstfaultError, SourceUnavailable
from faultlib.errors import LibraryUnavailable, WrongStep


@pytest.mark.parametrize(
    ("message", "public"),
    [
        ("The jobs folder /srv/jobs cannot be listed: gone.", "The jobs folder cannot be listed: gone."),
        ("There is no job 7001 below /srv/jobs.", "There is no job 7001."),
        ("Job 7001 has no log files under s3://training/jobs/7001.", "Job 7001 has no log files."),
        ("The model toy at models.internal:8000 gave no answer.", "The model toy gave no answer."),
        ("The model toy at 10.0.0.7 gave no answer.", "The model toy gave no answer."),
        ("Slack does not answer at https://slack.com/api/ (reset).", "Slack does not answer (reset)."),
        ('No answer from "http://minio:9000/b?x=1".', "No answer."),
        ("Written to ~/.cache/firstfault, it is full", "Written to, it is full"),
    ],
)
def test_places_of_the_server_go(message: str, public: str) -> None:
    """Paths, addresses and hosts, with the word that leads to them."""
    assert without_places(message) == public


@pytest.mark.parametrize(
    "message",
    [
        "logs/rank_3.log:97: it was cut short",
        "It ended at 03:59:44, node / rank unknown and/or lost",
        "Stopped after 900 s: what would have come later is missing.",
        "Compared by words only: the model is not installed.",
    ],
)
def test_what_is_no_place_stays(message: str) -> None:
    """Names within a job, clocks and plain words."""
    assert without_places(message) == message


class SomethingNew(FirstfaultError):
    """An error that nobody had thought of when this was written."""


@pytest.mark.parametrize("error", [SourceUnavailable, LibraryUnavailable, BadSettings, SomethingNew, FirstfaultError])
def test_a_hint_for_the_command_line_becomes_whom_to_ask(error: type[FirstfaultError]) -> None:
    """Also of an error that nobody had thought of when this was written: the audience of a class is the operator."""
    whole = whole_failure(error("It failed.", "Set FIRSTFAULT_JOBS or --jobs."))
    public = public_failure(whole, error.audience)
    assert (public.message, public.hint, public.kind) == ("It failed.", ASK, error.__name__)


@pytest.mark.parametrize("error", [BadJobId, WrongStep, OutOfDate, MayNotPost, BadButton])
def test_what_is_about_the_asker_is_told_whole(error: type[FirstfaultError]) -> None:
    """What somebody typed or clicked, with what they can do."""
    failure = whole_failure(error("'/etc/passwd' cannot be a job id.", "A job id has letters."))
    assert public_failure(failure, error.audience) == failure
