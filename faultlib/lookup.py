"""Which patterns of a large library can match a job, or be like it, found without reading the others.

A pattern is entered under one rare word of each event that its signature wants, under the traits of its core, and
under all of its words. What is found this way is checked exactly afterwards. The entries are in the library's file,
made anew from the patterns where they are missing; a library of few patterns is read whole and has none.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from faultlib.course import Course
from faultlib.database import Database
from faultlib.errors import LibraryUnavailable
from faultlib.lexical import Lexicon, words_of
from faultlib.pattern import Aspect, Part, Pattern
from faultlib.records import pattern_of
from faultlib.signature import fixed_words

FEW = 2_000  # read whole in 1.5 s CPU (benchmarks.library_scale), and a team has a few hundred
LIKE = 150  # patterns with the most rare words in common: three of them are shown
SHARING = 100  # the same of those that share a trait of the core
RARE = 32  # words of a job that are looked for: the others are in most patterns
_BATCH = 500  # patterns that are entered in one transaction
_RUN = re.compile(r"\w+")
# clause of a key: of the signature, from 0; -1: the word is a trait of the core
_TABLES = """
    CREATE TABLE IF NOT EXISTS entered
        (number INTEGER PRIMARY KEY, pattern TEXT NOT NULL UNIQUE, version INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS keys (word TEXT NOT NULL, number INTEGER NOT NULL, clause INTEGER NOT NULL,
        PRIMARY KEY (word, number, clause)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS keys_of_pattern ON keys (number);
    CREATE VIRTUAL TABLE IF NOT EXISTS texts
        USING fts5(words, detail = none, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'");
    CREATE VIRTUAL TABLE IF NOT EXISTS text_words USING fts5vocab(texts, row)
"""
_STALE = """
    FROM patterns p JOIN versions v ON v.pattern = p.id AND v.version = p.version
    LEFT JOIN entered e ON e.pattern = p.id WHERE p.status IN ('approved', 'superseded') AND e.version IS NOT p.version
"""
_MATCHING = """
    SELECT e.pattern, count(DISTINCT k.clause), (SELECT max(clause) + 1 FROM keys WHERE number = e.number)
    FROM keys k JOIN entered e ON e.number = k.number JOIN patterns p ON p.id = e.pattern
    WHERE k.clause >= 0 AND k.word IN (SELECT value FROM json_each(?)) AND p.status = 'approved' GROUP BY e.number
"""
_LIKE = """
    SELECT e.pattern FROM texts JOIN entered e ON e.number = texts.rowid JOIN patterns p ON p.id = e.pattern
    WHERE texts MATCH ? AND p.status IN ('approved', 'superseded') {only} ORDER BY bm25(texts), e.pattern LIMIT ?
"""
_SHARING = "AND e.number IN (SELECT number FROM keys WHERE clause = -1 AND word IN (SELECT value FROM json_each(?)))"
_CORE = (
    *(Aspect.MEANS, Aspect.ABOUT, Aspect.FACT, Aspect.WORDS, Aspect.RAISED),
    *(Aspect.RESOURCE, Aspect.SLOWER, Aspect.COURSE),
)
_STANDING = frozenset({Course.FROZEN.value, Course.SILENT.value})  # agree with each other (``faultlib.levels``)
_ANYWHERE = ""  # the word of an event that has none of its own


class Lookup:
    """The index of a library. Every question first brings it up to date, which takes a minute for 50,000 new ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def serves(self) -> bool:
        """Whether it can be asked; if not, all patterns are to be read."""
        [(approved,)] = self._database.rows("SELECT count(*) FROM patterns WHERE status = 'approved'")
        if approved <= FEW:
            return False
        try:
            return (self._there() or self._made()) and self._current()
        except LibraryUnavailable:  # another one writes, the disk is full: reading all needs neither
            return False

    def matching(self, texts: Iterable[str]) -> Sequence[str]:
        """Ids of the patterns of each of whose clauses a word stands in the texts."""
        words = {word for text in texts for word in _RUN.findall(text)} | {_ANYWHERE}
        rows = self._database.rows(_MATCHING, (json.dumps(sorted(words)),))
        return sorted(name for name, found, wanted in rows if found == wanted)

    def like(self, asked: Pattern) -> Sequence[str]:
        """Ids of the patterns that share the most rare words with this one, of all and of those with its core."""
        found_ids = self._holding(words_of(asked.words()))
        rare = sorted((word for word in found_ids if found_ids[word]), key=lambda word: (found_ids[word], word))[:RARE]
        if not rare:
            return ()
        query = " OR ".join(f'"{word}"' for word in rare)
        found = self._database.rows(_LIKE.format(only=""), (query, LIKE))
        causes = json.dumps(list(_core(asked)))
        found += self._database.rows(_LIKE.format(only=_SHARING), (query, causes, SHARING))
        return sorted({name for (name,) in found})

    def lexicon(self, patterns: Iterable[Pattern]) -> Lexicon:
        """How rare the words of these patterns are among all."""
        [(count,)] = self._database.rows("SELECT count(*) FROM entered")
        return Lexicon.counted(
            count, self._holding({word for pattern in patterns for word in words_of(pattern.words())})
        )

    def _holding(self, words: Collection[str]) -> Mapping[str, int]:
        rows = self._database.rows(
            "SELECT w.value, (SELECT doc FROM text_words WHERE term = w.value) FROM json_each(?) w",
            (json.dumps(sorted(words)),),
        )
        return {word: count or 0 for word, count in rows}

    def _there(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM sqlite_master WHERE name = 'text_words'"))

    def _made(self) -> bool:
        """Make its tables, if the file can be written and this SQLite has full-text search."""
        if not (
            self._database.writable and self._database.rows("SELECT sqlite_compileoption_used('ENABLE_FTS5')")[0][0]
        ):
            return False
        with self._database.writing():
            for statement in _TABLES.split(";"):
                self._database.run(statement)
        return True

    def _current(self) -> bool:
        """Enter what is not entered yet; False where that cannot be written."""
        while stale := self._database.rows(f"SELECT p.id, p.version, v.body {_STALE} LIMIT ?", (_BATCH,)):
            if not self._database.writable:
                return False
            with self._database.writing():
                for name, version, body in stale:
                    self._enter(name, version, pattern_of(self._database, name, body))
        return True

    def _enter(self, name: str, version: int, pattern: Pattern) -> None:
        run = self._database.run
        run("DELETE FROM keys WHERE number IN (SELECT number FROM entered WHERE pattern = ?)", (name,))
        run("DELETE FROM texts WHERE rowid IN (SELECT number FROM entered WHERE pattern = ?)", (name,))
        run("DELETE FROM entered WHERE pattern = ?", (name,))
        run("INSERT INTO entered (pattern, version) VALUES (?, ?)", (name, version))
        [(number,)] = self._database.rows("SELECT number FROM entered WHERE pattern = ?", (name,))
        for word, clause in {*self._keys(pattern), *((trait, -1) for trait in _core(pattern))}:
            run("INSERT INTO keys (word, number, clause) VALUES (?, ?, ?)", (word, number, clause))
        run("INSERT INTO texts (rowid, words) VALUES (?, ?)", (number, " ".join(words_of(pattern.words()))))

    def _keys(self, pattern: Pattern) -> Iterator[tuple[str, int]]:
        """For each event of each clause the word that the fewest patterns are entered under, the longest of them."""
        clauses = [[fixed_words(event) for event in clause.events] for clause in pattern.signature.must]
        every = sorted({word for clause in clauses for words in clause for word in words})
        rows = self._database.rows(
            "SELECT word, count(*) FROM keys WHERE word IN (SELECT value FROM json_each(?)) GROUP BY word",
            (json.dumps(every),),
        )
        counts: Mapping[str, int] = Counter(dict(rows))
        for number, clause in enumerate(clauses):
            for words in clause:
                yield min(words, key=lambda word: (counts[word], -len(word), word), default=_ANYWHERE), number


def _core(pattern: Pattern) -> Iterator[str]:
    for trait in pattern.signature.traits:
        if trait.part in (Part.CAUSE, Part.SYMPTOM) and trait.aspect in _CORE:
            aspect = Aspect.MEANS if trait.aspect is Aspect.ABOUT else trait.aspect  # one meaning, however it was told
            for text in _STANDING if trait.text in _STANDING else (trait.text,):
                yield f"{aspect}: {text}"
