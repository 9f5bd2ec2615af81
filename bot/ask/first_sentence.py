"""What is put in front of an answer that lacks it: the cause that is asked for, lines with what a question names."""

import re
from collections.abc import Sequence
from functools import cache

from bot.ask.about_events import search_words
from bot.ask.question import Question
from bot.ask.reply_lines import cited, quoted
from bot.ask.terms import stem_of
from bot.ask.weighed_words import WeighedWords
from bot.text import wording
from core.answer.search import search
from core.model import Scope

_LITERAL = re.compile(r"(?<![\w./:-])(?=[\w./:-]{0,60}[0-9])[A-Za-z0-9_/][\w./:-]{1,60}[\w]")
_WHY = re.compile(r"\b(?:why|how come|cause|reason)\b")


def put_right(weighed: WeighedWords, lines: Sequence[str], intents: Sequence[str]) -> list[str]:
    """An answer with the cause in front, where that is asked, and with lines that hold what the question names."""
    told = list(lines)
    if named := _named(weighed, told):
        told = [*told[:1], *named, *told[1:]]
    front = _cause(weighed, intents)
    return [front, *told] if front and front not in told else told


def _cause(weighed: WeighedWords, intents: Sequence[str]) -> str:
    """What failed, for who asks why others did."""
    subject = weighed.subject
    scope, lead = subject.diagnosis.scope, subject.leading
    if (
        list(intents[:1]) != ["others"]
        or scope not in (Scope.NODE, Scope.JOB)
        or not _WHY.search(weighed.question.plain)
    ):
        return ""
    says = f"By one fault, which the others passed on or waited for: {wording.sentence(subject.diagnosis.headline)}"
    return cited(says, *([lead.id] if lead else []))


@cache
def of_any_job() -> frozenset[str]:
    """Nouns of questions that any job has without a line that says so (words.toml, [search])."""
    return frozenset(stem_of(word) for word in search_words()["of_any_job"].split())


def _named(weighed: WeighedWords, lines: Sequence[str]) -> list[str]:
    """The lines that hold what a question names as it stands in a log, where no line of the answer does."""
    text = " ".join(lines).casefold()
    for name in literals(weighed.question):
        if name.casefold() not in text and (found := search(weighed.subject.parsed, (name,))).lines:
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
