"""The lines of a job that hold most of what a question asks about, the rarest of it before all: the last resort.

A word, a name or a number weighs what it tells in this job: its rarity among all lines (inverse document frequency).
Every line of every file is read, up to ``MAX_SEARCHED`` bytes; what is said to be not there was sought so.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from bot.ask.concepts import SHORT, Concept, concepts_of
from bot.ask.question import Question
from bot.ask.reply_lines import any_of, cited, quoted, raw
from bot.ask.subject import Subject
from bot.ask.terms import stem_of
from bot.ask.wanted_value import Wanted, asks, head_of, holds, wanted
from bot.text import wording
from core.answer.job_lookup import LookResult, found_rows
from core.answer.search import matching
from core.events.row_text import read_rows
from core.logs.context import lines_around
from core.model import Line
from core.naming import natural

MAX_SEARCHED = 256 << 20  # bytes that are read for each word: about a second
LIKELY = 0.5  # of the weight of a question that a line must hold to be shown for what nothing else answers
COMMON = 0.25  # share of the lines from which on a word finds none by itself; what stands in every fourth tells little
UNKNOWN = 0.25  # of its weight that a word keeps which stands nowhere: a paraphrase, or something that is not there
LIKE = 0.6  # of the weight of a word that a line gets for one that means the same
HEAD = 2.0  # times the weight of the noun behind "which": a line that only holds the verb answers nothing
MAX_TRIED = 400  # lines that are compared in full, those with most of the rare words
HELD = 0.05  # of all weight, more where a line holds the kind of value that is wanted


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line with its row in the event table, and the share of the question's weight that it holds."""

    row: int
    share: float
    text: str


class LineSearch:
    """A question over all lines of a job; what it finds is worked out once, when it is first asked for."""

    def __init__(self, subject: Subject, question: Question, left_out: Collection[str] = ()) -> None:
        """left_out: words of the question that only say how it is asked."""
        self._subject, self._question = subject, question
        self._concepts = concepts_of(question, left_out)
        self._total = max(1, len(subject.parsed.table))

    @cached_property
    def _sought(self) -> dict[Concept, dict[int, float]]:
        """What each row that holds a concept gets for it, in its text or by who wrote it; nothing stands nowhere."""
        every = {concept: self._points(concept) for concept in self._concepts}
        foreign = any(points for concept, points in every.items() if concept.foreign)
        typed = self._question.text.casefold().encode()
        return {
            concept: points
            for concept, points in every.items()
            if (points or not concept.extra) and (not (foreign and concept.plain) or concept.pattern.search(typed))
        }

    def _points(self, concept: Concept) -> dict[int, float]:
        """The rows that hold a concept, each with its weight; those that hold a word like it get less."""
        parsed = self._subject.parsed
        rows = {*matching(parsed, [concept.pattern], most=MAX_SEARCHED, words=concept.words)[0], *self._spoken(concept)}
        times = HEAD if concept.plain and concept.words[0].decode() in self._head else 1.0
        found = dict.fromkeys(rows, times * self._weight(len(rows)))
        if concept.like is not None:
            alike, _ = matching(parsed, [concept.like.pattern], most=MAX_SEARCHED, words=concept.like.words)
            weight = times * LIKE * self._weight(len(rows | set(alike)))
            found |= {row: weight for row in alike if row not in rows}
        return found

    def _spoken(self, concept: Concept) -> list[int]:
        """The rows that the node or the rank of a concept wrote."""
        table = self._subject.parsed.table
        if concept.node in table.nodes:
            mine = table.node_of_voice[table.voice[:]] == table.nodes.index(concept.node)
        elif concept.rank >= 0:
            mine = table.rank_of_voice[table.voice[:]] == concept.rank
        else:
            return []
        found: list[int] = np.flatnonzero(mine).tolist()
        return found

    def _weight(self, rows: int) -> float:
        """What a concept tells that stands in so many rows."""
        return log(1 + self._total / (1 + rows))

    @cached_property
    def _head(self) -> frozenset[str]:
        """The stems of the noun that is asked for; "file" and "error" are what any line may hold."""
        return frozenset(map(stem_of, head_of(self._question))) - _ANY_NOUN

    def _most(self, concept: Concept) -> float:
        """The weight of a concept: of the line that holds it best; less where none does."""
        return max(self._sought[concept].values(), default=UNKNOWN * self._weight(0))

    @cached_property
    def weight(self) -> float:
        """Of all concepts of the question."""
        return sum(map(self._most, self._sought))

    @property
    def lacks_a_word(self) -> bool:
        """Whether a word or a name of the question stands in no line at all; that it is not there is true then."""
        return any(not points for points in self._sought.values())

    @property
    def best_holds_rarest(self) -> bool:
        """Whether the best line holds the rarest word of the question."""
        words = [concept for concept in self._sought if concept.plain and len(concept.words[0]) > SHORT]
        if not self.best or not words:
            return False
        return self.best[0].row in self._sought[max(words, key=self._most)]

    def share_of(self, lines: Sequence[str]) -> float:
        """The share of the question's weight that lines of an answer hold."""
        text = "\n".join(lines).casefold().encode("utf-8", "replace")
        held = 0.0
        for concept in self._sought:
            alike = concept.like is not None and concept.like.pattern.search(text) is not None
            held += self._most(concept) * (1.0 if concept.pattern.search(text) else LIKE if alike else 0.0)
        return held / self.weight if self.weight else 0.0

    def names(self, lines: Sequence[str]) -> bool:
        """Whether lines hold a name or a number that is asked about; also where none is, or no line of the job does."""
        numbers = {str(number) for number in self._question.iterations}
        sought = [
            concept
            for concept, points in self._sought.items()
            if concept.literal and points and concept.words[0].decode() not in numbers
        ]
        text = "\n".join(lines).casefold().encode("utf-8", "replace")
        return not sought or any(concept.pattern.search(text) for concept in sought)

    def tells_value(self, lines: Sequence[str]) -> bool:
        """Whether lines hold the count, the time or the length of time that is asked for."""
        return any(holds(self._subject, kind, lines) for kind in wanted(self._question)[:1] if kind in _AMOUNTS)

    @cached_property
    def best(self) -> tuple[FoundLine, ...]:
        """The lines with most of the weight, one of each kind of message; none where no word is rare."""
        table, parsed = self._subject.parsed.table, self._subject.parsed
        if all(concept.node or concept.rank >= 0 for concept in self._sought):
            return ()  # nothing is said of who is named
        points: dict[int, float] = {}
        for sought in sorted(self._sought.values(), key=len):  # what is common finds none by itself
            for row, weight in sought.items():
                if row in points or len(sought) <= max(2, COMMON * self._total):
                    points[row] = points.get(row, 0.0) + weight
        latest = -1 if asks(self._question, "final") else 1
        order = sorted(points, key=lambda row: (-round(points[row], 6), latest * int(table.time[row]), latest * row))
        texts = read_rows(parsed.files, table, np.array(sorted(order[:MAX_TRIED]), np.intp))
        kinds = wanted(self._question)[:1]
        found: dict[int, FoundLine] = {}
        for row in order[:MAX_TRIED]:
            text = texts.get(row, "")
            value = HELD if kinds and holds(self._subject, kinds[0], [text]) else 0.0
            share = points[row] / self.weight + value
            event = int(table.event[row])
            if event not in found or share > found[event].share:
                found[event] = FoundLine(row, share, text)
        return tuple(sorted(found.values(), key=lambda line: (-line.share, order.index(line.row))))

    def look(self, least: float) -> LookResult:
        """The best lines as a look at the job gives them; none where the best one holds less than a share."""
        rows = [line.row for line in self.best if line.share >= max(least, NEAR * self.best[0].share)]
        return found_rows(self._subject.parsed, "The lines that hold most of what is asked for:", rows)

    def shown(self, most: int, least: float = 0.0) -> list[str]:
        """The best lines as an answer quotes them; those that hold nearly as much as the best one only.

        Of the head of a table the rows below it.
        """
        rows = [line.row for line in self.best if line.share >= max(least, NEAR * self.best[0].share)][:most]
        lines: list[str] = []
        for row in rows:
            found = found_rows(self._subject.parsed, "", [row])
            lines += quoted(found, 1, self._kept)
            if found.lines and _HEAD.fullmatch(found.lines[0].text.strip()):
                lines += self._below(found.lines[0])
        return list(dict.fromkeys(lines))[:most]

    def of_noun(self, most: int, least: float) -> list[str]:
        """The best lines that hold the noun behind "which" itself, no word that means the same."""
        mine = [line for line in self.best if any(stem in line.text.casefold() for stem in self._head)]
        rows = [line.row for line in mine if line.share >= least][:most]
        return quoted(found_rows(self._subject.parsed, "", rows), most, self._kept) if rows else []

    def distinct(self) -> list[str]:
        """The names that are asked for by their noun, as the lines have them: "which OSTs" are OST0011 and OST0012."""
        match = _WHICH.search(self._question.text.casefold())
        if match is None or not self.best:
            return []
        stem = re.escape(stem_of(match[1]).removesuffix("s"))
        name = re.compile(
            rf"(?<![A-Za-z])(?:[\w-]{{0,40}}-)?{stem}[a-z]{{0,3}}[_:# -]{{0,2}}[0-9][\w-]{{0,40}}", re.IGNORECASE
        )
        table = self._subject.parsed.table
        events = {int(table.event[line.row]) for line in self.best if line.share >= NEAR * self.best[0].share}
        rows = np.concatenate([table.rows_of([event])[event][:MAX_TRIED] for event in sorted(events)])
        texts = read_rows(self._subject.parsed.files, table, np.sort(rows))
        names = sorted({found[0] for text in texts.values() for found in name.finditer(text)}, key=natural)
        if not 1 < len(names) <= MAX_NAMES:
            return []
        who = {origin.node for row in texts if (origin := self._subject.origin(row)).node}
        by = f", in lines of {wording.names(sorted(who, key=natural), MAX_NAMES)}" if who else ""
        return [cited(f"{', '.join(names)}{by}.")]

    def _below(self, head: Line) -> list[str]:
        """The rows of a table below its head."""
        place = head.file, head.line
        every = lines_around(self._subject.parsed.job, [place], TABLE_ROWS)[place].lines
        return raw(line for line in every if line.line > head.line and any(map(str.isdigit, line.text)))

    @cached_property
    def _kept(self) -> re.Pattern[bytes] | None:
        """What a line that is cut must keep."""
        return any_of(word.decode() for concept in self._sought for word in concept.words)


_ANY_NOUN = frozenset(
    map(stem_of, ("file", "line", "log", "message", "error", "step", "iteration", "time", "node", "rank", "job", "run"))
)
_AMOUNTS = (Wanted.HOW_MANY, Wanted.HOW_LONG, Wanted.WHEN)
MAX_NAMES = 8  # that are listed; chosen: what a phone shows in three rows
_WHICH = re.compile(r"\b(?:which|what|welche\w?)\s([a-z]{2,30})\b")
TABLE_ROWS = 3  # below the head of a table: a rule and two rows
_HEAD = re.compile(r"[|\s]{0,8}(?:[A-Za-z][\w/%() .-]{0,40}[|\t]\s{0,8}){2,40}[A-Za-z][\w/%() .-]{0,40}[|\s]{0,8}")
NEAR = 0.75  # of the share of the best line that another one must hold to stand beside it
