"""Answers about any value that stands beside a name in the lines, asked for by the words of its name.

Of the job, of who is named, at an iteration or a clock, first, last, highest or lowest, its course, and of other jobs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.ask.about_jobs import good_job
from bot.ask.facts_errors import STACK
from bot.ask.facts_lines import rows_meant
from bot.ask.named_values import NamedValue, values_in
from bot.ask.pick import Picker
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, quoted
from bot.ask.subject import Subject
from bot.ask.terms import same, terms_of
from bot.ask.trends import trend_of
from bot.ask.wanted import Wanted, asks, wanted, way_of
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.look import by_time, found_rows
from core.answer.search import rows_of_lines, seek
from core.events.text import read_rows
from core.logs.context import lines_around
from core.logs.lines import NO_TIME
from core.model import Line
from core.naming import natural

TELLS = 0.6  # share of the weight of a question's words that a name and its line must hold to be what is asked for
SURELY = 0.85  # the same where the question surely wants something else as well
LINE = 0.6  # of what a word counts that stands in the line and not in the name
FITS = 0.15  # more for a value of the kind that is asked for: a path, a version, an address, a length of time
NARROW = 0.1  # more where the question says all of the name: "loss" is the loss, not the validation loss
KNOWN = 0.5  # share of the weight of what is asked for that must stand anywhere, for the rest to be left aside
MAX_KINDS = 16  # kinds of messages whose values are compared
MAX_LINES = 40  # of a message
MAX_ROWS = 4_000  # lines whose values are read, the first and the last ones
FEW = 4  # values that are listed one by one
MAX_TOLD = 6  # speakers that are listed
MAX_WORDS = 4  # of a name that is searched for
MAX_ALIKE = 4  # names of a line that fit as well: the sizes of a layout
MAX_JOBS = 4  # other jobs that are read
_ELSEWHERE = (
    "verdict", "sure", "suspect", "blame", "next", "restart", "drain", "others", "approved", "missing", "harmless",
    "read", "clocks", "stacks", "around", "jobs",
)  # fmt: skip
_COUNTER = re.compile(
    r"\b(iterations?|iters?|it|steps?|updates?|upd|rounds?|batch(?:es)?|epochs?|schritt|runde)\s{0,3}#?([0-9]{1,9})\b|"
    r"第\s{0,2}([0-9]{1,9})\s{0,2}(?:步|轮|次)",
    re.IGNORECASE,
)
_SPOKEN_CLOCK = re.compile(r"(?<![0-9:])([0-2]?[0-9]):([0-5][0-9])(?::([0-5][0-9]))?(?![0-9:])")
_FORMS = (
    (re.compile(r"\bversions?\b|\brelease\b|版本"), ("version",)),
    (
        re.compile(r"\b(?:file|path|director\w{1,3}|folder|where|shards?|bucket|url|part)\b|文件|路径|目录"),
        ("path", "quoted"),
    ),
    (re.compile(r"\b(?:address|ip|host|endpoint)\b|地址"), ("address",)),
)
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Told:
    """A value where it stands: its row in the event table, its speaker, and the iteration after which it came."""

    row: int
    who: str
    at: str
    named: NamedValue


def told_values(picker: Picker, intents: Sequence[str], said: str = "", *, sure: bool = True) -> Lines:
    """The value that a question asks for by name, with its line; empty where none has such a name or none is wanted.

    Args:
        intents: that were answered, and whether the question surely has the first of them.
        said: the first sentence of that answer; what it tells is not told again.
    """
    subject, question = picker.subject, picker.question
    if question.quoted or question.ids or {*intents} & {"own_code", "ticket"} or not _wants_value(question):
        return []
    elsewhere = sure and bool(intents) and intents[0] in _ELSEWHERE
    if elsewhere and len(_about(picker)) < _TELLING:
        return []
    enough = SURELY if elsewhere else TELLS
    found, *alike = _found(picker, enough) or [[]]
    if not found or _is_told(picker, found[-1].named, said):
        return []
    told = _of_moment(subject, question, found)
    lines = _sentences(subject, question, told)
    if alike:
        parts = [_sentences(subject, question, _of_moment(subject, question, one))[0] for one in (found, *alike)]
        lines = [cited(joined(*parts))]
    return [*lines, *_others(picker, found), *_line(subject, question, told)]


def _is_told(picker: Picker, named: NamedValue, said: str) -> bool:
    """Whether a sentence that tells a value at a step speaks of as much of the question as a name does."""
    words = _about(picker)
    return bool(_AT_STEP.search(said)) and picker.share(words, terms_of(said)) >= picker.share(words, named.terms)


_AT_STEP = re.compile(r" at iteration [0-9,]{1,12}: [-0-9]")


def _wants_value(question: Question) -> bool:
    """Whether a value may be the answer: what, which, how much, or a name alone; not why, who or whether."""
    if asks(question, "no_value_of"):
        return False
    if any(asks(question, way) for way in ("rises", "moves", "extreme")) or _IDENTIFIER.search(question.text):
        return True
    return asks(question, "value") or (len(question.plain.split()) <= _TERSE and not asks(question, "no_value"))


_IDENTIFIER = re.compile(r"\b[a-z]{1,30}_[a-z_]{1,40}\b")  # a name as lines have it: "step_time"
_TELLING = 2  # words that a name must be asked for by where the question surely wants something else as well
_TERSE = 10  # words of a question without a verb: "gnorm at step 30?"


def _found(picker: Picker, enough: float) -> list[list[Told]]:
    """The values of the name that fits a question best, by their clocks, and of those in its lines that fit as well."""
    names = _names(picker)
    best = names[0][0] if names else 0.0
    near, told_near = _near(picker) if best < SURELY else (0.0, [])
    if near >= enough and near > best:
        return [told_near]
    for score, event, name in names:
        if score < enough:
            return []
        if told := _told(picker.subject, picker.question, event, name):
            alike = [other for near, kind, other in names if kind == event and near == score and other != name]
            return [told, *(_told(picker.subject, picker.question, event, other) for other in alike[:MAX_ALIKE])]
    return []


def _names(picker: Picker) -> list[tuple[float, int, str]]:
    """The names that values of the job have, the best first: how well one fits, its kind of message, and itself."""
    words = _about(picker)
    shares = sorted(((-picker.share(words, terms), at) for at, terms in enumerate(picker.messages)))[:MAX_KINDS]
    found: dict[tuple[int, str], float] = {}
    texts = _first_texts(picker.subject, [event for share, event in shares if share])
    for share, event in shares:
        for line in texts.get(event, "").splitlines()[:MAX_LINES]:
            every = [named for named in values_in(line) if _may_be(picker.question, named)]
            owns = [picker.share(words, named.terms) for named in every]
            for named, share_ in zip(every, owns, strict=True):
                own = share_ or (_implied(picker.question, named) * -share if not any(owns) else 0.0)
                if own:
                    score = own + LINE * (-share - own) + _fit(picker.question, named) + NARROW * _narrow(words, named)
                    found[event, named.name] = max(score, found.get((event, named.name), 0.0))
    return sorted(((score, event, name) for (event, name), score in found.items()), key=lambda one: (-one[0], one[1:]))


def _may_be(question: Question, named: NamedValue) -> bool:
    """Whether a value may be what is asked for: no step by which lines count, no word where a count is wanted."""
    counts = named.number is not None or Wanted.HOW_MANY not in wanted(question)
    return counts and named.name.split(" ")[-1].casefold() not in _STEPS


_STEPS = (
    "iteration",
    "iter",
    "it",
    "step",
    "global_step",
    "round",
    "epoch",
    "batch",
    "upd",
    "update",
    "lineno",
    "line",
)


def _near(picker: Picker) -> tuple[float, list[Told]]:
    """The best value in the lines around the leading event, and in those that hold all words of the question."""
    subject, question = picker.subject, picker.question
    lead = subject.leading
    lines = list(_with_all(picker))
    if lead is not None and lead.lines:
        place = (lead.lines[0].file, lead.lines[0].line)
        lines += [*lead.lines, *lines_around(subject.parsed.job, [place], STACK)[place].lines]
    best: tuple[float, int, NamedValue, Line] | None = None
    for line in lines:
        words, terms = _about(picker), terms_of(line.text)
        for named in values_in(line.text):
            own = picker.share(words, named.terms) if _may_be(question, named) else 0.0
            score = (
                own + LINE * (picker.share(words, terms) - own) + _fit(question, named) + NARROW * _narrow(words, named)
            )
            if own and (best is None or (score, -line.line) > best[:2]):
                best = score, -line.line, named, line
    if best is None:
        return 0.0, []
    table = subject.parsed.table
    rows = rows_of_lines(table, table.files.index(best[3].file), [best[3].line])
    return (best[0], [Told(rows[0], _speaker(subject, rows[0]), "", best[2])]) if rows else (0.0, [])


def _with_all(picker: Picker) -> Sequence[Line]:
    """The lines that hold all of the words of a name, of the rarest kinds first; none where it would be too many."""
    words = [word for word in _about(picker) if word.isascii()]
    if not 1 <= len(words) <= MAX_WORDS:
        return ()
    patterns = [re.compile(re.escape(word.encode()), re.IGNORECASE) for word in sorted(words)]
    return seek(picker.subject.parsed, patterns, "a name").lines


def _about(picker: Picker) -> frozenset[str]:
    """The words of a question that may be a name's: not those of a step, a program or a way of asking."""
    question = picker.question
    text = f"{question.text.casefold()} {question.plain}"
    asking = [match[0] for way in _WAYS for match in way_of(way).finditer(text)]
    asking += [match[0] for match in _SPOKEN_CLOCK.finditer(question.text)]
    asking += [match[1] for match in _COUNTER.finditer(question.text) if match[1]]
    left = (picker.words - terms_of(f"{' '.join(asking)} {_GENERAL}")) or picker.words
    known = frozenset(word for word in left if any(picker.often[term] for term in (word, *same(word))))
    return known if picker.weight(known) >= KNOWN * picker.weight(left) else left


_WAYS = ("value", "rises", "moves", "extreme", "first", "before", "after", "good", "by_program")
_GENERAL = "long big small large number took take taken report reported use used start end high low size value amount"
_LENGTH = re.compile(r"[0-9] ?(?:[mun]?s|secs?|seconds|min|minutes|h|hours)$")
_OF_TIME = re.compile(r"(?:^|[_ (])(?:ms|secs?|seconds|took|elapsed|duration|time)(?:$|[_ )])")


def _implied(question: Question, named: NamedValue) -> float:
    """Part of the words of a line that count as those of a value's name, as it is of the kind that is asked for."""
    long = Wanted.HOW_LONG in wanted(question) and _is_length(named)
    path = named.kind == "path" and _FORMS[1][0].search(question.plain) is not None
    return 1.0 if long or path else 0.0


def _is_length(named: NamedValue) -> bool:
    return _LENGTH.search(named.value) is not None or _OF_TIME.search(named.name) is not None


def _first_texts(subject: Subject, events: Sequence[int]) -> dict[int, str]:
    """What the first line of each kind of message says; its template lacks the values."""
    table = subject.parsed.table
    first = {event: int(rows[0]) for event, rows in table.rows_of(list(events)).items() if len(rows)}
    texts = read_rows(subject.parsed.files, table, np.array(sorted(first.values()), np.intp))
    return {event: texts[row] for event, row in first.items() if row in texts}


def _fit(question: Question, named: NamedValue) -> float:
    """More for a value of the kind that is asked for, less for another kind."""
    text = f"{question.text.casefold()} {question.plain}"
    for form, kinds in _FORMS:
        if form.search(text):
            likely = named.kind in kinds or any(mark in named.value for mark in "/.")
            return FITS if likely else 0.0 if named.number is None else -FITS
    if Wanted.HOW_LONG in wanted(question):
        return FITS if _is_length(named) else 0.0
    return 0.0


def _narrow(words: frozenset[str], named: NamedValue) -> float:
    known = {term for word in words for term in (word, *same(word))}
    own = {term for term in named.terms if not term.startswith("=")}
    return len(own & known) / len(own) if own else 0.0


def _told(subject: Subject, question: Question, event: int, name: str) -> list[Told]:
    """What the lines of a kind of message tell under a name: of who is named, by their clocks."""
    table, iterations = subject.parsed.table, subject.parsed.iterations
    every = table.rows_of([event]).get(event, np.zeros(0, np.intp))
    whole = asks(question, "beside")
    rows = by_time(table, every if whole else rows_meant(subject, every, question, at=False))
    rows = np.concatenate([rows[: MAX_ROWS // 2], rows[max(MAX_ROWS // 2, len(rows) - MAX_ROWS // 2) :]])
    texts = read_rows(subject.parsed.files, table, rows)
    reached = dict(zip(rows.tolist(), iterations.of_row[rows].tolist(), strict=True))
    found = []
    for row in rows.tolist():
        named = next((one for one in values_in(texts.get(row, "")) if one.name == name), None)
        if named is None:
            continue
        counted = [f"{match[1] or 'step'} {match[2] or match[4]}" for match in _COUNTED.finditer(texts[row])]
        at = " ".join(counted[:2]) if counted else f"iteration {reached[row]:,}" if reached[row] >= 0 else ""
        found.append(Told(row, _speaker(subject, row), at, named))
    return found


# How a line says which step it is about: "step=44", "[15]", "round 30:", "epoch 0 batch 27/40"
_COUNTED = re.compile(
    r"\b(global_step|step|iteration|iter|it|round|batch|update|upd|epoch|u|n)[\"']?\s{0,3}[=:#]?\s{0,8}0{0,6}([0-9]{1,9})\b"
    r"|(?<=\])\s{0,2}(\[)([0-9]{1,9})\]",
    re.IGNORECASE,
)


def _speaker(subject: Subject, row: int) -> str:
    origin = subject.parsed.table.origins[subject.parsed.table.voice[row]]
    rank = f"rank {origin.rank}" if origin.rank is not None else ""
    return " on ".join(part for part in (rank, origin.node or "") if part)


def _of_moment(subject: Subject, question: Question, found: list[Told]) -> list[Told]:
    """Those at the step or the clock that a question names, or until or since the first sign; all where none is."""
    table, iterations = subject.parsed.table, subject.parsed.iterations
    counters = [match[2] or match[3] for match in _COUNTER.finditer(question.text)]
    if counters:
        number = counters[-1]
        texts = read_rows(subject.parsed.files, table, np.array([one.row for one in found], np.intp))
        said = [
            one
            for one in found
            if any(number in (match[2], match[4]) for match in _COUNTED.finditer(texts.get(one.row, "")))
        ]
        there = said or [one for one in found if int(iterations.of_row[np.array([one.row])][0]) == int(number)]
        return there or found
    if spoken := _SPOKEN_CLOCK.search(question.text):
        moment = (int(spoken[1]) * 3600 + int(spoken[2]) * 60 + int(spoken[3] or 59)) * 1_000_000
        until = [one for one in found if int(table.time[one.row]) % _DAY <= moment + 999_999]
        return until[-1:] or found
    sign = wording.first_sign(subject.diagnosis)
    if sign is not None and asks(question, "before"):
        return [one for one in found if int(table.time[one.row]) <= sign] or found
    if sign is not None and asks(question, "after"):
        return [one for one in found if int(table.time[one.row]) > sign] or found
    return found


def _sentences(subject: Subject, question: Question, told: list[Told]) -> list[str]:
    """One value, one of each speaker, or how it went."""
    name = told[-1].named.name
    values = [one.named.value for one in told]
    by_who: dict[str, list[Told]] = {}
    for one in told:
        by_who.setdefault(one.who, []).append(one)
    numbers = [one.named.number for one in told]
    if len(set(values)) == 1:
        who = wording.names(by_who, 3, 80) if len(by_who) < len(subject.parsed.nodes) or len(by_who) == 1 else ""
        of = f" ({who})" if who else ""
        return [cited(f"{name}: {values[0]}{of}{_when(subject, told) if len(told) == 1 else ''}.")]
    if asks(question, "extreme") and all(number is not None for number in numbers):
        which, one = "lowest" if asks(question, "lowest") else "highest", _shown(question, told)
        return [cited(f"{name}: {which} {one.named.value}{_by(one)}{_when(subject, [one])}.")]
    if all(len({one.named.value for one in own}) == 1 for own in by_who.values()) or len(told) == len(by_who):
        owners: dict[str, list[str]] = {}
        for who, mine in by_who.items():
            owners.setdefault(mine[0].named.value, []).append(who or "nobody named")
        few = sorted(owners.items(), key=lambda item: (len(item[1]), natural(item[0])))
        own = [f"{value} ({wording.names(who, 4, 80)})" for value, who in few]
        more = f"; and {len(own) - MAX_TOLD} more" if len(own) > MAX_TOLD else ""
        return [cited(f"{name}: {', '.join(own[:MAX_TOLD])}{more}.")]
    if len(told) <= FEW:
        listed = "; ".join(f"{one.named.value}{_by(one)}{_when(subject, [one])}" for one in told)
        return [cited(f"{name}: {listed}.")]
    if all(number is not None for number in numbers):
        return _course(subject, question, name, by_who)
    last = _shown(question, told)
    which = "first" if last is told[0] else "last"
    return [cited(f"{name}, the {which} one: {last.named.value}{_by(last)}{_when(subject, [last])}.")]


def _course(subject: Subject, question: Question, name: str, by_who: dict[str, list[Told]]) -> list[str]:
    """First, last, lowest and highest of who changed most, or of the one who is named; and its trend."""
    who = max(by_who, key=lambda one: (_change(by_who[one]), len(by_who[one])))
    mine = by_who[who]
    numbers = [one.named.number or 0.0 for one in mine]
    low, high = mine[int(np.argmin(numbers))], mine[int(np.argmax(numbers))]
    first, last = mine[0], mine[-1]
    of = f" of {who}" if who and len(by_who) > 1 else ""
    says = f"{name}{of}: {last.named.value} at the last{_when(subject, [last])}; {first.named.value} at first"
    says += f"{_when(subject, [first])}; lowest {low.named.value} ({_place(subject, low)}), highest "
    sentences = [cited(f"{says}{high.named.value} ({_place(subject, high)}), {wording.counted(len(mine), 'value')}.")]
    trend = trend_of(numbers)
    if trend is not None and (asks(question, "rises") or asks(question, "moves")):
        sentences.insert(0, cited(f"{name}{of}: {trend.says(_place(subject, mine[trend.at]))}"))
    return sentences


def _change(mine: list[Told]) -> float:
    numbers = np.array([one.named.number or 0.0 for one in mine])
    half = max(1, len(numbers) // 2)
    return abs(float(np.mean(numbers[half:]) - np.mean(numbers[:half]))) if len(numbers) > 1 else 0.0


def _shown(question: Question, told: list[Told]) -> Told:
    """The one of them that is asked for: the highest, the first, of who is named; else the last."""
    if asks(question, "extreme") and all(one.named.number is not None for one in told):
        extreme = min if asks(question, "lowest") else max
        return extreme(told, key=lambda one: one.named.number or 0.0)
    if asks(question, "first"):
        return told[0]
    named = [one for one in told if any(one.who.endswith(node) for node in question.nodes)]
    return (named or told)[-1]


def _by(one: Told) -> str:
    return f" by {one.who}" if one.who else ""


def _when(subject: Subject, told: list[Told]) -> str:
    place = _place(subject, told[0])
    return f", {place}" if place else ""


def _place(subject: Subject, one: Told) -> str:
    time = int(subject.parsed.table.time[one.row])
    return ", ".join(part for part in (one.at, f"at {clock(time)}" if time != NO_TIME else "") if part)


def _line(subject: Subject, question: Question, told: list[Told]) -> list[str]:
    """The line of the one that is asked for, with the value in it."""
    one = _shown(question, told)
    value, word = re.escape(one.named.value.encode()), re.escape(one.named.name.split()[-1].encode())
    found = found_rows(subject.parsed, "", [one.row])
    return quoted(found, 1, re.compile(word + rb"[^\n]{0,40}?" + value))


def _others(picker: Picker, found: list[Told]) -> list[str]:
    """The same value in the jobs that a question compares with; empty where it compares with none."""
    subject, question = picker.subject, picker.question
    if not question.jobs and not asks(question, "good"):
        return []
    good = good_job(subject)
    names = question.jobs or subject.diagnosis.coverage.baseline_ids or ((good.job_id,) if good else ())
    sentences = []
    for job in names[:MAX_JOBS]:
        other = subject.beside.subject(job)
        every = _found(Picker(other, question), 0.0) if other else []
        told = every[0] if every else []
        told = [one for one in told if one.named.name == found[-1].named.name]
        if other and told:
            there = _of_moment(other, question, told)
            sentences.append(f"in {job} {there[-1].named.value}{_when(other, there[-1:])}")
    return [cited(f"{found[-1].named.name} {'; '.join(sentences)}.")] if sentences else []
