"""Which node logged which event: a row a node, a column an event, the suspects first."""

from collections import Counter
from dataclasses import dataclass

from bot.text.harmless import harmless
from bot.text.wording import counted
from core.model import Diagnosis, Role
from core.naming import natural

MAX_ROWS, MAX_EVENTS = 16, 12  # what a phone shows without a second look
_NAME = 28  # characters, as in activity.py


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A node, or all that are left; cells: in the order of the events, empty where it did not log the event."""

    name: str
    cells: tuple[str, ...]
    suspect: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table, and what it leaves out."""

    events: tuple[tuple[str, Role], ...]
    rows: tuple[MatrixRow, ...]
    note: str


def node_matrix(diagnosis: Diagnosis) -> Matrix | None:
    """The table of the diagnosis; None where fewer than two nodes or events would stand in it."""
    events = [event for event in diagnosis.events if event.nodes][:MAX_EVENTS]
    accused = [suspect.node for suspect in diagnosis.nodes]
    nodes_of_events = {node for event in events for node in event.nodes}
    nodes = [
        node for node in accused if node in nodes_of_events or node in {bar.node for bar in diagnosis.pictures.nodes}
    ]
    nodes += sorted(
        nodes_of_events - set(accused), key=lambda node: (-sum(node in event.nodes for event in events), natural(node))
    )
    if len(nodes) < 2 or len(events) < 2:
        return None
    shown = nodes if len(nodes) <= MAX_ROWS else nodes[: MAX_ROWS - 1]
    times = Counter((mark.event, mark.node) for mark in diagnosis.pictures.marks)
    rows = [
        MatrixRow(
            harmless(node, _NAME),
            tuple(_cell(times[event.id, node]) if node in event.nodes else "" for event in events),
            node in accused,
        )
        for node in shown
    ]
    if left := nodes[len(shown) :]:
        cells = (sum(node in event.nodes for node in left) for event in events)
        sentences = tuple(f"on {cell:,}" if cell else "" for cell in cells)
        rows.append(MatrixRow(f"{len(left):,} others", sentences, suspect=False))
    more = len([event for event in diagnosis.events if event.nodes]) - len(events)
    note = f" {counted(more, 'more event')} stand below." if more > 0 else ""
    return Matrix(
        tuple((event.id, event.role) for event in events),
        tuple(rows),
        f"How often a node logged an event, as far as its lines have a time; suspects first.{note}",
    )


def _cell(count: int) -> str:
    return f"{count:,}" if count else "yes"
