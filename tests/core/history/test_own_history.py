"""Standbys by a run's own faults, incidents that are one, what went away with a change, what stays unseen."""

import numpy as np
import pytest

from core.history.advice import own_standbys
from core.history.attempt import Attempt, End
from core.history.history import history
from core.history.repeats import Incident, least_told, merged, repeaters


def test_standbys_by_its_own_faults_hold_batches_apart() -> None:
    """A fault every second day, and two days on which six nodes fail together: six suffice, and one without batches."""
    single = [(float(day), f"n{day}", "gpu") for day in range(0, 100, 2)]
    together = [(day + 0.5 + number / 1000, f"m{number}", "switch") for day in (31, 71) for number in range(6)]

    own = own_standbys([*single, *together], 24)

    assert own is not None
    assert (own.all, own.apart, own.batches, own.largest) == (6, 1, 2, 6)
    assert own_standbys(single[:29], 24) is None  # 56 days


def test_what_comes_within_an_hour_is_one_incident() -> None:
    """Of one node, whoever tells it; over when the last is, and open where one of them is."""
    found = merged(
        [
            Incident(1.0, "a", "gpu", 2.0),
            Incident(2.02, "a", "link", 3.0),
            Incident(1.0, "b", "gpu", 1.5),
            Incident(1.01, "b", "gpu", None),
            Incident(9.0, "a", "gpu"),
        ]
    )

    assert [(one.day, one.node, one.kind, one.until) for one in found] == [
        (1.0, "a", "gpu", 3.0),
        (1.0, "b", "gpu", None),
        (9.0, "a", "gpu", None),
    ]


@pytest.mark.parametrize("nodes", [8, 64, 256])
def test_a_node_is_told_from_as_many_incidents_as_is_said(nodes: int) -> None:
    """With one less it stays unseen: what a small history cannot show is said, not left out."""
    days = {f"n{number}": 28.0 for number in range(nodes)}
    others = [Incident(float(number), f"n{number}", "x") for number in range(1, 5)]

    def told(count: int) -> tuple[int, int]:
        known = [*others, *(Incident(20.0 + number, "n0", "x") for number in range(count))]
        return len(repeaters(known, days)), least_told(known, days)

    least = next(count for count in range(1, 20) if told(count)[0])
    assert abs(told(least)[1] - least) <= 1
    assert least_told([], days) == 0


def attempt(place: int, last: int, cause: str, arguments: dict[str, str]) -> Attempt:
    numbers = np.arange(1, last + 1)
    start = place * 1_000_000
    ended = End.FAILED if cause else End.COMPLETED
    times = start + numbers * 1000
    return Attempt(f"a{place}", start, int(times[-1]), numbers, times, ended, cause, arguments=arguments)


@pytest.mark.parametrize(("reached", "cause", "gone"), [(60, "", ["it hung"]), (20, "", []), (60, "it hung", [])])
def test_what_went_away_with_a_change_is_told_as_that(reached: int, cause: str, gone: list[str]) -> None:
    """Only where the run got beyond it, and it never came back."""
    told = history("r", [attempt(0, 30, "it hung", {"lr": "1"}), attempt(1, reached, cause, {"lr": "2"})])

    assert [one.gone for one in told.changes if one.gone] == gone
