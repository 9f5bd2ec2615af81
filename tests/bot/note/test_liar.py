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
from tests.bot.note.recombined import recombined, refused
from tests.bot.note.truths import HARD, TRUE, Raw

SEED = 7  # of the recombined lies; benchmarks/quality/liar.py takes a fresh one every time
KNOWN_TO_HAVE_PASSED = (
    ("link, in other words", "node-01 marked the controller as down.", ["E3"]),
    ("frozen rank", "node-01 sent SIGKILL.", ["N1"]),
    ("frozen rank", "The task did not stop within 12 s after SIGKILL.", ["N1"]),
    ("link, in other words", "node-02 logged \u201cstate DOWN\u201d.", ["E1"]),
    ("link, in other words", "32 heartbeats of node-01 failed in a row; the other 3 nodes never did.", ["E2", "E1"]),
    ("link, in other words", "7 of 8 ranks waited 25 s for a peer because its link eth0 is down.", ["E4", "E1"]),
)


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


def test_no_recombined_lie_gets_through() -> None:
    """True words put together by a machine so that they mean another thing are refused, hundreds of them."""
    told = recombined(SEED, per_kind=30)

    assert len(told) == 300
    assert [lie for lie in told if not refused(lie)] == []


@pytest.mark.parametrize(("base", "text", "cites"), KNOWN_TO_HAVE_PASSED)
def test_what_once_passed_is_refused(base: str, text: str, cites: list[str]) -> None:
    """Sentences that the check let through before it looked at the order of words."""
    assert _reasons(base, "happened", {"text": text, "cites": cites})


def test_the_same_seed_gives_the_same_lies() -> None:
    """A failure can be repeated."""
    assert recombined(SEED, per_kind=5) == recombined(SEED, per_kind=5)


@pytest.mark.parametrize("number", range(len(HARD)))
def test_what_is_refused_though_true_is_refused_with_a_reason(number: int) -> None:
    """Refusing costs good sentences that use other words than the evidence; the model is told why."""
    base, field, sentence = HARD[number]

    assert all(len(reason) > 10 for reason in _reasons(base, field, sentence))


def test_a_copy_that_cites_the_wrong_item_is_cited_right() -> None:
    """Small models copy well and cite badly; a copy needs no other proof than its source."""
    diagnosis, known, draft = TRUE["link, in the words of the claims"]
    copied = {"text": "The controller lost node-01 and no other node.", "cites": ["E1"]}

    note = write_note(diagnosis, known, ScriptedModel(json.dumps({**draft, "happened": [copied]})))

    assert note.author is Author.MODEL
    assert note.happened[0].cites == ["E3"]


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
