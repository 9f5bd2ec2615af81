"""Answers about checkpoints: the last one, whether it is whole, from which to go on, what was computed since."""

import re
from math import isfinite

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, quoted
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import searched
from bot.ask.wanted_value import asks, yes_or_no
from bot.outcome.savings import INTERVAL, LOADED, Savings, begun, savings
from bot.text import wording
from bot.text.harmless import harmless
from core.answer.search import seek, tell
from core.history.attempt import Attempt
from core.history.job_attempts import attempts_of
from core.live.findings import duration
from core.model import Scope, Stage


def lost(subject: Subject, question: Question) -> Lines:
    """The last checkpoint, whether it is whole, and what was computed since; a yes or no first where that is asked."""
    told, of = _lost(subject), savings(subject.parsed)
    answer = _whether(subject, question, of) if yes_or_no(question) or asks(question, "any_saved") else ""
    return (
        [joined(answer, told[0]), *told[1:]]
        if answer and not told[0].startswith(("None ", "No line reports"))
        else told
    )


def _whether(subject: Subject, question: Question, found: Savings) -> str:
    """Yes, no or not told: of a checkpoint that is named, of an older one, of any; empty where none of it is asked."""
    started, begun_at = begun(subject.parsed)
    last = _step_of(subject, found)
    steps = {*found.steps, *([last] if last is not None else [])}
    if _OLDER.search(question.text):
        older = sorted(steps | set(begun_at))[:-1]
        return f"Yes, of step {older[-1]:,}." if older else "No older one: no line tells of any saving before the last."
    if asks(question, "saved_whole"):
        match = _NUMBERED.search(question.text)
        step = int(match[1] or match[2]) if match else last
        if step is not None and step in steps:
            return _reported(subject, found, step, last=last)
        return _HALF if started.lines else "No line reports it as saved."
    if not asks(question, "any_saved"):
        return ""
    if found.found.lines:
        return "Yes."
    return "Not for certain: lines tell only that a saving began." if started.lines else "None that the logs report."


_HALF = "Not told: a line says that the saving began, and none that it ended."


def _reported(subject: Subject, found: Savings, step: int, *, last: int | None) -> str:
    """By whom a step is reported as saved, or who does not report it."""
    every = {*subject.parsed.table.ranks, *subject.parsed.job.manifest.node_of_rank}
    who = {*found.ranks, *(speaker for speaker in found.found.who if "rank" in speaker)}
    if step == last and found.missing:
        return f"No: {wording.ranks(found.missing)} did not report it."
    of = f"all {len(every):,} ranks report" if len(who) == len(every) > 1 else "lines report"
    return f"Yes, by the logs: {of} that of step {step:,} saved."


_NUMBERED = re.compile(
    r"(?:checkpoint|ckpt|snapshot|step|iter)[-_ #]{0,2}0{0,8}([0-9]{1,9})|\b([0-9]{2,9})\b", re.IGNORECASE
)
_OLDER = re.compile(
    r"\b(?:older|earlier|previous|before that|another|ältere\w?|frühere\w?)\b|更早|之前的", re.IGNORECASE
)


def _lost(subject: Subject) -> Lines:
    """The last checkpoint, whether it is whole, and what was computed since."""
    parsed = subject.parsed
    attempts = attempts_of(parsed, subject.diagnosis)
    last = parsed.iterations.last
    done = attempts[-1].checkpoints if attempts else ()
    found = savings(subject.parsed)
    lines = quoted(found.found, 3)
    if done and last is not None and (found.step is None or found.step <= done[-1]):
        failed = _failed_in(subject, attempts[-1], last)
        parts = (_parts(subject, found, done[-1]), failed, _since(attempts[-1], last), _of_nan(subject, done[-1], done))
        return [cited(joined(*parts)), *lines[:2]]
    every = parsed.job.manifest.checkpoint_every
    planned = f" job.json tells of one every {every:,} iterations." if every else ""
    reached = (
        f" The last complete iteration is {last:,}." if last is not None else " No line counts complete iterations."
    )
    step = _step_of(subject, found)
    if step is not None and last is not None:
        return [cited(joined(*_of_step(subject, found, step, last))), *lines[:3]]
    if lines and found.after is not None and last is not None and found.after <= last:
        lacks = wording.counted(last - found.after, "iteration")
        says = f"The last saved checkpoint{_called(found)} came after iteration {found.after:,}{_at(found)}. "
        says += f"The job came to {last:,}, so {lacks} must be computed again if that one is whole."
        return [cited(joined(says, _of_nan(subject, found.after, ()))), *lines]
    if lines:
        named = f" of step {found.step:,}" if found.step is not None else ""
        which = "" if found.step is not None else ", which does not name its iteration"
        says = f"The last line that reports a checkpoint{named}{_at(found)}{which}, is this one.{reached}{planned}"
        return [cited(says), *lines]
    started, steps = begun(subject.parsed)
    if started.lines:
        first = _begun(steps, last)
        return [cited(first or f"{_ONLY_BEGUN}.{reached}{planned}"), *quoted(started, 3)]
    return _none_known(subject, f"{reached}{planned}")


def _step_of(subject: Subject, found: Savings) -> int | None:
    """The step of the last saving: as its report names it, else as the line names it that tells of its beginning."""
    if found.step is not None or not found.found.lines:
        return found.step
    steps = begun(subject.parsed)[1]
    return steps[-1] if steps and steps[-1] <= (found.after or 0) else None


def _of_step(subject: Subject, found: Savings, step: int, last: int) -> tuple[str, ...]:
    """Sentences about the last saving, of the one before first where the last one is not to be trusted."""
    diagnosis = subject.diagnosis
    broke = diagnosis.stage is Stage.CHECKPOINT_SAVING and diagnosis.scope in (Scope.NODE, Scope.JOB)
    older = max((number for number in found.steps if number < step), default=None)
    parts, nan = _parts(subject, found, step), _of_nan(subject, step, found.steps)
    if parts and found.whole is not None:
        return parts, nan, f"{wording.counted(max(0, last - found.whole), 'iteration')} to compute again from there."
    if parts or nan:
        return parts, nan, _named(found, step, last)
    if not broke:
        return (_named(found, step, last),)
    doubtful = f"That of {step:,} is doubtful, as the job failed in the stage of saving"
    if older is None:
        return _named(found, step, last), f"{doubtful}."
    lacks = wording.counted(max(0, last - older), "iteration")
    return (
        f"The last one that is not doubtful is that of step {older:,}: {lacks} to compute again.",
        f"{doubtful}; the job came to iteration {last:,}.",
    )


def _failed_in(subject: Subject, attempt: Attempt, last: int) -> str:
    """That the last checkpoint is doubtful as the job failed in saving it, and the one before; else empty."""
    saved = attempt.checkpoints
    if subject.diagnosis.stage is not Stage.CHECKPOINT_SAVING or saved[-1] < last or subject.leading is None:
        return ""
    if subject.diagnosis.scope not in (Scope.NODE, Scope.JOB):
        return ""
    lacks = wording.counted(max(0, last - saved[-2]), "iteration") if len(saved) > 1 else ""
    older = f"the one before is that of {saved[-2]:,}, {lacks} to compute again" if lacks else "none before it is told"
    return (
        f"Do not trust that of {saved[-1]:,} unchecked, the job failed while it saved ({subject.leading.id}); {older}."
    )


def _of_nan(subject: Subject, step: int, steps: tuple[int, ...]) -> str:
    """Whether a checkpoint came before the loss was no number; empty where it never was none."""
    bad = [
        iteration
        for series in subject.parsed.iterations.series
        for iteration, value in zip(series.iterations, series.values, strict=True)
        if not isfinite(value)
    ]
    if not bad:
        return ""
    if step < min(bad):
        return f"It was saved before numbers were lost: NaN or infinite from iteration {min(bad):,} on."
    older = max((number for number in steps if number < min(bad)), default=None)
    before = f"; the last one before is that of step {older:,}" if older is not None else ""
    return f"Do not go on from that of {step:,}: numbers are NaN or infinite from iteration {min(bad):,} on{before}."


_FILE = re.compile(
    r"(?<![\w/.-])(?:[\w.:-]{0,40}/){0,12}[\w.-]{0,60}(?:checkpoint|ckpt|snap|step|model|\.pt|\.pth|\.bin)[\w.-]{0,60}[0-9][\w.-]{0,40}",
    re.IGNORECASE,
)


def _called(found: Savings) -> str:
    """The name or path of a checkpoint in the last line about saving, behind a comma."""
    match = _FILE.search(found.found.lines[0].text) if found.found.lines else None
    return f", {harmless(match[0], 100)}," if match else ""


def _at(found: Savings) -> str:
    """The clock of the last line about saving, in brackets."""
    return f" ({found.found.clock[0]})" if found.found.clock and found.found.clock[0] else ""


# Activations that are computed again in place of being kept are called checkpoints too
_RECOMPUTING = re.compile(r"\b(?:activation|gradient)[ _-]checkpoint", re.IGNORECASE)
_PRINTED = re.compile(r"\.{4,200} \S{1,80}$")  # a setting, as Megatron prints them
_OFF = re.compile(
    rb"\b(?:disabl(?:e|ed|ing)|skip(?:ped|ping)?|without|no)[ _-](?:(?:all|any|saving|model|the) ){0,2}"
    rb"(?:checkpoints?|ckpts?)(?:\b|=(?:1|true)|ing\b)(?![ _]?(?:found|load|format|at\b|in\b|to (?:load|resume)))"
    rb"|\b(?:checkpoint(?:s|ing)?|ckpts?)[ :_-]{1,3}(?:(?:is|are|saving) ){0,2}"
    rb"(?:disabled|switched off|turned off|skipped)\b",
    re.IGNORECASE,
)


def _may_report(sample: str) -> bool:
    """Whether a kind of message may tell of a saving: no recomputing of activations, no printed setting."""
    return not (_RECOMPUTING.search(sample) or _PRINTED.search(sample.rstrip()) or _SETTING.search(sample))


# A setting, no report: "checkpoint_period: 40", "save_interval=500"
_SETTING = re.compile(r"\b(?:checkpoint|ckpt|save|saving)\w{0,20}_\w{1,30}[\"']?\s{0,4}[=:]", re.IGNORECASE)


def _none_known(subject: Subject, reached: str) -> Lines:
    """The lines whose words may mean a saving, else that none is known to report one; what is lost without any."""
    parsed = subject.parsed
    off = seek(parsed, [_OFF], "checkpoints that are switched off")
    if off.lines:
        return [
            cited(f"None was saved by these logs: a line says that checkpoints are switched off.{reached}"),
            *quoted(off, 2),
        ]
    kinds = [
        at
        for at, terms in enumerate(subject.messages)
        if "=checkpoint" in terms and _may_report(parsed.table.templates[at].sample)
    ]
    rows = [row for mine in parsed.table.rows_of(kinds).values() for row in mine.tolist()]
    if rows:  # "policy stored": no report that is known, and no reason to deny one
        may = tell(parsed, rows, "a word that may mean a saving", latest=True)
        after = int(parsed.iterations.of_row[max(rows, key=lambda row: (int(parsed.table.time[row]), row))])
        last = parsed.iterations.last
        at = f", after iteration {after:,}" if after >= 0 else ""
        since = last - after if last is not None and after >= 0 else -1
        if since > 0:
            reached = f" The job came to iteration {last:,}, {wording.counted(since, 'iteration')} later."
        says = f"The last line that may tell of a checkpoint{at}, of which no report is known, is this one.{reached}"
        return [cited(says), *quoted(may, 3)]
    says = (
        f"No line reports a saved checkpoint in words that are known here ({searched(subject)} were searched).{reached}"
    )
    last, interval = parsed.iterations.last, seek(parsed, [INTERVAL], "an interval of saving")
    if last is not None and parsed.job.manifest.total_iterations != last:
        says += f" If none was saved or loaded, all {wording.counted(last, 'iteration')} are lost."
    loaded = seek(parsed, [LOADED], "a checkpoint that was loaded")
    return [cited(says), *quoted(interval, 1), *quoted(loaded, 1)]


def _named(found: Savings, step: int, last: int) -> str:
    """The step of the last saving, and what was computed since."""
    says = f"The last saved checkpoint is that of step {step:,}{_at(found)}"
    if step > last:
        return f"{says}, more than the last complete iteration, {last:,}: nothing is lost if it is whole."
    if step == last:
        return f"{says}, the last complete iteration: nothing is lost if it is whole."
    lacks = wording.counted(last - step, "iteration")
    return f"{says}; the job came to iteration {last:,}, so {lacks} must be computed again if it is whole."


_ONLY_BEGUN = "No line calls a checkpoint complete; lines tell only that a saving began"


def _begun(steps: tuple[int, ...], last: int | None) -> str:
    """The last saving after whose beginning the job went on, where lines name the steps; empty where none is known."""
    older = [step for step in steps if last is not None and step < last]
    if not older or last is None:
        return ""
    says = f"{_ONLY_BEGUN}. The last one after which the job went on is that of step {older[-1]:,}"
    open_ = [step for step in steps if step >= last]
    more = f"; whether that of {open_[-1]:,} was finished no line tells" if open_ else ""
    says += f"{more}. The job came to iteration {last:,}, so {wording.counted(last - older[-1], 'iteration')} must be "
    return f"{says}computed again if that one is whole."


def _since(attempt: Attempt, last: int) -> str:
    """The last checkpoint that is called complete, and how much was computed after it."""
    saved = attempt.checkpoints[-1]
    done = [int(time) for number, time in zip(attempt.numbers, attempt.times, strict=True) if number == saved]
    since = max(0, int(attempt.times[-1]) - done[0]) / 1000 if done else 0.0
    took = f" ({duration(since)} of training)" if since else ""
    says = f"The last checkpoint that the logs call complete came after iteration {saved:,}; the job came to "
    return says + f"{last:,}, so {wording.counted(max(0, last - saved), 'iteration')}{took} must be computed again."


def _parts(subject: Subject, saved: Savings, step: int) -> str:
    """Which ranks do not report that they saved their part, and the last checkpoint that all of them do."""
    if saved.step != step or not saved.missing:
        return ""
    homes = {subject.home.get(rank) for rank in saved.missing} - {None}
    on = f" on {wording.names(sorted(filter(None, homes)), 3, 80)}" if homes else ""
    lack = f"{wording.ranks(saved.missing)}{on}"
    every = len(saved.ranks) + len(saved.missing)
    of = f"{len(saved.ranks):,} of {every:,} ranks report that of step {step:,}, {lack} not"
    if saved.whole is None:
        return f"Do not trust the last checkpoint unchecked: {of}."
    return (
        f"The last checkpoint that all ranks report is that of step {saved.whole:,}; only {of}: do not trust that one."
    )
