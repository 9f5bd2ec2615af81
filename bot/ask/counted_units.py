"""Last words of what a job counts and nobody knows as a node or a rank: "worker 13" that its lines call ``[w13]``."""

from collections import Counter

import numpy as np

from bot.ask.concepts import unit_pattern
from bot.ask.question import UNITS, Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.text import wording
from bot.text.harmless import shorten
from core.answer import job_lookup
from core.answer.search import matching
from core.events.row_text import read_rows

MAX_ROWS = 20_000  # lines that are read for what the others said last
MAX_KINDS = 3  # of last words that are told
MAX_SAID = 160  # characters of them


def last_of_unit(subject: Subject, question: Question) -> Lines:
    """What the unit that is asked about wrote last, or the others of its kind; empty where no line calls it so."""
    match = UNITS.search(question.text)
    if match is None or question.nodes or question.ranks:
        return []
    word, number = match[1].casefold(), match[2]
    parsed = subject.parsed
    if asks(question, "beside"):
        return _of_others(subject, word, int(number))
    rows = np.array(matching(parsed, [unit_pattern(word, number)])[0], np.intp)
    if not len(rows):
        return []
    shown = job_lookup.last_words(parsed, rows, match[0])
    return [cited(f"The last of {wording.counted(len(rows), 'line')} that name {match[0]}:"), *quoted(shown, 3)]


def _of_others(subject: Subject, word: str, number: int) -> Lines:
    """The last words of the others, alike ones together."""
    parsed = subject.parsed
    pattern = unit_pattern(word, "")
    rows = np.array(matching(parsed, [pattern])[0], np.intp)[-MAX_ROWS:]
    ends: dict[int, tuple[int, str]] = {}
    for row, text in read_rows(parsed.files, parsed.table, rows).items():
        match = pattern.search(text.casefold().encode())
        if match is not None:
            ends[int(match[1])] = row, text.encode()[match.end() :].decode("utf-8", "replace").strip(" ]:|")
    ends.pop(number, None)
    if not ends:
        return []
    said = Counter(text for _, text in ends.values())
    told = [f"{times:,} last said “{shorten(text, MAX_SAID)}”" for text, times in said.most_common(MAX_KINDS)]
    more = f"; and {len(said) - MAX_KINDS:,} other last words" if len(said) > MAX_KINDS else ""
    first = next(row for row, text in ends.values() if text == said.most_common(1)[0][0])
    found = job_lookup.found_rows(parsed, "", [first])
    return [cited(f"Of {len(ends):,} others {'; '.join(told)}{more}."), *quoted(found, 1)]
