"""Layouts of logs, and who is found to speak there."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.job import Manifest
from core.logs.origins import Origin, Voice, find_origins

TWO_NODES: dict[str, Any] = {
    "nodes": ("node-00", "node-01"),
    "node_ranks": {"node-00": (0, 1), "node-01": (2, 3)},
    "world_size": 4,
}
NAMES_ONLY: dict[str, Any] = {"nodes": ("node-00", "node-01")}

Who = tuple[str | None, int | None, int | None, int]  # node, rank, local rank, attempt
Layout = tuple[str, dict[str, Any], list[tuple[str, bytes, Who]]]


def origins(voices: list[tuple[str, bytes]], manifest: dict[str, Any]) -> list[Origin]:
    """Of each file and prefix."""
    return list(find_origins([Voice(f"logs/{file}", prefix) for file, prefix in voices], Manifest("j1", **manifest)))


def who(origin: Origin) -> Who:
    """What a layout tells of who speaks there."""
    return origin.node, origin.rank, origin.local_rank, origin.attempt


def by_name(layouts: Sequence[Layout]) -> pytest.MarkDecorator:
    """A test of each layout."""
    return pytest.mark.parametrize(
        ("manifest", "voices"), [row[1:] for row in layouts], ids=[row[0] for row in layouts]
    )
