"""What the first sentence of an answer must be, decided in one place, and what is put in front where it is not that.

A question may ask for a value of a kind, or for a cause. Where an answer holds none of it, it is called what it is: the
nearest that is known.
"""

import re
from collections.abc import Sequence

from bot.ask.line_search import LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject
from bot.ask.wanted_value import Wanted, asks, head_of, holds, wanted
from bot.text import wording
from core.model import Scope

_KINDS = {
    Wanted.HOW_LONG: "how long that took",
    Wanted.WHEN: "when that was",
    Wanted.FILE: "the name of a file",
}
_SOURCE = re.compile(r"\.(?:py|so|cpp|cc|cu|h)\b")
_WHY = re.compile(r"\b(?:why|how come|cause|reason)\b")


def put_right(subject: Subject, question: Question, lines: Sequence[str], intents: Sequence[str]) -> list[str]:
    """An answer with what its first sentence lacks of the question in front of it, or said to be not there."""
    told = list(lines)
    if not told or told[0].startswith(_NONE):
        return told
    told = told if "own_code" in intents else _typed_first(subject, question, told)
    front = (
        _cause(subject, question, intents)
        or lacking(subject, question, told)
        or _nearest(subject, question, told, intents)
    )
    if front:
        return told if front in told else [front, *told]
    return told


def _typed_first(subject: Subject, question: Question, told: list[str]) -> list[str]:
    """That line first which holds the kind of value that is asked for, of who is named before any other."""
    kind = next(iter(wanted(question)), None)
    if kind not in _KINDS:
        return told
    named = [*question.nodes, *(f"rank {rank}" for rank in question.ranks)]

    def fits(line: str) -> tuple[bool, bool]:
        held = holds(subject, kind, [line])
        return held, held and any(name in line for name in named)

    best = max(told, key=lambda line: (fits(line), -told.index(line)))
    return [best, *(line for line in told if line is not best)] if fits(best) > fits(told[0]) else told


_NONE = (
    "Which file it was is not known", "No ", "Nothing", "None ", "I do not know", "That is not", "The logs do not",
    "There is no",
)  # fmt: skip


def _cause(subject: Subject, question: Question, intents: Sequence[str]) -> str:
    """What failed, for who asks why others did."""
    scope = subject.diagnosis.scope
    if list(intents[:1]) != ["others"] or scope not in (Scope.NODE, Scope.JOB) or not _WHY.search(question.plain):
        return ""
    says = f"By one fault, which the others passed on or waited for: {wording.sentence(subject.diagnosis.headline)}"
    return cited(says, *subject.lead_ids)


def _nearest(subject: Subject, question: Question, told: Sequence[str], intents: Sequence[str]) -> str:
    """That no line tells the thing that is asked for, where those that are shown hold only a part of the question."""
    asked, kinds = question.asked, wanted(question)
    if list(intents[:1]) != ["find"] or question.quoted or not (kinds or asks(asked, "value")):
        return ""
    said = (line.partition(": ")[2] if _QUOTED.search(line) else line for line in told)  # not who wrote a line
    ranks = holds(subject, Wanted.PROCESS, told) or _RANK.search("\n".join(said)) is not None
    if _WHICH_PROCESS.search(asked.plain) and not ranks:
        return cited(f"{_NOTHING} which process; the nearest that is known:")
    if (Wanted.WHO in kinds and holds(subject, Wanted.WHO, told)) or LineSearch(subject, question).share_of(
        told[:2]
    ) >= WHOLE:
        return ""
    what = " ".join(("which", *head_of(question))) if head_of(question) else "that"
    return cited(f"{_NOTHING} {what} in so many words; the nearest that is known:")


WHOLE = 0.75  # share of the question's weight from which on lines that are shown are taken for the answer
_NOTHING = "I found nothing that tells"
_QUOTED = re.compile(r" \([^()]{1,200}:[0-9]{1,9}\)$")
_RANK = re.compile(r"\branks? [0-9]", re.IGNORECASE)
_WHICH_PROCESS = re.compile(r"\b(?:which|what) process\b")


def lacking(subject: Subject, question: Question, lines: Sequence[str]) -> str:
    """That no line tells a time or a length of time, where one is asked for and no line of the answer has any."""
    kinds = wanted(question)[:1]
    if not kinds or kinds[0] not in _KINDS or holds(subject, kinds[0], lines):
        return ""
    if kinds[0] is Wanted.FILE and any(_SOURCE.search(line) for line in lines):  # of a program, which is asked for too
        return ""
    return cited(f"{_NOTHING} {_KINDS[kinds[0]]}; the nearest that is known:")
