"""Flight recorders: who keeps the others waiting, in any layout of parallel groups."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dumps.recorder import Recording, read_recording
from core.dumps.stalls import StallKind, find_stalls
from tests.support.recorded_dumps import Layout, hang

layouts = st.builds(Layout, st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 3]), st.sampled_from([1, 2, 3]))
flat = st.sampled_from([Layout(2, 2, 1), Layout(1, 4, 1), Layout(4, 2, 1), Layout(3, 3, 1), Layout(8, 1, 1)])


def recorded(dumps: dict[int, dict[str, Any]]) -> tuple[Recording, ...]:
    return tuple(read_recording(dump, f"dumps/_dump_{rank}", rank) for rank, dump in dumps.items())


@given(flat, st.data())
def test_a_program_that_stalls_is_named_alone(layout: Layout, data: st.DataObject) -> None:
    """Without a pipeline its peers come to wait in a collective, and only the one that never entered is named."""
    rank = data.draw(st.integers(0, layout.world - 1))
    at = data.draw(st.integers(0, 7))

    found = find_stalls(recorded(hang(layout, host=(rank, at))))

    assert [(one.rank, one.kind) for one in found] == [(rank, StallKind.HOST)]
    assert f"rank {rank} never entered" in found[0].because


@given(layouts, st.data())
@settings(max_examples=60)
def test_nobody_else_is_ever_named_for_a_stalled_program(layout: Layout, data: st.DataObject) -> None:
    """With a pipeline those that wait in vain to receive keep others waiting too; they are victims, never suspects."""
    rank = data.draw(st.integers(0, layout.world - 1))
    at = data.draw(st.integers(0, 12))

    found = find_stalls(recorded(hang(layout, host=(rank, at))))

    assert {one.rank for one in found} <= {rank}


@given(st.sampled_from([Layout(2, 2, 1), Layout(4, 2, 1), Layout(4, 1, 1)]), st.data())
def test_a_device_that_stalls_is_told_from_a_program(layout: Layout, data: st.DataObject) -> None:
    """The rank entered what its peers completed: its device is named, and nobody who waits for it."""
    rank = data.draw(st.integers(0, layout.world - 1))
    at = data.draw(st.sampled_from([0, 1, 3, 4]))  # collectives of the tensor group

    found = find_stalls(recorded(hang(layout, device=(rank, at))))

    assert [(one.rank, one.kind) for one in found] == [(rank, StallKind.DEVICE)]


@given(layouts)
def test_when_all_agree_nobody_is_named(layout: Layout) -> None:
    """All ranks at the same numbers, whether all ended or all wait in the same collective."""
    ended = hang(layout)
    waiting = {
        rank: dump | {"entries": [one | {"state": "started", "retired": False} for one in dump["entries"]]}
        for rank, dump in ended.items()
    }

    assert find_stalls(recorded(ended)) == find_stalls(recorded(waiting)) == ()


@given(flat, st.randoms(use_true_random=False))
def test_the_order_of_files_and_entries_changes_nothing(layout: Layout, random: Any) -> None:
    """The same dumps give the same answer."""
    dumps = hang(layout, host=(1, 2))
    shuffled = {
        rank: dump | {"entries": random.sample(dump["entries"], len(dump["entries"]))} for rank, dump in dumps.items()
    }
    order = sorted(shuffled, key=lambda _: random.random())

    assert find_stalls(recorded({rank: shuffled[rank] for rank in order})) == find_stalls(recorded(dumps))


def test_a_rank_without_a_dump_is_named_when_all_others_wait_for_it() -> None:
    """A frozen process writes no dump; its group stands at one number."""
    dumps = hang(Layout(1, 8, 1), host=(3, 4))
    del dumps[3]

    (one,) = find_stalls(recorded(dumps))

    assert (one.rank, one.kind) == (3, StallKind.ABSENT)
    assert "rank 3 left no flight recorder dump; ranks 0-2, 4-7 did" in one.because


def test_dumps_of_a_few_ranks_accuse_nobody_of_having_none() -> None:
    """Somebody copied two of eight files: the other six are not suspects."""
    dumps = hang(Layout(1, 8, 1), host=(3, 4))

    assert find_stalls(recorded({rank: dumps[rank] for rank in (0, 1)})) == ()
    assert find_stalls(recorded({0: dumps[0]})) == ()


def test_other_sizes_than_the_rest_of_the_group_are_a_mismatch() -> None:
    """One of four ranks enters the same collective with another size; of two, nobody can say which."""
    dumps = hang(Layout(4, 1, 1))
    for rank, dump in dumps.items():
        dump["entries"] = dump["entries"][:1]
        dump["entries"][0] |= {"state": "scheduled", "retired": False, "input_sizes": [[64, 32 if rank == 2 else 64]]}

    (one,) = find_stalls(recorded(dumps))

    assert (one.rank, one.kind) == (2, StallKind.MISMATCH)
    assert "other sizes or types than ranks 0-1, 3" in one.because
    assert find_stalls(recorded({1: dumps[1], 2: dumps[2]})) == ()


@pytest.mark.parametrize(
    "entry_of",
    [
        # experts receive different numbers of tokens
        lambda rank: {"state": "scheduled", "input_sizes": [[rank]], "profiling_name": "nccl:all_to_all"},
        # a broadcast that its source completed is no stall of the devices that wait for it
        lambda rank: {"state": "scheduled" if rank else "completed", "profiling_name": "nccl:broadcast"},
        # three of four devices do not complete what one did: no rank is special
        lambda rank: {"state": "scheduled" if rank else "completed", "retired": not rank},
    ],
    ids=["sizes of experts", "a sender before its receivers", "most ranks"],
)
def test_what_may_differ_names_nobody(entry_of: Callable[[int], dict[str, Any]]) -> None:
    """Of four ranks in one collective."""
    dumps = hang(Layout(4, 1, 1))
    for rank, dump in dumps.items():
        dump["entries"] = [dump["entries"][0] | {"retired": False} | entry_of(rank)]

    assert find_stalls(recorded(dumps)) == ()
