"""What is held against each other: a clause of a note, and one sentence or log line of the evidence."""

import re
from dataclasses import dataclass
from functools import cached_property

from bot.note.mentions import Amount, Mentions, amounts_held, mentions
from bot.note.words import stem, stems, words

PARTS = re.compile(r"[,:]\s+|\s+(?:and|but|which)\s+")
WITHOUT = re.compile(
    r"(?i)\b(?:without|no)\s+(?:the\s+|a\s+|an\s+|any\s+)?[\w.-]+|\bof\s+the\s+(?:controller|scheduler|launcher|peers?|others?)\b"
)
LETTERS = re.compile(r"[A-Za-z]+(?:['\u2019][a-z]+)?")
FEW = frozenset({
    "not", "no", "any", "without", "never", "none", "the", "a", "an", "of", "on", "in", "at", "to", "and", "or", "is",
    "was", "were", "be", "it", "its", "that", "this", "by", "for", "with", "from", "as", "has", "had", "did",
})  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?![\w])|[\w-]*\d[\w-]*")


@dataclass(frozen=True)
class Unit:
    """One sentence of a claim, one log line, or both together when the sentence is about that line."""

    text: str
    claim: bool
    names: frozenset[str]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Content words and numbers."""
        return content(self.text)

    @cached_property
    def told(self) -> Mentions:
        """What it mentions; "[rank3]" is a rank too."""
        return mentions(re.sub(r"(?i)\brank(?=\d)", "rank ", self.text), self.names)

    @cached_property
    def amounts(self) -> frozenset[Amount]:
        """Numbers with their nouns."""
        return amounts_held(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Stems of all its words."""
        return stems(LETTERS.findall(self.text))

    @cached_property
    def denials(self) -> tuple[str, ...]:
        """What it says is not so: "not the cause", "without any error"."""
        parts = [part for part in PARTS.split(self.text) if words().negation.search(part)]
        return (*parts, *WITHOUT.findall(self.text))

    def negates(self, said: frozenset[str]) -> bool:
        """Whether the part of it that a clause is about has a "not"."""
        parts = [(len(content(part) & said), words().negation.search(part)) for part in PARTS.split(self.text)]
        most = max(shared for shared, _ in parts)
        return most > 0 and any(negation for shared, negation in parts if shared == most)


class Clause:
    """What a sentence or a part of it says, read once."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self.text = text
        self.said = mentions(text, names)
        self.mechanisms = [(one, found[0]) for one in words().mechanisms if (found := one.says.search(text))]
        rest = text
        for one, _ in self.mechanisms:
            rest = one.says.sub(" ", rest)
        self.words = mentions(rest, names).words  # those of mechanisms are judged as such
        lower = frozenset(LETTERS.findall(text.lower()))
        whole = ("all", "every") if self.said.every else ()
        self.extents = [(word, by) for word, by in words().held_by.items() if word in lower and word not in whole]


def content(text: str) -> frozenset[str]:
    """Stems of the words that tell something, and the numbers."""
    """Stems of the words that tell something, and the numbers."""
    worded = (stem(word) for word in LETTERS.findall(text) if word.lower() not in FEW)
    return frozenset(worded) | frozenset(_NUMBER.findall(text))
