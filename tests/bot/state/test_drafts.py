"""Drafts, decisions, the audit and voices."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.state.audit import as_jsonl
from bot.state.drafts import Verdict
from bot.state.errors import RunForgotten, StaleRevision
from bot.state.state import State
from tests.support.states import Hands, ask, votes

NOTE = {"cause": "link down \ud800 <!channel>", "cites": ["E1"]}


def test_a_draft_grows_by_revisions(state: State) -> None:
    """Who wrote which revision is kept, and the newest is shown."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    edited = state.drafts.save(run.id, {"cause": "cable"}, by="U1", seen=1)

    assert state.drafts.current(run.id) == edited
    assert [(draft.revision, draft.by, draft.note) for draft in state.drafts.revisions(run.id)] == [
        (1, "model", NOTE),
        (2, "U1", {"cause": "cable"}),
    ]


def test_an_edit_of_an_old_revision_is_refused(state: State, clock: Hands) -> None:
    """Two people who edit at once do not overwrite each other: the second learns who was first, and when."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    state.drafts.save(run.id, {"cause": "cable"}, by="U1", seen=1)

    with pytest.raises(StaleRevision, match="U1 made revision 2 at 2026-11-21 12:00 UTC") as refused:
        state.drafts.save(run.id, {"cause": "switch"}, by="U2", seen=1)

    assert (refused.value.by, refused.value.at, refused.value.revision) == ("U1", clock.now, 2)


def test_an_old_revision_is_not_approved(state: State) -> None:
    """A button below an old text archives nothing."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    state.drafts.save(run.id, {"cause": "cable"}, by="U1", seen=1)

    with pytest.raises(StaleRevision):
        state.drafts.decide(run.id, Verdict.APPROVED, by="U2", seen=1)

    assert state.drafts.decision(run.id) is None


def test_nothing_is_not_approved(state: State) -> None:
    """A button of a run that was forgotten, or never had a draft, is told so."""
    with pytest.raises(RunForgotten):
        state.drafts.decide(ask(state).id, Verdict.APPROVED, by="U1", seen=3)
    with pytest.raises(RunForgotten):
        state.drafts.save("r-nobody", NOTE, by="U1", seen=0)
    with pytest.raises(RunForgotten):
        state.feedback.give("r-nobody", "U1", useful=True)


def test_many_clicks_give_one_decision(state: State) -> None:
    """Ten people click at once: one approval is new, and all learn whose it is."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)

    with ThreadPoolExecutor(10) as pool:
        decisions = list(
            pool.map(lambda n: state.drafts.decide(run.id, Verdict.APPROVED, by=f"U{n}", seen=1), range(10))
        )

    assert sum(decision.new for decision in decisions) == 1
    assert len({decision.by for decision in decisions}) == 1


def test_the_pattern_of_an_approval_is_named(state: State) -> None:
    """The message can say who approved it, when, and as which pattern."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    state.drafts.decide(run.id, Verdict.APPROVED, by="U1", seen=1)
    state.drafts.archived(run.id, "fp-12")

    second = state.drafts.decide(run.id, Verdict.REJECTED, by="U2", seen=1, reason="no")

    assert (second.verdict, second.by, second.pattern, second.new) == (Verdict.APPROVED, "U1", "fp-12", False)


def test_an_approval_is_pending_until_its_pattern_is_written(state: State, clock: Hands) -> None:
    """A crash between click and library leaves it to whoever looks; it stays the first person's approval."""
    run, rejected = ask(state), ask(state, "f02")
    for asked in (run, rejected):
        state.drafts.save(asked.id, NOTE, by="model", seen=0)
    state.drafts.decide(rejected.id, Verdict.REJECTED, by="U1", seen=1)
    first = state.drafts.decide(run.id, Verdict.APPROVED, by="U1", seen=1, joins="fp-3")
    second = state.drafts.decide(run.id, Verdict.APPROVED, by="U2", seen=1)
    young = state.drafts.pending(clock.now)
    clock.forward(seconds=1)

    pending = state.drafts.pending(clock.now)
    written = [state.drafts.archived(run.id, pattern) for pattern in ("fp-12", "fp-13")]

    assert (first.new, second.new, second.by, second.pending) == (True, False, "U1", True)
    assert young == ()
    assert [(decision.run, decision.by, decision.joins) for decision in pending] == [(run.id, "U1", "fp-3")]
    assert written == [True, False]
    assert state.drafts.pending(clock.now) == ()
    assert not state.drafts.decide(run.id, Verdict.APPROVED, by="U3", seen=1).pending


def test_a_pattern_is_shared_by_approvals_of_one_job(state: State) -> None:
    """Whoever takes one of them back must leave it to the other; another job's approval is none of theirs."""
    here, there, other = ask(state), ask(state, channel="C2"), ask(state, "f02")
    for run in (here, there, other):
        state.drafts.save(run.id, NOTE, by="model", seen=0)
        state.drafts.decide(run.id, Verdict.APPROVED, by="U1", seen=1)
        state.drafts.archived(run.id, "fp-12")

    shared = state.drafts.is_shared(here.id, "fp-12")
    state.drafts.undo(there.id, by="U2")

    assert shared
    assert not state.drafts.is_shared(here.id, "fp-12")


def test_a_rejection_keeps_its_reason(state: State, clock: Hands) -> None:
    """And is nobody's to take over."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    state.drafts.decide(run.id, Verdict.REJECTED, by="U1", seen=1, reason="wrong node")
    clock.forward(days=1)

    standing = state.drafts.decide(run.id, Verdict.APPROVED, by="U2", seen=1)

    assert (standing.verdict, standing.reason, standing.new) == (Verdict.REJECTED, "wrong node", False)


def test_a_decision_is_undone_once(state: State) -> None:
    """Undo tells which pattern has to go; a second undo finds nothing; then it can be decided anew."""
    run = ask(state)
    state.drafts.save(run.id, NOTE, by="model", seen=0)
    state.drafts.decide(run.id, Verdict.APPROVED, by="U1", seen=1)
    state.drafts.archived(run.id, "fp-12")

    first, second = state.drafts.undo(run.id, by="U2"), state.drafts.undo(run.id, by="U2")

    assert first is not None
    assert first.pattern == "fp-12"
    assert second is None
    assert state.drafts.decide(run.id, Verdict.REJECTED, by="U2", seen=1, reason="wrong").new


def test_the_audit_is_exported_in_order(state: State, clock: Hands) -> None:
    """One JSON object a line, from where the last export ended, more than one page long."""
    for number in range(600):
        state.audit.add("T1", "U1", what="approved", target=f"r-{number}", revision=1, details={"note": "\ud800"})
    state.audit.add("T2", "U2", what="undone", target="fp-1")

    everything = list(as_jsonl(state.audit.entries()))
    newest = list(state.audit.entries(after=600))

    assert len(everything) == 601
    assert json.loads(everything[0]) == {
        "number": 1, "at": clock.now.isoformat(), "team": "T1", "who": "U1", "what": "approved", "target": "r-0",
        "revision": 1, "details": {"note": "\ud800"},
    }  # fmt: skip
    assert [(entry.team, entry.what) for entry in newest] == [("T2", "undone")]


@pytest.mark.parametrize("sql", ["UPDATE audit SET who = 'U9'", "DELETE FROM audit"])
def test_the_audit_is_only_added_to(state: State, sql: str) -> None:
    """No line of ours can change or drop what somebody did."""
    state.audit.add("T1", "U1", what="approved", target="r-1")

    with pytest.raises(sqlite3.IntegrityError, match="append only"):
        state.database.execute(sql)

    assert [entry.who for entry in state.audit.entries()] == ["U1"]


def test_everybody_has_one_vote(state: State) -> None:
    """The last word of a person counts."""
    run = ask(state)
    for user, useful in (("U1", True), ("U2", True), ("U1", False)):
        state.feedback.give(run.id, user, useful=useful)

    assert votes(state, run) == [False, True]
