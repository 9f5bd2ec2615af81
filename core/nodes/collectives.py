"""How far ranks came in collectives (rules/collectives.toml): the others wait for who is behind its group's maximum.

When all are equal nobody is.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.phrases import any_of, patterns_in
from core.shares import MIN_RANKS, few_of

BEHIND_GROUP = 0.5  # as likely as not: who lags may itself wait for somebody in another group
NEVER_BEGAN = (
    0.65  # as who most others blame (core.nodes.spatial): each of them tells that it is in the same collective
)
MAX_ROWS = 400  # of one speaker and event: numbers of collectives only grow, so the last ones do


def collective_signs(parsed: Parsed, node_of_rank: Mapping[int, str]) -> list[Sign]:
    """Ranks that the others of their process group wait for: who completed fewer collectives, or began no further one.

    Each group counts its own collectives, so that only ranks of one group are compared.
    """
    told: dict[str, dict[int, tuple[int, int]]] = {}
    for row, text in _texts(parsed):
        found, rank = collectives_of(text), int(parsed.table.rank[row])
        if found is not None and rank >= 0:
            of_group = told.setdefault(found.group, {})
            completed, enqueued = of_group.get(rank, (0, 0))
            of_group[rank] = (max(completed, found.completed), max(enqueued, found.enqueued))
    waited_for: dict[int, tuple[float, str]] = {}
    for _, of_group in sorted(told.items()):
        for rank, reason in _waited_for(of_group).items():
            waited_for.setdefault(rank, reason)
    return [
        Sign(node_of_rank[rank], "collective", weight, because, says=_BEHIND, ranks=(rank,))
        for rank, (weight, because) in sorted(waited_for.items())
        if rank in node_of_rank
    ]


_BEHIND = "a process there never came to the collective that the others waited in"


def _waited_for(told: Mapping[int, tuple[int, int]]) -> dict[int, tuple[float, str]]:
    """How sure it is that the others of a group wait for a rank, and why; completed and begun collectives are given."""
    if len(told) < MIN_RANKS:
        return {}
    most = max(completed for completed, _ in told.values())
    behind = {rank: completed for rank, (completed, _) in told.items() if completed < most}
    if behind:
        found = {
            rank: (BEHIND_GROUP, f"rank {rank} completed collective {own:,}; the others reached {most:,}.")
            for rank, own in behind.items()
        }
    else:
        idle = [rank for rank, (completed, enqueued) in told.items() if enqueued == completed]
        weight = NEVER_BEGAN if len(idle) <= few_of(len(told)) else BEHIND_GROUP
        others = f"{len(told) - len(idle)} others waited"
        found = {
            rank: (weight, f"rank {rank} began no collective after {most:,}; {others} in the next.") for rank in idle
        }
    return found if len(found) * 2 <= len(told) else {}


def _texts(parsed: Parsed) -> Iterator[tuple[int, str]]:
    """Raw text of the last rows of each speaker whose messages may tell of collectives."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if may_complete(template.sample)]
    rows = table.all_rows_of(events)
    chosen = [of_voice[-MAX_ROWS:] for _, of_voice in rows_by(table.voice, rows)]
    yield from sorted(read_rows(parsed.files, table, np.concatenate(chosen)).items()) if chosen else ()


_MASK = "<NUM>"
# The group whose collectives are counted, as ProcessGroupNCCL.cpp writes it: "[PG ID 2 PG GUID 13(mesh_dp) Rank 3]",
# "[PG 0 (default_pg) Rank 2]" and "[PG 0 Rank 2]" before torch 2.5
_GROUP = re.compile(r"\[PG (?:ID \d{1,9} PG GUID )?(\w{1,64})")


class Collectives(NamedTuple):
    """How far the collectives of one process group came, as one of its ranks tells; ``group`` is "" where unnamed."""

    group: str
    enqueued: int
    completed: int


def collectives_of(text: str) -> Collectives | None:
    """The last collectives that the speaker of a raw line had begun and completed."""
    found, group = _pattern().search(text), _GROUP.search(text)
    if found is None:
        return None
    return Collectives(group[1] if group else "", int(found["enqueued"]), int(found["completed"]))


def may_complete(template: str) -> bool:
    """Whether the lines of a template may tell of collectives."""
    return _pattern().search(template.replace(_MASK, "0")) is not None


@cache
def _pattern() -> re.Pattern[str]:
    return any_of(patterns_in("collectives.toml", "collective"))
