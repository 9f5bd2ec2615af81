"""Which counter runs on one machine alone: retransmits, symbol errors, packets out of order, in whatever words.

Counters of errors rise on every machine now and then. One that rises on a single machine many times as fast as on all
others, since the job became slow or stood still, tells which machine's part of the network or storage fails.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.judge.ending import Ending
from core.naming import figure
from core.nodes.onset import BEFORE, onset_of_slowdown
from core.nodes.rank_series import CLEAR
from core.nodes.sign import Sign
from core.nodes.table_heads import column_names, split_row
from core.nodes.told_numbers import Told
from core.nodes.told_subjects import Subject
from core.parsed import Parsed
from core.shares import MIN_RANKS

LEAST = 100.0  # that it rises by: healthy machines of labelled jobs count up to some ten errors in a run
ALONE = 16.0  # times what it rises by on any other machine: who serves or writes for all counts a few times as much
FASTER = 4.0  # times as fast as before the onset, where that is known


@dataclass(frozen=True, slots=True)
class _Rise:
    """By how much a counter rose on a node since the onset, and how much faster than before.

    last: its last value, and the row that tells it.
    """

    node: str
    by: float
    faster: float
    name: str
    last: float
    row: int


def counter_signs(
    parsed: Parsed, counters: Iterable[tuple[int, str, Mapping[Subject, Told]]], ending: Ending
) -> list[Sign]:
    """A sign for the one node on which a counter runs alone, of a job that became slow or stood still.

    Args:
        counters: numbers that never fall, with their message, their name and whom they are of.
    """
    if not (ending.hung or ending.slow is not None or ending.drift is not None) or parsed.unit != "node":
        return []
    onset = ending.progressed if ending.hung else onset_of_slowdown(parsed, ending)
    every = (_runs_alone(name, told, onset) for _, name, told in counters)
    found = [rise for rise in every if rise is not None]
    if len({rise.node for rise in found}) != 1:
        return []  # nobody, or several: to nobody
    first = max(found, key=lambda rise: (rise.by, rise.name))
    name = _column(parsed, first) or first.name or "a counter"
    told = f"{name} rose by {figure(first.by)}, and hardly on any other"
    check = f"Look at what {name} counts on {first.node}: its links, its cables and ports, its storage."
    return [Sign(first.node, "gauge", CLEAR, f"On {first.node} {told}.", says=told, check=check, rows=(first.row,))]


def _runs_alone(name: str, told: Mapping[Subject, Told], onset: int | None) -> _Rise | None:
    """The only node on which a counter rises by so much more than on all others."""
    best: dict[str, _Rise] = {}
    for subject, of in told.items():
        rise = _rise(subject.node, name, of, onset)
        if subject.node not in best or rise.by > best[subject.node].by:
            best[subject.node] = rise
    if len(best) < MIN_RANKS:
        return None
    second, first = sorted(best.values(), key=lambda rise: (rise.by, rise.node))[-2:]
    is_alone = first.by >= max(LEAST, ALONE * second.by) and first.faster >= FASTER
    return first if is_alone else None


def _rise(node: str, name: str, told: Told, onset: int | None) -> _Rise:
    values, times = told.values, told.times
    last = (name, float(values[-1]), int(told.rows[-1]))
    if onset is None or not len(times):
        return _Rise(node, float(values[-1] - values[0]), np.inf, *last)
    start = max(0, int(np.searchsorted(times, onset - BEFORE)) - 1)
    before, after = float(values[start] - values[0]), float(values[-1] - values[start])
    took_before, took_after = float(times[start] - times[0]), float(times[-1] - times[start])
    slow = before / took_before if took_before else 0.0
    return _Rise(node, after, after / took_after / slow if slow and took_after else np.inf, *last)


def _column(parsed: Parsed, rise: _Rise) -> str:
    """What the head of a table calls the counter; empty where its row has no head, or two such values."""
    text = unlabelled(parsed.table, rise.row, read_rows(parsed.files, parsed.table, [rise.row])[rise.row])
    values = [f"{rise.last:g}", f"{rise.last:.0f}"]
    pairs = zip(column_names(parsed, rise.row, text), split_row(text), strict=False)
    names = [column for column, value in pairs if value in values]
    return names[0] if len(names) == 1 else ""
