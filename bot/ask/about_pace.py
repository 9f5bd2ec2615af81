"""Answers about pace: how long an iteration took, since when it took longer, whether that jumped or drifted."""

import re

import numpy as np

from bot.ask.level_change import first_change, split
from bot.ask.named_values import values_in
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.events.row_text import read_rows
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
        *_at_step(subject, question),
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
    named = question.nodes if asks(question, "how_slow") else ()
    mine = [suspect for suspect in diagnosis.nodes if suspect.node in named]
    sentences[:0] = [cited(wording.sentence(reason), suspect.id) for suspect in mine for reason in suspect.reasons[:2]]
    return sentences or None  # who asks which one is slow may be told by something else than the clocks of iterations


_SINCE = re.compile(r"\bfrom iteration ([0-9][0-9,]{0,12})")  # in the headline of a job that is judged slow


# How trainers call a pace: fairseq "ups" and "wps", torchtitan "tps", tqdm "it/s" and "s/it", others "... per second"
_A_PACE = re.compile(
    r"^(?:[uwt]ps|tgs|tflops|mfu|throughput|speed)$|\w/s(?:ec)?$|^(?:m?s|secs?)/\w|per[ _](?:s|sec|second)\b|throughput"
    r"|\b(?:step|iter\w{0,6}|batch|elapsed)[ _](?:time|ms|s|sec\w{0,4})\b|\btime[ _]per[ _]",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?<![0-9.])[0-9]++(?![0-9.])")
MAX_PACES = 3  # that a line tells and that are told; of each line of a step the same ones
MAX_USUAL = 400  # lines of the same kind whose middle is the usual


def _at_step(subject: Subject, question: Question) -> list[str]:
    """The paces that a line of the iteration which is named tells, each beside its usual; nothing where none does."""
    table, parsed = subject.parsed.table, subject.parsed
    for step in question.iterations[:1]:
        rows = np.flatnonzero(parsed.iterations.of_row[:] == step)[:MAX_USUAL]
        for row, text in read_rows(parsed.files, table, rows).items():
            told = [value for value in values_in(text) if value.number is not None and _A_PACE.search(value.name)]
            if not told or str(step) not in _WHOLE.findall(text):
                continue
            event = int(table.event[row])
            parts = [f"{value.name} {value.value}{_usually(subject, event, value.name)}" for value in told[:MAX_PACES]]
            return [cited(f"At iteration {step:,}: {', '.join(parts)}."), *quoted(found_rows(parsed, "", [row]), 1)]
    return []


def _usually(subject: Subject, event: int, name: str) -> str:
    """The middle of what lines of a kind tell under a name, in brackets; empty where few do."""
    table = subject.parsed.table
    rows = table.rows_of([event])[event]
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_USUAL)).astype(np.intp)]
    texts = read_rows(subject.parsed.files, table, np.unique(some)).values()
    numbers = [value.number for text in texts for value in values_in(text) if value.name == name]
    same = [number for number in numbers if number is not None]
    return f" (usually {float(np.median(same)):,.6g})" if len(same) >= FEW else ""


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
