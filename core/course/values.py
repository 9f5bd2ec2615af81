"""Values in a line of text: numbers, checksums, nan."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\s,;|=:()\[\]{}\"'<>]+")
_VALUE = re.compile(
    r"[-+]?\d[\d.]*(?:e[-+]?\d+)?|(?=[a-f]*\d)[0-9a-f]{6,64}|0x[0-9a-f]{1,32}|nan|[-+]?inf", re.IGNORECASE
)
_WITH_UNIT = re.compile(r"([-+]?\d[\d.]*)([munµ]?s|[kmgt]i?b|%)", re.IGNORECASE)  # 0.029s, 355MB, 97%
_IS = re.compile(r"is|was|are|were", re.IGNORECASE)
_PART = re.compile(r"[,;|]")  # between the parts of a line


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a line.

    place: which of its values it is. name: the word before it, or before its verb ("loss is 2.5"). behind: the one
    after it, empty where that names the next value. words: all that stand between the value before and it.
    """

    place: int
    name: str
    text: str
    behind: str
    words: tuple[str, ...]


def values_of(text: str) -> Iterator[Value]:
    """All values of a line, from left to right."""
    words = list(_WORD.finditer(text))
    with_unit = [_WITH_UNIT.fullmatch(word[0].rstrip(".")) for word in words]
    is_value = [
        unit is not None or _VALUE.fullmatch(word[0].rstrip(".")) is not None
        for word, unit in zip(words, with_unit, strict=True)
    ]
    name, place, before = "", 0, list[str]()
    for at, word in enumerate(words):
        if is_value[at]:
            place += 1
            unit = with_unit[at]
            value, behind = unit.groups() if unit else (word[0].rstrip("."), _behind(text, words, is_value, at))
            yield Value(place, name, value, behind, tuple(before))
            before = []
        else:
            name = name if name and _IS.fullmatch(word[0]) else word[0]
            before.append(word[0])


def _behind(text: str, words: Sequence[re.Match[str]], is_value: Sequence[bool], at: int) -> str:
    """The word behind a value: none that names the value after it, as where a line has names and values in turn."""
    if at + 1 >= len(words) or is_value[at + 1]:
        return ""
    follows = words[at + 1]
    if _PART.search(text, words[at].end(), follows.start()):
        return ""
    in_turn = is_value[-1] and at + 2 < len(words) and is_value[at + 2]
    return "" if in_turn or text[follows.end() : follows.end() + 1] in ("=", ":") else follows[0]
