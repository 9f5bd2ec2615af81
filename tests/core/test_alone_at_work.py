"""A rank that works on alone until the others, who wait for it, give up."""

import pytest

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from tests.core.test_watchdogs import watchdog
from tests.support.jobs import at, four_nodes

EVALUATES = [at(20 * n, f"eval {n * 560}/20000") for n in range(1, 31)]


def waited_for(said: list[str], who: int = 0, *, others: tuple[str, ...] = ()) -> Job:
    """A job in which three ranks wait ten minutes for a fourth, which says this."""
    usual = [at(n, f"step {n} loss 2.5 213 samples/s") for n in range(1, 10)]
    says = {rank: [*others, *watchdog(rank, enqueued=50, completed=48)] for rank in range(4) if rank != who}
    return four_nodes(says | {who: said}, usual=usual)


def test_who_works_on_alone_is_not_stuck() -> None:
    """The first rank evaluates for longer than the time-out of the barrier behind it."""
    found = diagnose(waited_for(EVALUATES), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "worked on alone" in found.headline
    assert "eval 16800/20000" in found.headline


@pytest.mark.parametrize(
    ("said", "others"),
    [
        (EVALUATES[:12], ()),
        (EVALUATES, tuple(EVALUATES[:8])),
    ],
    ids=["it fell silent on the way", "the others did that work, too"],
)
def test_who_stopped_or_was_only_slower_is_named(said: list[str], others: tuple[str, ...]) -> None:
    """One process is stuck in it, or does for minutes what took the others seconds."""
    assert [node.node for node in diagnose(waited_for(said, 2, others=others), []).nodes] == ["node-2"]
