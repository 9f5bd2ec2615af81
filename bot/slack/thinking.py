"""That a question was heard, at once: Slack's own status below the thread, or where that is not allowed a message."""

import logging
from collections.abc import Callable

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.slack.blocks import Message, section
from bot.slack.client import error_of
from bot.slack.posting import Posting
from bot.slack.text import fallback, prose
from bot.state.runs import Run
from bot.state.threads import ThreadQuestion
from core.errors import FirstfaultError

STATUS = "reads the evidence and the raw lines of {job} again..."  # behind the name of the app
MAX_STATUS = 50  # characters of a job's name in it
# The token, or this Slack, knows no such status: it is not asked again until the bot starts anew.
_FOR_GOOD = frozenset({"missing_scope", "unknown_method", "not_allowed_token_type", "feature_not_enabled"})
_LOG = logging.getLogger(__name__)


class Thinking:
    """Says it once a question; what the reply replaces. Trouble with it costs nothing but that."""

    def __init__(self, client: WebClient, posting: Posting, run_of: Callable[[str], Run | None]) -> None:
        """client: makes one try, for whoever waits three seconds for a status has the reply by then."""
        self._client = client
        self._posting = posting
        self._run_of = run_of
        self._allowed = True

    def show(self, question: ThreadQuestion) -> None:
        """Slack takes the status away itself when the reply comes."""
        run = self._run_of(question.run)
        if run is None:
            return
        try:
            if not (self._allowed and self._status(question, run)):
                self._posting.once(run, f"reply {question.ts}", heard_message(run.job), thread=question.thread_ts)
        except (FirstfaultError, SlackClientError, OSError) as trouble:
            _LOG.info("%s: that it was heard is not shown: %s", question.id, type(trouble).__name__)

    def _status(self, question: ThreadQuestion, run: Run) -> bool:
        """Set the status of the thread; whether Slack shows it."""
        try:
            self._client.assistant_threads_setStatus(
                channel_id=question.channel, thread_ts=question.thread_ts, status=_status(run.job)
            )
        except SlackApiError as error:
            self._allowed = error_of(error) not in _FOR_GOOD
            _LOG.warning("Slack shows no status of a thread (%s): a message does", error_of(error))
            return False
        return True


def heard_message(job: str) -> Message:
    """In place of the status; the reply takes its place."""
    status = _status(job)
    words = f"{status[0].upper()}{status[1:]}"
    return Message(fallback(words, 200), section(f"_{prose(words, 200)}_"))


def _status(job: str) -> str:
    return STATUS.format(job=job[:MAX_STATUS])
