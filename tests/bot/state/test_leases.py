"""Leases: one worker at a time, and nothing is lost with a worker."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from bot.outgoing.errors import Failure
from bot.state.leases import MAX_TELLINGS
from bot.state.small_values import Status
from bot.state.state import State, open_state
from tests.support.places import ROOT
from tests.support.states import Hands, ask, now


def test_a_run_is_claimed_once(state: State) -> None:
    """The oldest first, and nobody gets what another has."""
    first, second = ask(state, "a"), ask(state, "b")

    assert [state.runs.leases.claim(owner) for owner in ("w1", "w2", "w3")] == [first.id, second.id, None]
    assert now(state, first).lease_owner == "w1"


@pytest.mark.slow
def test_processes_never_claim_the_same(tmp_path: Path) -> None:
    """Four processes that claim a hundred runs as fast as they can share them out."""
    state = open_state(tmp_path / "state.db")
    wanted = {ask(state, f"job-{number}").id for number in range(100)}
    script = (
        "import sys; from pathlib import Path; from bot.state.state import open_state;"
        "s = open_state(Path(sys.argv[1]));"
        "print(*iter(lambda: s.runs.leases.claim(sys.argv[2]), None))"
    )

    claimers = [
        subprocess.Popen(
            [sys.executable, "-c", script, tmp_path / "state.db", f"w{number}"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    claimed = [run_id for process in claimers for run_id in process.communicate(timeout=PATIENCE)[0].split()]

    assert len(claimed) == 100
    assert set(claimed) == wanted
    state.close()


def test_a_lease_that_is_renewed_is_kept(state: State, clock: Hands) -> None:
    """As long as the worker lives, nobody takes its run."""
    run = ask(state)
    state.runs.leases.claim("w1")

    for _ in range(10):
        clock.forward(seconds=20)
        assert state.runs.leases.renew(run.id, "w1")
        assert state.runs.leases.claim("w2") is None


def test_a_lease_that_ran_out_goes_to_another(state: State, clock: Hands) -> None:
    """The run of a dead worker is taken up; should the old worker wake up, it can do nothing."""
    run = ask(state)
    state.runs.leases.claim("w1")
    clock.forward(seconds=29)
    assert state.runs.leases.claim("w2") is None
    clock.forward(seconds=1)

    assert state.runs.leases.claim("w2") == run.id
    assert (now(state, run).attempts, now(state, run).begun) == (0, 2)
    assert not state.runs.leases.renew(run.id, "w1")
    assert not state.runs.leases.conclude(run.id, "w1", Status.DONE)
    assert not state.runs.leases.hand_back(run.id, "w1", counted=True)
    assert not state.runs.leases.mark_told(run.id, "w1")


def test_dead_workers_are_not_counted(state: State, clock: Hands) -> None:
    """However many died over it, a run is claimed again; after each three of them the others go first."""
    first, second = ask(state, "first"), ask(state, "second")
    claimed = []
    for number in range(8):
        claimed.append(state.runs.leases.claim(f"w{number}"))
        clock.forward(seconds=30)

    assert claimed == [first.id] * 3 + [second.id] * 3 + [first.id] * 2
    assert (now(state, first).status, now(state, first).attempts) == (Status.RUNNING, 0)


def test_a_run_that_was_handed_back_is_the_next(state: State) -> None:
    """An end of the bot costs no attempt, a death of a child does."""
    run, later = ask(state, "a"), ask(state, "b")
    state.runs.leases.claim("w1")
    state.runs.leases.hand_back(run.id, "w1", counted=False)
    assert now(state, run).attempts == 0

    assert state.runs.leases.claim("w1") == run.id
    state.runs.leases.hand_back(run.id, "w1", counted=True)
    assert (now(state, run).attempts, now(state, run).begun) == (1, 0)
    assert now(state, run).status is Status.QUEUED
    assert state.runs.leases.waiting() == 2
    assert state.runs.place(later.id) == 2


def test_each_change_of_status_is_a_new_revision(state: State) -> None:
    """A button that was drawn before a change is known to be old; a renewed lease changes nothing to see."""
    run = ask(state)
    state.runs.leases.claim("w1")
    claimed = now(state, run).revision
    state.runs.leases.renew(run.id, "w1")
    renewed = now(state, run).revision
    state.runs.leases.conclude(run.id, "w1", Status.FAILED, Failure("no", "try", "NoLogs", "e-1"))

    assert (run.revision, claimed, renewed, now(state, run).revision) == (1, 2, 2, 3)
    assert now(state, run).failure == Failure("no", "try", "NoLogs", "e-1")


def test_what_nobody_told_is_told_by_another(state: State, clock: Hands) -> None:
    """A worker that died between the answer and the message leaves the message to the next, and never the work."""
    run = ask(state)
    state.runs.leases.claim("w1")
    state.runs.leases.conclude(run.id, "w1", Status.DONE)
    assert state.runs.leases.claim_telling("w2") is None
    clock.forward(seconds=30)

    assert state.runs.leases.claim("w2") is None
    assert state.runs.leases.claim_telling("w2") == run.id
    assert state.runs.leases.mark_told(run.id, "w2")
    clock.forward(days=1)
    assert state.runs.leases.claim_telling("w3") is None


def test_telling_is_tried_with_longer_and_longer_pauses(state: State, clock: Hands) -> None:
    """A Slack that is down for an hour loses no answer; one that never takes it does not keep us busy for ever."""
    run = ask(state)
    state.runs.leases.claim("w1")
    state.runs.leases.conclude(run.id, "w1", Status.DONE)
    pauses = []
    while state.runs.leases.tell_later(run.id, "w1"):
        asked_at = clock.now
        while state.runs.leases.claim_telling("w1") is None:
            clock.forward(seconds=5)
        pauses.append((clock.now - asked_at).total_seconds())

    assert pauses == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900]
    assert len(pauses) == MAX_TELLINGS - 1
    assert sum(pauses) > timedelta(hours=1).total_seconds()
    assert now(state, run).told
