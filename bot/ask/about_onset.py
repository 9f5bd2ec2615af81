"""Answers about a change: since when a number is NaN, a loss blew up, iterations took longer, and by how much."""

import re
from collections.abc import Sequence

import numpy as np

from bot.ask.about_nodes import suspect
from bot.ask.about_pace import iteration_times, slow_from
from bot.ask.about_verdict import verdict
from bot.ask.find_values import COUNTED, FoundValue, asked_words, found_values
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.rises import find_rises
from bot.ask.sentences import say
from bot.ask.subject import Subject
from bot.ask.trends import trend_of
from bot.ask.units_beside import slower as slower_unit
from bot.ask.wanted_value import asks
from bot.ask.weighed_words import WeighedWords
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.answer.search import matching
from core.events.row_text import read_rows
from core.logs.lines import NO_TIME
from core.model import Role

MAX_ROWS = 20_000  # lines with NaN that are read, the first ones
BEFORE = 5  # values whose middle a jump is measured by, as for a level of a loss (core/course/divergence.py)
JUMP = 1.5  # times that middle is a jump, and
STAYS = 1.3  # times that middle is what it does not fall below again (core/course/divergence.py, RISE)
LISTED = 2  # lengths of time that are told beside each other
NAMED = 0.5  # share of the weight of a question's words that a value's name and line must hold
# A value that is none; "nan_guard" and "nan iterations: 0" are names
_NAN = re.compile(rb"(?:[=:]|\bloss|\bis|\bwas|\bnorm)[\s\"']{0,3}[-+]?(?:nan|inf)\b", re.IGNORECASE)
_OF_NAN = re.compile(r"\b(?:nan|inf|infinit\w{0,2})\b")
_OF_LOSS = re.compile(r"\b(?:blow\w{0,3}|blew|explo\w{1,5}|diverg\w{1,4}|spik\w{1,3}|jump\w{0,3}|loss)\b")
_OF_PACE = re.compile(r"\b(?:slow\w{0,5}|sluggish|degrad\w{1,4}|worse|longer)\b|慢")
_OF_HANG = re.compile(
    r"\b(?:stuck|hang\w{0,3}|hung|fr[eo]+z\w{1,3}|stall\w{0,3}|stop(?:ped)? (?:coming|moving|progress\w{0,3}))\b"
)


def onset(subject: Subject, question: Question) -> Lines | None:
    """When and at which iteration a change began; None where none is asked for or nothing tells of it."""
    if not asks(question, "onset"):
        return None
    text = f"{question.text.casefold()}\n{question.plain}"
    if _OF_NAN.search(text):
        return _nan(subject, question)
    if _OF_PACE.search(text):
        return slower(subject, question)
    if _OF_HANG.search(text):
        return _hung(subject)
    if _OF_LOSS.search(text):
        return [*(_jump(subject) or ()), *(_nan(subject, question) or ())] or None
    return None


def before_after(subject: Subject, question: Question) -> Lines | None:
    """A value, or the pace, before and after it changed; None where that is not asked or nothing changed."""
    if not asks(question, "before_after"):
        return None
    weighed = WeighedWords(subject, question)
    if asked_words(weighed) and (every := found_values(weighed, NAMED)) and (lines := _changed(subject, every[0])):
        return lines
    return slower(subject, question)


def slow_one(subject: Subject, question: Question) -> Lines | None:
    """Who is slow and by how much, by the times that all of them tell; None where that is not asked."""
    if not (asks(question, "bad_one") and question.says("slow", "drag", "lag", "straggl")) or question.nodes:
        return None
    lines = suspect(subject, question)
    beside = slower_unit(WeighedWords(subject, question)) or slower(subject, question) or ()
    return [*lines[:1], *beside, *lines[1:]]


def why(subject: Subject, question: Question) -> Lines | None:
    """What happened and why, for who asks why it did; of a slow job also what took longer, and whose that is."""
    if not asks(question, "why_all"):
        return None
    lines = list(verdict(subject, question))
    if _OF_PACE.search(f"{question.text.casefold()}\n{question.plain}"):
        rises = sorted(find_rises(subject), key=lambda rise: -rise.after / rise.before)
        told = [rise.says for rise in rises[:LISTED]] or list(slower_unit(WeighedWords(subject, question)))
        direct = any(event.role is Role.ROOT and event.lines for event in subject.diagnosis.events)
        none = (
            []
            if direct
            else ["What made it slow no line tells: nothing of a disk, a CPU, a GPU or a link is a direct trace of it."]
        )
        lines = [*lines[:1], *told, *none, *lines[1:]]
    return lines


def slower(subject: Subject, question: Question) -> Lines | None:
    """From which iteration on iterations took longer, and how long before and after."""
    name, numbers, seconds = iteration_times(subject)
    trend = trend_of(seconds)
    if trend is None or trend.kind == "stayed" or not trend.rose or not trend.before:
        return [rise.says for rise in find_rises(subject)[:LISTED]] or None
    middle = (trend.before + trend.after) / 2  # one slow iteration, as with a saving, is no beginning
    begin = next((at for at in range(trend.at, len(seconds) - 2) if min(seconds[at : at + 3]) > middle), trend.at)
    judged = slow_from(subject)  # which lines may not print: most print only every few
    begin = next((place for place, number in enumerate(numbers) if judged and number >= judged), begin)
    at = judged or numbers[begin]
    says = say(
        question,
        "slower",
        step=say(question, "iteration", number=f"{at:,}"),
        clock=_clock_of(subject, question, numbers[begin]),
        after=f"{float(np.median(seconds[begin:])):.4g}",
        before=f"{trend.before:.4g}",
        times=f"{float(np.median(seconds[begin:])) / trend.before:.1f}",
        name=name,
    )
    suspect = next(iter(subject.diagnosis.nodes), None)
    return [cited(says), *([cited(f"{suspect.node}: {suspect.because}", suspect.id)] if suspect else [])]


def _changed(subject: Subject, found: Sequence[FoundValue]) -> list[str]:
    """How a named value went: its middle before and after its change, with the lines on both sides."""
    numbered = [item for item in found if item.named.number is not None]
    trend = trend_of([item.named.number or 0.0 for item in numbered])
    if trend is None or trend.kind == "stayed":
        return []
    at, name = numbered[trend.at], numbered[0].named.name
    after = float(np.median([item.named.number or 0.0 for item in numbered[trend.at :]]))
    where = at.at or f"{clock(int(subject.parsed.table.time[at.row]))}"
    who = {item.who for item in numbered}
    of = f" of {next(iter(who))}" if len(who) == 1 and "" not in who else ""
    shown = found_rows(subject.parsed, "", [numbered[max(0, trend.at - 1)].row, at.row])
    return [
        cited(f"{name}{of}: {trend.before:.4g} before, {after:.4g} after; it changed at {where}."),
        *quoted(shown, 2),
    ]


def _nan(subject: Subject, question: Question) -> Lines | None:
    """The first iteration whose lines hold a number that is none, and whose lines those are."""
    parsed, table = subject.parsed, subject.parsed.table
    rows, _ = matching(parsed, [_NAN])
    texts = read_rows(parsed.files, table, rows[:MAX_ROWS])
    steps = {row: _step_of(text, int(parsed.iterations.of_row[np.array([row])][0])) for row, text in texts.items()}
    counted = {row: step for row, step in steps.items() if step > 0}
    series = [
        at
        for item in parsed.iterations.series
        for at, value in zip(item.iterations, item.values, strict=True)
        if not np.isfinite(value)
    ]
    first = min([*counted.values(), *series], default=None)
    if first is None:
        return None
    own = sorted(row for row, step in counted.items() if step == first)
    ranks = sorted({rank for row in own if (rank := table.origins[table.voice[row]].rank) is not None})
    nodes = sorted({node for row in own if (node := table.origins[table.voice[row]].node)})
    who = ", ".join(part for part in (wording.ranks(ranks) if ranks else "", wording.names(nodes, 3, 60)) if part)
    says = say(
        question,
        "onset",
        what="NaN",
        step=say(question, "iteration", number=f"{first:,}"),
        clock=_clock_of_row(subject, question, own[0]) if own else _clock_of(subject, question, first),
        who=f", {who}" if who else "",
    )
    return [cited(says), *quoted(found_rows(parsed, "", own[:2]), 2)]


def _step_of(text: str, reached: int) -> int:
    match = COUNTED.search(text)
    return int(match[2] or match[4]) if match else reached


def _jump(subject: Subject) -> list[str]:
    """The first iteration from which on the loss or the gradient stayed far above what it was."""
    for series in subject.parsed.iterations.series:
        if "loss" not in series.name and "grad" not in series.name:
            continue
        values = np.array(series.values, np.float64)
        for at in range(BEFORE, len(values)):
            usual = float(np.median(values[at - BEFORE : at]))
            rest = values[at:][np.isfinite(values[at:])]
            if np.isfinite(values[at]) and usual > 0 and values[at] > JUMP * usual and np.all(rest > STAYS * usual):
                number = series.iterations[at]
                says = f"The {series.name} jumped at iteration {number:,}{_clock_text(subject, number)}: "
                return [cited(f"{says}{values[at]:.4g} after {values[at - 1]:.4g}.")]
    return []


def _hung(subject: Subject) -> Lines | None:
    """The last iteration that was complete, and the first sign after it."""
    course, sign = subject.parsed.iterations.course, wording.first_sign(subject.diagnosis)
    last, lead = subject.parsed.iterations.last, subject.leading
    if last is None:
        return None
    at = f" at {clock(int(course.times[-1]))}" if len(course) and int(course.numbers[-1]) == last else ""
    since = f"; the first sign came at {clock(sign)}" if sign is not None else ""
    says = f"After iteration {last:,}, the last complete one{at}{since}."
    return [cited(says), *([cited(subject.sentence_of(lead), lead.id)] if lead else [])]


def _clock_of(subject: Subject, question: Question, number: int) -> str:
    course = subject.parsed.iterations.course
    times = course.times[course.numbers == number]
    return say(question, "at", clock=clock(int(times[0]))) if len(times) else ""


def _clock_text(subject: Subject, number: int) -> str:
    course = subject.parsed.iterations.course
    times = course.times[course.numbers == number]
    return f" ({clock(int(times[0]))})" if len(times) else ""


def _clock_of_row(subject: Subject, question: Question, row: int) -> str:
    time = int(subject.parsed.table.time[row])
    return say(question, "at", clock=clock(time)) if time != NO_TIME else ""
