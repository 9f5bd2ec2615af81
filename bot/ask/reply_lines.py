"""How the lines of an answer are written: a sentence with what it stands on, a quoted line with its place."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from bot.outgoing.redact import redact
from bot.text.harmless import harmless
from bot.text.wording import without_clock
from core.answer.job_lookup import LookResult
from core.model import Line

MAX_ANSWER_LINES = 5  # what a phone shows without scrolling (docs/how-to/slack.md)
MAX_LINE = 220  # characters of a quoted line: two rows of a phone
MAX_HEAD = 60  # characters of a long line's beginning, which says who speaks, before the part with the asked value
MAX_FOUND = 50  # places in a line where something asked for stands
MAX_SENTENCE = 600  # characters, as Slack shows of a line of a reply (bot/slack/thread.py, MAX_REPLY_LINE)

Lines = Sequence[str]


def cited(text: str, *ids: str) -> str:
    """A sentence with the ids of the evidence that it stands on."""
    sentence = _cut(text.strip(), MAX_SENTENCE)
    return f"{sentence} [{', '.join(dict.fromkeys(ids))}]" if ids else sentence


def quoted(found: LookResult, most: int = MAX_ANSWER_LINES - 1, value: re.Pattern[bytes] | None = None) -> list[str]:
    """Lines with their clock, who wrote them, and where they stand; of a line that is cut ``value`` is kept."""
    return [_quoted(*line, value) for line in zip(found.lines[:most], found.who, found.clock, strict=False)]


def raw(lines: Iterable[Line], most: int = MAX_ANSWER_LINES - 1) -> list[str]:
    """Lines of the evidence, as they stand in the log."""
    return [_quoted(line, "", "") for line in list(lines)[:most]]


def _quoted(line: Line, who: str, clock: str, value: re.Pattern[bytes] | None = None) -> str:
    lead = " ".join(part for part in (clock, harmless(who, 60)) if part)
    text = without_clock(line.text.strip()) if clock else line.text.strip()
    sentence = _cut(_around(redact(text), value) if value else text, MAX_LINE)
    return f"{f'{lead}: ' if lead else ''}{sentence} ({harmless(line.file, 160)}:{line.line})"


def _around(text: str, value: re.Pattern[bytes]) -> str:
    """A long text as its beginning and the part that holds most of what was asked for, which a cut could take."""
    data = text.encode("utf-8", "replace")
    if len(text) <= MAX_LINE:
        return text
    found = [(match.start(), match.end(), match[0].lower()) for match in islice(value.finditer(data), MAX_FOUND)]
    room = MAX_LINE - MAX_HEAD - len(" … ")
    held = {
        start: {word for begin, end, word in found if begin >= start and end <= start + room} for start, _, _ in found
    }
    if not held or max(end for _, end, _ in found) <= MAX_HEAD:
        return text
    best = max(held, key=lambda start: (len(held[start]), -start))
    first = max(MAX_HEAD, min(best - room // 4, len(data) - room))
    head, part = data[:MAX_HEAD], data[first : first + room]
    return f"{head.decode(errors='ignore').rstrip()} … {part.decode(errors='ignore').strip()}"


def any_of(words: Iterable[str]) -> re.Pattern[bytes] | None:
    """An expression for any of some words, which the lines of an answer must keep; None where there is none."""
    texts = sorted({re.escape(word.encode()) for word in words if len(word) > 1})
    return re.compile(b"|".join(texts), re.IGNORECASE) if texts else None


def _cut(text: str, most: int) -> str:
    """A text that fits, without secrets: of one that is cut first the rest is not known any more."""
    return harmless(redact(text), most)


def joined(*parts: str) -> str:
    """Sentences in one line; empty ones are left out."""
    return " ".join(part.strip() for part in parts if part.strip())


def lower(text: str) -> str:
    """A clause of a sentence: no capital, no full stop; names keep theirs."""
    first = text.split(" ", 1)[0]
    named = first[1:] != first[1:].lower() or any(character.isdigit() for character in first)
    return (text if named else text[:1].lower() + text[1:]).rstrip(". ")
