"""An answer made whole: values, names and lines beside what an intent tells; a yes or no tells what failed."""

import re
from collections.abc import Sequence

from bot.ask.about_code import likest, named_in
from bot.ask.about_exits import asked_code
from bot.ask.about_values import TELLS, asks_change, told_values
from bot.ask.durations import lengths
from bot.ask.find_values import read_by_suspect
from bot.ask.first_sentence import put_right
from bot.ask.honest import best_first, denies_unsearched, is_denial, with_better
from bot.ask.job_settings import optimizer_line
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import MAX_ANSWER_LINES, Lines, cited, lower
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import Wanted, asks, holds, wanted, wants_data, yes_or_no
from bot.ask.word_weights import WordWeights
from core.model import Scope

_NAN = re.compile(r"\bnan\b|infinit|non-finite", re.IGNORECASE)
_NO_FILE = "Which file it was is not known: neither the evidence nor a line that fits the question names one."
_PROGRAM = re.compile(r"\.py\b")
BESIDE = 2  # lines that stand beside an answer
_NEED_NAMES = ("restart", "next", "drain", "blame", "verdict", "explain", "others")
_NEED_CAUSES = (*_NEED_NAMES, "reached", "changed", "presence")  # of a NaN also what steers the optimizer
_WHOLE = (  # need nothing beside
    "own_code", "stopped_where", "before", "jobs", "compare", "approved", "read", "missing", "sure",
)  # fmt: skip
_GENERIC = ("setup", "find", "presence", "count", "last", "numbers", "explain")  # by names and words alone
_SAYS_FIRST = ("suspect", "blame", "others", "restart", "drain", "next", "verdict", "lost", "hung", "order", "approved")
# Words that only tell the intent, and stand for nothing that a line would hold: "blocks" of a disk answer no "stuck"
_SAID_BY = {
    "hung": ("stuck", "hang", "hung", "blocked", "stalled", "frozen", "wait", "waiting", "waited", "sit", "stand")
}
_ADVICE = ("restart", "next")  # what a question that is hardly understood is taken for most often
_TELL_ALL = ("verdict", "sure", "numbers", "compare", "setup", "read", "approved", "ran", "jobs", "missing")


def completed(
    subject: Subject, question: Question, sentences: Lines, intents: Sequence[str], *, sure: bool = True
) -> list[str]:
    """The lines of an answer with what they leave open; ``sure``: whether the first intent surely is the question's."""
    if intents[0] == "around":  # lines as they stand need nothing beside
        return list(sentences)[:MAX_ANSWER_LINES]
    weights = WordWeights(subject, question)
    by_whom = asks(question, "by_whom")  # "who cancelled it, was it ops": a yes would say that they did
    stands = "" if by_whom else predicted(subject, question)
    lead = [stands] if stands else []
    if not sentences[0].startswith("Yes: "):  # "time limit?" is answered by that, not by a value that is a limit
        lead += told(weights, intents, sentences[0], sure=sure)
    names = _names(subject, question, sentences, intents)
    if _wants_name(subject, question, sentences[:2]):
        lead, names = [*lead, *names], []
    if lead:  # what is told is not denied behind it
        sentences = [line for line in sentences if not is_denial(line)]
    lines = [*lead, *sentences[:1], *names, *sentences[1:]]
    lines = list(dict.fromkeys(lines))
    whole = any(intent in _WHOLE for intent in intents)
    whole = whole or (sure and intents[0] == "last" and bool(question.ranks or question.nodes))
    paced = asks(question, "how_slow")  # which the pace tells, not a line that holds "step"
    if not (stands or paced or whole) and asked_code(question) is None:
        lines = _beside_lines(weights, lines, lead, intents, sure=sure)
    of_file = "own_code" not in intents and (wants_data(question) or Wanted.FILE in wanted(question)[:1])
    if of_file and not holds(subject, Wanted.FILE, lines):
        search = LineSearch(subject, question)
        near = [line for line in search.of_noun(BESIDE, LIKELY) if not _PROGRAM.search(line)]
        lines = list(dict.fromkeys([*(near or read_by_suspect(subject) or [cited(_NO_FILE)]), *lines]))
    lines = put_right(subject, question, lines, intents)[:MAX_ANSWER_LINES]
    return _with_failure(subject, question, lines, intents)


def predicted(subject: Subject, question: Question) -> str:
    """That no log tells what would have been, where that is asked; else empty."""
    if not asks(question, "predicts") or Wanted.HOW_LONG in wanted(question):
        return ""
    headline = lower(subject.diagnosis.headline)
    return cited(f"The logs do not tell what would have happened; {headline}.", *subject.lead_ids)


def _beside_lines(
    weights: WordWeights, lines: list[str], lead: list[str], intents: Sequence[str], *, sure: bool
) -> list[str]:
    """An answer beside the lines of the job that hold more of the question than it does.

    A sentence of the diagnosis and a value by its name stand before lines that only hold words of the question.
    """
    subject, question = weights.subject, weights.question
    by_words = (not sure or any(intent in _GENERIC for intent in intents)) and intents[0] not in _SAYS_FIRST
    search = LineSearch(subject, question, _SAID_BY.get(intents[0], ()))
    holds_most = bool(lead) and weights.share(weights.words, terms_of("\n".join(lead))) >= TELLS
    first = (by_words or (not sure and intents[0] in _ADVICE)) and not holds_most
    first = first and not (sure and yes_or_no(question)) and not search.tells_value(lead[:1])
    first = first or denies_unsearched(lines[0])  # a line that tells it stands before such a sentence
    return with_better(search, best_first(search, lines) if by_words else lines, first=first)


def told(weights: WordWeights, intents: Sequence[str], first_sentence: str = "", *, sure: bool = True) -> list[str]:
    """Values that the lines hold and the question asks for: lengths of time, by name."""
    subject, question = weights.subject, weights.question
    if asked_code(question) is not None or "exit" in question.plain.split():  # which the launchers' reports tell
        return []
    long = Wanted.HOW_LONG in wanted(question)
    hung = list(intents[:1]) == ["hung"] and asks(question, "stands")  # which tells by itself how long it was
    if asks(question, "how_slow") or (hung and long and holds(subject, Wanted.HOW_LONG, [first_sentence])):
        return []  # which the pace tells, or the first sentence
    values = list(told_values(weights, intents, first_sentence, sure=sure))
    if long and not hung and not holds(subject, Wanted.HOW_LONG, values[:1]) and (took := lengths(weights)):
        return list(took)
    return values


def _leaves(subject: Subject, question: Question, lines: Sequence[str]) -> bool:
    """Whether it is asked who, and no name is told."""
    return Wanted.WHO in wanted(question) and not holds(subject, Wanted.WHO, lines)


def from_values(subject: Subject, question: Question) -> list[str]:
    """The values that a question asks for which no intent answers, and a yes or no; empty without either."""
    values, stands = told(WordWeights(subject, question), ()), predicted(subject, question)
    if not values:
        return [stands] if stands else []
    lines = with_better(LineSearch(subject, question), values, first=not asks_change(question))
    return _with_failure(subject, question, [*([stands] if stands else []), *lines][:MAX_ANSWER_LINES], ())


def _wants_name(subject: Subject, question: Question, lines: Lines) -> bool:
    """Whether a file or a setting is asked for by its name, and no line tells one."""
    kinds = [kind for kind in wanted(question) if kind in (Wanted.FILE, Wanted.WHAT_NAME)]
    return bool(kinds) and not holds(subject, kinds[0], lines)


def _names(subject: Subject, question: Question, sentences: Lines, intents: Sequence[str]) -> list[str]:
    """What the leading error names, or what a NaN hangs on, where the answer is about it and does not say so."""
    lead, wants = subject.leading, _wants_name(subject, question, sentences[:2])
    if lead is None or not (wants or any(intent in _NEED_CAUSES for intent in intents)):
        return []
    if _NAN.search(f"{lead.says} {lead.template}") and not wants:
        return [line] if (line := optimizer_line(subject)) and line not in sentences else []
    names = named_in(lead) if wants or any(intent in _NEED_NAMES for intent in intents) else ()
    if not names or any(name in line for name in names for line in sentences):
        return []
    meant = next((f", most likely “{like}” misspelt" for name in names if (like := likest(subject, name))), "")
    return [cited(f"{lead.id} names {', '.join(f'“{name}”' for name in names)}{meant}.", lead.id)]


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
    return [*lines[: MAX_ANSWER_LINES - 1], what_failed(subject)]
