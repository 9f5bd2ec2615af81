"""Whether a message in a thread is a question to the bot, or people who talk to each other."""

import re
from datetime import datetime, timedelta

from bot.state.runs import Run

LAPSE = timedelta(hours=24)  # after the answer: whoever comes back to the thread later means somebody else
_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,20})(?:\|[^>]{0,200})?>")
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")
_THANKS = frozenset(
    word
    for words in (
        "thanks thank you thx ty cheers great nice cool perfect awesome ok okay k got it yes no yep nope sure done lol",
        "a lot so much very many will do on my way me too same here good job work well wow hm hmm danke merci gracias",
        "all everyone everybody team looking now right noted agreed fixed",
    )
    for word in words.split()
)
_MOST_THANKS = 6  # words; a longer sentence of such words says something
_ASKS = frozenset(
    word
    for words in ("what which when where who why how did does is are was", "were show list can could")
    for word in words.split()
)


def mentions(text: str, who: str) -> bool:
    """Whether the text mentions this user."""
    return bool(who) and who in _MENTION.findall(text)


def is_talk(text: str, me: str) -> bool:
    """Thanks, an emoji, or words to somebody else: nothing that the bot is asked."""
    others = set(_MENTION.findall(text)) - {me}
    if others and not mentions(text, me):
        return True
    words = re.findall(r"[^\W_]+", _EMOJI.sub(" ", _MENTION.sub(" ", text)).casefold())
    if not words:
        return True
    return len(words) <= _MOST_THANKS and "?" not in text and words[0] not in _ASKS and set(words) <= _THANKS


def is_asked(text: str, run: Run, *, me: str, direct: bool, at: datetime) -> bool:
    """Whether a message in the thread of a run is a question.

    In a thread that people began, and a day after the answer, only a mention is.
    """
    if is_talk(text, me):
        return False
    lapsed = run.finished_at is not None and at - run.finished_at > LAPSE
    return direct or mentions(text, me) or not (run.thread_ts or lapsed)
