"""A small cluster that hangs: ranks in tensor, data and pipeline groups run collectives until nothing moves any more.

Each rank puts operations into one queue, at most AHEAD of what has ended. An operation ends when it is first in the
queue of all ranks that it joins. A rank may stop putting in (its program stalls), or never end an operation that the
others end (its device stalls). What is left is written as torch writes it.
"""

import json
import pickle
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

AHEAD = 4
STEPS = 3


@dataclass(frozen=True)
class Layout:
    """Sizes of the parallel groups, laid out as Megatron does: tensor, then data, then pipeline."""

    tensor: int
    data: int
    pipeline: int

    @property
    def world(self) -> int:
        return self.tensor * self.data * self.pipeline

    def groups(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        strides = {"TENSOR": (self.tensor, 1), "DATA": (self.data, self.tensor)}
        strides["PIPELINE"] = (self.pipeline, self.tensor * self.data)
        found: dict[str, tuple[str, tuple[int, ...]]] = {"0": ("default_pg", tuple(range(self.world)))}
        for kind, (size, stride) in strides.items():
            for first in (rank for rank in range(self.world) if rank // stride % size == 0):
                found[str(len(found))] = (f"{kind}_GROUP", tuple(range(first, first + size * stride, stride)))
        return found


@dataclass
class _Rank:
    program: list[tuple[str, str, int, tuple[int, ...]]]  # group, name, number, who joins
    entered: int = 0
    done: int = 0
    stuck: bool = False
    states: dict[int, str] = field(default_factory=dict)


def hang(
    layout: Layout, *, host: tuple[int, int] | None = None, device: tuple[int, int] | None = None
) -> dict[int, dict[str, Any]]:
    """Dumps of all ranks after a hang. host, device: a rank and the operation at which its program or device stalls."""
    groups = layout.groups()
    ranks = [_Rank(_program(groups, rank)) for rank in range(layout.world)]
    moved = True
    while moved:
        moved = False
        for number, one in enumerate(ranks):
            limit = min(one.done + AHEAD, len(one.program), host[1] if host and host[0] == number else 1 << 30)
            moved, one.entered = moved or one.entered < limit, max(one.entered, limit)
        for one in ranks:
            if one.done >= one.entered or one.stuck:
                continue
            operation = one.program[one.done]
            if all(_front(ranks[other], operation) for other in operation[3]):
                for other in operation[3]:
                    if device == (other, ranks[other].done):
                        ranks[other].stuck = True
                    else:
                        ranks[other].done += 1
                moved = True
        if device and ranks[device[0]].stuck and not moved:
            break
    return {number: _dump(number, one, groups) for number, one in enumerate(ranks)}


def _front(one: _Rank, operation: tuple[str, str, int, tuple[int, ...]]) -> bool:
    """Whether a rank has come to an operation; a send and its receive are one, told by who joins."""
    if one.stuck or one.done >= one.entered:
        return False
    name, _, number, joined = one.program[one.done]
    return (name, joined) == (operation[0], operation[3]) and (number == operation[2] or len(joined) == 2)


def _program(groups: dict[str, tuple[str, tuple[int, ...]]], rank: int) -> list[tuple[str, str, int, tuple[int, ...]]]:
    own = {kind: (name, ranks) for name, (kind, ranks) in groups.items() if rank in ranks and kind != "default_pg"}
    numbers: dict[str, int] = defaultdict(int)
    program: list[tuple[str, str, int, tuple[int, ...]]] = []

    def add(name: str, operation: str, joined: tuple[int, ...]) -> None:
        numbers[name] += 1
        program.append((name, operation, numbers[name], joined))

    line_name, line = own["PIPELINE_GROUP"]
    stage = line.index(rank)
    for _ in range(STEPS):
        if stage > 0:
            add(line_name, f"recv {stage}<-{stage - 1}", (line[stage - 1], rank))
        for name, ranks in (own["TENSOR_GROUP"], own["TENSOR_GROUP"]):
            add(name, "all_reduce", ranks)
        if stage < len(line) - 1:
            add(line_name, f"send {stage}->{stage + 1}", (rank, line[stage + 1]))
        name, ranks = own["DATA_GROUP"]
        add(name, "_reduce_scatter_base", ranks)
    return program


def _dump(rank: int, one: _Rank, groups: dict[str, tuple[str, tuple[int, ...]]]) -> dict[str, Any]:
    places = {name: place for place, name in enumerate(sorted(groups, key=int))}
    entries = []
    for at, (name, operation, number, _) in enumerate(one.program[: one.entered]):
        peer = operation.startswith(("send", "recv"))
        entries.append(
            {
                "record_id": at,
                "pg_id": places[name],
                "process_group": [name, groups[name][0]],
                "collective_seq_id": 0 if peer else number,
                "p2p_seq_id": number if peer else 0,
                "profiling_name": f"nccl:{operation}",
                "input_sizes": [[64, 64]],
                "state": "completed" if at < one.done else "scheduled",
                "retired": at < one.done,
                "is_p2p": peer,
            }
        )
    own = {name: about for name, about in groups.items() if rank in about[1]}
    config = {name: {"name": name, "desc": kind, "ranks": str(list(ranks))} for name, (kind, ranks) in own.items()}
    return {"version": "2.9", "pg_config": config, "entries": entries}


def files(dumps: dict[int, dict[str, Any]], *, pickled: bool = True) -> dict[str, bytes]:
    """The dumps as files."""
    if pickled:
        return {f"_dump_{rank}": pickle.dumps(dump, protocol=2) for rank, dump in dumps.items()}
    return {f"trace_rank_{rank}.json": json.dumps(dump).encode() for rank, dump in dumps.items()}
