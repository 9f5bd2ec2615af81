"""Signatures: exactly the events that they name, on the nodes that they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.occurrences import Occurrence
from faultlib.pattern import Clause, Signature, Status, Where
from faultlib.signature import _Glob, find_matches, matches_lines
from tests.support.library_entries import entry, pattern

XID = "Mar 13 04:11:07 gpu-17 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=2113, GPU has fallen off the bus."
NODES = ("a", "b", "c")


def _signature(*events: str, without: str = "") -> Signature:
    must_not = (Clause(events=(without,)),) if without else ()
    return Signature(must=tuple(Clause(events=(event,)) for event in events), must_not=must_not)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (XID, XID),
        (XID, XID.replace("gpu-17", "gpu-4").replace("04:11:07", "05:00:00").replace("pid=2113", "pid=8")),
        ("<*>Xid (PCI:<*>): 79, <*>", XID),
        ("<*>fallen off the bus.", XID),
        ("[rank3]: RuntimeError: <*>", "[rank1]: RuntimeError: no"),
        ("RuntimeError: step -5 failed", "RuntimeError: step -7 failed"),
        ("RuntimeError: step -5 <*>", "RuntimeError: step -7 failed"),
        ("lost 3  of 10 packets", "lost 4 of 12 packets"),
        ("größer<*>", "größer als 7"),
        ("<*>", "anything"),
        ("failed (exitcode: -9) <*>", "failed (exitcode: -9) local_rank: 0"),
        ("<TS> worker [<IP>] left", "2026-01-01 00:00:00 worker [10.0.0.1:29] left"),
    ],
)
def test_an_event_fits_the_same_message(event: str, line: str) -> None:
    """Numbers, times and addresses may differ; words may not."""
    assert matches_lines(_signature(event), line)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ("<*>Xid (PCI:<*>): 79, <*>", XID.replace(": 79", ": 94")),
        (XID, XID.replace(": 79", ": 94")),
        ("Xid (PCI:<*>): 79, <*>", XID),
        ("<*>fallen off the bus", XID),
        ("failed (exitcode: -9) <*>", "failed (exitcode: -11) local_rank: 0"),
        ("Link <*> down", "Link up"),
        ("link<*>down", "Link is down"),
        ("a<*>b<*>c", "a c b"),
        ("[Errno 111] <*>", "[Errno 113] No route to host"),
    ],
)
def test_an_event_fits_no_other_message(event: str, line: str) -> None:
    """Codes tell faults apart, and a message is compared from its beginning to its end."""
    assert not matches_lines(_signature(event), line)


def test_all_events_must_be_there_and_none_of_the_others() -> None:
    """Every clause of ``must``, no clause of ``must_not``."""
    signature = _signature("one <*>", "two <*>", without="<*>harmless<*>")
    assert matches_lines(signature, "one x\ntwo y")
    assert not matches_lines(signature, "one x")
    assert not matches_lines(signature, "one x\ntwo y\nthis is harmless")


def test_nothing_matches_an_empty_signature() -> None:
    """A pattern without events is found by what it looks like only."""
    assert not matches_lines(Signature(), "anything")
    assert find_matches([entry("p", signature=Signature())], [_said("x")], NODES) == ()


@pytest.mark.parametrize(
    ("where", "fitting"),
    [
        (Where.ANYWHERE, [(), ("a",), ("a", "b"), ("a", "b", "c")]),
        (Where.ONE_NODE, [("a",)]),
        (Where.ALL_NODES, [("a", "b", "c")]),
        (Where.ALL_BUT_ONE, [("a", "b")]),
    ],
)
def test_where_an_event_must_stand(where: Where, fitting: list[tuple[str, ...]]) -> None:
    """Anywhere, on one node, on all, on all but one: each says exactly that."""
    known = entry("p", signature=Signature(must=(Clause(events=("x",), where=where),)))
    every: list[tuple[str, ...]] = [(), ("a",), ("a", "b"), ("a", "b", "c")]
    assert [nodes for nodes in every if find_matches([known], [_said("x", *nodes)], NODES)] == fitting


def test_a_match_says_which_events_and_nodes() -> None:
    """Ids of the job's own events, so that the reader finds the lines."""
    known = entry("p", signature=_signature("x<*>", "z"))
    (match,) = find_matches([known], [_said("xy", "b"), _said("z", "a"), _said("other", "c")], NODES)
    assert (match.entry.id, match.events, match.nodes) == ("p", ("id-xy", "id-z"), ("a", "b"))


def test_only_approved_patterns_match() -> None:
    """A draft, a retired and a superseded pattern answer nobody."""
    entries = [entry(status.value, status=status, signature=_signature("x")) for status in Status]
    assert [match.entry.id for match in find_matches(entries, [_said("x")], NODES)] == ["approved"]


def test_the_teams_own_patterns_come_first_then_the_more_precise() -> None:
    """What the team confirmed beats a seed; of two seeds the one that asks for more comes first."""
    entries = [
        entry("short", origin="seed", signature=_signature("<*>down<*>")),
        entry("long", origin="seed", signature=_signature("link went down")),
        entry("team", signature=_signature("<*>link<*>")),
    ]
    assert [match.entry.id for match in find_matches(entries, [_said("link went down")], NODES)] == [
        "team",
        "long",
        "short",
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_an_event_of_itself(event: str, other: str) -> None:
    """No text breaks the comparison; with wildcards around it a line still fits itself."""
    event, other = (text.replace("\n", " ").replace("\r", " ") for text in (event, other))
    if not event.strip():
        return
    clauses = Signature(must=(Clause(events=(f"<*>{event}<*>",)),))
    matches_lines(clauses, other)
    matches_lines(_signature(event), other)
    assert find_matches([entry("p", signature=_signature(event))], [_said(event)], NODES)


def test_hostile_patterns_take_linear_time() -> None:
    """Many wildcards over a long text are no trap."""
    known = entry("p", signature=_signature("<*>a" * 200 + "<*>b"))
    assert not find_matches([known], [_said("a" * 20_000)], NODES)


def test_a_flood_of_messages_that_no_pattern_knows_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,000 messages each pattern tries those that hold its words: 20 MB of different ones took 20 s of CPU."""
    tried: list[str] = []
    fits = _Glob.fits

    def counted(glob: _Glob, text: str) -> bool:
        tried.append(text)
        return fits(glob, text)

    monkeypatch.setattr(_Glob, "fits", counted)
    flood = [_said(f"nobody knows message {number:x}") for number in range(2_000)]
    entries = [entry(f"p{number}", signature=_signature("fallen off <*>", f"lost {number}")) for number in range(50)]

    assert not find_matches(entries, flood, NODES)
    assert tried == []
    assert find_matches(entries[:1], [*flood, _said("GPU fallen off the bus"), _said("lost 0")], NODES) == ()
    assert find_matches(entries[:1], [*flood, _said("fallen off the bus"), _said("lost <NUM>")], NODES)
    assert len(tried) <= 8


def _said(text: str, *nodes: str) -> Occurrence:
    return Occurrence(f"id-{text}", (text,), nodes, 1)


def test_entries_of_these_tests_are_real() -> None:
    """The helper makes patterns that the library would take."""
    assert pattern("p").digest == pattern("p").digest != pattern("q").digest
