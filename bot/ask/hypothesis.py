"""The first sentence for who asks whether something is the cause: yes, no, or that the logs do not tell."""

import re

from bot.ask.fact_picker import Picker
from bot.ask.question import Question
from bot.ask.reply_lines import cited, lower
from bot.ask.subject import Subject
from bot.ask.terms import same, terms_of
from bot.ask.wanted_value import asks, yes_or_no
from core.model import Action, Confidence, Scope

SAME = 0.5  # share of the weight of what is proposed that the fault must hold to be it
_PROPOSES = re.compile(
    r"\b(?:problem|cause|reason|culprit|to blame|at fault|guilty|the issue|what (?:killed|broke|crashed|stopped)|"
    r"believe that|trust that|is (?:that|this) (?:it|right|true|correct)|related|looks like|because of)\b"
    r"|\b(?:is|was|are|were) (?:it|this|that|they) (?:just |really |maybe |likely )?(?:an? |the |my |our )?"
    r"[\w-]{1,30}(?: [\w-]{1,30})?\??$"
    r"|(?:^|[,;:.-] )(?:an? |the )?(?:network|disk|storage|memory|driver|hardware|firewall|power|nccl|nfs|data) "
    r"(?:issue|problem|trouble|error|fault)\??$"
    r"|(?:^|[,;:.] )(?:\w{1,30} ){1,2}(?:broken|dead|faulty|bad|flaky)\??$|\bso\b.{1,40}\b(?:died|crashed|failed)\??$"
)
_REMEDY = re.compile(
    r"\b(?:would|will|does|do|could|can|should|if)\b.{0,80}\b(?:longer|higher|bigger|larger|more|raise|raising|increase|"
    r"increasing|lower\w{0,3}|reduc\w{1,3}|smaller|fewer|less|decreas\w{1,3}|downgrad\w{1,3}|upgrad\w{1,3}|newer|another|"
    r"different|chang\w{1,3}|switch\w{0,3}|bump|bumping|extend|extending|double|doubling)\b.{0,80}\b(?:help|helped|save|saved|fix|fixed|avoid|"
    r"avoided|solve|solved|enough|work|worked|do it|prevent|prevented|survive|survived|or)\b"
)
_WAITING = re.compile(r"time-?out|timeouts?|wait|patience|watchdog|heartbeat")
_GENERAL = frozenset(
    terms_of("problem cause reason culprit blame fault guilty issue killed broke crashed stopped related looks")
)


def stance(subject: Subject, question: Question) -> str:  # noqa: PLR0911 a kind of proposal each
    """Yes or no to what a question proposes as the cause or as a remedy; empty where it proposes nothing."""
    diagnosis, text = subject.diagnosis, question.text.casefold()
    if sentence := remedy(subject, question):
        return sentence
    if asks(question, "predicts"):
        ids = [subject.leading.id] if subject.leading else []
        return cited(f"The logs do not tell what would have happened; {lower(diagnosis.headline)}.", *ids)
    if diagnosis.scope not in (Scope.NODE, Scope.JOB):
        return ""
    if not yes_or_no(question) or not (_PROPOSES.search(text) or _PROPOSES.search(question.plain)):
        return ""
    named = {*question.nodes, *(subject.home[rank] for rank in question.ranks if rank in subject.home)}
    blamed = {node.node for node in diagnosis.nodes[:1]} if diagnosis.scope is Scope.NODE else set()
    failed = f"what failed is told otherwise: {lower(diagnosis.headline)}"
    ids = [subject.leading.id] if subject.leading else []
    if named and blamed and not named & blamed:
        return cited(f"No, as far as the logs tell; {failed}.", *ids)
    picker = Picker(subject, question)
    proposed = picker.words - _GENERAL
    known = _of_fault(subject)
    held = {word for word in proposed if any(term in known for term in (word, *same(word)))}
    if not proposed:
        return ""
    if picker.weight(held) >= SAME * picker.weight(proposed):
        sure = "Yes" if diagnosis.confidence is Confidence.ESTABLISHED else "Likely yes"
        return cited(f"{sure}: {lower(diagnosis.headline)}.", *ids)
    sure = "No" if diagnosis.confidence is Confidence.ESTABLISHED else "Nothing in the logs says so"
    return cited(f"{sure}; {failed}.", *ids)


def remedy(subject: Subject, question: Question) -> str:
    """Whether more of something would have helped; empty where the question asks no such thing."""
    diagnosis, step = subject.diagnosis, subject.diagnosis.next
    text = f"{question.text.casefold()} {question.plain}"
    if diagnosis.scope not in (Scope.NODE, Scope.JOB) or not _REMEDY.search(text):
        return ""
    ids = [subject.leading.id] if subject.leading else []
    because = lower(diagnosis.headline)
    if _WAITING.search(text):
        node = diagnosis.nodes[0].node if diagnosis.nodes else "what they waited for"
        sentence = f"No: a longer time-out only makes the others wait longer, {node} would not have come"
        return cited(f"{sentence}; {because}.", *ids)
    fault = _of_fault(subject)
    if "=memory" in fault or ("memory" in text and "=memory" in terms_of(diagnosis.headline)):
        says = "Only if it needs no more than the new limit: where memory grows all the time, more of it delays the end"
        return cited(f"{says}; {because}.", *ids)
    if step is not None and step.action is Action.FIX:
        return cited(f"No, by itself that puts nothing right: {because}.", *ids)
    return cited(f"The logs do not tell that it would; {because}.", *ids)


def _of_fault(subject: Subject) -> frozenset[str]:
    """The terms of what the diagnosis says failed."""
    lead, diagnosis = subject.leading, subject.diagnosis
    first = diagnosis.nodes[0].because if diagnosis.nodes else ""
    own = f"{lead.says} {lead.template} {' '.join(line.text for line in lead.lines)}" if lead else ""
    return terms_of(f"{diagnosis.headline} {first} {own}")
