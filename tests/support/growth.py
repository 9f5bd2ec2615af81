"""Texts that a regular expression may find hard, made from the expression itself, and how its time grows with them."""

import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]  # typeshed leaves them out
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from typing import Any

_SAMPLES = {op.CATEGORY_DIGIT: "7", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a", op.CATEGORY_NOT_SPACE: "a",
            op.CATEGORY_NOT_DIGIT: "a", op.CATEGORY_NOT_WORD: "-"}  # fmt: skip
_ENDS = ("", "\x00", "!")
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
MOST_PUMPS = 24  # texts for one expression
LONG_TRY = 0.002  # seconds of CPU, of which nobody else's work takes a large part: it is not tried again


def pumps(pattern: str, flags: int) -> list[tuple[str, str]]:
    """A beginning and a piece: for each repeated part, what leads to it and one of what it repeats; and the whole."""
    tree = parser.parse(pattern, flags)
    whole = _sample(tree)
    found = [("", whole), ("", whole[: len(whole) // 2]), *_repeated(tree, "")]
    return [pump for pump in dict.fromkeys(found) if pump[1]][:MOST_PUMPS]


def seconds(
    pattern: re.Pattern[Any], start: str, piece: str, length: int, method: str = "finditer", *, tries: int = 3
) -> float:
    """CPU seconds in a text of so many characters, the worst of three ends; the best of the tries, if it is short.

    Args:
        method: how it is used: ``finditer`` for all matches wherever they are, ``match`` or ``fullmatch`` at the start.
    """
    body = start + piece * (length // len(piece) + 1)
    use = getattr(pattern, method)
    worst = 0.0
    for end in _ENDS:
        text = body[:length] + end
        subject: Any = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
        taken: list[float] = []
        for _ in range(tries):
            began = time.thread_time()
            deque(use(subject) if method == "finditer" else [use(subject)], maxlen=0)
            taken.append(time.thread_time() - began)
            if taken[-1] > LONG_TRY:
                break
        worst = max(worst, min(taken))
    return worst


def _repeated(tree: Sequence[Any], before: str) -> Iterator[tuple[str, str]]:
    for kind, value in tree:
        if kind in REPEATS:
            body = value[2]
            yield before, _sample(body)
            yield from _repeated(body, before)
        for inside in _inside(kind, value):
            yield from _repeated(inside, before)
        before += _sample([(kind, value)])


def _inside(kind: Any, value: Any) -> list[Any]:
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.BRANCH:
        return list(value[1])
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is op.ATOMIC_GROUP else []


def _sample(tree: Sequence[Any]) -> str:
    return "".join(_one(kind, value) for kind, value in tree)


def _one(kind: Any, value: Any) -> str:  # noqa: PLR0911 one for each kind of node
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is op.ANY:
        return "a"
    if kind is op.IN:
        return _of_class(value)
    if kind in REPEATS:
        least, _, body = value
        times: int = max(1, min(least, 64))
        return _sample(body) * times
    if kind is op.BRANCH:
        return _sample(value[1][0])
    if kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return _sample(value[3] if kind is op.SUBPATTERN else value)
    return ""


def _of_class(items: Sequence[Any]) -> str:
    negated = any(kind is op.NEGATE for kind, _ in items)
    if not negated:
        kind, value = items[0]
        if kind is op.LITERAL:
            return chr(value)
        return chr(value[0]) if kind is op.RANGE else _SAMPLES.get(value, "a")
    banned = re.compile("[" + "".join(_class_text(kind, value) for kind, value in items if kind is not op.NEGATE) + "]")
    return next((one for one in 'a 7-=:x/"\n' if not banned.match(one)), "~")


def _class_text(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_SPACE: r"\S",
            op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_NOT_WORD: r"\W"}.get(value, "")  # fmt: skip
