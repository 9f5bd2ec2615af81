"""One attempt of a run: when it ran, which iterations it completed when, and what ended it. Times in milliseconds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class End(StrEnum):
    """How an attempt came to its end."""

    COMPLETED = "completed"
    PLANNED = "planned"  # stopped by a person or a time limit
    FAILED = "failed"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class AttemptSuspect:
    """A node that an attempt's diagnosis names, and the class of what broke."""

    node: str
    kind: str


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One attempt.

    start, end: milliseconds since the epoch. numbers: iterations that were complete, rising; times: when, milliseconds.
    saving, evaluating: times of lines that say so, sorted. checkpoints: iterations whose checkpoint is complete. cause:
    what ended it, in short; empty where nobody knows. raised: the type of the exception that it was, if it was one.
    clock: where start and end are from. nodes: their names. ranks: how many; 0 unknown. every: iterations from one
    checkpoint to the next, as job.json tells; 0 unknown. checked: whether all nodes passed checks after it had ended.
    loaded: whether it loaded a checkpoint before its first iteration.
    """

    name: str
    start: int
    end: int
    numbers: NDArray[np.int64] = field(default_factory=_none)
    times: NDArray[np.int64] = field(default_factory=_none)
    ended: End = End.FAILED
    cause: str = ""
    raised: str = ""
    saving: NDArray[np.int64] = field(default_factory=_none)
    evaluating: NDArray[np.int64] = field(default_factory=_none)
    checkpoints: tuple[int, ...] = ()
    suspects: tuple[AttemptSuspect, ...] = ()
    nodes: tuple[str, ...] = ()
    code: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    clock: str = "first and last line"
    ranks: int = 0
    every: int = 0
    checked: bool = False
    loaded: bool = False

    def ended_as(self, other: "Attempt") -> bool:
        """Whether both ended in the same way: of the same cause, and by the same type of exception."""
        return (self.cause, self.raised) == (other.cause, other.raised)


_ARRAYS = ("numbers", "times", "saving", "evaluating")


def encode(attempts: Sequence[Attempt]) -> bytes:
    """All fields of each attempt."""
    return json.dumps([_plain(attempt) for attempt in attempts]).encode()


def decode(kept: bytes) -> tuple[Attempt, ...] | None:
    """The same attempts; None of bytes that are none."""
    try:
        return tuple(_attempt(load) for load in json.loads(kept))
    except (ValueError, TypeError, KeyError):
        return None


def _plain(attempt: Attempt) -> dict[str, Any]:
    values = {field.name: getattr(attempt, field.name) for field in fields(attempt)}
    arrays = {name: values[name].tolist() for name in _ARRAYS}
    suspects = [[suspect.node, suspect.kind] for suspect in attempt.suspects]
    return values | arrays | {"suspects": suspects, "arguments": dict(attempt.arguments)}


def _attempt(plain: dict[str, Any]) -> Attempt:
    arrays = {name: np.array(plain[name], np.int64) for name in _ARRAYS}
    return Attempt(
        **plain
        | arrays
        | {
            "ended": End(plain["ended"]),
            "checkpoints": tuple(plain["checkpoints"]),
            "suspects": tuple(AttemptSuspect(*suspect) for suspect in plain["suspects"]),
            "nodes": tuple(plain["nodes"]),
        }
    )
