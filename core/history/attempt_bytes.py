"""Attempts as bytes, so that a run of a hundred jobs that were read before is told at once."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from core.history.attempt import Attempt, AttemptSuspect, End

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
