"""What a job without a clock says again and again in the end: it waits."""

from collections.abc import Sequence

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.repeats import find_repeats
from core.model import Scope
from tests.support.jobs import job, lines, parse

NAMES = ("ash", "birch", "cedar", "elm", "fir")


def ended_with(last: Sequence[str]) -> Job:
    """A job that nobody can time, and its last words."""
    said = [f"hub: s{n}" for n in range(1, 40)]
    return job({"hub.txt": lines("hub: five arms", *said, *last)}, status=Status.CANCELLED)


@pytest.mark.parametrize(
    ("last", "repeats"),
    [
        (["hub: gate 4: still 4/5"] * 3 + ["hub: stop by hand"], "hub: gate 4: still 4/5"),
        ([f"collecting, 8/10 actors after {n}00s" for n in (3, 6, 9)], "collecting, 8/10 actors after 900s"),
        (["hub: gate 4: still 4/5"] * 2, ""),  # tried once more
        ([f"hub: gate {n}: 5/5" for n in range(4, 9)], ""),  # another number each time is progress
        (["hub: gate 4: still 4/5"] * 3 + [f"hub: gate 4: {name} in" for name in NAMES], ""),  # it went on
    ],
)
def test_the_same_again_and_again_is_a_wait(last: Sequence[str], repeats: str) -> None:
    """But for how long it waits, which may stand in it."""
    assert find_repeats(parse(ended_with(last))) == repeats


def test_a_job_that_waits_until_it_is_stopped_has_hung() -> None:
    """It is not told as stopped while it was well."""
    found = diagnose(ended_with(["hub: gate 4: still 4/5"] * 5), [])

    assert found.scope is not Scope.NONE
    assert "hung" in found.headline


def waited_and_killed(last: Sequence[str]) -> Job:
    """Workers that write to one file, wait in turns, and are killed: cedar with last words of its own."""
    waits = (f"no batch since {n}00 s" for n in (3, 6, 9))
    said = [f"{name}: b={n} took 0.8" for n in range(1, 20) for name in NAMES]
    for text, own in zip(waits, last, strict=True):
        said += [f"{name}: {text if name != 'cedar' else own}" for name in NAMES]
    said += [f"{name} exited with code 137" for name in NAMES]
    return job({"all.log": lines(*said)}, nodes=NAMES, status=Status.UNKNOWN)


def test_each_who_writes_to_a_file_has_last_words_and_a_kill_ends_the_wait() -> None:
    """Somebody killed all of a job that stood still: the one that waited elsewhere is where to look."""
    found = diagnose(waited_and_killed([f"main thread in a lock, {n}00 s" for n in (3, 6, 9)]), [])

    assert [node.node for node in found.nodes] == ["cedar"]


def test_who_all_wait_alike_until_they_are_killed_accuse_nobody() -> None:
    """Then no node stands out."""
    assert diagnose(waited_and_killed([f"no batch since {n}00 s" for n in (3, 6, 9)]), []).nodes == ()


def watched(waits: Sequence[str], elsewhere: Sequence[int], status: Status) -> Job:
    """Sixteen ranks in one log without a clock; each tells how long it waited, and where it stands."""
    ranks = range(16)
    said = [f"[1,{rank}]<stdout>:schritt={n} verlust=0.5" for n in range(10, 270, 10) for rank in ranks]
    for wait in waits:
        said += [
            f"[1,{rank}]<stdout>:Waechter: seit {wait} s kein Fortschritt "
            f"({'Vorwaertslauf' if rank in elsewhere else 'MPI_Allreduce'})"
            for rank in ranks
        ]
    nodes = {f"knoten{n}": tuple(range(4 * n, 4 * n + 4)) for n in range(4)}
    return job({"lauf.log": lines(*said)}, nodes=tuple(nodes), node_ranks=nodes, world_size=16, status=status)


@pytest.mark.parametrize(
    ("waits", "elsewhere", "suspects"),
    [
        (("300", "600"), (9,), ["knoten2"]),
        (("300", "600", "900"), (12, 13, 14, 15), ["knoten3"]),
        (("300", "600", "900"), (1, 5, 9, 13), []),  # on every node
        (("300", "300"), (9,), []),  # no longer wait is told
    ],
)
def test_who_waits_elsewhere_while_all_tell_a_longer_wait_holds_them_up(
    waits: Sequence[str], elsewhere: Sequence[int], suspects: list[str]
) -> None:
    """Twice is enough when the second wait is longer; a node's ranks may stand apart together."""
    found = diagnose(watched(waits, elsewhere, Status.RUNNING), [])

    assert [node.node for node in found.nodes] == suspects
