"""What is asked in one question: two questions in a row, or several values in one breath."""

import re
from collections.abc import Callable
from dataclasses import replace

from bot.ask.about_numbers import numbers
from bot.ask.about_values import told_values
from bot.ask.clauses import begins_as_question
from bot.ask.find_values import asked_words
from bot.ask.question import Question
from bot.ask.question_parts import listed_of, parts_of
from bot.ask.reply_lines import Lines
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.ask.word_weights import WordWeights

_TWO = re.compile(r"[?\uff1f]\s{0,4}[^\s?\uff1f]")
MAX_NAME = 9  # words of a value's name with its place, "val loss at step 500 of the good run"


def asked_parts(
    asked: Question, subject: Subject, read: Callable[[str], Question], *, one: bool
) -> list[tuple[Question, Lines]]:
    """The questions in a question, with the lines that tell the value of those that only name one.

    Args:
        read: reads a part as a question of its own.
        one: the way of asking shows that it is one question, not a list of values.
    """
    # "which node died first and which then" is one question, "what is that? who was first?" are two
    whole = asks(asked, "order") and not _TWO.search(asked.text.strip())
    parts = [] if whole else parts_of(asked, read)
    if parts:
        return [(_of_rest(part, asked, subject), ()) for part in parts]
    listed = [] if one or whole else _listed(asked, subject, read)
    return listed or [(asked, ())]


def _listed(asked: Question, subject: Subject, read: Callable[[str], Question]) -> list[tuple[Question, Lines]]:
    """The values of a list as "final loss and eval score"; none unless lines tell different ones of two of them."""
    pairs = [(part, _values(WordWeights(subject, part))) for part in listed_of(asked, read)]
    kept = [(part, told) for at, (part, told) in enumerate(pairs) if told or (at and begins_as_question(part.text))]
    firsts = [told[0] for _, told in kept if told]
    alike = len(set(firsts)) < len(firsts)
    return kept if len(kept) > 1 and not alike and all(_is_short(part) for part, _ in pairs[:-1]) else []


def _of_rest(part: Question, asked: Question, subject: Subject) -> Question:
    """A part that asks for the others, with the nodes that the question does not name."""
    if not (asked.nodes or asked.ranks) or part.nodes or not asks(part, "beside"):
        return part
    named = {*asked.nodes, *(subject.home.get(rank) for rank in asked.ranks)}
    return replace(part, nodes=tuple(node for node in subject.parsed.nodes if node not in named))


def _is_short(part: Question) -> bool:
    """Whether a part is the name of a value and no statement."""
    return begins_as_question(part.text) or len(part.text.split()) <= MAX_NAME


def _values(weights: WordWeights) -> Lines:
    """The value that a part of a list asks for, if all of its words are known here."""
    words = asked_words(weights)
    return (
        told_values(weights, ()) if weights.known(words) == words else numbers(weights.subject, weights.question) or ()
    )
