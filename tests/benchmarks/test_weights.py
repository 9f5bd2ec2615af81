"""Weights of channels that are fitted to some jobs and asked of others."""

from benchmarks.quality.weights import WeighedJob, cross_validate, report


def asked(place: int, kind: str, *, telling: str, other: str) -> WeighedJob:
    """A job whose faulty node one channel points to; another, just as loud, points to a healthy one."""
    said = {"node-0": {other: 0.6}, "node-1": {telling: 0.6}, "node-2": {}}
    return WeighedJob(f"j{place}", kind, "torch", said, frozenset({"node-1"}), "node-0")


JOBS = [asked(place, f"kind-{place % 3}", telling="direct", other="contrast") for place in range(9)]


def test_a_regression_learns_which_channel_tells() -> None:
    """In jobs of kinds that it has not seen; ours pointed to the other node each time."""
    folds = cross_validate(JOBS, [one.kind for one in JOBS])

    assert sorted(kind for fold in folds for kind in fold.held_out) == ["kind-0", "kind-1", "kind-2"]
    assert [(fold.jobs, fold.ours, fold.fitted) for fold in folds] == [(3, 0, 3)] * 3


def test_what_no_other_job_shows_is_not_learned() -> None:
    """The job with a channel of its own is asked by weights that know nothing of it: nobody stands out."""
    odd = asked(9, "kind-9", telling="votes", other="contrast")

    folds = cross_validate([*JOBS, odd], [one.kind for one in (*JOBS, odd)])

    assert {fold.held_out: fold.fitted for fold in folds}[("kind-9",)] == 0


def test_the_report_sums_the_folds_up() -> None:
    """One table for kinds, and one for stacks where there are several."""
    two = [*JOBS, *(WeighedJob(f"s{one.job_id}", one.kind, "jax", one.weights, one.faulty, "node-1") for one in JOBS)]

    assert "| all | 18 | 9 | 18 |" in report(two)
