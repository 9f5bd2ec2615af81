"""Answers about numbers that the logs carry: loss, gradient norm, pace, memory; at an iteration, or in their course."""

import re
from collections.abc import Sequence
from math import isfinite

import numpy as np

from bot.ask.about_exits import oom_report
from bot.ask.about_lines import by_rarity
from bot.ask.about_measures import NOBODYS, Measure, measure_of, of_series, told
from bot.ask.about_topics import presence
from bot.ask.about_values import told_values
from bot.ask.fact_picker import Picker
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.trends import trend_of
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import LookResult
from core.answer.search import search, seek
from core.live.findings import duration
from core.model import Series, Stage

NOT_LOGGED = "No line tells"  # how a denial of a number begins
SLOWER, MOSTLY = (
    1.3,
    0.75,
)  # times the usual that is slow, and share of slow ones from an onset on, as an eye sees it in a curve
FEW = 5  # values whose mean stands for the end of a series
LOOSE = 0.3  # share of a question's words, as for the nearest line, of which a known number is one
_PACE = ("took", "take", "slow", "fast", "speed", "pace", "straggl", "throughput", "long", "time", "quick")
# A value that was one: "before it went nan", "last loss that was not nan"
_FINITE = re.compile(
    r"\b(?:was ?n['o]?t|were ?n['o]?t|is ?n['o]?t|non|before|until|instead of)\b.{0,40}\b(?:nan|inf)"
    r"|\bbevor\b.{0,40}\bnan|\bvor (?:dem|der) nan"
)
_A_STEP = re.compile(  # the unit of a pace asks for it
    r"\b(?:s|ms|secs?|seconds|time|sekunden|it|steps|iters)\s?(?:/|per|pro|each)\s?"
    r"(?:s|secs?|second|steps?|its?|iters?|iterations?|updates?|batch|schritt)\b|每(?:一)?(?:步|轮|个?迭代)",
    re.IGNORECASE,
)
_LIMITS = ("kill", "oom", "limit", "cgroup", "allow", "process")  # what a report of the kernel about memory tells
_NAMES = {"loss": ("loss", "los"), "grad": ("grad", "gnorm"), "time": _PACE}


def numbers(subject: Subject, question: Question) -> Lines | None:  # noqa: PLR0911 a kind of number each
    """Values of what is asked for; of lines that speak of it where no series holds it."""
    measure = measure_of(question)
    if measure is not None:
        return _measure(subject, question, measure)
    wanted = next((name for name, words in _NAMES.items() if question.says(*words)), "")
    wanted = wanted or ("time" if asks_pace(question) else "")
    if wanted == "time":
        at = _own_pace(subject, question) or (
            told(subject, question, of_series()[wanted]) if question.iterations else []
        )
        return [*at[:2], *(_pace(subject, question) or [])]
    if wanted and (question.ranks or question.nodes or question.iterations or _asks_finite(question)):
        own = told(subject, question, of_series()[wanted])
        if own:
            return own
    found = [series for series in subject.parsed.iterations.series if wanted and wanted in series.name.casefold()]
    if not found and question.says("nan", "inf"):
        return presence(subject, question)
    nan = [event for event in subject.diagnosis.events if "nan" in f"{event.says} {event.template}".casefold()]
    bad = [cited(subject.sentence_of(event), event.id) for event in nan[:1]]
    if not found and wanted and bad:
        return [*(_in_lines(subject, question, wanted) or []), *bad]
    if not found:
        return _in_lines(subject, question, wanted) if wanted else None
    if question.says("nan", "inf"):
        return _nan(subject, question, found)
    sentences = [_told(series, question) for series in found[:2]]
    signs = [iteration for iteration in subject.diagnosis.iterations if wanted in iteration.because.casefold()]
    sentences += [cited(subject.sentence_of(sign), sign.id) for sign in signs[:2]]
    return [*sentences, *bad]


def _own_pace(subject: Subject, question: Question) -> Lines:
    """The time of a node's or a rank's own work; an iteration takes all of them as long as the slowest."""
    if not (question.ranks or question.nodes):
        return []
    named = (told(subject, question, of_series()[name]) for name in ("work", "time"))
    return next((lines for lines in named if lines and not lines[0].startswith(NOBODYS)), [])


def asks_pace(question: Question) -> bool:
    """Whether it is asked for a pace by its unit: "s/step", "steps per second"."""
    return _A_STEP.search(question.text) is not None


def _asks_finite(question: Question) -> bool:
    """Whether it is asked for values beside those that are none."""
    return _FINITE.search(f"{question.text.casefold()}\n{question.plain}") is not None


def _told(series: Series, question: Question) -> str:
    at = dict(zip(series.iterations, series.values, strict=True))
    for iteration in question.iterations[:1]:
        if iteration in at:
            return cited(f"{series.name.capitalize()} at iteration {iteration:,}: {at[iteration]:g}.")
        near = min(at, key=lambda other: abs(other - iteration))
        return cited(
            f"The logs hold no {series.name} of iteration {iteration:,}; the nearest is of {near:,}: {at[near]:g}. "
            f"They hold it from {series.iterations[0]:,} to {series.iterations[-1]:,}."
        )
    first, last = series.iterations[0], series.iterations[-1]
    low, high = min(at, key=lambda item: at[item]), max(at, key=lambda item: at[item])
    before = ", ".join(f"{number:,}: {at[number]:g}" for number in series.iterations[-FEW:])
    return cited(
        f"{series.name.capitalize()}: {at[first]:g} at iteration {first:,}, {at[last]:g} at the last, {last:,}; lowest "
        f"{at[low]:g} ({low:,}), highest {at[high]:g} ({high:,}). The last ones: {before}."
    )


def _nan(subject: Subject, question: Question, found: Sequence[Series]) -> Lines:
    """Whether a number became NaN or infinite: by the evidence, else by its values."""
    bad = [
        (series.name, at)
        for series in found
        for at, value in zip(series.iterations, series.values, strict=True)
        if not isfinite(value)
    ]
    if bad:
        return [
            cited(f"Yes: the {bad[0][0]} is no number from iteration {bad[0][1]:,} on."),
            *(_told(series, question) for series in found[:1]),
        ]
    lines = presence(subject, question) or []
    if lines and lines[0].startswith("Yes"):
        return lines
    values = sum(len(series.values) for series in found)
    return [
        cited(f"None of the {values:,} values that the logs hold is NaN or infinite."),
        _told(found[0], question),
        *lines[:2],
    ]


def _pace(subject: Subject, question: Question) -> Lines | None:
    """Seconds an iteration, at one iteration or in the middle, at the end, and whether that is judged slow."""
    diagnosis, iterations = subject.diagnosis, subject.parsed.iterations
    signs = [
        text
        for text in (*diagnosis.why, *(suspect.because for suspect in diagnosis.nodes))
        if "slow" in text.casefold()
    ]
    sentences = [cited(f"{wording.sentence(sign)}") for sign in signs[:2]]
    onset, trend = _onset(subject), _trend(subject, question)
    sentences = [*trend, *(onset if asks(question, "slow_since") else []), *sentences]
    sentences += [_told(series, question) for series in iterations.series if "time" in series.name][:1]
    sentences += [line for line in onset if line not in sentences]
    pace, steps = iterations.course.pace(), iterations.course.steps
    if pace is not None and len(steps) >= FEW:
        end = float(np.mean(steps[-FEW:]))
        sentences.append(
            cited(
                f"An iteration took {duration(pace.step)} by the clock (median), the first {FEW} "
                f"{duration(float(np.mean(steps[:FEW])))} each, the last {FEW} {duration(end)} each; "
                f"the longest pause between two was {duration(pace.longest)}."
            )
        )
    if not signs and sentences:
        sentences.append(
            cited("The diagnosis does not call it slow." if "slow" not in diagnosis.headline else diagnosis.headline)
        )
    found = LookResult("") if sentences else seek(subject.parsed, [_BY_UNIT], "a pace", latest=True)
    if found.lines:
        return [
            cited("No clock tells it, but lines tell a pace by its unit; the last ones:"),
            *quoted(found, 2, _BY_UNIT),
        ]
    return sentences or [cited("The logs count no iterations with clocks, so they do not tell how fast it was.")]


_BY_UNIT = re.compile(
    rb"[0-9] ?(?:m?s ?/ ?(?:it|iter|step|batch)|(?:it|iters?|steps?|batch(?:es)?) ?/ ?s)\b", re.IGNORECASE
)


def _paces(subject: Subject) -> tuple[str, list[int], list[float]]:
    """How long iterations took: what tells it, the iterations, and the times, by their own series, else by clocks."""
    iterations = subject.parsed.iterations
    series = next((item for item in iterations.series if "time" in item.name), None)
    if series is not None and len(series.values) >= 2 * FEW:
        return series.name, list(series.iterations), list(series.values)
    course = iterations.course
    gaps = np.diff(course.numbers.astype(np.int64)) if len(course) > 1 else np.zeros(0, np.int64)
    kept = np.flatnonzero(gaps > 0)
    seconds = np.diff(course.times.astype(np.int64))[kept] / 1_000_000 / gaps[kept]
    return "seconds by the clock", course.numbers[1:][kept].tolist(), seconds.tolist()


def _trend(subject: Subject, question: Question) -> list[str]:
    """Whether the pace jumped, drifted or stayed, where that is asked."""
    if not (asks(question, "moves") or asks(question, "rises")):
        return []
    name, numbers, paces = _paces(subject)
    trend = trend_of(paces)
    return (
        [cited(f"{wording.sentence(name).rstrip('.')}: {trend.says(f'iteration {numbers[trend.at]:,}')}")]
        if trend
        else []
    )


def _onset(subject: Subject) -> list[str]:
    """From which iteration on iterations took longer, when that was, and how much; nothing where none tells."""
    name, numbers, paces = _paces(subject)
    if len(paces) < 2 * FEW:
        return []
    values = np.array(paces)
    usual = float(np.median(values[1 : max(FEW, len(values) // 3)]))
    slow = values > SLOWER * usual
    share = slow[::-1].cumsum()[::-1] / np.arange(len(slow), 0, -1)
    begins = np.flatnonzero(slow & (share >= MOSTLY))
    if not len(begins) or len(values) - begins[0] < FEW:
        return []
    at = int(begins[0])
    since = float(values[at:].mean())
    course = subject.parsed.iterations.course
    times = dict(zip(course.numbers.tolist(), course.times.tolist(), strict=True))
    when = f" ({clock(int(times[numbers[at]]))})" if numbers[at] in times else ""
    says = f"From iteration {numbers[at]:,}{when} on iterations took longer: {since:.4g} on average, "
    return [cited(f"{says}{usual:.4g} in the beginning ({name}).")]


def _measure(subject: Subject, question: Question, measure: Measure) -> Lines:
    """What lines tell of a number that no series holds, beside the loss where both are asked for; or that none does."""
    found = told(subject, question, measure)
    if measure.of_machine and question.says(*_LIMITS):
        found = [*oom_report(subject), *found]
    loss = [series for series in subject.parsed.iterations.series if "loss" in series.name and question.says("loss")]
    own = [_told(series, question) for series in loss[:1]]
    if found:
        return [*own, *found]
    if found := told_values(Picker(subject, question), (), enough=LOOSE):  # under a name that nobody listed
        return [*own, *found]
    has = ", ".join(series.name for series in subject.parsed.iterations.series) or "none"
    return [*own, cited(f"{NOT_LOGGED} {measure.called}; numbers by iteration that the logs carry: {has}.")]


def _in_lines(subject: Subject, question: Question, word: str) -> Lines | None:
    """The lines that speak of a number; which numbers there are where none does."""
    if question.iterations:
        found = search(subject.parsed, (word, str(question.iterations[0])))
        if found.lines:
            return [cited(found.says), *quoted(found, 3)]
    if subject.parsed.iterations.last is None and not search(subject.parsed, (word,)).lines:
        stage = subject.diagnosis.stage
        where = "" if stage is Stage.UNKNOWN else f"; it ended in the stage {stage}"
        return [cited(f"There is none: no line counts a complete iteration, and none holds “{word}”{where}.")]
    return _spoken(subject, word)


def _spoken(subject: Subject, word: str) -> Lines:
    """The lines that speak of a number."""
    found = by_rarity(subject, [word]) if len(word) < 4 else search(subject.parsed, (word,))
    if found.lines:
        return [cited(f"The logs hold no series of it; lines that speak of it: {found.says}"), *quoted(found, 3)]
    has = ", ".join(series.name for series in subject.parsed.iterations.series) or "none"
    return [cited(f"{NOT_LOGGED} “{word}”; numbers by iteration that the logs carry: {has}.")]
