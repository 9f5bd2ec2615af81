"""The plot of events over time: a lane a node, a mark an occurrence, and a line for as long as the node logged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bot.report.plotted import ticks
from bot.report.style import PALETTE, ROLE_COLOUR, ROLE_MARKER, SMALL, TEXT, canvas, drawing, panel, text_width
from bot.text.harmless import harmless, shorten
from bot.text.wording import SECOND, clock_zone, counted, day
from core.model import Diagnosis, Mark, NodeBar, Role
from core.naming import natural

MAX_LANES = 14  # chosen: what is seen without scrolling, with the axis
_ROW = 0.29  # inches; a little more than suspects.py, for marks
_NAME = 22  # characters, as in suspects.py
_PHONE = 5.0  # inches; a narrower plot is for a phone
_MARKS_A_LANE = 110  # the plot's width in marks: nearer ones would be drawn upon each other
# Points; chosen by eye: the larger the more telling, and a bar for what is benign.
_SIZE = {Role.ROOT: 6.5, Role.PROPAGATED: 4.6, Role.TEARDOWN: 4.4, Role.BENIGN: 6.0}


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of the plot: a node, several nodes, or what belongs to no node."""

    label: str
    nodes: frozenset[str]
    bars: tuple[NodeBar, ...]
    suspect: bool


def timeline_figure(diagnosis: Diagnosis, width: float) -> Figure | None:
    """Where and when the events happened; None without a single event that has a time."""
    roles = {event.id: event.role for event in diagnosis.events}
    marks = [mark for mark in diagnosis.pictures.marks if mark.event in roles]
    if not marks:
        return None
    rows = lanes(diagnosis, marks, roles)
    first, last = _window(diagnosis, marks, roles)
    left = max(text_width(lane.label) for lane in rows) + 0.15
    with drawing():
        figure = canvas(width, _ROW * len(rows) + 0.85)
        axes = panel(figure, left, 0.45, 0.2, 0.4)
        axes.set(xlim=(0, (last - first) / SECOND), ylim=(len(rows) - 0.5, -0.5), yticks=range(len(rows)))
        axes.set_yticklabels([lane.label for lane in rows], fontsize=TEXT, color=PALETTE["ink"])
        for row, lane in enumerate(rows):
            own = [mark for mark in marks if mark.node in lane.nodes]
            _spans(axes, row, lane, [mark.time for mark in own], first, last)
            _marks(axes, row, [mark for mark in own if first <= mark.time <= last], roles, first)
        _first_signs(axes, rows, marks, roles, first)
        _time_axis(figure, axes, diagnosis, first, last, left)
        _legend(figure, [role for role in Role if role in {roles[mark.event] for mark in marks}], left)
    return figure


def lanes(diagnosis: Diagnosis, marks: Sequence[Mark], roles: Mapping[str, Role]) -> list[Lane]:
    """Suspects first, then nodes with a root event, then the rest by name; what does not fit shares one lane."""
    accused = [suspect.node for suspect in diagnosis.nodes]
    bars = {bar.node: bar for bar in diagnosis.pictures.nodes}
    rooted = {mark.node for mark in marks if roles[mark.event] is Role.ROOT}
    every = (set(bars) | {mark.node for mark in marks}) - {""}
    order = {node: place for place, node in enumerate(accused)}
    nodes = sorted(every, key=lambda node: (order.get(node, len(order)), node not in rooted, natural(node)))
    elsewhere = [Lane("no node", frozenset({""}), (), suspect=False)] if any(not mark.node for mark in marks) else []
    room = MAX_LANES - len(elsewhere)
    alone = nodes if len(nodes) <= room else nodes[: max(min(len(order), room - 1), min(len(order) + 4, 8))]
    shown = [
        Lane(harmless(n, _NAME), frozenset({n}), (bars[n],) if n in bars else (), suspect=n in order) for n in alone
    ]
    others = nodes[len(alone) :]
    if others:
        known = tuple(bars[node] for node in others if node in bars)
        shown.append(Lane(f"{len(others):,} others", frozenset(others), known, suspect=False))
    return shown + elsewhere


def describe(diagnosis: Diagnosis) -> str:
    """The plot in words."""
    parts = []
    for event in diagnosis.events[:8]:
        moments = sorted(mark.time for mark in diagnosis.pictures.marks if mark.event == event.id)
        if moments:
            lanes_hit = len({mark.node for mark in diagnosis.pictures.marks if mark.event == event.id})
            first = ticks(moments[0] // SECOND * SECOND, moments[0] // SECOND * SECOND, 2)
            parts.append(f"{event.id} ({event.role}) from {first[0][1]} on {counted(lanes_hit, 'lane')}")
    return f"Events over time, a lane a node. {'; '.join(parts)}."


def _window(diagnosis: Diagnosis, marks: Sequence[Mark], roles: Mapping[str, Role]) -> tuple[int, int]:
    """From a little before the first event that is not benign to a little after the last; a job lasts much longer."""
    telling = [mark.time for mark in marks if roles[mark.event] is not Role.BENIGN] or [mark.time for mark in marks]
    ends = [bar.last for bar in diagnosis.pictures.nodes if bar.last is not None]
    first = min(telling)
    last = max([*telling, *(end for end in ends if end <= max(telling) + 120 * SECOND)])
    pad = max((last - first) // 8, 5 * SECOND)
    return first - pad, last + pad


def _spans(axes: Axes, row: int, lane: Lane, own: Sequence[int], first: int, last: int) -> None:
    """A line for as long as the node logged, with an end mark where it stops inside the window."""
    axes.axhline(row, color=PALETTE["track"], linewidth=1, zorder=0)
    times = [time for bar in lane.bars for time in (bar.first, bar.last) if time is not None]
    if not times:
        return
    end = max([*times, *own])
    left, right = (max(min(times), first) - first) / SECOND, (min(end, last) - first) / SECOND
    if right <= 0:
        return
    axes.hlines(row, left, right, color=PALETTE["rule"], linewidth=5, zorder=1)
    if end < last:
        axes.vlines(right, row - 0.24, row + 0.24, color=PALETTE["muted"], linewidth=1.2, zorder=2)


def _marks(axes: Axes, row: int, marks: Sequence[Mark], roles: Mapping[str, Role], first: int) -> None:
    for role in (Role.BENIGN, Role.TEARDOWN, Role.PROPAGATED, Role.ROOT):  # the most telling one is drawn last
        times = _apart(sorted((mark.time - first) / SECOND for mark in marks if roles[mark.event] is role), axes)
        axes.plot(
            times,
            [row] * len(times),
            ROLE_MARKER[role],
            color=ROLE_COLOUR[role],
            markersize=_SIZE[role],
            markeredgecolor=ROLE_COLOUR[role] if role is Role.BENIGN else PALETTE["paper"],
            markeredgewidth=1.2 if role is Role.BENIGN else 0.6,
            zorder=4,
        )


def _apart(times: Sequence[float], axes: Axes) -> list[float]:
    """The times without those that would be drawn upon the one before."""
    nearest = axes.get_xlim()[1] / _MARKS_A_LANE
    kept: list[float] = []
    for time in times:
        if not kept or time - kept[-1] >= nearest:
            kept.append(time)
    return kept


def _first_signs(
    axes: Axes, rows: Sequence[Lane], marks: Sequence[Mark], roles: Mapping[str, Role], first: int
) -> None:
    """The id of each root event above its first mark, where it does not stand upon another one."""
    taken: list[tuple[int, float]] = []
    near = axes.get_xlim()[1] / 18
    firsts: dict[str, Mark] = {}
    for mark in sorted(marks, key=lambda mark: (mark.time, mark.event, mark.node)):
        if roles[mark.event] is Role.ROOT:
            firsts.setdefault(mark.event, mark)
    for event, mark in firsts.items():
        row = next(number for number, lane in enumerate(rows) if mark.node in lane.nodes)
        at = (mark.time - first) / SECOND
        if not any(row == other and abs(at - place) < near for other, place in taken):
            taken.append((row, at))
            axes.annotate(
                event,
                (at, row),
                (0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                fontweight="bold",
                color=PALETTE["root"],
                zorder=5,
            )


def _start(width: float, left: float) -> float:
    """Where legend and date begin: with the lanes, on a phone at the margin; as a share of the width."""
    return 0.0 if width < _PHONE else left / width


def _time_axis(figure: Figure, axes: Axes, diagnosis: Diagnosis, first: int, last: int, left: float) -> None:
    width = figure.get_figwidth()
    marked = ticks(first, last, 4 if width < _PHONE else 8)
    axes.set_xticks([(time - first) / SECOND for time, _ in marked], [label for _, label in marked])
    axes.grid(axis="x", color=PALETTE["rule"], linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    zone = shorten(f"{day([first, last])}, {clock_zone(diagnosis)}", int(width * 15))
    figure.text(_start(width, left), 0.02, zone, fontsize=SMALL, color=PALETTE["muted"], va="bottom")


def _legend(figure: Figure, roles: Sequence[Role], left: float) -> None:
    width = figure.get_figwidth()
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=ROLE_MARKER[role],
            color=ROLE_COLOUR[role],
            markersize=_SIZE[role],
            label=role.value,
        )
        for role in roles
    ]
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(_start(width, left - 0.06), 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL,
        labelcolor=PALETTE["muted"],
        handletextpad=0.1,
        columnspacing=0.8 if width < _PHONE else 1.4,
        borderpad=0.1,
        borderaxespad=0.0,
    )
