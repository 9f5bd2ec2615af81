"""Which facts and lines speak of what a question speaks of, and of what its answer so far does not.

A word weighs what it tells in this job: its rarity among all facts and kinds of messages (inverse document frequency).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from bot.ask.about_events import stop_words
from bot.ask.english import EVENT, JOB, NODE, NUMBER, THING
from bot.ask.fact import Fact
from bot.ask.facts_lines import fact_of_event
from bot.ask.job_facts import sheet
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.ask.terms import same, stem_of, terms_of
from bot.ask.wanted_value import Wanted, holds, wanted

# Shares of the weight of a question's words; by what the two hundreds of seen questions had right (docs/LOG.md)
ENOUGH = 0.55  # that a fact must hold to answer a question that nothing else answers
NEAREST = 0.3  # that a line must hold to be shown as the nearest one, which is no answer
LACKED = 0.4  # that a fact must hold which has the kind of value that the answer so far lacks
BESIDE = 0.65  # of what the answer so far leaves open, for a fact to stand beside it
OPEN = 0.35  # that an answer must leave open for anything to stand beside it
FAR = 0.35  # of the weight of the words that a fact must hold more than an answer by names to come before it
MAX_TRIED = 6  # kinds of messages whose lines are read
NAMED, OTHER = 0.25, 0.4  # more where a fact is about who is named, less where it is about others alone
MEANT = 1.0  # more where it is about an address or an exit code that the question names
HELD = 0.15  # more where it holds the kind of value that is wanted
UNKNOWN = 0.4  # of its weight that a word keeps which stands nowhere: a paraphrase, or something that is not there
LINES_LESS = 0.03  # less for a line than for a fact: facts are sentences
_IDENTIFIER = re.compile(r"[\w./:+-]{0,60}[0-9_/.:][\w./:+-]{0,60}", re.ASCII)  # names that plain English words lose
_AMOUNT = re.compile(r"[0-9]{1,12}|[0-9.,]{1,12}[a-z%]{1,3}")  # "22", "25000ms": an amount names nothing by itself
_KINDS = {stem_of(kind) for kind in (EVENT, JOB, NODE, NUMBER, THING, "path")}


@dataclass(frozen=True, eq=False)
class Picker:
    """A question over all that is known of a job."""

    subject: Subject
    question: Question

    def answering(self) -> list[Fact]:
        """The facts that answer the question, the best first; none where none holds enough of its words."""
        return self._best(self.words, ENOUGH)

    def holding(self, kind: Wanted) -> list[Fact]:
        """Facts that hold a kind of value which an answer lacks; fewer of the question's words are enough for them."""
        found = [fact for fact in self._best(self.words, LACKED) if holds(self.subject, kind, fact.as_lines)]
        return sorted(found, key=lambda fact: not fact.says)  # any line of a log has a clock and a name

    def beside(self, lines: Sequence[str]) -> list[Fact]:
        """Facts about what the question speaks of and these lines do not."""
        known_terms = terms_of_all(lines)
        left = {word for word in self.words if not _is_in(word, known_terms)}
        meant = [
            fact
            for fact in self.facts
            if self._is_meant(fact) and not any(line.startswith(fact.says) for line in lines)
        ]
        if meant:
            return meant
        if self.weight(left) < OPEN * self.weight(self.words):
            return []
        return [fact for fact in self._best(left, BESIDE) if not set(fact.as_lines) <= set(lines)]

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts of the job that the question may be answered from."""
        return list(sheet(self.subject, self.question))

    @property
    def messages(self) -> list[frozenset[str]]:
        """The terms of each kind of message."""
        return self.subject.messages

    @cached_property
    def often(self) -> Counter[str]:
        """In how many facts and kinds of messages a term stands."""
        return Counter(term for terms in (*(fact.terms for fact in self.facts), *self.messages) for term in terms)

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
        return frozenset((words - stopped - names - _KINDS - numbers) | counted)

    def _is_meant(self, fact: Fact) -> bool:
        """Whether the question holds one of the names of a fact as it is: an address, an exit code."""
        text = self.question.text.casefold()
        return any(re.search(rf"(?<![\w.]){re.escape(key)}(?![\w]|\.[0-9])", text) for key in fact.keys)

    @cached_property
    def groups(self) -> set[str]:
        """The words of the question and the names of their groups."""
        return {term for word in self.words for term in (word, *same(word))}

    def weight(self, words: frozenset[str] | set[str]) -> float:
        """What some words of the question tell, by their rarity."""
        return sum(self._of(word) for word in words)

    def _of(self, word: str) -> float:
        found = min((self.often[term] for term in (word, *same(word)) if self.often[term]), default=0)
        weight = log(1 + (len(self.facts) + len(self.messages)) / (1 + found))
        return weight if found else UNKNOWN * weight

    def share(self, words: frozenset[str] | set[str], terms: frozenset[str]) -> float:
        """The share of the weight of some words that terms hold."""
        whole = self.weight(words)
        return self.weight({word for word in words if _is_in(word, terms)}) / whole if whole else 0.0

    def _best(self, words: frozenset[str] | set[str], least: float) -> list[Fact]:
        scored = []
        for number, fact in enumerate(self.facts):
            share = self.share(words, fact.terms) * (self._narrow(fact) if fact.narrow else 1.0)
            score = share + self._about(fact) + self._held(fact.as_lines)
            if share > 0 and score >= least:
                scored.append((-score, number, fact))
        events = sorted(
            ((-self.share(words, terms), number) for number, terms in enumerate(self.messages) if terms),
            key=lambda item: item,
        )
        for share, number in events[:MAX_TRIED]:
            if -share < least - HELD:
                break
            line = fact_of_event(self.subject, number, self.question, frozenset(self.groups))
            score = -share - LINES_LESS + (self._held(line.as_lines) if line else 0.0)
            if line and score >= least - LINES_LESS:
                scored.append((-score, len(self.facts) + number, line))
        return [fact for _, _, fact in sorted(scored, key=lambda item: item[:2])]

    def _narrow(self, fact: Fact) -> float:
        """How much of a setting's own name the question says, from a half to one."""
        name = {term for term in terms_of(fact.says.partition(":")[0]) if not term.startswith("=")}
        texts = [term for term in name if any(_is_in(term, frozenset((word, *same(word)))) for word in self.words)]
        return len(texts) / len(name) if name else 1.0

    def _about(self, fact: Fact) -> float:
        question = self.question
        if self._is_meant(fact):
            return MEANT
        if not (question.nodes or question.ranks) or not (fact.nodes or fact.ranks):
            return 0.0
        homes = {self.subject.home.get(rank) for rank in question.ranks}
        mine = bool(set(fact.ranks) & set(question.ranks)) or bool(set(fact.nodes) & {*question.nodes, *homes})
        return NAMED if mine else -OTHER

    def _held(self, lines: Sequence[str]) -> float:
        kinds = wanted(self.question)
        return HELD if kinds and holds(self.subject, kinds[0], lines) else 0.0


def terms_of_all(lines: Sequence[str]) -> frozenset[str]:
    """The terms of all lines."""
    return frozenset(term for line in lines for term in terms_of(line))


def _is_in(word: str, terms: frozenset[str]) -> bool:
    return any(term in terms for term in (word, *same(word)))
