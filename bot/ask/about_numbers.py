"""Answers about numbers that the job has series of: loss, gradient norm, pace; other values are told by their names."""

import re

from bot.ask.about_memory import oom_report
from bot.ask.about_pace import asks_pace, pace, told_series
from bot.ask.about_topics import presence
from bot.ask.about_values import told_values
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.ask.word_weights import WordWeights

_PACE = ("took", "take", "slow", "fast", "speed", "pace", "straggl", "throughput", "long", "time", "quick")
# A value that was one: "before it went nan", "last loss that was not nan"
_FINITE = re.compile(
    r"\b(?:was ?n['o]?t|were ?n['o]?t|is ?n['o]?t|non|before|until|instead of)\b.{0,40}\b(?:nan|inf)"
    r"|\bbevor\b.{0,40}\bnan|\bvor (?:dem|der) nan"
)
_LIMITS = ("kill", "oom", "limit", "cgroup", "allow", "process")  # what a report of the kernel about memory tells
_NAMES = {"loss": ("loss", "los"), "grad": ("grad", "gnorm"), "time": _PACE}


def numbers(subject: Subject, question: Question) -> Lines | None:
    """A series of the job, or that it has none; None where lines tell the number by its name."""
    if question.says("mem", "rss", "ram") and (told := _of_memory(subject, question)):
        return told
    wanted = next((name for name, words in _NAMES.items() if question.says(*words)), "")
    if (wanted or "time") == "time":
        return pace(subject, question) if wanted or asks_pace(question) or question.says("slow", "fast") else None
    if question.ranks or question.nodes or _asks_finite(question):
        return None
    found = [series for series in subject.parsed.iterations.series if wanted in series.name.casefold()]
    if question.says("nan", "inf"):
        return presence(subject, question)
    nan = [event for event in subject.diagnosis.events if "nan" in f"{event.says} {event.template}".casefold()]
    bad = [cited(subject.sentence_of(event), event.id) for event in nan[:1]]
    if not found:
        return bad or None
    signs = [iteration for iteration in subject.diagnosis.iterations if wanted in iteration.because.casefold()]
    sentences = [told_series(series, question) for series in found[:2]]
    return [*sentences, *(cited(subject.sentence_of(sign), sign.id) for sign in signs[:2]), *bad]


def _of_memory(subject: Subject, question: Question) -> Lines:
    """What the kernel reports of memory, or that no line tells it over time; empty where neither is asked."""
    if question.says(*_LIMITS) and (report := oom_report(subject)):
        return report
    if not (asks(question, "rises") or asks(question, "moves")) or told_values(WordWeights(subject, question), ()):
        return []
    first = presence(subject, question) or []
    says = "No value of memory that lines tell again and again, so the logs do not tell since when or how it grew"
    return [cited(f"{says}{'; the first trace of it:' if first else '.'}"), *first]


def _asks_finite(question: Question) -> bool:
    """Whether it is asked for values beside those that are none."""
    return _FINITE.search(f"{question.text.casefold()}\n{question.plain}") is not None
