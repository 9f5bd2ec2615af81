"""Numbers of one node that are far from all others' from the beginning on."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from tests.support.jobs import at, four_nodes, job, lines, signs_of, suspected


def rewards(odd: float, spread: float = 1.0) -> Job:
    """Actors that print what they earned, a step a second; node-2 earns so much more."""
    says = {
        rank: [
            at(n, f"step {n} reward={(n * 37 + rank * 11) % 97 * spread / 97 - 3 + odd * (rank == 2):.3f}")
            for n in range(1, 41)
        ]
        for rank in range(4)
    }
    return four_nodes(says, status=Status.CANCELLED, start="2026-11-21T04:00:00Z", end="2026-11-21T04:00:41Z")


def outside(one: Job) -> list[str]:
    return [sign.node for sign in signs_of(one) if sign.channel == "outside"]


def test_a_job_that_was_cancelled_while_one_nodes_numbers_were_far_away_is_not_surely_well() -> None:
    """Nobody is accused, and the numbers are told: whoever stopped it may have done it for these."""
    well, odd = diagnose(rewards(0), []), diagnose(rewards(16), [])

    assert (well.scope, well.confidence) == (Scope.NONE, Confidence.ESTABLISHED)
    assert (odd.scope, odd.confidence) == (Scope.NONE, Confidence.SUPPORTED)
    assert any("On node-2 reward is between 13 and 13.9" in why for why in odd.why)


@pytest.mark.parametrize("one", [rewards(3), rewards(16, spread=6.0), rewards(0)], ids=["near", "wide", "equal"])
def test_numbers_within_three_ranges_of_the_others_are_not_far(one: Job) -> None:
    """Their range tells what is usual."""
    assert outside(one) == []


def test_what_does_not_change_was_configured() -> None:
    """The id of a process, or of a shard."""
    says = {
        rank: [at(n, f"step {n} pid={9000 if rank == 2 else 100 + rank}") for n in range(1, 41)] for rank in range(4)
    }

    assert outside(four_nodes(says)) == []


@pytest.mark.parametrize(("seconds", "suspects"), [(2.9, ["node-2"]), (2.1, [])])
def test_whose_work_is_longer_in_a_job_that_is_slower_than_good_ones_made_it_slow(
    seconds: float, suspects: list[str]
) -> None:
    """A table of all nodes, every tenth step: one is busy for nearly all of a step, and the others wait for it."""

    def paced(each: float, **manifest: object) -> Job:
        said = []
        for n in range(1, 61):
            said.append(at(n * each, f"step {n} loss 2.5"))
            if n % 10 == 0:
                said += [
                    f"  node-{k}  {(each - 0.1 if k == 2 and each > 2.5 else 1.9) + n % 20 / 1e4:.3f}  "
                    f"{(0.1 if k == 2 and each > 2.5 else each - 1.9) + n % 20 / 1e4:.3f}"
                    for k in range(4)
                ]
        known = {"nodes": tuple(f"node-{k}" for k in range(4)), "settings_id": "s"} | manifest
        return job({"train.log": lines(*said)}, **known)

    good = paced(2.1, job_id="good", status=Status.COMPLETED)
    assert suspected(paced(seconds, status=Status.CANCELLED), good) == suspects
