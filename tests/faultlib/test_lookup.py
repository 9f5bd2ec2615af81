"""The index of a large library finds what reading all of it finds."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.library_scale import patterns
from core.occurrences import Occurrence
from faultlib import lookup
from faultlib.database import Database, open_database
from faultlib.draft import pattern_of
from faultlib.embedding import WordHash
from faultlib.lexical import Lexicon, words_of
from faultlib.library import open_library
from faultlib.lookup import Lookup
from faultlib.pattern import Entry, Pattern, Status
from faultlib.records import entries, entry, save
from faultlib.signature import find_matches, fixed_words
from tests.support.library_diagnoses import link_down
from tests.support.library_entries import entry as confirmed


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A library of 60 patterns, which is large here."""
    monkeypatch.setattr(lookup, "FEW", 20)
    monkeypatch.setattr(lookup, "_BATCH", 25)
    opened = open_database(tmp_path)
    with opened.writing():
        for pattern in patterns(60):
            save(opened, None, approved(pattern))
    yield opened
    opened.close()


def approved(pattern: Pattern) -> Entry:
    return confirmed("x").model_copy(update={"pattern": pattern})


def job_of(pattern: Pattern) -> tuple[Occurrence, ...]:
    """A job that says what each clause of a pattern wants, among other messages."""
    said = [clause.events[0].replace("<*>", "something") for clause in pattern.signature.must]
    return tuple(
        Occurrence(f"e{number}", (text, f"more {number}"), ("n1",), 1)
        for number, text in enumerate([*said, "iteration 7"])
    )


def test_each_job_matches_the_same_patterns_as_by_reading_all(database: Database) -> None:
    """The words of a job leave few patterns to check, and none that matches is among those left out."""
    index, known = Lookup(database), entries(database, [Status.APPROVED])
    assert index.serves()
    read = 0
    for one in known:
        job = job_of(one.pattern)
        found = index.matching(text for said in job for text in said.texts)
        by_index = find_matches([entry for entry in known if entry.id in found], job, ["n1"])
        assert by_index == find_matches(known, job, ["n1"])
        read += len(found)
    assert read < 4 * len(known)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("<*>rror in <*> loop", {"in", "loop"}),
        ("peer 10.0.0.5 stopped", {"peer", "stopped"}),
        ("<*>", set()),
        ("disk full", {"disk", "full"}),
    ],
)
def test_only_words_that_every_fitting_message_has_are_entered(event: str, words: set[str]) -> None:
    """What touches a wildcard or a mask may be part of a longer word there."""
    assert fixed_words(event) <= words
    assert bool(fixed_words(event)) == bool(words)


def test_a_job_is_shown_to_the_patterns_that_read_like_it(database: Database) -> None:
    """The draft of a job finds its own pattern among the strangers, and one with its cause in other words."""
    draft = pattern_of(link_down())
    own = draft.model_copy(update={"id": "own"})
    other = draft.model_copy(update={"id": "other", "title": "Port went dark", "cause": "?", "evidence": ""})
    with database.writing():
        for pattern in (own, other):
            save(database, None, approved(pattern))
    index = Lookup(database)
    assert index.serves()

    assert {"own", "other"} <= set(index.like(draft))


def test_words_are_as_rare_as_when_all_is_read(database: Database) -> None:
    """The index counts what a lexicon of all texts counts."""
    index, known = Lookup(database), entries(database, [Status.APPROVED])
    assert index.serves()
    one = known[7].pattern

    counted, exact = index.lexicon([one]), Lexicon(entry.pattern.words() for entry in known)

    assert {word: counted.rarity(word) for word in words_of(one.words())} == {
        word: exact.rarity(word) for word in words_of(one.words())
    }


def test_an_edited_pattern_is_entered_anew(database: Database) -> None:
    """The next question finds the new words, and no longer the old ones."""
    index = Lookup(database)
    assert index.serves()
    before = entry(database, "made-3")
    clause = before.pattern.signature.must[0].model_copy(update={"events": ("entirely new wording",)})
    signature = before.pattern.signature.model_copy(update={"must": (clause,)})
    words = before.pattern.model_copy(update={"signature": signature})
    with database.writing():
        save(database, before, before.model_copy(update={"pattern": words, "version": 2, "revision": 9}))

    assert index.serves()
    assert "made-3" in index.matching(["entirely new wording"])
    assert "made-3" not in index.matching(job_of(before.pattern)[0].texts)


def test_where_nothing_can_be_written_all_is_read(database: Database, tmp_path: Path) -> None:
    """Another program that writes costs time, and no answer."""
    other = open_database(tmp_path)
    database.run("PRAGMA busy_timeout=1")
    with other.writing():
        assert not Lookup(database).serves()
    other.close()
    assert Lookup(database).serves()


def test_a_small_library_has_no_index(tmp_path: Path) -> None:
    """It is read whole; nothing is written for it."""
    with_few = open_database(tmp_path)

    assert not Lookup(with_few).serves()
    assert with_few.rows("SELECT 1 FROM sqlite_master WHERE name = 'entered'") == []
    with_few.close()


def test_a_pattern_is_found_by_what_joined_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a large library: what gave way stays in the index, and brings the pattern that it joined."""
    monkeypatch.setattr(lookup, "FEW", 20)
    with open_library(tmp_path, WordHash(), clock=lambda: datetime(2026, 11, 26, tzinfo=UTC)) as library:
        for pattern in patterns(30):
            library.put(approved(pattern))
        link = pattern_of(link_down()).model_copy(update={"id": "link"})
        library.put(approved(link))
        taught = library.entry(next(patterns(1)).id)
        library.supersede("link", taught.id, who="ada", revision=library.entry("link").revision)

        found, _ = library.may_be_like(pattern_of(link_down()), ())
    assert {"link", taught.id} <= {entry.id for entry in found}
