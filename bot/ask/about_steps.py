"""Answers about what to do: the next step, whether a restart is safe, what is lost since the last checkpoint."""

import re

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted
from bot.ask.subject import Subject
from bot.note.claim import ClaimUse
from bot.text import wording
from core.answer.look import Found
from core.answer.search import seek
from core.history.of_job import attempts_of
from core.live.findings import duration
from core.model import Action, Confidence, Scope, Stage

MAX_REPORT = 400  # characters: longer lines are printed settings
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
        sentences.append(cited(f"Check first: {joined(*(one.says for one in checks))}"))
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
    if step.cost.sentence:
        sentences.append(cited(step.cost.sentence))
    sentences += lost(subject, question)[:1]
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
    saved = attempts[-1].checkpoints if attempts else ()
    lines = _savings(subject)
    if saved and last is not None:
        attempt = attempts[-1]
        steps = max(0, last - saved[-1])
        done = [int(time) for number, time in zip(attempt.numbers, attempt.times, strict=True) if number == saved[-1]]
        since = max(0, int(attempt.times[-1]) - done[0]) / 1000 if done else 0.0
        took = f" ({duration(since)} of training)" if since else ""
        says = f"The last checkpoint that the logs call complete came after iteration {saved[-1]:,}; the job came to "
        says += f"{last:,}, so {wording.counted(steps, 'iteration')}{took} must be computed again."
        return [cited(says), *lines[:2]]
    every = parsed.job.manifest.checkpoint_every
    planned = f" job.json tells of one every {every:,} iterations." if every else ""
    reached = f" The last complete iteration is {last:,}." if last is not None else " No iteration was completed."
    step = next((int(match[1]) for line in lines if (match := _STEP.search(line))), None)
    if step is not None and last is not None and step <= last:
        says = f"The last line that tells of saving names step {step:,}; the job came to iteration {last:,}, so "
        says += f"{wording.counted(last - step, 'iteration')} must be computed again if that checkpoint is whole."
        failed = (
            "It failed in the stage of saving, so this one is doubtful."
            if subject.diagnosis.stage is Stage.CHECKPOINT_SAVING
            else ""
        )
        return [cited(joined(says, failed)), *lines[:3]]
    if lines:
        says = f"These lines tell of a checkpoint, not of which iteration it holds.{reached}{planned}"
        return [cited(says), *lines[:3]]
    interval = seek(parsed, [_INTERVAL], "an interval of saving")
    sentences = [cited(f"No line tells of a checkpoint that was saved.{reached}{planned}")]
    return [*sentences, *quoted(interval, 2), *quoted(seek(parsed, [_LOADED], "a checkpoint that was loaded"), 1)]


_SAVED = re.compile(
    rb"\b(?:saved|wrote|written|stored|dumped)\b[^\n]{0,80}(?:checkpoint|ckpt|model|state|step|\.pt)"
    rb"|(?:checkpoint|ckpt)[^\n]{0,80}\b(?:saved|wrote|written|completed?|stored|done)\b",
    re.IGNORECASE,
)
_STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt)[-_ =/]{0,6}0{0,12}([0-9]{1,9})", re.IGNORECASE)
_INTERVAL = re.compile(rb"(?:save|checkpoint|ckpt)[-_ ](?:interval|every|steps|freq)", re.IGNORECASE)
_LOADED = re.compile(rb"(?:load|resum|restor)[^\n]{0,40}(?:checkpoint|ckpt)", re.IGNORECASE)


def _savings(subject: Subject) -> list[str]:
    """The last lines that speak of saving a checkpoint, the last one first; command lines and arguments are none."""
    found = seek(subject.parsed, [_SAVED], "a checkpoint that was saved", latest=True)
    kept = [at for at, line in enumerate(found.lines) if _is_said(line.text)]
    lines, who, clock = (
        tuple(found.lines[at] for at in kept),
        tuple(found.who[at] for at in kept),
        tuple(found.clock[at] for at in kept),
    )
    return quoted(Found("", lines, who, clock), 3)


def _is_said(text: str) -> bool:
    """Whether a line reports something; printed arguments and command lines do not."""
    return len(text) < MAX_REPORT and "..." not in text and "--" not in text and not _INTERVAL.search(text.encode())
