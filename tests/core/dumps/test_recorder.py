"""Flight recorder dumps of several torch versions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dumps.recorder import is_recording, read_recording
from core.errors import UnreadableLog


def entry(number: int, **fields: Any) -> dict[str, Any]:
    known = {
        "pg_id": 1,
        "process_group": ["7", "TENSOR"],
        "collective_seq_id": number,
        "profiling_name": "nccl:all_reduce",
    }
    return known | {"state": "scheduled", "retired": False, "is_p2p": False} | fields


def dump(*entries: dict[str, Any], **fields: Any) -> dict[str, Any]:
    config = {"7": {"name": "7", "desc": "TENSOR", "ranks": "[2, 3]"}}
    return {"version": "2.9", "pg_config": config, "entries": list(entries)} | fields


def test_numbers_of_the_status_and_of_the_entries_are_put_together() -> None:
    """What was dropped from the buffer still counts as completed; what is after it is pending."""
    status = {"1": {"last_enqueued_collective": 42, "last_completed_collective": 40}}

    (group,) = read_recording(dump(entry(41), entry(42), pg_status=status), "d", 2).groups

    assert (group.enqueued, group.completed, group.pending, group.ranks) == (42, 40, (41, 42), (2, 3))


def test_a_rank_without_entries_is_still_known_by_its_status() -> None:
    """Groups and their numbers are made in the same order, so that an empty buffer tells how far a rank came."""
    config = {name: {"desc": f"G{name}", "ranks": [2, 3]} for name in ("9", "7", "12")}
    status = {place: {"last_enqueued_collective": int(place) * 10} for place in ("5", "0", "1")}

    recording = read_recording(dump(pg_config=config, pg_status=status), "d", 2)

    assert {group.group: group.enqueued for group in recording.groups} == {"7": 0, "9": 10, "12": 50}
    assert not recording.waits


@pytest.mark.parametrize(
    "document",
    [
        {
            "version": "2.1",
            "entries": [{"pg_id": 0, "seq_id": 5, "profiling_name": "nccl:all_reduce", "state": "started"}],
        },
        {
            "version": "2.10",
            "pg_config": {"": {"desc": "", "ranks": "[0, 1]"}},
            "pg_status": {"0": {"last_completed_collective": "4", "last_enqueued_collective": "5"}},
            "entries": [entry(n, pg_id=0, process_group=["0", "default_pg"]) for n in (4, 5)],
        },
    ],
    ids=["2.1 without status", "gloo"],
)
def test_fields_of_other_versions_are_understood(document: dict[str, Any]) -> None:
    """Old names of fields, and gloo's strings for numbers and its group without a name."""
    groups = [group for group in read_recording(document, "d", 1).groups if group.operations]

    assert [(group.enqueued, group.pending) for group in groups] == [(5, (5,))]


def test_a_rank_is_checked_against_the_groups_it_is_in() -> None:
    """A number in a file's name that its groups do not hold is not its rank; a single common member is."""
    alone = dump(pg_config={"7": {"ranks": "[2, 3]"}, "8": {"ranks": [3, 5]}})

    assert read_recording(dump(), "d", 9).rank is None
    assert read_recording(dump(), "d", 3).rank == 3
    assert read_recording(alone, "d", 9).rank == 3


def test_who_waits_to_receive_is_told_by_global_rank() -> None:
    """Peers are counted within the group."""
    one = entry(0, profiling_name="nccl:recv 1<-0", is_p2p=True)

    recording = read_recording(dump(one), "d", 3)

    assert (recording.waits_for, recording.waits, recording.groups[0].point_to_point) == ((2,), True, True)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ranks", "pg_id", "state", "x"]), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.sampled_from(["pg_config", "pg_status", "version"]), plain), st.lists(plain, max_size=4))
def test_any_plain_document_is_read_or_refused(fields: dict[str, Any], entries: list[Any]) -> None:
    """Whatever a file holds, nothing but our own error comes out."""
    document = {"version": "2.9", **fields, "entries": entries}

    assert is_recording(document)
    assert read_recording(document, "d", 0).file == "d"


def test_more_entries_than_any_buffer_are_refused() -> None:
    """A dump that was made to take our time is left out."""
    with pytest.raises(UnreadableLog, match="more than 200,000 entries"):
        read_recording(dump(*[{}] * 200_001), "d", 0)
