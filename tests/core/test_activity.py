"""Who logged when: the cells of the heat map, for few and for very many ranks."""

from core.answer.pictures import COLUMNS, LANES, activity
from core.parsed import Parsed
from tests.support.jobs import at, job, lines, parse


def ranks(number: int, *, silent: int, seconds: int = 96) -> Parsed:
    """Ranks that say a line each two seconds, and one that stops in the middle."""
    last = {rank: seconds // 2 if rank == silent else seconds for rank in range(number)}
    return parse(
        job({
            f"rank_{rank}.log": lines(*(at(second, "step done") for second in range(0, last[rank] + 1, 2)))
            for rank in range(number)
        })
    )  # fmt: skip


def test_who_falls_silent_has_empty_cells() -> None:
    """A lane a rank: the one that stops has lines in the first half only, and its last moment."""
    shown = activity(ranks(4, silent=2).table)

    assert shown is not None
    assert [lane.name for lane in shown.lanes] == ["rank 0", "rank 1", "rank 2", "rank 3"]
    assert all(len(lane.counts) == COLUMNS for lane in shown.lanes)
    half = COLUMNS // 2 + 1
    assert [sum(lane.counts[half:]) > 0 for lane in shown.lanes] == [True, True, False, True]
    assert shown.lanes[2].last is not None
    assert shown.lanes[2].last < shown.last
    assert sum(map(sum, (lane.counts for lane in shown.lanes))) == 3 * 49 + 25


def test_many_ranks_are_few_lanes_that_show_who_fell_silent() -> None:
    """Of the ranks that share a lane the one that stopped first is shown, and whom it stands for is said."""
    shown = activity(ranks(100, silent=57, seconds=8).table)

    assert shown is not None
    assert len(shown.lanes) <= LANES
    assert shown.lane_of == 4
    (lane,) = [lane for lane in shown.lanes if lane.name == "rank 57"]
    assert lane.beside == ("rank 56", "rank 59")


def test_nothing_is_compared_where_one_speaks() -> None:
    """One rank, or no clock: no picture."""
    assert activity(ranks(1, silent=0).table) is None
    assert activity(parse(job({f"rank_{rank}.log": "step done\n" for rank in range(4)})).table) is None
