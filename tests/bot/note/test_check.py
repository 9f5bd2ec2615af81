"""Why a sentence is refused: the reason names what the evidence lacks."""

import json
from dataclasses import replace

import pytest

from bot.note.check import Court, check
from bot.note.clauses import take_apart, without_cites
from bot.note.draft import Draft, Sentence
from bot.note.evidence import collect
from bot.note.mentions import mentions
from bot.note.words import stem, words
from core.model import Confidence
from tests.bot.note.liar import SENTENCES
from tests.bot.note.truths import TRUE, Raw

LINK = "link, in other words"


def reasons(base: str, field: str, text: str, *cites: str) -> list[str]:
    diagnosis, known, _ = TRUE[base]
    court = Court(collect(diagnosis, known), diagnosis)
    return list(court.reasons(field, Sentence(text=text, cites=list(cites))))


@pytest.mark.parametrize(
    ("field", "text", "cites", "reason"),
    [
        ("happened", "node-01 lost its link.", (), "cites nothing"),
        ("happened", "node-01 lost its link.", ("E77",), "no evidence E77"),
        ("happened", "node-02 lost its link.", ("E1",), "E1 does not hold: node-02"),
        ("happened", "Rank 9 waited for a peer.", ("E4",), "rank 9"),
        ("happened", "33 heartbeats failed in a row.", ("E2",), "33 heartbeat"),
        ("happened", "The driver failed.", ("E1",), "\u201cdriver\u201d"),
        ("happened", "It logged \u201cstate UP\u201d.", ("E1",), "quote \u201cstate UP\u201d"),
        ("happened", "A **link** is down.", ("E1",), "markup"),
        ("happened", "The link is down, @here.", ("E1",), "mentions somebody"),
        ("happened", "See http://x.example.", ("E1",), "link"),
        ("cause", "7 of 8 ranks waited.", ("E4",), "cause cannot stand on"),
        ("cause", "node-00 is faulty.", ("N1",), "node-00 is no suspect"),
        ("fix", "Look at node-01.", ("E1",), "fix has to cite"),
    ],
)
def test_the_reason_names_what_is_wrong(field: str, text: str, cites: tuple[str, ...], reason: str) -> None:
    """The model can put it right, and people see why a sentence is missing."""
    assert any(reason in found for found in reasons(LINK, field, text, *cites))


@pytest.mark.parametrize(("base", "field", "text", "cites"), [(row[1], row[2], row[3], row[4]) for row in SENTENCES])
def test_every_single_lie_is_refused_by_itself(base: str, field: str, text: str, cites: tuple[str, ...]) -> None:
    """Not only because another sentence of the draft was refused."""
    assert reasons(base, field, text, *cites)


def test_a_story_that_goes_back_in_time_is_refused() -> None:
    """What happened is told in the order in which it happened."""
    diagnosis, known, truth = TRUE[LINK]
    happened = truth["happened"]
    assert isinstance(happened, list)
    turned: Raw = {**truth, "happened": happened[::-1]}

    refused = check(Draft.model_validate_json(json.dumps(turned)), collect(diagnosis, known), diagnosis)

    assert {one.field for one in refused} == {"happened"}
    assert all("before" in one.reason for one in refused)


def test_a_weak_diagnosis_is_told_as_one() -> None:
    """Without a hedge a hint would read like a finding."""
    base = TRUE["frozen rank"][0]
    weak = replace(base, confidence=Confidence.WEAK)
    court = Court(collect(weak), weak)

    flat = list(court.reasons("cause", Sentence(text="Rank 3 on node-01 never complained.", cites=["N1"])))
    hedged = list(court.reasons("cause", Sentence(text="Perhaps rank 3 on node-01 never complained.", cites=["N1"])))

    assert any("weak" in reason for reason in flat)
    assert hedged == []


def test_ids_at_the_end_of_a_sentence_are_citations() -> None:
    """Models cite in the text as often as beside it."""
    assert without_cites("It stopped [E1, N1].") == ("It stopped.", ("E1", "N1"))
    assert without_cites("It stopped. [D1]") == ("It stopped.", ("D1",))
    assert without_cites("[rank0] stopped.") == ("[rank0] stopped.", ())


def test_a_sentence_is_taken_apart() -> None:
    """Into its quotes and clauses; a list of names is none."""
    parts = take_apart("node-01, node-02 and node-03 waited for \u201ca, b\u201d, while rank 3 said nothing.")

    assert parts.quotes == ("a, b",)
    assert len(parts.clauses) == 2


def test_numbers_are_read_with_what_they_count() -> None:
    """Spelled out, with separators, in ranges, with units of time."""
    told = mentions("Seven of eight ranks, ranks 2-4; 1,023 nodes waited 25 s after iteration 48,211; Xid 79.")

    assert told.ratios == {("7", "8", "rank")}
    assert told.ranks == {2, 3, 4}
    assert told.iterations == {48_211}
    assert ("1023", "nod") in told.amounts
    assert ("25000", "ms") in told.amounts
    assert told.labels == {("xid", "79")}


def test_no_mechanism_is_a_plain_word() -> None:
    """What can break is never said without evidence."""
    parts = ("driver", "gpu", "memory", "disk", "power", "switch", "kernel", "firmware", "network", "cable", "reboot")

    assert not {part for part in parts if stem(part) in words().plain}
