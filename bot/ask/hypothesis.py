"""The first sentence for who asks whether something is the cause: yes, no, or that the logs do not tell."""

import re

from bot.ask.about_topics import topic_of
from bot.ask.question import Question
from bot.ask.reply_lines import cited, lower
from bot.ask.subject import Subject
from bot.ask.terms import same, terms_of
from bot.ask.wanted_value import Wanted, asks, wanted, yes_or_no
from bot.ask.word_weights import WordWeights
from core.model import Confidence, Scope

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
_OWN = re.compile(
    r"\b(?:my|our|own) (?:\w{1,20} ){0,1}(?:code|script|program|bug)\b"
    r"|\b(?:code|program)\b.{0,12}\b(?:problem|bug|fault)\b"
)
_GENERAL = frozenset(
    terms_of("problem cause reason culprit blame fault guilty issue killed broke crashed stopped related looks")
)


def stance(subject: Subject, question: Question) -> str:  # noqa: PLR0911 a kind of proposal each
    """Yes or no to what is proposed as the cause, or that no log tells what would have been; empty without either."""
    diagnosis, text = subject.diagnosis, question.text.casefold()
    if asks(question, "predicts") and Wanted.HOW_LONG not in wanted(question):
        ids = [subject.leading.id] if subject.leading else []
        return cited(f"The logs do not tell what would have happened; {lower(diagnosis.headline)}.", *ids)
    if diagnosis.scope not in (Scope.NODE, Scope.JOB):
        return ""
    if not yes_or_no(question) or not (_PROPOSES.search(text) or _PROPOSES.search(question.plain)):
        return ""
    if diagnosis.next and diagnosis.next.kind == "means" and _OWN.search(question.plain):
        return ""  # what ran out a program may have used up, which no log denies
    named = {*question.nodes, *(subject.home[rank] for rank in question.ranks if rank in subject.home)}
    blamed = {node.node for node in diagnosis.nodes[:1]} if diagnosis.scope is Scope.NODE else set()
    failed = f"what failed is told otherwise: {lower(diagnosis.headline)}"
    ids = [subject.leading.id] if subject.leading else []
    if named and blamed and not named & blamed:
        return cited(f"No, as far as the logs tell; {failed}.", *ids)
    weights = WordWeights(subject, question)
    proposed = weights.words - _GENERAL
    known = _of_fault(subject)
    held = {word for word in proposed if any(term in known for term in (word, *same(word)))}
    if not proposed:
        return ""
    topic = topic_of(question)
    named_so = topic is not None and topic.special and topic.asked.search(diagnosis.headline.casefold()) is not None
    if named_so or weights.weight(held) >= SAME * weights.weight(proposed):
        sure = "Yes" if diagnosis.confidence is Confidence.ESTABLISHED else "Likely yes"
        return cited(f"{sure}: {lower(diagnosis.headline)}.", *ids)
    sure = "No" if diagnosis.confidence is Confidence.ESTABLISHED else "Nothing in the logs says so"
    return cited(f"{sure}; {failed}.", *ids)


def _of_fault(subject: Subject) -> frozenset[str]:
    """The terms of what the diagnosis says failed."""
    lead, diagnosis = subject.leading, subject.diagnosis
    first = diagnosis.nodes[0].because if diagnosis.nodes else ""
    own = f"{lead.says} {lead.template} {' '.join(line.text for line in lead.lines)}" if lead else ""
    return terms_of(f"{diagnosis.headline} {first} {own}")
