"""How long something took that lines tell to begin and to end: an evaluation, a saving, what a message speaks of."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

import numpy as np

from bot.ask.find_values import asked_words
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.word_weights import WordWeights
from bot.note.claim_source import clock
from bot.text.wording import SECOND
from core.answer.job_lookup import by_time, found_rows
from core.live.findings import duration
from core.logs.lines import NO_TIME

TELLS = 0.6  # share of the weight of a question's words that a kind of message must hold, as for a value's name
MAX_KINDS = 4  # kinds of messages that may be a beginning or an end
MAX_ROWS = 4_000  # lines of them that are paired
MAX_LISTED = 4  # lengths that are listed one by one


@dataclass(frozen=True, slots=True)
class Span:
    """From a line that speaks of something to the next other one of the same speaker: rows, clock, seconds."""

    begin: int
    end: int
    at: int
    seconds: float


def lengths(weights: WordWeights) -> Lines:
    """How long what a question names took each time, by two kinds of lines that come in turn; empty where none do."""
    spans = _spans(weights)
    if not spans:
        return []
    seconds = [span.seconds for span in spans]
    listed = ", ".join(f"{duration(span.seconds)} at {clock(span.at)}" for span in spans[:MAX_LISTED])
    middle = f"{duration(median(seconds))} in the middle of {len(seconds)}, {duration(max(seconds))} at most"
    says = f"By the clocks of its lines it took {listed if len(spans) <= MAX_LISTED else middle}."
    found = found_rows(weights.subject.parsed, "", [spans[-1].begin, spans[-1].end])
    return [cited(says), *quoted(found, 2)]


def _spans(weights: WordWeights) -> list[Span]:
    """Of the speaker who tells most of them, by their clocks."""
    subject, words = weights.subject, asked_words(weights)
    table = subject.parsed.table
    if not words:
        return []
    shares = sorted((-weights.share(words, terms), at) for at, terms in enumerate(weights.messages) if terms)
    kinds = [at for share, at in shares[:MAX_KINDS] if -share >= TELLS]
    rows = [row for mine in table.rows_of(kinds).values() for row in mine.tolist()]
    if len(kinds) < 2 or len(rows) > MAX_ROWS:
        return []
    by_voice: dict[int, list[int]] = defaultdict(list)
    for row in by_time(table, np.array(sorted(rows), np.intp)).tolist():
        if table.time[row] != NO_TIME and table.timed[row] and _is_asked(subject, weights.question, row):
            by_voice[int(table.voice[row])].append(row)
    every = [_in_turn(subject, mine, kind) for mine in by_voice.values() for kind in kinds]
    return max(every, key=lambda spans: (len(spans), -median([span.seconds for span in spans] or [0.0])), default=[])


def _in_turn(subject: Subject, rows: list[int], first: int) -> list[Span]:
    """Beginnings are of one kind; each goes with the last line of another kind before the next."""
    table = subject.parsed.table
    rows = rows[next((at for at, row in enumerate(rows) if int(table.event[row]) == first), len(rows)) :]
    if not rows:
        return []
    spans: list[Span] = []
    begin, end = rows[0], -1
    for row in [*rows[1:], -1]:
        if row >= 0 and int(table.event[row]) != first:
            end = row
            continue
        if end >= 0:
            at = int(table.time[begin])
            spans.append(Span(begin, end, at, (int(table.time[end]) - at) / SECOND))
        begin, end = row, -1
    return spans


def _is_asked(subject: Subject, question: Question, row: int) -> bool:
    origin = subject.origin(row)
    return (not question.ranks or origin.rank in question.ranks) and (
        not question.nodes or origin.node in question.nodes
    )
