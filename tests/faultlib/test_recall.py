"""Which confirmed patterns a job is told of; and when it is told of none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.model import Diagnosis, Role, Scope, Stage
from faultlib.draft import pattern_of
from faultlib.embedding import WordHash
from faultlib.pattern import Category, Clause, Entry, Origin, Signature, Status
from faultlib.recall import (
    LEXICAL,
    SEMANTIC,
    Query,
    contradictions,
    likeness,
    query_of,
    rank,
    share,
    shared_events,
)
from tests.support.library_diagnoses import diagnosis, event, link_down, time_limit
from tests.support.library_entries import entry, pattern

ELSEWHERE = ("gpu-a.dc2.example", "gpu-b.dc2.example", "gpu-c.dc2.example")


def confirmed(job: Diagnosis, pattern_id: str, **changes: Any) -> Entry:
    """The draft of a diagnosis as somebody approved it."""
    draft = pattern_of(job, cause="The cable was loose.").model_copy(update={"id": pattern_id, **changes})
    return Entry(pattern=draft, version=1, revision=1, status=Status.APPROVED, origin=Origin.TEAM)


def cosines(query: Query, entries: Sequence[Entry]) -> dict[str, float]:
    embedder = WordHash()
    asked = embedder.embed([query.text])[0]
    return {one.id: float(np.dot(embedder.embed([one.pattern.words()])[0], asked)) for one in entries}


LIBRARY = (confirmed(link_down(), "link-down"), confirmed(time_limit(), "time-limit"), entry("cable"))


def test_a_fault_is_found_again_on_other_nodes() -> None:
    """The pattern of one job is found by another job of another cluster, with what both have."""
    query = query_of(link_down("1437825", ELSEWHERE))

    found = rank(query, LIBRARY, cosines(query, LIBRARY))

    assert [one.entry.id for one in found] == ["link-down"]
    assert found[0].shared == ("E1",)
    assert found[0].score > 0.9


def test_nothing_similar_is_an_answer() -> None:
    """A fault that no pattern looks like is told of none, however many there are."""
    query = query_of(time_limit())
    library = (LIBRARY[0], *(entry(f"cable-{n}") for n in range(50)))

    assert rank(query, library, cosines(query, library)) == ()
    assert rank(query, (), {}) == ()


@pytest.mark.parametrize(
    "job",
    [
        diagnosis(headline="The job completed; nothing to diagnose.", scope=Scope.NONE),
        diagnosis(headline="Nothing conclusive during training.", scope=Scope.UNKNOWN),
    ],
    ids=["completed", "inconclusive"],
)
def test_a_diagnosis_that_shows_nothing_is_similar_to_nothing(job: Diagnosis) -> None:
    """Neither an event nor a suspect: there is nothing to compare, even with a pattern of equal words."""
    library = (confirmed(job, "same"),)

    assert query_of(job).text == ""
    assert rank(query_of(job), library, {"same": 1.0}) == ()


def test_query_and_pattern_say_the_same_in_the_same_words() -> None:
    """Both are built by the draft; only the cause, which the query asks for, stands in the pattern alone."""
    words = confirmed(link_down(), "x").pattern.words().split("\n")

    assert query_of(link_down()).text.split("\n") == [line for line in words if line != "The cable was loose."]


def test_a_query_knows_what_a_diagnosis_knows() -> None:
    """Events with their roles and texts, scope, stage, framework, category."""
    query = query_of(diagnosis(*link_down().events, headline="Look at n: a network link went down.", framework="X 1"))

    assert [(one.id, one.role, len(one.texts)) for one in query.events] == [
        ("E1", Role.ROOT, 2),
        ("E2", Role.PROPAGATED, 1),
    ]
    assert (query.scope, query.stage, query.framework) == (Scope.NODE, Stage.TRAINING, "X 1")
    assert query.category is Category.HARDWARE


@pytest.mark.parametrize("status", [Status.DRAFT, Status.SUPERSEDED, Status.RETIRED])
def test_only_approved_patterns_are_told(status: Status) -> None:
    """A draft, a replaced and a retired pattern are never shown to anybody as known."""
    library = (LIBRARY[0].model_copy(update={"status": status}),)
    query = query_of(link_down())

    assert rank(query, library, cosines(query, library)) == ()


def test_what_is_told_carries_its_numbers_and_its_reasons() -> None:
    """The sentence holds the score and its parts, the shared events, and what does not agree."""
    library = (confirmed(link_down(), "x", stages=(Stage.EVALUATION,), scope=Scope.JOB),)

    found = rank(query_of(link_down()), library, {"x": 0.5})[0]

    assert found.semantic == 0.5
    assert found.score == round(SEMANTIC * 0.5 + LEXICAL * found.lexical, 4)
    assert found.because == (
        f"{found.score:.2f} alike: {found.lexical:.2f} by words, 0.50 by meaning; its signature knows E1;"
        " another scope and stage."
    )


def test_the_limit_cuts_the_least_telling() -> None:
    """At most so many, the most alike first; equal ones in the order of their ids."""
    library = [confirmed(link_down(), name) for name in ("c", "a", "b", "d")]
    query = query_of(link_down())

    found = rank(query, library, {"a": 0.8, "b": 0.8, "c": 0.9, "d": 0.1}, limit=3)

    assert [one.entry.id for one in found] == ["c", "a", "b"]
    assert len(rank(query, library, dict.fromkeys("abcd", 0.8))) == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_of_the_library_does_not_matter(order: Sequence[int]) -> None:
    """The same library gives the same answer, to the last bit."""
    query = query_of(link_down("1437825", ELSEWHERE))

    shuffled = [LIBRARY[n] for n in order]

    assert rank(query, shuffled, cosines(query, shuffled)) == rank(query, LIBRARY, cosines(query, LIBRARY))


@pytest.mark.parametrize("cosine", [-1.0, 0.0, 0.5, 1.0, 1.0000001])
def test_a_score_stays_between_0_and_1(cosine: float) -> None:
    """Whatever cosine an index gives, and for a pattern that it did not give."""
    assert 0 <= likeness(cosine, 0.0) <= likeness(cosine, 1.0) <= 1
    assert rank(query_of(link_down()), LIBRARY, {"other": 1.0})[0].semantic == 0


def test_shared_events_decide_between_equally_alike_patterns() -> None:
    """Of two that read the same, the one whose signature the job fulfils comes first."""
    unsigned = confirmed(link_down(), "a", signature=Signature())
    text = "\n".join((unsigned.pattern.evidence, *LIBRARY[0].pattern.signature.must[0].events))
    library = (confirmed(link_down(), "a", signature=Signature(), evidence=text), confirmed(link_down(), "b"))

    found = rank(query_of(link_down()), library, {"a": 0.8, "b": 0.8})

    assert [(one.entry.id, one.shared) for one in found] == [("b", ("E1",)), ("a", ())]
    assert found[0].score == pytest.approx(found[1].score, abs=1e-9)


def test_what_victims_say_is_not_shared() -> None:
    """A signature that fits what peers say of each other shares nothing with a job: all faults do that."""
    victim = link_down().events[1]
    known = pattern("x", signature=Signature(must=(Clause(events=(victim.template,)),)))

    assert shared_events(query_of(link_down()), known) == ()


def test_a_cited_line_is_enough_to_share_an_event() -> None:
    """A signature as a person writes it, with wildcards in raw text, is found in the lines that are cited."""
    known = pattern("x", signature=Signature(must=(Clause(events=("<*>networkd<*>eth0: Lost carrier",)),)))

    assert shared_events(query_of(link_down()), known) == ("E1",)


def test_the_share_of_events_counts_both_sides() -> None:
    """A pattern that knows more traces than the job left, or fewer, shares less than all."""
    one, two = (Clause(events=(text,)) for text in (link_down().events[0].template, "another fault"))
    query = query_of(link_down())

    shares = [share(query, pattern("x", signature=Signature(must=must)), ("E1",)) for must in ((one,), (one, two))]

    assert shares == [1.0, pytest.approx(2 / 3)]
    assert share(Query("x"), pattern("x"), ()) == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        ({"scope": Scope.JOB}, ("scope",)),
        ({"scope": Scope.UNKNOWN}, ()),
        ({"stages": (Stage.TRAINING, Stage.EVALUATION)}, ()),
        ({"stages": (Stage.EVALUATION,)}, ("stage",)),
        ({"category": Category.USER}, ("category",)),
        ({"category": Category.UNKNOWN}, ()),
        ({"framework": "megatron-lm"}, ()),
        ({"framework": "DeepSpeed 0.15"}, ("framework",)),
    ],
)
def test_only_what_both_sides_know_can_contradict(changes: dict[str, Any], expected: tuple[str, ...]) -> None:
    """Unknown agrees with everything; of a framework its version does not count."""
    query = query_of(diagnosis(*link_down().events, headline="A network link went down.", framework="Megatron-LM 0.9"))
    known = pattern("x", scope=Scope.NODE, category=Category.HARDWARE).model_copy(update=changes)

    assert contradictions(query, known) == expected


def test_a_contradiction_hides_nothing() -> None:
    """The same fault comes in other stages and frameworks: it moves down behind its equal, and is still told."""
    library = (confirmed(link_down(), "a", stages=(Stage.EVALUATION,)), confirmed(link_down(), "b"))

    found = rank(query_of(link_down()), library, {"a": 0.8, "b": 0.8})

    assert [one.entry.id for one in found] == ["b", "a"]


def test_without_an_embedding_model_words_decide() -> None:
    """No cosine at all: a fault is still found again by its words, and the sentence tells of words only."""
    found = rank(query_of(link_down("1437825", ELSEWHERE)), LIBRARY, {})

    assert [one.entry.id for one in found] == ["link-down"]
    assert found[0].score == found[0].lexical
    assert "meaning" not in found[0].because


def test_a_suspect_without_events_can_be_compared() -> None:
    """A node that went silent left no trace: what is said of it is enough to find such a pattern again."""

    def silent(node: str) -> Diagnosis:
        because = f"Rank 3 on {node} never complained; 7 of 8 ranks did, and its last word came before theirs."
        return diagnosis(
            headline=f"Look at {node}: it went silent while the others waited for it.", suspects=[(node, because)]
        )

    library = (confirmed(silent("node-07"), "silent"), *LIBRARY)
    query = query_of(silent("gpu-b"))

    assert [one.entry.id for one in rank(query, library, cosines(query, library))] == ["silent"]


def test_hostile_log_text_is_only_text() -> None:
    """Control bytes, mentions and instructions in a log are compared like any words."""
    said = event("E1", "\x1b[31mIGNORE ALL <@U1> `rm -rf /` ${x}\x00", "\x00 says <!channel>.", nodes=["n\x07"])
    job = diagnosis(said, headline="Look at n\x07: \x1b[31m.", job="../../etc")

    query = query_of(job)

    assert rank(query, (confirmed(job, "same"),), {"same": 1.0})[0].entry.id == "same"
