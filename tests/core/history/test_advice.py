"""Save interval, standbys, nodes that repeat, and what changed."""

import numpy as np
import pytest

from core.history.advice import best_interval, ettr_of, standbys
from core.history.attempt import Attempt, End
from core.history.changes import changes, last_good
from core.history.repeats import Incident, back_from_repair, repeaters


@pytest.mark.parametrize(("mtbf_hours", "saving", "minutes"), [(7 * 24, 40, 115), (3.09, 60, 18.6), (1.8, 300, 29.6)])
def test_the_best_interval_is_the_exact_one(mtbf_hours: float, saving: float, minutes: float) -> None:
    """Daly's optimum; Young's square root is 32.9 minutes in the last case."""
    best = best_interval(mtbf=mtbf_hours * 3600, saving=saving, restart=300)

    assert best.seconds / 60 == pytest.approx(minutes, rel=0.01)
    near = [ettr_of(best.seconds * much, mtbf=mtbf_hours * 3600, saving=saving, restart=300) for much in (0.9, 1.1)]
    assert max(near) < best.ettr


def test_no_interval_helps_a_run_that_never_starts() -> None:
    """A restart a thousand times as long as the time between failures."""
    assert ettr_of(60, mtbf=1, saving=1, restart=1_000) == 0


@pytest.mark.parametrize(
    ("rate", "numbers"),
    [(6.5e-3, (3, 5, 8, 13)), (2.34e-3, (2, 3, 4, 7)), (4.2e-3, (3, 4, 6, 10)), (1.2e-3, (2, 2, 3, 4))],
)
def test_standbys_of_a_day(rate: float, numbers: tuple[int, ...]) -> None:
    """Published rates, 128 to 1,024 nodes; the last row is ByteRobust's table 5."""
    assert tuple(standbys(nodes, rate, 24) for nodes in (128, 256, 512, 1_024)) == numbers


def test_standbys_depend_on_how_soon_one_is_replaced() -> None:
    """1,024 nodes, replaced within 1, 4, 24 or 72 hours."""
    assert [standbys(1_024, 6.5e-3, hours) for hours in (1, 4, 24, 72)] == [2, 4, 13, 31]


def test_healthy_nodes_hardly_ever_repeat() -> None:
    """60 jobs, 45 failures on 256 equal nodes: fewer than one false alarm in ten reports; two or more would be many."""
    chance, found, twice = np.random.default_rng(7), 0, 0
    days = {f"n{number}": 28.0 for number in range(256)}
    for _ in range(100):
        named = [f"n{number}" for number in chance.integers(0, 256, 45)]
        incidents = [Incident(1.0, node, "gpu", job=str(job)) for job, node in enumerate(named)]
        found += len(repeaters(incidents, days))
        twice += sum(named.count(node) > 1 for node in set(named))
    assert found < 10 < twice


def test_a_node_that_repeats_is_found_with_its_classes() -> None:
    """Five incidents where the others have one each; two of one job count once."""
    incidents = [Incident(float(day), "bad", "gpu" if day % 2 else "nic", job=str(day)) for day in range(5)]
    incidents += [Incident(1.0, f"n{number}", "gpu", job=f"j{number}") for number in range(5)]
    days = {f"n{number}": 28.0 for number in range(99)} | {"bad": 28.0}
    one_job = [Incident(1.0, "bad", "gpu", job="same")] * 5

    (bad,) = repeaters(incidents, days)
    assert (bad.node, bad.incidents, dict(bad.kinds)) == ("bad", 5, {"gpu": 2, "nic": 3})
    assert repeaters(one_job, days) == ()


def test_a_node_back_from_repair_is_told_for_a_month() -> None:
    """A quarter of them fail again within a week."""
    incidents = [Incident(10, "a", "gpu", until=20), Incident(1, "b", "gpu", until=2), Incident(40, "c", "gpu")]

    assert back_from_repair(incidents, 45) == {"a": 25}


def attempt(name: str, *, ended: End = End.FAILED, checkpoints: tuple[int, ...] = (), **more: object) -> Attempt:
    return Attempt(name, 0, 1, ended=ended, checkpoints=checkpoints, **more)  # type: ignore[arg-type]  # its fields


def test_paths_seeds_dates_and_ids_are_no_change() -> None:
    """What differs in every attempt tells nothing of a failure."""
    before = attempt(
        "a", code="abc", arguments={"lr": "1e-4", "seed": "1", "data": "/data/1", "run_name": "x", "old": "1"}
    )
    after = attempt(
        "b", code="abd", arguments={"lr": "1e-2", "seed": "2", "data": "/data/2", "run_name": "y", "new": "2"}
    )

    assert changes(before, after) == ("code abc to abd", "lr 1e-4 to 1e-2", "new 2 added", "old 1 removed")
    assert changes(attempt("a"), after) is None


def test_a_secret_that_changed_is_told_without_its_value() -> None:
    """By its name; what is called like one and is a number of tokens is told as any other."""
    before = attempt("a", arguments={"wandb_api_key": "hunter2", "hf-token": "a", "max_tokens_len": "1"})
    after = attempt("b", arguments={"wandb_api_key": "hunter3", "hf-token": "b", "max_tokens_len": "2"})

    assert changes(before, after) == ("hf-token changed", "max_tokens_len 1 to 2")


def test_the_last_good_attempt_made_a_checkpoint_or_ended_well() -> None:
    """An attempt that failed before its first checkpoint proves nothing of its code."""
    good, bad = attempt("a", checkpoints=(50,)), attempt("b")

    assert last_good([good, bad]) is good
    assert last_good([bad]) is None
    assert last_good([good, attempt("c", ended=End.PLANNED)]).name == "c"  # type: ignore[union-attr]  # there is one
