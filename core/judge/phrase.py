"""What a message says without what differs from one speaker to the other: numbers, clocks, names of machines."""

import re
from collections.abc import Collection

from core.logs.lines import mask

# Of letters of any language; not of the names of masks
_WORD = re.compile(r"(?<!<)(?<![^\W\d_])[^\W\d_]{2,40}(?![^\W\d_])(?!>)")
_MASK = re.compile(r"<[A-Z]{2,8}>")
# A clock, a level, a speaker in brackets, and where loguru says that it was said: "__main__:<module>:53 - "
_HEAD = re.compile(
    r"^(?:<TS>|(?:DEBUG|INFO)\b|\[[^\]\n]{0,40}\]|[\w.]{1,40}:<?\w{1,40}>?:(?:<NUM>|\d{1,6})|[^\w\[]){1,20}"
)


def words_of_names(names: Collection[str]) -> frozenset[str]:
    """The words that names of machines are made of."""
    return frozenset(word for name in names for word in _WORD.findall(name))


def phrase(text: str, names: Collection[str]) -> str:
    """The words of a text in their order, without those of ``names``; the same for the same message of any speaker."""
    return words_in(mask(text.encode()).decode(), names)


def words_in(masked: str, names: Collection[str]) -> str:
    """The same of a text that is masked already: masking is what takes the time."""
    return " ".join(word for word in _WORD.findall(masked) if word not in names)


def without_head(text: str) -> str:
    """A text for a sentence: without its clock and level, which tell nothing, and with dots for its masks."""
    return _MASK.sub("\u2026", _HEAD.sub("", text))
