"""Values at several steps, or step by step: "loss at 100 and 200", "val loss per epoch", "the 5 before that"."""

import re
from collections.abc import Sequence

import numpy as np

from bot.ask.find_values import COUNTED, FoundValue
from bot.ask.question import Question
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.events.row_text import read_rows
from core.logs.lines import NO_TIME

MAX_STEPS = 6  # steps that are told one by one
MAX_LISTED = 12  # values of a course that are told one by one
MAX_SPEAKERS = 4  # at one step
_COUNTER = (
    r"(?:iterations?|iters?|its?|steps?|updates?|upd|rounds?|batch(?:es)?|epochs?|ep|episodes?|schritt\w?|runde\w?)"
)
_NUMBER = r"#?[0-9]{1,9}\b(?!\s?(?:%|m?s\b|[kmgt]i?b\b|min|[.:][0-9]))"
_STEPS = re.compile(
    rf"(?:\b{_COUNTER}|@|\bat|\bbei|\bin)\s{{0,2}}(?:{_COUNTER}\s{{0,2}})?({_NUMBER}"
    rf"(?:\s{{0,2}}(?:,|;|&|\+|/|and|und|or|oder|vs\.?|和|、)\s{{0,2}}(?:and |und )?(?:at |@ ?)?"
    rf"(?:{_COUNTER}\s{{1,2}})?{_NUMBER}){{1,5}})",
    re.IGNORECASE,
)
_SO_MANY = re.compile(
    r"\b(?:last|previous|prior|letzten|vorherigen)\s(?:the )?([0-9]{1,2}|two|three|four|five|six|ten|drei|fünf|zehn)\b"
    r"|\b([0-9]{1,2}|two|three|four|five|six|ten|drei|fünf|zehn)\s(?:\w{1,12}\s)?(?:before|prior|last|davor|vorher)\b",
    re.IGNORECASE,
)
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "drei": 3, "fünf": 5, "zehn": 10}


def steps_of(question: Question) -> tuple[int, ...]:
    """The steps that a question names, if there are several."""
    match = _STEPS.search(question.text)
    numbers = [int(number) for number in re.findall(r"[0-9]{1,9}", match[1])] if match else []
    return tuple(dict.fromkeys(numbers))[:MAX_STEPS] if len(numbers) > 1 else ()


def at_steps(subject: Subject, steps: Sequence[int], found: Sequence[FoundValue]) -> tuple[str, list[FoundValue]]:
    """The value at each of some steps in one sentence, and where they stand; an empty one where none stands at any."""
    texts = read_rows(subject.parsed.files, subject.parsed.table, np.array([item.row for item in found], np.intp))
    reached = subject.parsed.iterations.of_row
    parts, shown = [], list[FoundValue]()
    for step in steps:
        mine = [
            item
            for item in found
            if any(str(step) in (match[2], match[4]) for match in COUNTED.finditer(texts.get(item.row, "")))
        ] or [item for item in found if int(reached[np.array([item.row])][0]) == step]
        values = {item.named.value: item for item in mine}
        listed = [
            f"{value} ({item.who})" if len(values) > 1 and item.who else value
            for value, item in list(values.items())[:MAX_SPEAKERS]
        ]
        more = f" and {len(values) - MAX_SPEAKERS} more" if len(values) > MAX_SPEAKERS else ""
        parts.append(f"{', '.join(listed)}{more} at {step:,}" if mine else f"none is told at {step:,}")
        shown += mine[:1]
    return (cited(f"{found[-1].named.name}: {'; '.join(parts)}."), shown) if shown else ("", [])


def asks_course(question: Question) -> bool:
    """Whether a value is asked for step by step, or the last few of it."""
    return asks(question, "per_step") or _SO_MANY.search(question.text) is not None


def listed(subject: Subject, question: Question, found: Sequence[FoundValue]) -> tuple[str, list[FoundValue]]:
    """The values of the one who tells most, one by one in their order; the last few where so many are asked for."""
    by_who: dict[str, list[FoundValue]] = {}
    for item in found:
        by_who.setdefault(item.who, []).append(item)
    meant = (*question.nodes, *(suspect.node for suspect in subject.diagnosis.nodes[:1]))
    named = [who for node in meant for who in by_who if who.endswith(node)]
    who = max(named[:1] or by_who, key=lambda name: len(by_who[name]))
    mine = by_who[who]
    match = _SO_MANY.search(question.text)
    if match is not None:
        number = (match[1] or match[2]).casefold()
        sign = wording.first_sign(subject.diagnosis)
        times = subject.parsed.table.time
        before = [item for item in mine if sign is None or int(times[item.row]) < sign]
        before = before or mine
        finite = [item for item in before if item.named.number is not None]  # before it was none: a NaN is no number
        mine = (finite or before)[-int(_WORDS.get(number, number)) :]
    shown = mine if len(mine) <= MAX_LISTED else [*mine[: MAX_LISTED // 2], *mine[-MAX_LISTED // 2 :]]
    texts = [f"{item.named.value} ({_place(subject, item)})" for item in shown]
    if len(shown) < len(mine):
        texts.insert(MAX_LISTED // 2, f"{len(mine) - len(shown):,} more")
    of = f" of {who}" if who and len(by_who) > 1 else ""
    return cited(f"{mine[0].named.name}{of}, in order: {', '.join(texts)}."), list(mine)


def _place(subject: Subject, item: FoundValue) -> str:
    time = int(subject.parsed.table.time[item.row])
    return item.at or (clock(time) if time != NO_TIME else "no clock")
