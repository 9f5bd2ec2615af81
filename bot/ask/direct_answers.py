"""Answers that come before all others: small readers that answer exactly what is asked, or say nothing.

Each gives None where it is not asked, or where no line tells it; then the intents have their turn.
"""

from collections.abc import Mapping

from bot.ask.about_clocks import other_zone
from bot.ask.about_codes import codes
from bot.ask.about_devices import devices
from bot.ask.about_exits import of_signal
from bot.ask.about_fate import doing
from bot.ask.about_memory import memory
from bot.ask.about_relation import trouble, weighed
from bot.ask.about_topics import asked_trouble
from bot.ask.intents import Answer
from bot.ask.question import Question
from bot.ask.reply_lines import Lines
from bot.ask.subject import Subject
from bot.ask.who_logged import who_logged

READERS: Mapping[str, Answer] = {
    "weighed": weighed,
    "clocks": other_zone,
    "signal": of_signal,
    "doing": doing,
    "codes": codes,
    "devices": devices,
    "presence": asked_trouble,
    "trouble": trouble,
    "memory": memory,
    "who_logged": who_logged,
}


def direct(subject: Subject, question: Question) -> tuple[str, Lines]:
    """The name of the first reader that answers, and its lines; two empty ones where none does."""
    for name, read in READERS.items():
        if lines := read(subject, question):
            return name, lines
    return "", ()
