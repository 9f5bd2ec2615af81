"""Answers about what to do: the next step, whether a restart is safe, what is lost since the last checkpoint."""

import re

from bot.ask.about_platform import unplaced
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted
from bot.ask.savings import INTERVAL, LOADED, Savings, begun, savings
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks, yes_or_no
from bot.note.claim import ClaimUse
from bot.text import wording
from core.answer.job_lookup import LookResult
from core.answer.search import seek, tell
from core.history.attempt import Attempt
from core.history.job_attempts import attempts_of
from core.live.findings import duration
from core.model import Action, Confidence, Scope, Stage

_RESTART = {
    Action.EVICT: "Yes, but without {nodes}: {because}.",
    Action.WAIT: "No restart is needed yet: {because}.",
    Action.ROLLBACK: "Only with code and arguments of the last good attempt: {because}.",
    Action.FIX: "No, as it is it would most likely fail again: {because}.",
    Action.CHECK: "Not before a check: {because}.",
    Action.REATTEMPT: "Yes, once, as it is: {because}.",
    Action.REPLAY: "Not on all nodes yet: {because}.",
    Action.AGGREGATE: "Not yet, collect the stacks of all ranks first: {because}.",
    Action.NONE: "Yes, as far as the logs tell: {because}.",
}


def next_step(subject: Subject, _question: Question) -> Lines:
    """What to do, what to check first, what helped before, what would change it."""
    step, claims = subject.diagnosis.next, subject.claims
    sentences = [cited(wording.sentence(wording.next_line(step)))] if step else []
    checks = claims.of(ClaimUse.CHECK)[:2]
    if checks:
        sentences.append(cited(f"Check first: {joined(*(check.says for check in checks))}"))
    fix = next(iter(claims.of(ClaimUse.FIX)), None)
    if fix:
        sentences.append(cited(f"What helps with this kind of fault: {fix.says}", *fix.cites[:1]))
    if step and step.unless:
        sentences.append(cited(f"Unless {lower(step.unless)}."))
    if step and step.then:
        sentences.append(cited(f"Then: {step.then}"))
    return sentences or [cited("Nothing is advised: nothing of the job is at fault, or nothing tells what is.")]


def restart(subject: Subject, question: Question) -> Lines:
    """Whether to start it again, what that costs and from where it would go on."""
    diagnosis, step = subject.diagnosis, subject.diagnosis.next
    if step is None:
        return [cited("The logs do not tell: nothing was judged that speaks for or against a restart.")]
    nodes = wording.names(step.nodes or [node.node for node in diagnosis.nodes[:1]], 4, 60) or "the suspect"
    weak = " (the evidence is weak)" if diagnosis.confidence is Confidence.WEAK else ""
    says = _RESTART[step.action].format(nodes=nodes, because=lower(step.because))
    lead = subject.leading
    ids = [lead.id] if lead and diagnosis.scope is not Scope.NONE else []
    sentences = [cited(says[:-1] + weak + ".", *ids)]
    sentences += [cited(says) for says in unplaced(subject)[:1]]
    computed = lost(subject, question)[:1]
    if step.cost.sentence and not (computed and step.cost.sentence.startswith("Costs nothing")):
        sentences.append(cited(step.cost.sentence))  # what was computed since the last checkpoint is no nothing
    sentences += computed
    if step.unless:
        sentences.append(cited(f"Unless {lower(step.unless)}."))
    if step.then:
        sentences.append(cited(f"Then: {step.then}"))
    return sentences


def lost(subject: Subject, _question: Question) -> Lines:
    """The last checkpoint that was complete, and what was computed since."""
    parsed = subject.parsed
    attempts = attempts_of(parsed, subject.diagnosis)
    last = parsed.iterations.last
    done = attempts[-1].checkpoints if attempts else ()
    saved = savings(subject)
    lines = quoted(saved.found, 3)
    if done and last is not None:
        return [cited(joined(_since(attempts[-1], last), _shards(saved, done[-1]))), *lines[:2]]
    every = parsed.job.manifest.checkpoint_every
    planned = f" job.json tells of one every {every:,} iterations." if every else ""
    reached = (
        f" The last complete iteration is {last:,}." if last is not None else " No line counts complete iterations."
    )
    if saved.step is not None and last is not None:
        saving = subject.diagnosis.stage is Stage.CHECKPOINT_SAVING
        failed = "It failed in the stage of saving, so this one is doubtful." if saving else ""
        return [cited(joined(_shards(saved, saved.step), _named(saved.step, last), failed)), *lines[:3]]
    if lines and saved.after is not None and last is not None and saved.after <= last:
        lacks = wording.counted(last - saved.after, "iteration")
        says = f"The last lines that tell of a saving name no iteration; they came after iteration {saved.after:,}. "
        says += f"The job came to {last:,}, so {lacks} must be computed again if that one is whole."
        return [cited(says), *lines]
    if lines:
        return [cited(f"These lines tell of a checkpoint, not of which iteration it holds.{reached}{planned}"), *lines]
    found, steps = begun(subject)
    if found.lines:
        first = _begun(steps, last) or _failed_first(subject, steps, last) or f"{_ONLY_BEGUN}.{reached}{planned}"
        return [cited(first), *quoted(found, 3)]
    return _none_known(subject, f"{reached}{planned}")


def _none_known(subject: Subject, reached: str) -> Lines:
    """That no line is known to report a saving, with the lines whose words may mean one; what is lost without any."""
    parsed, says = subject.parsed, f"No line reports a saved checkpoint in words that are known here{{}}.{reached}"
    kinds = [at for at, terms in enumerate(subject.messages) if "=checkpoint" in terms]
    rows = [row for mine in parsed.table.rows_of(kinds).values() for row in mine.tolist()]
    if rows:  # "policy stored": no report that is known, and no reason to deny one
        may = tell(parsed, rows, "a word that may mean a saving", latest=True)
        return [cited(says.format("; some may tell of one")), *quoted(may, 3)]
    last, interval = parsed.iterations.last, seek(parsed, [INTERVAL], "an interval of saving")
    if last is not None and parsed.job.manifest.total_iterations != last:
        says += f" If none was saved or loaded, all {wording.counted(last, 'iteration')} are lost."
    loaded = seek(parsed, [LOADED], "a checkpoint that was loaded")
    return [cited(says.format("")), *quoted(interval, 1), *quoted(loaded, 1)]


def _named(step: int, last: int) -> str:
    """The step that the last line about saving names, and what was computed since."""
    says = f"The last line that tells of saving names step {step:,}"
    if step > last:
        return f"{says}, more than the last complete iteration, {last:,}: nothing is lost if that checkpoint is whole."
    lacks = wording.counted(last - step, "iteration")
    return f"{says}; the job came to iteration {last:,}, so {lacks} must be computed again if that checkpoint is whole."


def saved(subject: Subject, question: Question) -> Lines | None:
    """Whether it was saved, at the step that is named; None where that is not asked or no line reports a saving."""
    if not (asks(question, "saved_well") and yes_or_no(question)):
        return None
    found = savings(subject)
    steps = [str(step) for step in question.iterations]
    at = [
        place
        for place, line in enumerate(found.found.lines)
        if not set(steps).isdisjoint(re.findall(r"[0-9]{1,12}", line.text))
    ]
    if not found.found.lines or (steps and not at):
        return None
    place = at[0] if at else 0
    rows = found.found
    one = LookResult("", rows.lines[place : place + 1], rows.who[place : place + 1], rows.clock[place : place + 1])
    says = f"Yes, a line reports that {f'step {steps[0]} was saved' if at else 'it was saved'}"
    broke = subject.diagnosis.stage is Stage.CHECKPOINT_SAVING and subject.diagnosis.scope in (Scope.NODE, Scope.JOB)
    doubt = " It failed in the stage of saving, so the last one is doubtful." if broke else ""
    since = lost(subject, question)[:1] if subject.diagnosis.scope is not Scope.NONE else ()
    return [cited(f"{says}.{doubt}"), *quoted(one, 1), *since]


def _failed_first(subject: Subject, steps: tuple[int, ...], last: int | None) -> str:
    """That the job failed in the first saving that lines tell of, so that all is lost; empty where it did not."""
    diagnosis = subject.diagnosis
    broke = diagnosis.stage is Stage.CHECKPOINT_SAVING and diagnosis.scope in (Scope.NODE, Scope.JOB)
    if not broke or last is None or len(steps) > 1:
        return ""
    every = wording.counted(last, "iteration")
    return f"It failed while it saved, and no line tells of an earlier saving: all {every} are lost by these logs."


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


def _shards(saved: Savings, step: int) -> str:
    """Which ranks report that they saved their part, where some that should do not."""
    if saved.step != step or not saved.missing:
        return ""
    have, lack = wording.ranks(saved.ranks), wording.ranks(saved.missing)
    whole = f" The last one that all of them report is that of {saved.whole:,}." if saved.whole is not None else ""
    return f"Do not trust the checkpoint of {step:,} unchecked: {have} report that they saved it, {lack} not.{whole}"
