"""The questions in a question: "which checkpoint, and how many steps are lost?" asks two things."""

import re
from dataclasses import replace

from bot.ask.about_topics import topic_of
from bot.ask.english import normal
from bot.ask.question import Question

MAX_PARTS = 4
MIN_WORDS = 2  # of a part; a single word belongs to what stands beside it
_BETWEEN = re.compile(
    r"[?\uff1f!\u3002;\uff1b,\uff0c:]{1,8}\s{0,8}|\s{1,8}(?:and|und|plus|also|then|but|aber|sowie|[-+&\u2013\u2014])\s{1,8}",
    re.IGNORECASE,
)
_LEADS = re.compile(r"^(?:and|und|also|then|but|aber|or|oder)\s{1,8}", re.IGNORECASE)


def parts_of(question: Question) -> list[Question]:
    """Its parts in their order, each with all names of the whole; none where it is one question."""
    texts = [_LEADS.sub("", text.strip()) for text in _BETWEEN.split(question.text)]
    parts = [(text, normal(text, question.nodes, question.jobs)) for text in texts if text]
    read = [replace(question, text=text, plain=plain) for text, plain in parts]
    kept = [part for part in read if len(part.plain.split()) >= MIN_WORDS or _names_trouble(part)]
    return kept[:MAX_PARTS] if len(kept) > 1 else []


def _names_trouble(part: Question) -> bool:
    """Whether a single word names a trouble, as "OOM?" does."""
    topic = topic_of(part)
    return topic is not None and topic.special
