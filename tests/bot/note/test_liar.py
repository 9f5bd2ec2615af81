"""Whatever a model says: no false claim reaches a reader, and true drafts do."""

import json
from functools import cache

import pytest

from bot.chat.model import ScriptedModel
from bot.note.check import Court, check
from bot.note.draft import Sentence
from bot.note.evidence import collect
from bot.note.note import Author, plain
from bot.note.write import write_note
from tests.bot.note.liar import Lie, all_lies
from tests.bot.note.truths import HARD, TRUE, Raw

MOST_ACCEPTED = 0.5  # of the true sentences that are hard to follow: measured 11 of 20


@cache
def lies() -> tuple[Lie, ...]:
    return all_lies()


@pytest.mark.parametrize("number", range(len(all_lies())))
def test_no_lie_gets_through(number: int) -> None:
    """The words of a lie are not in the note, and all that is in it holds."""
    lie = lies()[number]

    note = write_note(lie.diagnosis, lie.known, lie.model())

    assert not [words for words in lie.forbidden if words in "\n".join(plain(note))], lie.name
    assert check(note.draft(), collect(lie.diagnosis, lie.known), lie.diagnosis) == ()


def test_there_are_many_kinds_of_lies() -> None:
    """What we could think of: at least sixty lies of twenty kinds."""
    assert len(lies()) >= 60
    assert len({lie.kind for lie in lies()}) >= 20


@pytest.mark.parametrize("name", TRUE)
def test_a_true_draft_gets_through_as_it_is(name: str) -> None:
    """The check does not just refuse everything."""
    diagnosis, known, draft = TRUE[name]

    note = write_note(diagnosis, known, ScriptedModel(json.dumps(draft)))

    assert note.refused == ()
    assert note.author is Author.MODEL


def test_most_true_sentences_are_accepted_even_when_they_are_hard_to_follow() -> None:
    """Refusing costs good sentences; we know how many."""
    accepted = [sentence for base, field, sentence in HARD if not list(_reasons(base, field, sentence))]

    assert len(accepted) >= MOST_ACCEPTED * len(HARD)


def _reasons(base: str, field: str, sentence: Raw) -> list[str]:
    diagnosis, known, _ = TRUE[base]
    court = Court(collect(diagnosis, known), diagnosis)
    return list(court.reasons(field, Sentence.model_validate(sentence)))


def test_one_lie_costs_one_sentence() -> None:
    """A refused sentence of a list is left out; the rest of a model's note stays."""
    lie = next(lie for lie in lies() if lie.name == "happened: 33 heartbeats of node-01 failed in a row.")

    note = write_note(lie.diagnosis, lie.known, lie.model())

    assert note.author is Author.REPAIRED
    assert len(note.happened) == 4
    assert any("33" in reason for reason in note.refused)


def test_a_good_repair_is_taken() -> None:
    """What the model puts right is shown as repaired."""
    lie = next(lie for lie in lies() if lie.name == "true repair")

    assert write_note(lie.diagnosis, lie.known, lie.model()).author is Author.REPAIRED


def test_a_false_headline_costs_the_whole_draft() -> None:
    """Where to look first is never patched together: then the note is written by code."""
    lie = next(lie for lie in lies() if lie.name.startswith("headline: The network link of node-77"))

    note = write_note(lie.diagnosis, lie.known, lie.model())

    assert note.author is Author.CODE
    assert note.headline.text == lie.diagnosis.headline
