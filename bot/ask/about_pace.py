"""Answers about pace: how long an iteration took, since when it took longer, whether that jumped or drifted."""

import re

import numpy as np

from bot.ask.apart import at_step, beside_others
from bot.ask.find_values import compares
from bot.ask.level_change import first_change, split
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import Wanted, asks, wanted
from bot.note.claim_source import clock
from bot.text import wording
from core.live.findings import duration
from core.model import Scope, Series

FEW = 5  # values whose mean stands for the end of a series
_A_STEP = re.compile(  # the unit of a pace asks for it
    r"\b(?:s|ms|secs?|seconds|time|sekunden|it|steps|iters)\s?(?:/|per|pro|each)\s?"
    r"(?:s|secs?|second|steps?|its?|iters?|iterations?|updates?|batch|schritt)\b|每(?:一)?(?:步|轮|个?迭代)"
    r"|\b(?:how long|how many seconds|wie lange)\b.{0,20}\b(?:an?|one|each|per|every|ein\w?|jede\w?) "
    r"(?:steps?|its?|iters?|iterations?|updates?|batch|schritt)\b",
    re.IGNORECASE,
)


def asks_pace(question: Question) -> bool:
    """Whether it is asked for a pace by its unit: "s/step", "steps per second"."""
    return _A_STEP.search(question.text) is not None


def told_series(series: Series, question: Question) -> str:
    """A series at the iteration that is named, else its course."""
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


def pace(subject: Subject, question: Question) -> Lines | None:
    """Seconds an iteration, in the middle and at the end, and whether that is judged slow; None where no line tells."""
    diagnosis, iterations = subject.diagnosis, subject.parsed.iterations
    units, blamed = question.nodes or question.ranks, {node.node for node in diagnosis.nodes}
    weighs = compares(question) or (asks(question, "slower") and blamed.isdisjoint(question.nodes))
    if units and weighs and Wanted.WHEN not in wanted(question) and (told := beside_others(subject, question)):
        return told
    signs = [
        text
        for text in (*diagnosis.why, *(suspect.because for suspect in diagnosis.nodes))
        if "slow" in text.casefold()
    ]
    sentences = [cited(f"{wording.sentence(sign)}") for sign in signs[:2]]
    since_iteration = onset(subject)
    since_when = asks(question, "slow_since")
    since = diagnosis.headline if since_when and _SINCE.search(diagnosis.headline) else ""
    lead = [cited(wording.sentence(since), *subject.lead_ids)] if since else []
    of_change = since_when or asks(question, "how_slow") or asks(question, "both_sides")
    sides = asks(question, "both_sides")
    told = lead or since_iteration or signs
    changed = first_change(subject, question, lengths=True) if sides or (of_change and not told) else []
    sentences = [
        *(line for step in question.iterations[:1] for line in at_step(subject, question, step)),
        *lead,
        *(since_iteration if of_change else []),
        *changed,
        *sentences,
    ]
    sentences += [told_series(series, question) for series in iterations.series if "time" in series.name][:1]
    sentences += [line for line in since_iteration if line not in sentences]
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
    if not signs and sentences and diagnosis.scope is Scope.NONE:
        sentences.append(cited("The diagnosis does not call it slow."))
    first = [node.node for node in diagnosis.nodes[:1] if diagnosis.scope is Scope.NODE]
    named = (question.nodes or first) if asks(question, "how_slow") else ()
    mine = [suspect for suspect in diagnosis.nodes if suspect.node in named]
    grew = [(reason, suspect.id) for suspect in mine for reason in suspect.reasons[:3] if _GREW.search(reason)]
    sentences[:0] = [cited(wording.sentence(reason), cites) for reason, cites in grew[:2]]
    return sentences or None  # who asks which one is slow may be told by something else than the clocks of iterations


_GREW = re.compile(r"\b(?:rose|fell|went from|takes?|took|times as)\b")  # of a reason that tells how much
_SINCE = re.compile(r"\bfrom iteration ([0-9][0-9,]{0,12})")  # in the headline of a job that is judged slow


def slow_since(subject: Subject) -> int | None:
    """The iteration from which on the job was slow, as the diagnosis has it, else its course; None where none tells."""
    told = _SINCE.search(subject.diagnosis.headline)
    if told is not None or "slow" not in subject.diagnosis.headline:
        return int(told[1].replace(",", "")) if told else None
    _, numbers, paces = _paces(subject)
    parts = split(paces) if len(paces) >= 2 * FEW else None
    return numbers[parts.at] if parts is not None and parts.since > parts.before else None


def since_slow(subject: Subject) -> Lines:
    """Since when the job is slow: by its pace, and as the diagnosis has it."""
    told = onset(subject)
    judged = slow_since(subject) is not None
    return [*told, cited(wording.sentence(subject.diagnosis.headline), *subject.lead_ids)] if told or judged else []


def asks_of_pace(question: Question) -> bool:
    """Whether it speaks of how fast the job goes."""
    return bool(terms_of(question.plain) & {"=pace", "=throughput"}) or _OF_STEP.search(question.plain) is not None


_OF_STEP = re.compile(r"\b(?:step|iteration|iter|batch) times?\b")


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


def onset(subject: Subject) -> list[str]:
    """From which iteration on iterations took longer, when that was, and how much; nothing where none tells."""
    name, numbers, paces = _paces(subject)
    if len(paces) < 2 * FEW:
        return []
    parts = split(paces)
    if parts is None or parts.since < parts.before:
        return []
    at, usual, since = parts.at, parts.before, parts.since
    course = subject.parsed.iterations.course
    times = dict(zip(course.numbers.tolist(), course.times.tolist(), strict=True))
    when = f" ({clock(int(times[numbers[at]]))})" if numbers[at] in times else ""
    says = f"From iteration {numbers[at]:,}{when} on iterations took {since / usual:.1f} times as long: {since:.4g}, "
    return [cited(f"{says}{usual:.4g} in the beginning (medians; {name}).")]
