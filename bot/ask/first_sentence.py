"""What the first sentence of an answer must be, decided in one place, and what is put in front where it is not that.

A question may ask for a value of a kind, for a thing by its noun, for something it names as it stands in a log, or for
a cause. Where an answer holds none of it, it is called what it is: the nearest that is known.
"""

import re
from collections.abc import Sequence
from functools import cache

from rapidfuzz.distance import OSA

from bot.ask.about_events import search_words, stop_words
from bot.ask.fact_picker import Picker, terms_of_all
from bot.ask.question import Question
from bot.ask.reply_lines import cited, quoted
from bot.ask.terms import same, stem_of
from bot.ask.wanted_value import Wanted, asks, holds, wanted
from bot.text import wording
from core.answer.search import search
from core.model import Scope

_KINDS = {Wanted.HOW_LONG: "how long that took", Wanted.WHEN: "when that was"}
_NOUN = re.compile(
    r"\b(?:how many|how much|which|what|what is the|what was the)\s([a-z][a-z_-]{2,30})\b(?:\s([a-z]{3,30})\b)?"
)
_LITERAL = re.compile(r"(?<![\w./:-])(?=[\w./:-]{0,60}[0-9])[A-Za-z0-9_/][\w./:-]{1,60}[\w]")
_WHY = re.compile(r"\b(?:why|how come|cause|reason)\b")


def put_right(picker: Picker, lines: Sequence[str], intents: Sequence[str]) -> list[str]:
    """An answer with what its first sentence lacks of the question in front of it, or said to be not there."""
    told = list(lines)
    if named := _named(picker, told):
        told = [*told[:1], *named, *told[1:]]
    if not told or told[0].startswith(_NONE):
        return told
    if front := _cause(picker, intents) or lacking(picker, told):
        return told if front in told else [front, *told]
    front = _noun(picker, told)
    return [f"{front} {told[0]}", *told[1:]] if front else told


_NONE = ("No ", "Nothing", "None ", "I do not know", "That is not", "The logs do not", "There is no")


def _cause(picker: Picker, intents: Sequence[str]) -> str:
    """What failed, for who asks why others did."""
    subject = picker.subject
    scope, lead = subject.diagnosis.scope, subject.leading
    if (
        list(intents[:1]) != ["others"]
        or scope not in (Scope.NODE, Scope.JOB)
        or not _WHY.search(picker.question.plain)
    ):
        return ""
    says = f"By one fault, which the others passed on or waited for: {wording.sentence(subject.diagnosis.headline)}"
    return cited(says, *([lead.id] if lead else []))


def lacking(picker: Picker, lines: Sequence[str]) -> str:
    """That no line tells a time or a length of time, where one is asked for and no line of the answer has any."""
    kinds = wanted(picker.question)[:1]
    if not kinds or kinds[0] not in _KINDS or holds(picker.subject, kinds[0], lines):
        return ""
    return cited(f"No line tells {_KINDS[kinds[0]]}; the nearest that is known:")


def _noun(picker: Picker, lines: Sequence[str]) -> str:
    """That no line speaks of the thing that is asked for by its noun; empty where the answer or any line does."""
    match = _NOUN.search(picker.question.plain)
    nouns = [word for word in (match.groups() if match else ()) if word][:1]
    stems = [stem_of(noun) for noun in nouns]
    if not nouns or _is_slip(nouns[0]) or stems[0] in _of_any_job() or asks(picker.question, "is_it"):
        return ""
    known = terms_of_all(lines)
    every = {stems[0], *same(stems[0])}
    if every & known or any(picker.often[term] for term in every) or search(picker.subject.parsed, (stems[0],)).lines:
        return ""
    return cited(f"No line speaks of “{nouns[0]}”; the nearest that is known:")


def _is_slip(noun: str) -> bool:
    """Whether it is a function word, or one with a letter wrong: "shoud" names no thing."""
    return noun in stop_words() or any(
        abs(len(word) - len(noun)) <= 1 and word[0] == noun[0] and OSA.distance(word, noun) <= 1
        for word in stop_words()
        if len(word) >= SHORTEST
    )


SHORTEST = (
    4  # letters of a word that may be a slip of another, as for slips that the classifier mends (bot/ask/english.py)
)


@cache
def _of_any_job() -> frozenset[str]:
    """Nouns of questions that any job has without a line that says so (words.toml, [search])."""
    return frozenset(stem_of(word) for word in search_words()["of_any_job"].split())


def _named(picker: Picker, lines: Sequence[str]) -> list[str]:
    """The lines that hold what a question names as it stands in a log, where no line of the answer does."""
    text = " ".join(lines).casefold()
    for name in literals(picker.question):
        if name.casefold() not in text and (found := search(picker.subject.parsed, (name,))).lines:
            return [cited(f"Of what the question names: {found.says}"), *quoted(found, 1)]
    return []


def literals(question: Question) -> list[str]:
    """What a question names as it stands in a log, as a path or an address; no node, job, rank, step or evidence."""
    known = {name.casefold() for name in (*question.nodes, *question.jobs, *question.ids, *question.quoted)}
    numbers = {str(number) for number in (*question.ranks, *question.iterations)}
    found = [match[0].rstrip(".:") for match in _LITERAL.finditer(question.text)]
    return [
        name for name in found if name.casefold() not in known and name not in numbers and not _PLAIN.fullmatch(name)
    ]


_PLAIN = re.compile(
    r"[0-9]{1,4}(?:[.:][0-9]{1,3}){0,2}(?:[a-z%]{1,3})?|[ENIP][0-9]{1,2}|[0-9]{1,2}(?:st|nd|rd|th)", re.IGNORECASE
)
