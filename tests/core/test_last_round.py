"""Who is missing from the last round of a message that tells of all ranks."""

from collections.abc import Collection, Sequence

import pytest

from core.events.table import EventTable
from core.job import Job, Status
from core.nodes import last_round
from core.parsed import Parsed
from tests.support.jobs import at, four_nodes, job, lines, parse, signs_of

HOMES = {"gpu-a1": (0, 1), "gpu-b2": (2, 3), "gpu-c3": (4, 5)}


def without_clock(last: int, missing: Sequence[int], **manifest: object) -> Job:
    """One log without any clock: all ranks enter each iteration, but for those that are missing from the last one."""
    said = [
        f"rank {rank}: iteration {n} enters the exchange"
        for n in range(1, last + 1)
        for rank in range(6)
        if n < last or rank not in missing
    ]
    known = {"nodes": tuple(HOMES), "node_ranks": HOMES, "world_size": 6} | manifest
    return job({"train.out": lines(*said, "rank 0 saw no progress for 900 s and leaves")}, **known)


def missing(one: Job) -> set[str]:
    """Nodes that lack what the others said last."""
    return {sign.node for sign in signs_of(one) if sign.channel == "lacks"}


def test_who_is_missing_from_the_last_round_is_told_without_a_clock() -> None:
    """Of six ranks one did not come to the last exchange."""
    assert missing(without_clock(9, [3])) == {"gpu-b2"}


@pytest.mark.parametrize("absent", [[], [0, 1, 2, 3], [0, 2, 4]])
def test_all_or_many_are_no_few(absent: Sequence[int]) -> None:
    """Nor are ranks of all nodes."""
    assert not missing(without_clock(9, absent))


def test_whose_log_was_cut_off_is_not_missing() -> None:
    """Ranks that wait for each other cannot be ten iterations ahead of one: its log ends, not its work."""
    said = {rank: [f"[{n:05d}] nll 1.8 batch 0.0079s gn 1.3" for n in range(1, 41)] for rank in range(6)}
    files = {
        f"{rank}.out": lines(*(said[rank][:30] if rank == 3 else [*said[rank], "[00040] validation begin"]))
        for rank in range(6)
    }
    known = {"nodes": tuple(HOMES), "node_ranks": HOMES, "world_size": 6, "status": Status.UNKNOWN}

    assert not missing(job({f"rank_{name}": text for name, text in files.items()}, **known))


@pytest.mark.parametrize("manifest", [{"status": Status.CANCELLED}, {"status": Status.COMPLETED}])
def test_who_is_stopped_within_a_round_is_not_missing(manifest: dict[str, object]) -> None:
    """A stop from outside comes at any time."""
    assert not missing(without_clock(9, [3], **manifest))


def test_one_log_may_tell_of_all_ranks_by_their_numbers() -> None:
    """The saver's list lacks rank 2, and nothing came for ten minutes until the time limit."""
    said = [at(n, f"iteration {n} loss 2.5") for n in range(1, 41)]
    said += [at(40.0 + rank / 10, f"INFO saver: rank {rank} wrote its shard") for rank in range(4) if rank != 2]
    stop = at(700, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:11:40 DUE TO TIME LIMIT ***")
    found = signs_of(four_nodes({0: said}, others={"slurm.out": [stop]}))

    assert {sign.node for sign in found if "missing from the last" in sign.because} == {"node-2"}


def test_all_messages_are_looked_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty messages of all ranks cost as many passes over the rows as one."""
    passes = 0
    look = EventTable.rows_of

    def counted(table: EventTable, events: Collection[int]) -> object:
        nonlocal passes
        passes += 1
        return look(table, events)

    def said(kinds: int) -> Parsed:
        words = [f"step{chr(97 + kind // 5)}{chr(97 + kind % 5)} entered" for kind in range(kinds)]
        return parse(
            job({f"rank_{rank}.log": lines(*(at(n, word) for n in range(3) for word in words)) for rank in range(6)})
        )

    monkeypatch.setattr(EventTable, "rows_of", counted)
    costs = []
    for kinds in (1, 20):
        parsed = said(kinds)
        passes = 0
        found = list(last_round._rounds(parsed, dict.fromkeys(range(6), "gpu-a1")))
        assert len(found) == kinds
        costs.append(passes)

    assert costs[0] == costs[1]
