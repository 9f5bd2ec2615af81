"""What the words of a question tell in this job: by their rarity among its kinds of messages.

That is the inverse document frequency of a search engine, a kind of message being the document.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import log

from bot.ask.english import EVENT, JOB, NODE, NUMBER, THING
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.ask.terms import same, stem_of, terms_of
from bot.ask.wanted_value import Wanted, wanted
from bot.ask.word_lists import stop_words

UNKNOWN = 0.4  # of its weight that a word keeps which stands nowhere: a paraphrase, or something that is not there
_IDENTIFIER = re.compile(r"[\w./:+-]{0,60}[0-9_/.:][\w./:+-]{0,60}", re.ASCII)  # names that plain English words lose
# "22", "25000ms", "samples/s": an amount or a unit names nothing by itself
_AMOUNT = re.compile(r"[0-9]{1,12}|[0-9.,]{1,12}[a-z%]{1,3}|[a-z]{2,20}/[a-z]{0,4}")
_KINDS = {stem_of(kind) for kind in (EVENT, JOB, NODE, NUMBER, THING, "path")}


@dataclass(frozen=True, eq=False)
class WordWeights:
    """A question's words, weighed by the messages of a job."""

    subject: Subject
    question: Question

    @property
    def messages(self) -> list[frozenset[str]]:
        """The terms of each kind of message."""
        return self.subject.messages

    @cached_property
    def often(self) -> Counter[str]:
        """In how many kinds of messages a term stands."""
        return Counter(term for terms in self.messages for term in terms)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question that say what it is about."""
        question = self.question
        names = {part for name in (*question.nodes, *question.unknown) for part in terms_of(name)}
        named = " ".join(_IDENTIFIER.findall(question.text))
        numbers = {str(number) for number in (*question.ranks, *question.iterations)}
        stopped = {*stop_words(), *(stem_of(word) for word in stop_words())}
        words = {stem for stem in terms_of(question.plain) if not stem.startswith("=") and not stem.isdigit()}
        words |= {name for name in terms_of(named) if not name.startswith("=") and not _AMOUNT.fullmatch(name)}
        words = {word[:-1] if word.endswith("s") and self._is_plural(word) else word for word in words}
        counted = {"number"} if Wanted.HOW_MANY in wanted(question) else set()
        return frozenset((words - stopped - names - _KINDS - numbers) | counted)

    def _is_plural(self, word: str) -> bool:
        """Whether lines hold a short word without its "s" only: "gpus", from which the stem keeps it."""
        return not self.often[word] and bool(self.often[word[:-1]])

    def known(self, words: Iterable[str]) -> frozenset[str]:
        """Those of some words that any message holds, as they are or by a word of the same meaning."""
        return frozenset(word for word in words if any(self.often[term] for term in (word, *same(word))))

    def weight(self, words: Iterable[str]) -> float:
        """What some words of the question tell, by their rarity."""
        return sum(self._of(word) for word in words)

    def _of(self, word: str) -> float:
        found = min((self.often[term] for term in (word, *same(word)) if self.often[term]), default=0)
        weight = log(1 + len(self.messages) / (1 + found))
        return weight if found else UNKNOWN * weight

    def share(self, words: frozenset[str], terms: frozenset[str]) -> float:
        """The share of the weight of some words that terms hold."""
        whole = self.weight(words)
        held = (word for word in words if any(term in terms for term in (word, *same(word))))
        return self.weight(held) / whole if whole else 0.0
