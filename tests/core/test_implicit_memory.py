"""Memory that never comes back, as the only trace of why a job ended."""

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Action, Confidence, Scope
from tests.support.jobs import (
    at,
    four_nodes,
)


def memory(leaks: set[int], grows: float = 8.0, *, until: int = 60) -> Job:
    """Ranks that print their memory, and whose job is cancelled at steady pace."""
    said = {
        rank: [
            at(
                n,
                f"it {n} loss 2.5 rss_mb {400 + (grows * (min(n, until) - 20) if rank in leaks and n > 20 else 0):.0f}",
            )
            for n in range(1, 61)
        ]
        for rank in range(4)
    }
    return four_nodes(said, status=Status.CANCELLED, start="2026-11-21T04:00:00Z", end="2026-11-21T04:01:01Z")


def test_memory_that_never_comes_back_is_told() -> None:
    """Of one rank, of all; of none where it comes to rest: that is a cache."""
    one, everybody = diagnose(memory({2}), []), diagnose(memory({0, 1, 2, 3}), [])

    assert [node.node for node in one.nodes] == ["node-2"]
    assert "rss_mb grew" in one.headline
    assert (everybody.scope, everybody.confidence) == (Scope.JOB, Confidence.SUPPORTED)
    assert "rss_mb grew from 408 to 720 since iteration 21" in everybody.headline
    assert (one.next and one.next.action, everybody.next and everybody.next.action) == (Action.CHECK, Action.FIX)
    assert diagnose(memory({0, 1, 2, 3}, until=35), []).scope is Scope.NONE
    assert diagnose(memory(set()), []).scope is Scope.NONE


def test_memory_that_grew_leads_before_the_order_that_ended_the_job() -> None:
    """Lightning says in each rank that it was told to stop; what grew is why somebody told it."""

    def steps(rank: int) -> list[str]:
        grown = [354 + (9 * max(0, n - 30) if rank == 1 else 0) for n in range(90)]
        return [at(n, f"global_step={n} loss=2.5 rss={mb}MB") for n, mb in enumerate(grown)]

    says = {rank: [*steps(rank), *(["[rank: 1] Received SIGTERM: 15"] if rank == 1 else [])] for rank in range(4)}
    order = {"slurm.out": [at(91, "slurmstepd: error: *** STEP 7.0 ON node-1 CANCELLED AT 2026-11-21T04:01:31 ***")]}
    found = diagnose(four_nodes(says, others=order, status=Status.CANCELLED), [])

    assert found.headline.startswith("Look at node-1: its rss grew without end")
    assert found.next is not None
    assert (found.next.action, found.next.because[:7]) == (Action.CHECK, "Its rss")
