"""Answers about what to do: the next step, and whether a restart is safe."""

from bot.ask.about_checkpoints import lost
from bot.ask.about_platform import unplaced
from bot.ask.clauses import SUPPOSED
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower
from bot.ask.subject import Subject
from bot.note.claim import ClaimUse
from bot.text import wording
from core.model import Action, Confidence, Scope

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
    if step.action is Action.FIX and SUPPOSED.match(question.text):
        says = f"Yes, if that puts right what broke: {lower(diagnosis.headline)}; nothing else speaks against it."
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
