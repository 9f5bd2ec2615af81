"""Whether a message in a thread is a question to the bot, or people who talk to each other."""

import re
from datetime import datetime, timedelta

from bot.ask.chatter import is_chatter
from bot.state.runs import Run

LAPSE = timedelta(hours=24)  # after the answer: whoever comes back to the thread later means somebody else
_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,20})(?:\|[^>]{0,200})?>")


def mentions(text: str, who: str) -> bool:
    """Whether the text mentions this user."""
    return bool(who) and who in _MENTION.findall(text)


def is_asked(text: str, run: Run, *, me: str, direct: bool, at: datetime) -> bool:
    """Whether a message in the thread of a run is a question.

    In a thread that people began, and a day after the answer, only a mention is.
    """
    if is_chatter(text, me):
        return False
    lapsed = run.finished_at is not None and at - run.finished_at > LAPSE
    return direct or mentions(text, me) or not (run.thread_ts or lapsed)
