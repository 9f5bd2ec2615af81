"""An answer made whole: what it leaves open of the question is taken from facts, a yes or no tells what failed."""

import re
from collections.abc import Sequence

from bot.ask.about_exits import asked_code
from bot.ask.about_found import found_lines
from bot.ask.about_values import told_values
from bot.ask.arguments import apart_line
from bot.ask.durations import lengths, remaining
from bot.ask.error_places import named_in
from bot.ask.first_sentence import put_right
from bot.ask.hypothesis import stance
from bot.ask.job_settings import optimizer_line
from bot.ask.question import Question
from bot.ask.reply_lines import MAX_ANSWER_LINES, Lines, cited, lower
from bot.ask.subject import Subject
from bot.ask.units_beside import slower
from bot.ask.wanted_value import Wanted, asks, holds, wanted, yes_or_no
from bot.ask.weighed_words import WeighedWords, terms_of_all
from core.model import Scope

_NAN = re.compile(r"\bnan\b|infinit|non-finite", re.IGNORECASE)
_NEED_NAMES = ("restart", "next", "drain", "blame", "verdict", "explain", "others")
_NEED_CAUSES = (*_NEED_NAMES, "reached", "changed", "presence")  # of a NaN also what steers the optimizer
_HAVE_STANCE = (
    "harmless", "restart", "drain", "sure", "clocks", "before", "jobs", "compare", "changed", "approved", "read",
    "missing", "lost", "last", "around", "numbers", "ran", "reached", "count", "next",
)  # fmt: skip
FAR = 0.35  # of the weight of the words that lines must hold more; by what the two hundreds of seen questions had right
_GENERIC = ("setup", "find", "presence", "count", "numbers", "reached")  # intents by names and words alone
_TELL_ALL = ("verdict", "sure", "numbers", "compare", "setup", "read", "approved", "clocks", "ran", "jobs", "missing")


def completed(
    subject: Subject, question: Question, sentences: Lines, intents: Sequence[str], *, sure: bool = True
) -> list[str]:
    """The lines of an answer with what they leave open; ``sure``: whether the first intent surely is the question's."""
    if intents[0] == "around":  # lines as they stand need nothing beside
        return list(sentences)[:MAX_ANSWER_LINES]
    weighed = WeighedWords(subject, question)
    has = any(intent in _HAVE_STANCE for intent in intents) and not asks(question, "predicts")
    has = has or asks(question, "by_whom")  # "who cancelled it, was it ops": a yes would say that they did
    stands = "" if has else stance(subject, question)
    spoken = found_lines(weighed)[1:2] if "lines speak of it" in stands else []
    lead = [*([stands] if stands else []), *spoken, *told(weighed, intents, sentences[0], sure=sure)]
    if not lead and (not sure or intents[0] in _GENERIC):
        lead = _better(weighed, sentences)
    if lead:  # what is told is not denied behind it
        sentences = [line for line in sentences if not is_denial(line)]
    names = _names(subject, sentences, intents)
    lines = put_right(weighed, list(dict.fromkeys([*lead, *sentences[:1], *names, *sentences[1:]])), intents)
    lines = lines[:MAX_ANSWER_LINES]
    return _with_failure(subject, question, lines, intents)


def _better(weighed: WeighedWords, sentences: Lines) -> list[str]:
    """Lines that hold far more of a question's words than an answer by names alone; empty where none do."""
    held = weighed.share(weighed.words, terms_of_all(sentences[:2]))
    most = max((weighed.share(weighed.words, terms) for terms in weighed.messages), default=0.0)
    return list(found_lines(weighed)[:2]) if most >= held + FAR else []


def told(weighed: WeighedWords, intents: Sequence[str], first_sentence: str = "", *, sure: bool = True) -> list[str]:
    """Values that the lines hold and the question asks for: lengths of time, units beside each other, by name."""
    subject, question = weighed.subject, weighed.question
    if asked_code(question) is not None or "exit" in question.plain.split():  # which the launchers' reports tell
        return []
    compared = all(asks(question, way) for way in ("slower", "compares")) and not asks(question, "no_value_of")
    if compared and (beside := slower(weighed)):
        return list(beside)
    long = Wanted.HOW_LONG in wanted(question)
    if long and asks(question, "remaining") and (rest := remaining(subject)):
        return [rest]
    values = list(told_values(weighed, intents, first_sentence, sure=sure))
    if (
        long
        and not asks(question, "until")
        and not holds(subject, Wanted.HOW_LONG, values[:1])
        and (took := lengths(weighed))
    ):
        return list(took)
    return values


def is_denial(line: str) -> bool:
    """Whether a line of an answer says that something is not there or not known."""
    return _DENIES.match(line) is not None


_DENIES = re.compile(
    r"No (?:line|log|checkpoint|stacks)\b|Nothing\b|None of\b|There (?:is|are) no\b"
    r"|The logs (?:do not|hold no|count no)\b"
)


def _leaves(subject: Subject, question: Question, lines: Sequence[str]) -> bool:
    """Whether it is asked who, and no name is told."""
    return Wanted.WHO in wanted(question) and not holds(subject, Wanted.WHO, lines)


def by_words(subject: Subject, question: Question) -> list[str]:
    """What values, a stance and lines tell of the words of a question that no intent answers; empty where none do."""
    weighed = WeighedWords(subject, question)
    stands, named = stance(subject, question), told(weighed, ())
    found = [] if named else found_lines(weighed)
    lines = [*([stands] if stands else []), *named, *found][:MAX_ANSWER_LINES]
    return _with_failure(subject, question, lines, ()) if lines else []


def _names(subject: Subject, sentences: Lines, intents: Sequence[str]) -> list[str]:
    """What the leading error names, or what a NaN hangs on, where the answer is about it and does not say so."""
    lead = subject.leading
    if lead is None or not any(intent in _NEED_CAUSES for intent in intents):
        return []
    if (suspects := subject.diagnosis.nodes[:1]) and (apart := apart_line(subject, suspects[0].node)):
        return [apart]
    if _NAN.search(f"{lead.says} {lead.template}"):
        told_ = optimizer_line(subject)
        return [told_] if told_ and told_ not in sentences else []
    names = named_in(lead) if any(intent in _NEED_NAMES for intent in intents) else ()
    if not names or any(name in line for name in names for line in sentences):
        return []
    return [cited(f"{lead.id} names {', '.join(f'“{name}”' for name in names)}.", lead.id)]


def _with_failure(subject: Subject, question: Question, lines: list[str], intents: Sequence[str]) -> list[str]:
    """With what failed as the last line, where a yes or no hangs on it and no line tells it."""
    diagnosis, lead = subject.diagnosis, subject.leading
    if diagnosis.scope is Scope.UNKNOWN or any(intent in _TELL_ALL for intent in intents):
        return lines
    suspect = diagnosis.nodes[0].node if diagnosis.nodes and diagnosis.scope is Scope.NODE else ""
    text = "\n".join(lines)
    known = (suspect and suspect in text) or (not suspect and lead and f"[{lead.id}" in text) or "What failed" in text
    if known or lead is None or not (yes_or_no(question) or _leaves(subject, question, lines)):
        return lines
    what = "What happened" if diagnosis.scope is Scope.NONE else "What failed"
    failed = cited(f"{what}: {lower(diagnosis.headline)}.", lead.id)
    return [*lines[: MAX_ANSWER_LINES - 1], failed]
