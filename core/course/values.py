"""Values in a line of text: numbers, checksums, nan; and what one line tells of several machines."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\s,;|=:()\[\]{}\"'<>]+")
_VALUE = re.compile(
    r"[-+]?\d[\d.]*(?:e[-+]?\d+)?|(?=[a-f]*\d)[0-9a-f]{6,64}|0x[0-9a-f]{1,32}|nan|[-+]?inf", re.IGNORECASE
)
_WITH_UNIT = re.compile(r"([-+]?\d[\d.]*)([munµ]?s|[kmgt]i?b|%)", re.IGNORECASE)  # 0.029s, 355MB, 97%
_IS = re.compile(r"is|was|are|were", re.IGNORECASE)
_PART = re.compile(r"[,;|]")  # between the parts of a line
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_SECONDS = re.compile(r"s|secs?|seconds")
MIN_NAMED = 3  # of two that a line names, one may be told about the other
REACH = 3  # words between a name and its value: "0.37 s on gpu-7", "gpu-7 took 0.37 s"


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


def seconds_of(text: str, ranks: Mapping[str, int]) -> dict[int, float]:
    """What one line tells of all: the seconds of each rank whose node it names, ``0.37 s on farm-a, 0.33 s on farm-b``.

    None unless the number stands in the same place beside each name.

    Args:
        ranks: by the name of their node.
    """
    words = _WORD.findall(text)
    named = {place: ranks[word.rstrip(".")] for place, word in enumerate(words) if word.rstrip(".") in ranks}
    if len(named) < MIN_NAMED or len(set(named.values())) < len(named):
        return {}
    for away in sorted(range(-REACH, REACH + 1), key=lambda away: (abs(away), away)):
        beside = {rank: _seconds(words, place + away) for place, rank in named.items()}
        found = {rank: value for rank, value in beside.items() if value is not None}
        if len(found) == len(named):
            return found
    return {}


def _seconds(words: list[str], place: int) -> float | None:
    is_told = 0 <= place < len(words) - 1 and _NUMBER.fullmatch(words[place]) and _SECONDS.fullmatch(words[place + 1])
    return float(words[place]) if is_told else None


# Numbers in a row that words before or a unit behind tell to be times: took [0.16, 0.8] s
_LISTED = re.compile(
    r"(?P<says>(?:time|took|after|latenc|elapsed|durat|seconds|\bms\b)\w{0,8}[\w :=()]{0,24}?)?\[?(?<![\w.])"
    r"(?P<values>\d{1,9}\.\d{1,9}(?:[ ,]{1,3}\d{1,9}\.\d{1,9}){1,63})(?![\w.])\]? ?(?P<unit>m?s\b)?",
    re.IGNORECASE,
)
# Two of them; such an expression takes a tenth of the time, and few lines hold any.
_TWO_LISTED = re.compile(r"\.\d{1,9}[ ,]{1,3}\d{1,9}\.\d")


def listed_times(text: str, counts: Collection[int]) -> list[float]:
    """The first list of as many times as one of these counts that a line tells, in whatever unit; empty for none."""
    if not counts or not _TWO_LISTED.search(text):
        return []
    for match in _LISTED.finditer(text):
        values = re.findall(r"\d+\.\d+", match["values"])
        if len(values) in counts and (match["says"] or match["unit"]):
            return list(map(float, values))
    return []
