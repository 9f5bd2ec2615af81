"""Answers from the kinds of messages that hold most of a question's words, in the form that is asked for.

A word weighs what it tells in this job (bot/ask/fact_picker.py). Where no kind holds enough of them nothing is denied:
the answer says by which words the lines were searched.
"""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bot.ask.about_events import stop_words
from bot.ask.english import labelled
from bot.ask.first_sentence import of_any_job
from bot.ask.job_settings import listed, settings_of
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, any_of, cited, quoted
from bot.ask.rows_meant import rows_meant
from bot.ask.sentences import say
from bot.ask.subject import Subject
from bot.ask.terms import same, stem_of, terms_of
from bot.ask.unknown import with_offers
from bot.ask.wanted_value import Wanted, wanted
from bot.ask.weighed_words import WeighedWords, terms_of_all
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import by_time, found_rows
from core.answer.search import search
from core.logs.lines import NO_TIME

ENOUGH = 0.5  # share of the weight of a question's words that lines must hold to be what it speaks of
SETTING = 0.8  # the same for the name of a setting, which is all that it says
ALIKE = 0.05  # shares that are as good: kinds of messages that tell the same of the words
MAX_KINDS = 8  # kinds of messages that are one thing
_OF_RANKS = re.compile(r"\b(?:ranks?|gpus?|process\w{0,2}|tasks?)\b")
_OF_NODES = re.compile(r"\b(?:nodes?|machines?|hosts?|box|boxes|pods?|workers?|servers?)\b")


def found_lines(weighed: WeighedWords) -> Lines:
    """What lines tell of the question's words; empty where none holds enough of them."""
    subject, question = weighed.subject, weighed.question
    if not weighed.words:
        return []
    if told := _settings(weighed):
        return told
    shares = sorted(((-weighed.share(weighed.words, terms), at) for at, terms in enumerate(weighed.messages) if terms))
    best = -shares[0][0] if shares else 0.0
    if best < ENOUGH:
        return []
    kinds = [at for share, at in shares if -share >= best - ALIKE][:MAX_KINDS]
    table = subject.parsed.table
    every = np.concatenate([*table.rows_of(kinds).values(), np.zeros(0, np.intp)]).astype(np.intp)
    rows = rows_meant(subject, every, question)
    others = "" if len(rows) else " Not of who is named, but of others:"
    rows = by_time(table, rows if len(rows) else every)
    if not len(rows):
        return []
    first = _first(subject, question, rows)
    keep = any_of(word for word in weighed.words if word.isascii())
    _, one_each = np.unique(table.event[rows], return_index=True)
    shown = [*rows[np.sort(one_each)].tolist(), *rows[::-1].tolist()]
    found = found_rows(subject.parsed, "", list(dict.fromkeys(shown))[:6])
    return [cited(f"{first}{others}"), *list(dict.fromkeys(quoted(found, 4, keep)))[:3]]


def _settings(weighed: WeighedWords) -> list[str]:
    """The settings whose names hold most of the words, and are hardly longer; empty where none does."""
    shares = {name: weighed.share(weighed.words, terms) for name, terms in weighed.settings.items()}
    best = max(shares.values(), default=0.0)
    if best < SETTING:
        return []
    every = settings_of(weighed.subject)
    return [cited(f"{listed({name: every[name] for name, share in shares.items() if share >= best - ALIKE})}.")]


def _first(subject: Subject, question: Question, rows: NDArray[np.intp]) -> str:
    """The first sentence: how many, who or when, by the rows that hold the words; else how many lines there are."""
    table, kinds = subject.parsed.table, wanted(question)
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    ranks = sorted({origin.rank for origin in origins if origin.rank is not None})
    nodes = sorted({origin.node for origin in origins if origin.node})
    times = table.time[rows]
    times = times[times != NO_TIME]
    who = " on ".join(
        part for part in (wording.ranks(ranks) if ranks else "", wording.names(nodes, 4, 60) if nodes else "") if part
    )
    span = f"from {clock(int(times.min()))} to {clock(int(times.max()))}" if len(times) else ""
    if Wanted.HOW_MANY in kinds and ranks and _OF_RANKS.search(question.plain):
        return f"{wording.counted(len(ranks), 'rank')}: {wording.ranks(ranks)}."
    if Wanted.HOW_MANY in kinds and nodes and _OF_NODES.search(question.plain):
        return f"{wording.counted(len(nodes), 'node')}: {wording.names(nodes, 8, 80)}."
    heads = max(1, int(np.count_nonzero(table.head[rows])))
    if Wanted.WHEN in kinds and len(times):
        reached = int(subject.parsed.iterations.of_row[rows[:1]][0])
        after = f", after iteration {reached:,}" if reached >= 0 else ""
        until = f"; the last one at {clock(int(times.max()))}" if times.max() > times.min() else ""
        return f"First at {clock(int(times.min()))}{after}{until}."
    if Wanted.WHO in kinds and who:
        return f"{wording.sentence(who).rstrip('.')}, by {wording.counted(heads, 'line')}:"
    by = f" of {who}" if who and len(nodes) <= 1 and len(ranks) <= 1 else ""
    tell = "tells" if heads == 1 else "tell"
    when = f", {span}" if span and heads > 1 else ""
    return f"By its words {wording.counted(heads, 'line')}{by} {tell} of it{when}:"


def no_such_value(subject: Subject, question: Question) -> Lines | None:
    """That no line tells a value, for who asks for one by a noun that stands in no line; None where it may be told."""
    if question.ids or question.quoted or not _WANTS.search(question.plain):
        return None
    weighed = WeighedWords(subject, question)
    nouns = [match[1] for form in (_VALUE, _FIRST_NOUN) if (match := form.search(question.plain.strip("? ")))]
    if not any(_is_strange(weighed, noun) for noun in nouns):
        return None
    return not_found(weighed)


def _is_strange(weighed: WeighedWords, word: str) -> bool:
    """Whether a word says what a question is about, stands in no line, and is none by which other things are asked."""
    noun = stem_of(word)
    known = any(weighed.often[term] for term in (noun, *same(noun))) or word in stop_words() or noun in of_any_job()
    if known or noun not in weighed.words or word in _asked_of_any_job():
        return False
    return not search(weighed.subject.parsed, (word,)).lines


@cache
def _asked_of_any_job() -> frozenset[str]:
    """The words of labelled questions that ask for no value: "drain", "different", "suspect"."""
    return frozenset(word for text, intent in labelled() if intent != "numbers" for word in text.split())


_WANTS = re.compile(
    r"^(?:(?:and|so|ok|hey) )?(?:what.?s|what (?:is|was|were|are)|which|final|last|best|how (?:high|big|large))\b"
    r"|^(?:\w{1,30} ){1,3}of "
)
# The noun that is asked for: the last one before "of", "at", "on", or the last of all
_FIRST_NOUN = re.compile(r"\b(?:which|what|what.?s)(?: the)? ([a-z][a-z-]{2,30})\b")
_VALUE = re.compile(r"\b([a-z][a-z-]{3,30})(?= (?:of|at|on|in|for|after|was|were|is|used|did)\b|$)")


def not_found(weighed: WeighedWords) -> Lines:
    """That nothing was found, by which words it was searched for, and what can be answered."""
    subject, question = weighed.subject, weighed.question
    typed = [word for word in re.findall(r"[^\W_][\w./-]*", question.text) if weighed.is_told(word)]
    covered = terms_of_all(typed)  # German and Chinese words are searched as the English ones that they mean
    typed += [word for word in question.plain.split() if weighed.is_told(word) and covered.isdisjoint(terms_of(word))]
    words = ", ".join(f"“{word}”" for word in dict.fromkeys(typed)) or f"“{question.text[:60]}”"
    read = wording.counted(subject.diagnosis.coverage.lines, "line")
    return with_offers(say(question, "not_found", read=read, words=words), subject)
