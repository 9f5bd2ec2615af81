"""Answers about what to do: the next step, whether a restart is safe, what is lost since the last checkpoint."""

import re

from bot.ask.about_platform import unplaced
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted
from bot.ask.savings import INTERVAL, LOADED, Savings, begun, savings
from bot.ask.sentences import say
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks, yes_or_no
from bot.note.claim import ClaimUse
from bot.text import wording
from bot.text.wording import SECOND
from core.answer.search import seek, tell
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


def saving(subject: Subject, question: Question) -> Lines | None:
    """As ``lost``, for who asks of a checkpoint by any of its names; None where another thing of it is asked."""
    if _OFTEN.search(question.plain):
        interval = seek(subject.parsed, [INTERVAL], "an interval of saving")
        often = next((match[1] for line in interval.lines if (match := _EVERY.search(line.text))), "")
        return [cited(f"It saves every {often} iterations by its settings."), *quoted(interval, 1)] if often else None
    return lost(subject, question) if asks_of_saving(question) else None


_OFTEN = re.compile(
    r"\b(?:how often|interval|every how many|frequency)\b.{0,40}\b(?:sav\w{1,3}|ch\w{0,2}kp\w{2,8}|ckpts?|snapshots?)\b"
)


def asks_of_saving(question: Question) -> bool:
    """Whether it is asked for the last checkpoint, or for what is lost since, by any of its names."""
    return asks(question, "saving") and not asks(question, "saving_of_other")


def lost(subject: Subject, question: Question) -> Lines:
    """The last checkpoint that lines report, when that was, and what was computed since."""
    parsed, saved = subject.parsed, savings(subject)
    attempts, last = attempts_of(parsed, subject.diagnosis), parsed.iterations.last
    done = attempts[-1].checkpoints[-1] if attempts and attempts[-1].checkpoints else None
    named = saved.step if saved.step is not None else saved.after
    step = done if done is not None and (named is None or done >= named) else named
    if not saved.found.lines and done is None:
        return _not_reported(subject, question)
    lines = quoted(saved.found, 3)
    clock = next(iter(saved.found.clock), "")
    at = say(question, "at", clock=clock) if clock else ""
    if step is None or last is None:
        return [cited(say(question, "saved_when", yes=_yes(saved, question, 1), clock=at)), *lines]
    lacks = max(0, last - step)
    spent = _spent(subject, step)
    count = say(question, "one_iteration" if lacks == 1 else "iterations", number=f"{lacks:,}")
    says = say(
        question,
        "saved" if lacks else "saved_all",
        yes=_yes(saved, question, lacks),
        step=say(question, "iteration", number=f"{step:,}"),
        clock=at,
        last=f"{last:,}",
        lost=count + (f" ({duration(spent)})" if spent and lacks else ""),
    )
    saving = subject.diagnosis.stage is Stage.CHECKPOINT_SAVING and subject.diagnosis.scope in (Scope.NODE, Scope.JOB)
    doubt = "It failed in the stage of saving, so this one is doubtful." if saving and done != step else ""
    return [cited(joined(_of_asked(saved, question), _shards(saved, step), says, doubt)), *lines]


def _of_asked(saved: Savings, question: Question) -> str:
    """That no line reports a checkpoint of the step that is asked for; empty where one does or none is asked for."""
    asked = [*map(str, question.iterations), *_FROM.findall(question.text)]
    told = {number for line in saved.found.lines for number in re.findall(r"[0-9]{1,12}", line.text)}
    told = {number.lstrip("0") for number in told}
    return f"No line reports one of {asked[0]}." if asked and not told & set(asked) else ""


_FROM = re.compile(r"\b(?:from|at|of) #?([0-9]{2,9})\b", re.IGNORECASE)


def _yes(saved: Savings, question: Question, lacks: int) -> str:
    """A yes or a no to who asks whether something was saved, or whether anything is lost."""
    if not yes_or_no(question) or _of_asked(saved, question):
        return ""
    return say(question, "no" if asks(question, "lose") and not lacks else "yes")


def _spent(subject: Subject, step: int) -> float:
    """Seconds of training from an iteration to the last one; 0 where no clock tells."""
    course = subject.parsed.iterations.course
    done = course.times[course.numbers == step]
    return max(0, int(course.times[-1]) - int(done[0])) / SECOND if len(done) else 0.0


def _not_reported(subject: Subject, question: Question) -> Lines:
    """What lines tell of savings that only began, or may tell of one; that none does, where no word of them stands."""
    parsed, last = subject.parsed, subject.parsed.iterations.last
    found, steps = begun(subject)
    every = parsed.job.manifest.checkpoint_every
    planned = f" job.json tells of one every {every:,} iterations." if every else ""
    reached = f" The last complete iteration is {last:,}." if last is not None else ""
    if found.lines:
        first = _begun(steps, last) or _failed_first(subject, steps, last) or f"{_ONLY_BEGUN}.{reached}{planned}"
        return [cited(first), *quoted(found, 3)]
    interval = seek(parsed, [INTERVAL], "an interval of saving")
    often = next((int(match[1]) for line in interval.lines if (match := _EVERY.search(line.text))), None)
    if often is not None and last is not None and last < often:
        says = f"it was to save every {often:,} iterations and came to {last:,}; no line reports a checkpoint."
        return [cited(f"{'No: ' if yes_or_no(question) else 'None: '}{says}"), *quoted(interval, 1)]
    kinds = [at for at, terms in enumerate(subject.messages) if "=checkpoint" in terms]
    kinds = [at for at in kinds if not LOADED.search(parsed.table.templates[at].sample.encode())]
    rows = [row for mine in parsed.table.rows_of(kinds).values() for row in mine.tolist()]
    if rows:  # "policy stored": no report that is known, and no reason to deny one
        may = tell(parsed, rows, "a word that may mean a saving", latest=True)
        step = next((int(match[1]) for line in may.lines if (match := _NAMES_STEP.search(line.text))), None)
        of = f"the one of {step:,}" if step is not None else "one"
        return [cited(f"Lines name {of}; whether it was finished they do not tell.{reached}{planned}"), *quoted(may, 3)]
    read = wording.counted(subject.diagnosis.coverage.lines, "line")
    loaded = seek(parsed, [LOADED], "a checkpoint that was loaded")
    says = (
        f"No line tells of a checkpoint ({read} were searched for checkpoint, snapshot, saved, written and the like)."
    )
    return [cited(f"{says}{reached}{planned}"), *quoted(loaded, 1)]


_NAMES_STEP = re.compile(
    r"(?:step|iter|iteration|ckpt|checkpoint|round|snap(?:shot)?)[-_ =/:]{0,3}0{0,9}([0-9]{1,9})", re.IGNORECASE
)
_EVERY = re.compile(
    r"(?:save|checkpoint|ckpt)[-_ ](?:interval|every|steps|freq)\w{0,12}[^0-9\n]{1,60}([0-9]{1,9})\b", re.IGNORECASE
)


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


def _shards(saved: Savings, step: int) -> str:
    """Which ranks report that they saved their part, where some that should do not."""
    if saved.step != step or not saved.missing:
        return ""
    have, lack = wording.ranks(saved.ranks), wording.ranks(saved.missing)
    whole = f" The last one that all of them report is that of {saved.whole:,}." if saved.whole is not None else ""
    return f"Do not trust the checkpoint of {step:,} unchecked: {have} report that they saved it, {lack} not.{whole}"
