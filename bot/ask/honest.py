"""What an answer owes to the lines: none denies what a search finds, and a line that tells more comes first.

A sentence that says that something is not there stands only where the lines that hold most of the question's words
tell nothing more than the answer does.
"""

import re
from collections.abc import Sequence

from bot.ask.classify import learnt
from bot.ask.english import EVENT, JOB, NODE, THING, is_german
from bot.ask.line_search import LIKELY, MAX_SEARCHED, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import MAX_ANSWER_LINES, Lines, any_of, cited
from bot.ask.subject import Subject
from bot.ask.terms import alternatives, stem_of, terms_of
from bot.ask.told_diagnosis import searched
from bot.ask.wanted_value import head_of
from bot.ask.word_lists import stop_words
from core.answer.search import matching

# Shares of the weight of a question's words (bot/ask/line_search.py)
ENOUGH = 0.6  # that a line must hold to come before an answer by names and words alone
FAR = 0.25  # that it must hold more than each of the first two lines of the answer
SHOWN = 2  # lines that stand before an answer
_DENIES = re.compile(
    r"No (?:line|log|checkpoint|stacks)\b|Nothing\b|None of\b|There (?:is|are) no(?:ne)?\b|I (?:looked|found no)\b"
    r"|The logs (?:do not|hold no|count no)\b|The (?:job|logs) end(?:ed)? without\b"
)
# Said only after a whole search: of all ways in which lines name who ended a job (bot/ask/about_events.py), of all
# kinds of messages that may mean a saving (bot/ask/about_checkpoints.py), of all dumps (bot/ask/about_lines.py), and of
# whatever counts iterations (core/course)
_WHOLE_SEARCH = (
    "No log tells by whom", "No log tells who did that",
    "No line reports a saved checkpoint", "No stacks were dumped", "No line counts iterations",
    "The logs do not tell what would have",
    "The logs do not tell code from hardware",
)  # fmt: skip
# Intents about other things than lines: dumps, other jobs, the fault library, the diagnosis itself
_WHOLE = (
    "stacks", "jobs", "compare", "before", "approved", "read", "missing", "changed", "sure", "next", "verdict", "blame",
    "suspect", "drain", "restart", "others",
)  # fmt: skip
_SAID_SO = "What I looked for by its usual words I did not find, but these lines hold most of what the question names:"


def is_denial(line: str) -> bool:
    """Whether a line of an answer says that something is not there or not known."""
    return _DENIES.match(line) is not None


def denies_unsearched(line: str) -> bool:
    """Whether a line denies something by less than a search of every way in which lines tell it."""
    return is_denial(line) and not line.startswith(_WHOLE_SEARCH)


def with_better(search: LineSearch, lines: Sequence[str], *, first: bool) -> list[str]:
    """An answer with the lines that hold far more of what the question names than its first two lines do.

    Args:
        first: they come first; else behind the first sentence, which is of the intent that the question surely has.
    """
    best = search.best[0].share if search.best else 0.0
    if best < ENOUGH or best - max(search.share_of([line]) for line in lines[:SHOWN]) < FAR:
        return list(lines)
    shown = [*search.distinct(), *search.shown(SHOWN)]
    at = 0 if first else 1
    return list(dict.fromkeys([*lines[:at], *shown, *lines[at:]]))


def best_first(search: LineSearch, lines: Sequence[str]) -> list[str]:
    """An answer that begins with that of its lines which holds far more of what the question names than its first does.

    A name or a number that is asked about stands in the first line, wherever any line of the answer holds it. A first
    line that tells a count or a time which is asked for stays.
    """
    told = list(lines)
    named = [at for at, line in enumerate(told) if search.names([line])]
    if named and named[0]:
        return [told[named[0]], *told[: named[0]], *told[named[0] + 1 :]]
    if search.tells_value(told[:1]):
        return told
    shares = [search.share_of([line]) for line in told]
    at = max(range(len(told)), key=lambda place: (shares[place], -place))
    if shares[at] < ENOUGH or shares[at] - shares[0] < FAR:
        return told
    return [told[at], *told[:at], *told[at + 1 :]]


def without_denial(subject: Subject, question: Question, lines: Lines, intents: Sequence[str]) -> Lines:
    """An answer that denies nothing which lines may tell: those lines, in place of its first sentence."""
    if not denies_unsearched(lines[0]) or intents[0] in _WHOLE:
        return lines
    search = LineSearch(subject, question)
    if search.lacks_a_word or not search.best or search.best[0].share < LIKELY:
        return lines
    if search.share_of(lines[1:]) >= search.best[0].share:
        return lines
    rest = [line for line in lines[1:] if not is_denial(line)]
    return [cited(_SAID_SO), *search.shown(SHOWN), *rest][:MAX_ANSWER_LINES]


def absent(subject: Subject, question: Question, *, heads: bool) -> str:
    """That no line holds the words by which a question asks for something, and no labelled question either; else empty.

    Of other languages it is not known which words are left over.

    Args:
        heads: the noun behind "what" or "which" has to stand in a line too.
    """
    words = question.plain.split()
    if question.quoted or question.ids or _CHINESE.search(question.text) or is_german(question.text.casefold().split()):
        return ""
    names = terms_of(" ".join((*question.nodes, *question.unknown)))
    content = [(before, word) for before, word in zip(["", *words], words, strict=False) if _is_content(word)]
    content = [(before, word) for before, word in content if stem_of(word) not in names]
    head = head_of(question) if heads else ()
    strange = [word for before, word in content if word in head or before not in _BEFORE_VERBS]
    strange = [word for word in strange if word in head or not learnt().knows(word)]
    strange = [word for word in dict.fromkeys(strange) if not _stands(subject, word)]
    if not strange or 2 * len(strange) < len({word for _, word in content}):
        return ""
    said = f"no line holds “{' '.join(strange[:3])}” or a word that I know for it"
    return f"Not in these logs: {said} ({searched(subject)} were searched)."


def unheard(subject: Subject, question: Question) -> str:
    """That no line holds a name that is typed as code writes names ("warmup_steps"); empty where all are known."""
    parsed, names = subject.parsed, () if question.quoted else _NAME.findall(question.text)
    lacks = [name for name in names if (own := any_of([name])) and not matching(parsed, [own], most=MAX_SEARCHED)[0]]
    if not lacks or parsed.job.id in lacks:
        return ""
    return cited(f"No line holds “{lacks[0]}” ({searched(subject)} were searched).")


_NAME = re.compile(r"(?<![\w./-])[a-z]{2,30}(?:_[a-z]{2,30}){1,5}(?![\w./-])")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_BEFORE_VERBS = frozenset(
    "i we you they he she it to not did does do can could will would please who let lets".split()  # noqa: SIM905
)


def _is_content(word: str) -> bool:
    """Whether a word says what a question is about: no function word, no number, no kind of name."""
    return (
        len(word) > 2
        and word.isalpha()
        and word not in stop_words()
        and not word.endswith("ed")
        and word not in (NODE, JOB, EVENT, THING)
    )


def _stands(subject: Subject, word: str) -> bool:
    """Whether any line holds a word, or one that means the same."""
    stems = alternatives(stem_of(word))
    if any(stems & terms for terms in subject.messages):
        return True
    pattern = any_of(stems)
    return pattern is not None and bool(matching(subject.parsed, [pattern], most=MAX_SEARCHED)[0])
