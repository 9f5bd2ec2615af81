"""The last look at an answer: its first sentence must not deny what a line that is quoted below it holds."""

import re
from collections.abc import Sequence

from bot.ask.about_events import stop_words
from bot.ask.reply_lines import MAX_ANSWER_LINES, PLACE, cited, quoted
from bot.ask.subject import Subject
from bot.ask.terms import stem_of, terms_of
from core.answer.search import search

FOUND = "I found these lines:"
# What a denial denies, up to where it tells how much was searched; and of whom alone it denies it
_DENIED = re.compile(
    r"No (?:line|log)(?: of (?P<whose>(?:rank )?[\w.-]{1,80}))? (?:tells? of|speaks of|holds?|says anything about) "
    r"(?P<what>[^.;(]{2,120})[^.]*\.?"
)
_UNNAMED = re.compile(r"No log names ([^ ]{1,80}?)(?: or ([^ ]{1,80}?))?\.(?: |$)")


def without_false_denial(subject: Subject, lines: Sequence[str]) -> list[str]:
    """The lines of an answer, where the first is no denial that a quoted line or any line of the job contradicts."""
    told: list[str] = []
    for line in filter(None, lines):
        unnamed = _UNNAMED.match(line)
        told += _named(subject, [name for name in unnamed.groups() if name]) if unnamed else [line]
    told = told[:MAX_ANSWER_LINES]
    denied = _DENIED.match(told[0]) if told else None
    if denied is None or not any(PLACE.search(line) and _holds(line, denied) for line in told[1:]):
        return told
    rest = told[0][denied.end() :].strip()
    return [*([FOUND] if not rest else [f"{FOUND} {rest}"]), *told[1:]]


def _holds(line: str, denied: re.Match[str]) -> bool:
    """Whether a quoted line holds all words of what is denied; of whom it is denied, where that is one alone."""
    stopped = {*stop_words(), *(stem_of(word) for word in stop_words())}
    words = {term for term in terms_of(denied["what"]) if not term.startswith("=")} - stopped
    text = PLACE.sub("", line)
    return bool(words) and words <= terms_of(text) and (denied["whose"] or "").casefold() in text.casefold()


def _named(subject: Subject, names: Sequence[str]) -> list[str]:
    """Of names under which no line stands: the lines that hold them, else that job.json has them or nothing does."""
    found = {name: search(subject.parsed, (name,)) for name in names}
    first: list[str] = []
    for name, look in found.items():
        if look.lines:
            first.append(f"{name} wrote no log of its own; {look.says}")
        elif name in subject.parsed.nodes:
            first.append(f"{name} is a node by job.json; no line holds its name.")
        else:
            first.append(f"No line holds {name}.")
    shown = 3 if len(names) == 1 else 2
    return [cited(" ".join(first)), *(line for look in found.values() for line in quoted(look, shown))]
