"""The same words everywhere."""

import dataclasses

import pytest

from bot.text import wording
from core.model import Coverage, Diagnosis, EventEvidence
from tests.support import diagnoses


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.00 kB"),
        (9_996, "10.0 kB"),
        (99_960, "100 kB"),
        (683_000, "683 kB"),
        (999_600, "1.00 MB"),
        (14_200_000_000, "14.2 GB"),
    ],
)
def test_sizes_have_three_digits(number: int, shown: str) -> None:
    """Sizes can be compared at a glance."""
    assert wording.size(number) == shown


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((), ""),
        ((5,), "rank 5"),
        ((3, 2), "ranks 2-3"),
        ((0, 1, 2, 7), "ranks 0-2, 7"),
        (tuple(range(0, 40, 2)), "ranks 0, 2, 4, 6, 8, 15 more"),
    ],
)
def test_ranks_are_joined_and_the_rest_is_counted(numbers: tuple[int, ...], shown: str) -> None:
    """Eight ranks of a node, or four thousand of a cluster, take one line."""
    assert wording.ranks(numbers) == shown


@pytest.mark.parametrize(
    ("nodes", "total", "shown"),
    [
        (("a",), 4, "a"),
        (("a", "b"), 4, "a, b"),
        (("a", "b"), 2, "all 2 nodes"),
        (tuple("abc"), 4, "3 of 4 nodes"),
        (tuple("abc"), 0, "3 nodes"),
        ((), 4, "no node"),
    ],
)
def test_few_nodes_are_named_and_many_are_counted(nodes: tuple[str, ...], total: int, shown: str) -> None:
    """Where an event was fits into a column."""
    assert wording.where(EventEvidence("E1", 1.0, "", nodes=nodes), total) == shown


def test_the_first_line_stands_alone() -> None:
    """It names the job once, whether or not the headline does."""
    plain = diagnoses.node_fault()
    named = dataclasses.replace(plain, headline="f07: look at node-01")
    assert wording.first_line(plain).startswith("f07: Look at node-01 first")
    assert wording.first_line(named) == "f07: look at node-01"


def test_times_carry_a_date_only_when_there_are_several() -> None:
    """A job that ran past midnight cannot be misread."""
    noon, midnight = 1_795_262_400_000_000, 1_795_305_600_000_000
    assert wording.clocks([noon, None]) == ["12:00:00", wording.NO_CLOCK]
    assert wording.clocks([noon, midnight]) == ["11-21 12:00:00", "11-22 00:00:00"]
    assert wording.clocks([noon + 7_000], milliseconds=True) == ["12:00:00.007"]


@pytest.mark.parametrize(
    ("micros", "shown"), [(None, None), (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z")]
)
def test_times_are_iso_8601(micros: int | None, shown: str | None) -> None:
    """Other programs read the times."""
    assert wording.iso(micros) == shown


def test_an_impossible_time_is_no_crash() -> None:
    """A line that claims the year 400000 does not end the report."""
    assert (wording.iso(1 << 62) or "").startswith("9999-")


def test_the_time_of_a_line_is_not_said_twice() -> None:
    """Beside the clock column a line begins with what it says."""
    event = diagnoses.node_fault().events[0]
    assert wording.cited_text(event).startswith("3: eth0: <NO-CARRIER")
    assert wording.cited_text(dataclasses.replace(event, first_time=None)).startswith("[2026-11-21T03:59:44.976000]")


def test_a_time_within_a_line_stays() -> None:
    """Only the clock at its head is said beside it: behind a launcher's label, too."""
    stop = "0: slurmstepd: error: *** STEP 7.0 ON gpu017 CANCELLED AT 2026-11-21T04:00:12 DUE TO NODE FAILURE ***"
    assert wording.without_clock(stop) == stop
    assert wording.without_clock("12: 2026-11-21 04:00:12,500 saved") == "12: saved"


def test_what_was_not_read_is_said() -> None:
    """Missing nodes, ranks and files are told, and an empty job has read nothing."""
    coverage = Coverage(nodes_missing=("a", "b"), ranks_missing=(3, 4), unreadable_files=("logs/x.gz",))
    assert wording.missing(coverage) == ["all logs of a, b", "all logs of ranks 3-4", "1 unreadable file: logs/x.gz"]
    assert wording.read(coverage) == "no log at all"
    assert wording.missing(Coverage()) == []


def test_a_headline_that_is_missing_is_replaced() -> None:
    """Even an empty diagnosis has a first line."""
    empty = Diagnosis("j", "firstfault", diagnoses.inconclusive().scope, diagnoses.inconclusive().confidence, "")
    assert wording.first_line(empty) == "j: The logs do not tell what is at fault"


def test_ranks_and_nodes_are_ordered_as_numbers() -> None:
    """rank 9 comes before rank 14, whatever letters say."""
    assert wording.where(EventEvidence("E1", 1.0, "", nodes=("rank 14", "rank 9")), 16) == "rank 9, rank 14"


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (1_795_233_584_000_000, "2026-11-21 03:59:44"),
        (86_400_000_000 + 3_661_000_000, "01:01:01"),  # 1970-01-02: a clock of which nobody tells the day
        (325 * 86_400_000_000 + 3_661_000_000, "11-22 01:01:01"),  # one without a year
    ],
)
def test_no_day_is_told_that_no_log_tells(micros: int, shown: str) -> None:
    """1970 is what a clock without a date is counted from, and no time of a job."""
    assert wording.dated(micros) == shown


def _with_line(text: str) -> Diagnosis:
    fault = diagnoses.node_fault()
    line = dataclasses.replace(fault.events[0].lines[0], text=text)
    return dataclasses.replace(fault, events=(dataclasses.replace(fault.events[0], lines=(line,)),), facts={})


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2026-11-21T05:59:44+02:00 eth0 went down", "UTC"),
        ("2026-11-21T03:59:44.5Z eth0 went down", "UTC"),
        ("2026-11-21 03:59:44,512 eth0 went down", wording.ZONE_OF_LOGS),
        ("E1121 03:59:44.132000 7516 api.py:10] failed", wording.ZONE_OF_LOGS),
        ("no clock at all", wording.ZONE_OF_LOGS),
    ],
)
def test_clocks_with_a_zone_are_shown_in_utc(text: str, zone: str) -> None:
    """They are converted when they are read; what has none stands as it is."""
    assert wording.clock_zone(_with_line(text)) == zone


def test_logs_that_name_no_node_are_not_called_missing() -> None:
    """One file of all processes: whose it is, nobody knows, but it was read."""
    names = ("cn021", "cn022")

    assert wording.missing(Coverage(files=1, lines=90, nodes_missing=names)) == []
    assert wording.missing(Coverage(files=1, lines=90, nodes=1, nodes_missing=names)) == ["all logs of cn021, cn022"]
    assert wording.missing(Coverage(nodes_missing=names)) == ["all logs of cn021, cn022"]
    heard = Coverage(files=1, lines=90, nodes=1, nodes_missing=names, ranks=4, ranks_expected=4)
    assert wording.missing(heard) == []


def test_ranks_are_not_called_nodes() -> None:
    """Where no line names a node, ranks are compared."""
    event = dataclasses.replace(diagnoses.node_fault().events[0], nodes=tuple(f"rank {n}" for n in range(4)))
    assert wording.where(event, 0) == "4 ranks"


def test_glogs_head_is_not_said_beside_the_time() -> None:
    """Date, thread and source file fill a line of a phone."""
    head = "[rank3]: E1121 03:55:37.132000 7516 torch/distributed/elastic/multiprocessing/api.py:1002] "
    assert wording.without_clock(head + "failed (exitcode: -9)") == "[rank3]: failed (exitcode: -9)"
