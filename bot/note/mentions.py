"""What a text mentions that can be true or false by itself: nodes, ranks, numbers with their units, times, names."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bot.note.words import stem

Amount = tuple[str, str]  # a number as text, and its unit: stem of the noun behind it, or "ms"

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine":
    9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_TENS = {word: value for word, value in _NUMBERS.items() if value >= 20}
_SPELLED = re.compile(
    r"(?i)(?<![\w-])(?:(" + "|".join(_TENS) + r")[- ](one|two|three|four|five|six|seven|eight|nine)|("
    + "|".join(word for word in _NUMBERS if word != "one") + r"))(?![\w-])"
)  # fmt: skip
_ONE = re.compile(
    r"(?i)(?<![\w-])one(?= (?:node|rank|time|iteration|job|line|peer|second|minute|process|event|message|file)\b)"
)
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?![\d:])")
_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_N = r"\d[\d,]*(?:\.\d+)?"
_RATIO = re.compile(rf"(?<![\w.])({_N})\s+(?:out\s+)?of\s+(?:(?:the|all)\s+)?({_N})\s+([A-Za-z]+)")
_WHOLE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?!\d)"
_LIST = rf"{_WHOLE}(?:\s*(?:,\s*and\b|,\s*or\b|,|and\b|or\b|to\b|through\b|&|[-\u2013])\s*{_WHOLE})*"
_RANKS = re.compile(rf"(?i)(?<![\w-])(?:global\s+)?ranks?\s*#?\s*({_LIST})(?!\w|\.\d)")
_ITERATIONS = re.compile(rf"(?i)(?<![\w-])(?:iterations?|iter|steps?|training\s+step)\s*#?\s*({_LIST})(?!\w|\.\d)")
_LABELS = (
    "xid|sxid|signal|errno|port|exit\\s?code|error|code|status|seq|pid|collective|line|attempt|epoch|version|score"
)
_LABEL = re.compile(
    rf"(?i)(?<![\w-])({_LABELS})\b[\s:=#(]{{0,4}}(?:is\s|of\s|code\s|number\s)?(-?{_N}|0x[0-9a-f]+)(?![\w])"
)
_XID = re.compile(r"(?i)(xid) \([^)]{0,40}\): (\d+)")
_ID = re.compile(r"[EINPCDJ]\d{1,4}")
_TOKEN = re.compile(r"[^\s]+")
_EDGE = ".,;:!?()[]{}\"'\u201c\u201d\u2018\u2019`\u2026"
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WITH_UNIT = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?)(%|[A-Za-z]{1,5})")
_WORD = re.compile(r"[A-Za-z]+(?:['\u2019][A-Za-z]+)?(?:-[A-Za-z]+)*|[A-Za-z]+['\u2019]")
_MILLISECONDS = {"ms": 1, "millisecond": 1, "milliseconds": 1, "s": 1000, "sec": 1000, "secs": 1000, "second": 1000,
                 "seconds": 1000, "min": 60_000, "mins": 60_000, "minute": 60_000, "minutes": 60_000, "h": 3_600_000,
                 "hour": 3_600_000, "hours": 3_600_000}  # fmt: skip
_NO_UNIT = frozenset({
    "of", "the", "a", "an", "to", "on", "in", "at", "from", "for", "with", "and", "or", "but", "by", "is",
    "are", "was", "were", "be", "than", "that", "which", "while", "when", "after", "before", "then", "it",
    "its", "as", "more", "so", "because", "during", "per",
})  # fmt: skip
_BETWEEN = frozenset({
    "other", "others", "successful", "different", "more", "new", "such", "further", "of", "the", "distinct",
    "separate", "good", "healthy", "complete", "completed", "last",
})  # fmt: skip
_EVERY = re.compile(
    r"(?i)\b(?:all|every|each|both)\b(?:\s+(?:of|the|other|its|these|those|remaining|\d[\d,]*))*\s+([A-Za-z]+)"
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What is mentioned; ``words`` are the other words as they stand, ``odd`` what is no word: paths, names, codes."""

    nodes: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    iterations: frozenset[int] = frozenset()
    clocks: frozenset[str] = frozenset()
    ratios: frozenset[tuple[str, str, str]] = frozenset()
    amounts: frozenset[Amount] = frozenset()
    labels: frozenset[Amount] = frozenset()
    numbers: frozenset[str] = frozenset()
    every: frozenset[str] = frozenset()
    odd: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def mentions(text: str, names: Collection[str] = ()) -> Mentions:
    """What a sentence mentions. names: the nodes that are known."""
    text = digits(text)
    every = frozenset(stem(match[1]) for match in _EVERY.finditer(text))
    clocks = frozenset(_CLOCK.findall(text)) | frozenset(_DATE.findall(text))
    text = _DATE.sub(" ", _CLOCK.sub(" ", text))
    ratios = frozenset((_plain(m[1]), _plain(m[2]), stem(m[3])) for m in _RATIO.finditer(text))
    text = _RATIO.sub(" ", text)
    ranks, text = _numbered(_RANKS, text)
    iterations, text = _numbered(_ITERATIONS, text)
    labels = frozenset((_label(m[1]), _plain(m[2])) for m in (*_XID.finditer(text), *_LABEL.finditer(text)))
    text = _LABEL.sub(lambda m: f" {m[1]} ", text)
    nodes, amounts, numbers, odd, found = _tokens(text, names)
    return Mentions(nodes, ranks, iterations, clocks, ratios, amounts, labels, numbers, every, odd, found)


def amounts_held(text: str) -> frozenset[Amount]:
    """Every number of a text with each of the next three words: what an amount in a sentence may stand on."""
    text = _RATIO.sub(lambda match: f" {match[1]} {match[3]} ", digits(text))
    raw = _TOKEN.findall(text)
    tokens = [token.strip(_EDGE) for token in raw]
    held: set[Amount] = set()
    for place, token in enumerate(tokens):
        if match := _WITH_UNIT.fullmatch(token):
            held.add(_amount(match[1], match[2]))
        elif _NUMBER.fullmatch(token):
            held |= set(_units_behind(token, raw[place:], tokens[place + 1 : place + 4]))
    if re.search(r"(?i)\bonce\b", text):
        held.add(("1", stem("time")))
    return frozenset(held)


def in_milliseconds(number: str, unit: str) -> str:
    """A length of time, like "9000ms"; empty when the unit is none of time."""
    factor = _MILLISECONDS.get(unit)
    return f"{float(number.replace(',', '')) * factor:g}ms" if factor else ""


def _units_behind(number: str, raw: list[str], following: list[str]) -> Iterator[Amount]:
    for steps, word in enumerate(following):
        if raw[steps][-1] in ",;:)" or not _WORD.fullmatch(word) or word.lower() in _NO_UNIT - _BETWEEN:
            return
        if steps == 0 or word.lower() not in _MILLISECONDS:
            yield _amount(number, word)


def digits(text: str) -> str:
    """Numbers in words as digits: "seven" is 7, "twenty-one" 21."""
    text = _SPELLED.sub(
        lambda m: str(_NUMBERS[m[1].lower()] + _NUMBERS[m[2].lower()] if m[1] else _NUMBERS[m[3].lower()]), text
    )
    return _ONE.sub("1", text)


def _numbered(pattern: re.Pattern[str], text: str) -> tuple[frozenset[int], str]:
    found: set[int] = set()
    for match in pattern.finditer(text):
        found |= set(_expand(match[1]))
    return frozenset(found), pattern.sub(" ", text)


_LONGEST_RANGE = 10_000  # of ranks in words; more is no sentence


def _expand(numbers: str) -> Iterator[int]:
    for part in re.split(r"\s*(?:,|and|or|&)\s*", re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", numbers)):
        ends = [int(end) for end in re.findall(r"\d{1,9}", part)]
        if len(ends) == 2 and 0 <= ends[1] - ends[0] <= _LONGEST_RANGE:
            yield from range(ends[0], ends[1] + 1)
        else:
            yield from ends


def _tokens(
    text: str, names: Collection[str]
) -> tuple[frozenset[str], frozenset[Amount], frozenset[str], tuple[str, ...], tuple[str, ...]]:
    raw = _TOKEN.findall(text)
    tokens = [token.strip(_EDGE) for token in raw]
    nodes, amounts, numbers = set[str](), set[Amount](), set[str]()
    odd: list[str] = []
    found: list[str] = []
    for place, token in enumerate(tokens):
        own = token.removesuffix("'s").removesuffix("\u2019s")
        named = own if own in names else own[:1].lower() + own[1:]
        if named in names:
            nodes.add(named)
        elif not token or token in ("\u2013", "-", "\u2014", "&", "/"):
            continue
        elif _NUMBER.fullmatch(token):
            unit = "" if raw[place][-1] in ",;:)." else _unit(tokens[place + 1 : place + 4])
            if unit:
                amounts.add(_amount(token, unit))
            else:
                numbers.add(_plain(token))
        elif match := _WITH_UNIT.fullmatch(token):
            amounts.add(_amount(match[1], match[2]))
        elif _WORD.fullmatch(token) and not _is_name(token):
            found.append(token)
        else:
            odd.append(own)
    return frozenset(nodes), frozenset(amounts), frozenset(numbers), tuple(odd), tuple(found)


def _is_name(token: str) -> bool:
    """CamelCase and CAPITALS are names: RuntimeError, CUDA_ERROR, NCCL; a capital at the start is not."""
    return (any(character.isupper() for character in token[1:]) and token != token.upper()) or (
        token.isupper() and len(token) > 1
    )


def is_id(token: str) -> bool:
    """Whether a token looks like the id of a piece of evidence."""
    return _ID.fullmatch(token) is not None


def _unit(following: list[str]) -> str:
    for word in following:
        if not _WORD.fullmatch(word) or word.lower() in _NO_UNIT - _BETWEEN:
            return "%" if word == "%" else ""
        if word.lower() not in _BETWEEN:
            return word
    return ""


def _amount(number: str, unit: str) -> Amount:
    factor = _MILLISECONDS.get(unit) or _MILLISECONDS.get(unit.lower())
    if factor:
        return f"{float(number.replace(',', '')) * factor:g}", "ms"
    return _plain(number), "time" if unit.lower() == "x" else stem(unit)


def _plain(number: str) -> str:
    """A number without separators, so that 1,023 and 1023 are one."""
    return number.replace(",", "").removeprefix("+").lower()


def _label(label: str) -> str:
    return label.lower().replace(" ", "")
