"""Which words of a question say what it is about, and what each of them tells in a job.

A word weighs what it tells in this job: its rarity among kinds of messages and settings (inverse document frequency).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.ask.about_events import stop_words
from bot.ask.english import EVENT, JOB, NODE, NUMBER, THING
from bot.ask.job_settings import settings_of
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.ask.terms import same, stem_of, terms_of
from bot.ask.wanted_value import Wanted, wanted

UNKNOWN = 0.4  # of its weight that a word keeps which stands nowhere: a paraphrase, or something that is not there
SLIP = 6  # letters of an unknown word from which on it may be a known one with a slip: "missmatch"
_IDENTIFIER = re.compile(r"[\w./:+-]{0,60}[0-9_/.:][\w./:+-]{0,60}", re.ASCII)  # names that plain English words lose
_AMOUNT = re.compile(r"[0-9]{1,12}|[0-9.,]{1,12}[a-z%]{1,3}")  # "22", "25000ms": an amount names nothing by itself
_KINDS = {EVENT, JOB, NODE, NUMBER, THING, "path"}


@dataclass(frozen=True, eq=False)
class WeighedWords:
    """The words of a question that say what it is about, and what each of them tells in a job."""

    subject: Subject
    question: Question

    def is_told(self, typed: str) -> bool:
        """Whether a word as somebody typed it is one of those that say what the question is about."""
        return not self.words.isdisjoint(terms_of(typed))

    @property
    def messages(self) -> list[frozenset[str]]:
        """The terms of each kind of message."""
        return self.subject.messages

    @cached_property
    def often(self) -> Counter[str]:
        """In how many kinds of messages and settings a term stands."""
        return Counter(term for terms in (*self.messages, *self.settings.values()) for term in terms)

    @cached_property
    def settings(self) -> dict[str, frozenset[str]]:
        """The terms of the name of each setting of the job."""
        return {field: terms_of(field) for field in settings_of(self.subject)}

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question that say what it is about and that are known here."""
        question = self.question
        names = {part for name in (*question.nodes, *question.unknown) for part in terms_of(name)}
        named = " ".join(_IDENTIFIER.findall(question.text))
        numbers = {str(number) for number in (*question.ranks, *question.iterations)}
        stopped = {*stop_words(), *(stem_of(word) for word in stop_words())}
        words = {stem for stem in terms_of(question.plain) if not stem.startswith("=") and not stem.isdigit()}
        words |= {name for name in terms_of(named) if not name.startswith("=") and not _AMOUNT.fullmatch(name)}
        counted = {"number"} if Wanted.HOW_MANY in wanted(question) else set()
        return frozenset(map(self._mended, (words - stopped - names - _KINDS - numbers) | counted))

    def _mended(self, word: str) -> str:
        """An unknown long word as the known one that it is a slip of, if there is one."""
        if len(word) < SLIP or any(self.often[term] for term in (word, *same(word))):
            return word
        found = process.extractOne(word, sorted(self.often), scorer=OSA.distance, score_cutoff=1)
        return found[0] if found and found[0][0] == word[0] else word

    def alike(self, word: str) -> tuple[str, ...]:
        """A word and its group of one meaning; the batch of a "batch size" is no iteration."""
        whole = word == "batch" and "size" in self.question.plain
        return (word,) if whole else (word, *same(word))

    def weight(self, words: frozenset[str] | set[str]) -> float:
        """What some words of the question tell, by their rarity."""
        return sum(self._of(word) for word in words)

    def _of(self, word: str) -> float:
        found = min((self.often[term] for term in self.alike(word) if self.often[term]), default=0)
        weight = log(1 + (len(self.settings) + len(self.messages)) / (1 + found))
        return weight if found else UNKNOWN * weight

    def share(self, words: frozenset[str] | set[str], terms: frozenset[str]) -> float:
        """The share of the weight of some words that terms hold."""
        whole = self.weight(words)
        return self.weight({word for word in words if not terms.isdisjoint(self.alike(word))}) / whole if whole else 0.0


def terms_of_all(lines: Sequence[str]) -> frozenset[str]:
    """The terms of all lines."""
    return frozenset(term for line in lines for term in terms_of(line))
