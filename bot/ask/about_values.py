"""Answers about any value that stands beside a name in the lines, asked for by the words of its name.

Of the job, of who is named, at an iteration or a clock, first, last, highest or lowest, its course, and of other jobs.
"""

import re
from collections.abc import Sequence

import numpy as np

from bot.ask.find_values import COUNTED, COUNTER, SPOKEN_CLOCK, FoundValue, asked_words, compares, found_values
from bot.ask.level_change import told_change
from bot.ask.named_values import NamedValue
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, quoted
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import Wanted, asks, wanted, yes_or_no
from bot.ask.word_lists import stop_words
from bot.ask.word_weights import WordWeights
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.events.row_text import read_rows
from core.logs.lines import NO_TIME
from core.model import Scope
from core.naming import natural

TELLS = 0.6  # share of the weight of a question's words that a name and its line must hold to be what is asked for
SURELY = 0.85  # the same where the question surely wants something else as well
FEW = 4  # values that are listed one by one
MAX_TOLD = 6  # speakers that are listed
_ELSEWHERE = (
    "verdict", "sure", "suspect", "blame", "next", "restart", "drain", "others", "approved", "missing", "harmless",
    "read", "stacks", "around", "jobs", "changed", "compare", "before",
)  # fmt: skip
_DAY = 86_400_000_000  # microseconds


def told_values(
    weights: WordWeights, intents: Sequence[str], first_sentence: str = "", *, sure: bool = True, enough: float = TELLS
) -> Lines:
    """The value that a question asks for by name, with its line; empty where none has such a name or none is wanted.

    Args:
        intents: that were answered, and whether the question surely has the first of them.
        first_sentence: the first sentence of that answer; what it tells is not told again.
        enough: share of the weight of the question's words that a name must hold.
    """
    subject, question = weights.subject, weights.question
    if question.quoted or question.ids or "own_code" in intents:
        return []
    judged = question.asked is not question and yes_or_no(question)  # "SlowDown from s3, our fault?"
    if judged or not (asks_change(question) or _wants_value(question.asked)):
        return []
    wants_other = bool(intents) and (intents[0] in _ELSEWHERE or (intents[0] == "lost" and not _of_saving(question)))
    elsewhere = sure and wants_other
    if elsewhere and len(asked_words(weights)) < _TELLING:
        return []
    enough = SURELY if elsewhere else enough
    found, *alike = found_values(weights, enough) or [[]]
    counts = list(intents[:1]) == ["count"]  # how often lines came, no number in them
    if (
        not found
        or not _speaks_of(weights, found[-1])
        or (counts and not _is_of_noun(question, found[-1].named))
        or _is_known(weights, found[-1].named, first_sentence)
    ):
        return []
    if asks_change(question):
        told = told_change(subject, found)
        if told or Wanted.WHEN in wanted(question)[:1]:
            return told
    chosen = _of_moment(subject, question, found)
    lines = _sentences(subject, question, chosen)
    if alike:
        parts = [_sentences(subject, question, _of_moment(subject, question, item))[0] for item in (found, *alike)]
        lines = [cited(joined(*parts))]
    return [*lines, *_line(subject, question, chosen)]


def _speaks_of(weights: WordWeights, found: FoundValue) -> bool:
    """Whether a value or its line holds a word of the part that asks, no statement's alone beside it."""
    asked = weights.question.asked
    words = asked_words(WordWeights(weights.subject, asked)) if asked is not weights.question else frozenset()
    text = read_rows(weights.subject.parsed.files, weights.subject.parsed.table, np.array([found.row], np.intp))
    return not words or bool(weights.share(words, found.named.terms | terms_of(text.get(found.row, ""))))


def _is_of_noun(question: Question, named: NamedValue) -> bool:
    """Whether the name of a value holds what is counted: the "retrains" of "how many link retrains"."""
    match = _COUNTED_NOUN.search(question.plain)
    words = terms_of(match[1]) if match else frozenset()
    return not words or bool(words & named.terms)


_COUNTED_NOUN = re.compile(r"\bhow (?:many|often) (?:\w{1,30} ){0,2}?(\w{3,30}s)\b")


def _of_saving(question: Question) -> bool:
    """Whether a value of a saving itself is asked for: how long it took, or where it is."""
    return Wanted.HOW_LONG in wanted(question) or "where" in question.plain.split()


def _is_known(weights: WordWeights, named: NamedValue, first_sentence: str) -> bool:
    """Whether a sentence that tells a value at a step speaks of as much of the question as a name does."""
    words = asked_words(weights)
    return bool(_AT_STEP.search(first_sentence)) and weights.share(words, terms_of(first_sentence)) >= weights.share(
        words, named.terms
    )


_AT_STEP = re.compile(r" at iteration [0-9,]{1,12}: [-0-9]")


def asks_change(question: Question) -> bool:
    """Whether it is asked since when a value is as it is, what it was before and after, or if it was well before."""
    fine = asks(question, "fine") and asks(question, "before")
    when = Wanted.WHEN in wanted(question)[:1] and any(asks(question, way) for way in ("moves", "rises"))
    return fine or when or any(asks(question, way) for way in ("both_sides", "since_step", "onset"))


def _wants_value(question: Question) -> bool:
    """Whether a value may be the answer: what, which, how much, or a name alone; not why, who or whether."""
    if asks(question, "no_value_of"):
        return False
    if Wanted.WHO in wanted(question)[:1] and not any(asks(question, way) for way in ("extreme", "first", "slower")):
        return False  # "which worker has bad ram" asks for a name
    if Wanted.WHEN in wanted(question)[:1]:
        return False
    if any(asks(question, way) for way in ("rises", "moves", "extreme")) or _IDENTIFIER.search(question.text):
        return True
    return asks(question, "value") or (len(question.plain.split()) <= _TERSE and not asks(question, "no_value"))


_IDENTIFIER = re.compile(r"\b[a-z]{1,30}_[a-z_]{1,40}\b")  # a name as lines have it: "step_time"
_TELLING = 2  # words that a name must be asked for by where the question surely wants something else as well
_TERSE = 10  # words of a question without a verb: "gnorm at step 30?"


def _of_moment(subject: Subject, question: Question, found: list[FoundValue]) -> list[FoundValue]:
    """Those at the step or the clock that a question names, or until or since the first sign; all where none is."""
    table, iterations = subject.parsed.table, subject.parsed.iterations
    counters = [match[2] or match[3] for match in COUNTER.finditer(question.text)]
    counters = counters or [str(step) for step in question.iterations[:1]]  # that the rest of the question names
    if counters:
        number = counters[-1]
        texts = read_rows(subject.parsed.files, table, np.array([item.row for item in found], np.intp))
        at_step = [
            item
            for item in found
            if any(number in (match[2], match[4]) for match in COUNTED.finditer(texts.get(item.row, "")))
        ]
        there = at_step or [item for item in found if int(iterations.of_row[np.array([item.row])][0]) == int(number)]
        return there or found
    if spoken := SPOKEN_CLOCK.search(question.text):
        moment = (int(spoken[1]) * 3600 + int(spoken[2]) * 60 + int(spoken[3] or 59)) * 1_000_000
        return [item for item in found if int(table.time[item.row]) % _DAY <= moment + 999_999][-1:] or found
    sign = wording.first_sign(subject.diagnosis)
    if sign is not None and asks(question, "before"):
        until = {item.who: item for item in found if int(table.time[item.row]) <= sign}  # the last one of each speaker
        return list(until.values()) or found
    if sign is not None and asks(question, "after"):
        return [item for item in found if int(table.time[item.row]) > sign] or found
    return found


def _sentences(subject: Subject, question: Question, chosen: list[FoundValue]) -> list[str]:
    """One value, one of each speaker, or how it went."""
    name = chosen[-1].named.name
    name = "that" if name in stop_words() else name  # "wrote ... in 530 ms"
    by_who: dict[str, list[FoundValue]] = {}
    for item in chosen:
        by_who.setdefault(item.who, []).append(item)
    if len({item.named.value for item in chosen}) == 1:
        who = wording.names(by_who, 3, 80) if len(by_who) < len(subject.parsed.nodes) or len(by_who) == 1 else ""
        of, when = f" ({who})" if who else "", _when(subject, chosen) if len(chosen) == 1 else ""
        return [cited(f"{name}: {chosen[0].named.value}{of}{when}.")]
    if all(item.named.number is not None for item in chosen) and (told := _numbers(subject, question, name, by_who)):
        return told
    if all(len({item.named.value for item in own}) == 1 for own in by_who.values()) or len(chosen) == len(by_who):
        return [_of_each(subject, name, by_who)]
    if len(chosen) <= FEW:
        if asks(question, "final"):
            chosen = [chosen[-1], *(item for item in chosen[:-1] if item.who != chosen[-1].who)]
        listed = "; ".join(f"{item.named.value}{_by(item)}{_when(subject, [item])}" for item in chosen)
        return [cited(f"{name}: {listed}.")]
    if all(item.named.number is not None for item in chosen):
        return _course(subject, name, by_who)
    last = _shown(question, chosen)
    which = "first" if last is chosen[0] else "last"
    return [cited(f"{name}, the {which} one: {last.named.value}{_by(last)}{_when(subject, [last])}.")]


def _numbers(subject: Subject, question: Question, name: str, by_who: dict[str, list[FoundValue]]) -> list[str]:
    """Numbers as a question wants them: their middle, an extreme, a rise, beside others; empty where it wants none."""
    every = [item for mine in by_who.values() for item in mine]
    if asks(question, "extreme"):
        which, item = "lowest" if _asks_lowest(question, name) else "highest", _shown(question, every)
        return [cited(f"{name}: {which} {item.named.value}{_by(item)}{_when(subject, [item])}.")]
    if len(every) > len(by_who) > 1 and (compares(question) or question.nodes):
        return [_beside(subject, question, name, by_who), *_course(subject, name, by_who)]
    return []


def _of_each(subject: Subject, name: str, by_who: dict[str, list[FoundValue]]) -> str:
    """The one value of each speaker, that of the first suspect first, then those of fewest."""
    diagnosis = subject.diagnosis
    suspect = diagnosis.nodes[0].node if diagnosis.scope is Scope.NODE and diagnosis.nodes else ""

    def of_suspect(who: str) -> bool:
        return bool(suspect) and who.endswith(suspect)

    owners: dict[str, list[str]] = {}
    for who, mine in by_who.items():
        owners.setdefault(mine[0].named.value, []).append(who or "nobody named")
    few = sorted(owners.items(), key=lambda item: (not any(map(of_suspect, item[1])), len(item[1]), natural(item[0])))
    own = [f"{value} ({wording.names(who, 4, 80)})" for value, who in few]
    more = f"; and {len(own) - MAX_TOLD} more" if len(own) > MAX_TOLD else ""
    return cited(f"{name}: {', '.join(own[:MAX_TOLD])}{more}.")


def _beside(subject: Subject, question: Question, name: str, by_who: dict[str, list[FoundValue]]) -> str:
    """The last value of who is named, else of the highest, beside what the others told at about that time."""
    ends = {who: mine[-1] for who, mine in by_who.items()}
    named = [who for who in ends if any(who.endswith(node) for node in question.nodes)]
    first = named[0] if named else max(sorted(ends, key=natural), key=lambda who: ends[who].named.number or 0.0)
    time = int(subject.parsed.table.time[ends[first].row])
    near = {
        who: min(reversed(mine), key=lambda item: abs(int(subject.parsed.table.time[item.row]) - time)).named.value
        for who, mine in sorted(by_who.items(), key=lambda item: natural(item[0]))
        if who != first
    }
    others = ", ".join(f"{who} {value}" for who, value in list(near.items())[:MAX_TOLD])
    return cited(f"{name} of {first}: {ends[first].named.value}{_when(subject, [ends[first]])}; about then {others}.")


def _course(subject: Subject, name: str, by_who: dict[str, list[FoundValue]]) -> list[str]:
    """First, last, lowest and highest of who changed most, or of the one who is named."""
    who = max(by_who, key=lambda item: (_change(by_who[item]), len(by_who[item])))
    mine = by_who[who]
    numbers = [item.named.number or 0.0 for item in mine]
    low, high = mine[int(np.argmin(numbers))], mine[int(np.argmax(numbers))]
    first, last = mine[0], mine[-1]
    of = f" of {who}" if who and len(by_who) > 1 else ""
    says = f"{name}{of}: {last.named.value} at the last{_when(subject, [last])}; {first.named.value} at first"
    says += f"{_when(subject, [first])}; lowest {low.named.value}{_in_brackets(subject, low)}, highest "
    return [cited(f"{says}{high.named.value}{_in_brackets(subject, high)}, {wording.counted(len(mine), 'value')}.")]


def _change(mine: list[FoundValue]) -> float:
    numbers = np.array([item.named.number or 0.0 for item in mine])
    half = max(1, len(numbers) // 2)
    return abs(float(np.mean(numbers[half:]) - np.mean(numbers[:half]))) if len(numbers) > 1 else 0.0


def _shown(question: Question, chosen: list[FoundValue]) -> FoundValue:
    """The one of them that is asked for: the highest, the first, of who is named; else the last."""
    if asks(question, "extreme") and all(item.named.number is not None for item in chosen):
        extreme = min if _asks_lowest(question, chosen[0].named.name) else max
        return extreme(chosen, key=lambda item: item.named.number or 0.0)
    if asks(question, "first"):
        return chosen[0]
    named = [item for item in chosen if any(item.who.endswith(node) for node in question.nodes)]
    return (named or chosen)[-1]


def _asks_lowest(question: Question, name: str) -> bool:
    """Whether the lowest is asked for; the best of a loss is its lowest, the worst its highest."""
    text = question.text.casefold()
    if re.search(r"\b(?:best|worst|beste\w?|schlechteste\w?)\b", text):
        return bool(_LESS_IS_BETTER.search(name)) is not bool(re.search(r"\bworst|schlechtest", text))
    return asks(question, "lowest")


# What is better when it is less: losses, error rates and times
_LESS_IS_BETTER = re.compile(
    r"loss|err|ppl|perplexity|\bw?er\b|\bcer\b|rmse|mae|mse|nll|time|latency|ms\b|fid", re.IGNORECASE
)


def _by(item: FoundValue) -> str:
    return f" by {item.who}" if item.who else ""


def _when(subject: Subject, chosen: list[FoundValue]) -> str:
    place = _place(subject, chosen[0])
    return f", {place}" if place else ""


def _place(subject: Subject, item: FoundValue) -> str:
    time = int(subject.parsed.table.time[item.row])
    return ", ".join(part for part in (item.at, f"at {clock(time)}" if time != NO_TIME else "") if part)


def _in_brackets(subject: Subject, item: FoundValue) -> str:
    place = _place(subject, item)
    return f" ({place})" if place else ""


def _line(subject: Subject, question: Question, chosen: list[FoundValue]) -> list[str]:
    """The line of the one that is asked for, with the value in it."""
    item = _shown(question, chosen)
    value, word = re.escape(item.named.value.encode()), re.escape(item.named.name.split()[-1].encode())
    found = found_rows(subject.parsed, "", [item.row])
    return quoted(found, 1, re.compile(word + rb"[^\n]{0,40}?" + value))
