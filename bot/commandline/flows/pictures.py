"""Pictures of a job in a capture: its steps, what carried a finding, and its groups on the topology."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from bot.commandline.flows.terminal import QUIET
from bot.report.style import PALETTE, POINTS, SMALL, canvas, drawing, panel, text_width
from bot.text.harmless import harmless
from core.flows.answer import FlowFinding, JobAnswer
from core.flows.jobs import Floats
from core.flows.topology import Topology

MAX_NICS = 64  # in the graph: more are narrower than a line
MAX_OTHERS = 100  # lines beside those at fault
NAME = 20  # characters; chosen: a label of the graph that does not touch the next
PART = {"dp": "series", "pp": "propagated", "ep": "benign", "emb": "ink", "tp": "muted"}  # of the palette
_HEIGHT = 1.7  # inches of a plot over steps
_LEVELS = {"switch": 3.0, "leaf": 2.0, "nic": 1.0}  # heights in the graph's own unit; arcs hang below 1
_MOST_LEVELS = 3  # of switches above the leaves: pods, a spine, and one for what joins sites
_DEPTH = {
    "dp": 1.7,
    "pp": 1.5,
    "ep": 1.3,
    "emb": 1.1,
    "tp": 0.9,
}  # of the longest arc: two kinds may join the same ends
_SPREAD = 8  # robust deviations above the usual level, beyond which a single value is cut off at the top


def durations(job: JobAnswer, width: float) -> Figure | None:
    """How long each step took, findings behind it; None without steps."""
    if not len(job.timeline):
        return None
    with drawing():
        figure, axes = _over_steps(width, "s")
        seconds = job.timeline.durations / 1e6
        for finding in job.findings:
            _shade(axes, finding)
        axes.plot(seconds, color=PALETTE["series"], linewidth=1.2)
        _limits(axes, seconds, seconds)
    return figure


def series(finding: FlowFinding, width: float) -> Figure | None:
    """What named the subject of a finding, beside the same of all others; None where there is none."""
    if finding.series is None:
        return None
    values, guilty = finding.series.values / 1e3, finding.series.guilty
    others = [place for place in range(values.shape[1]) if place not in guilty][:MAX_OTHERS]
    with drawing():
        figure, axes = _over_steps(width, "ms")
        _shade(axes, finding)
        if others:
            axes.plot(values[:, others], color=PALETTE["other"], linewidth=0.8)
        axes.plot(values[:, list(guilty)], color=PALETTE["root"], linewidth=1.5)
        _limits(axes, values, values[finding.steps[0] : finding.steps[1] + 1, list(guilty)])
    return figure


def _over_steps(width: float, unit: str) -> tuple[Figure, Axes]:
    figure = canvas(width, _HEIGHT)
    axes = panel(figure, 0.55, 0.35, 0.1, 0.1)
    axes.set_xlabel("step", fontsize=SMALL, color=PALETTE["muted"], labelpad=2)
    axes.set_ylabel(unit, fontsize=SMALL, color=PALETTE["muted"])
    axes.grid(axis="y", color=PALETTE["rule"], linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _shade(axes: Axes, finding: FlowFinding) -> None:
    colour = PALETTE["benign" if finding.kind == "pause" else "propagated" if finding.kind in QUIET else "root"]
    axes.axvspan(finding.steps[0] - 0.5, finding.steps[1] + 0.5, color=colour, alpha=0.15, linewidth=0)


def _limits(axes: Axes, values: Floats, shown: Floats) -> None:
    """All of what is to be shown is inside; a spike of others does not press the rest flat."""
    finite, wanted = values[np.isfinite(values)], shown[np.isfinite(shown)]
    if not len(finite):
        return
    middle = float(np.median(finite))
    usual = middle + _SPREAD * float(np.median(np.abs(finite - middle)))
    top = max(wanted.max(initial=0.0), min(usual, finite.max()))
    low = min(float(finite.min()), 0.0)
    axes.set(xlim=(-0.5, len(values) - 0.5), ylim=(low, max(float(top) * 1.08, low + 1e-9)))
    axes.locator_params(axis="x", integer=True, min_n_ticks=1)


def layout(job: JobAnswer, topology: Topology, width: float) -> Figure | None:
    """The NICs of a job below their switches, its groups as arcs below them; None where they are too many to draw."""
    if len(job.nics) > MAX_NICS:
        return None
    nics = sorted(job.nics, key=lambda nic: (topology.leaf.get(nic, ""), topology.server_of(nic), nic))
    at = {nic: float(place) for place, nic in enumerate(nics)}
    guilty = {name for finding in job.findings for name in _blamed(finding)}
    with drawing():
        places = switch_places(topology, at)
        top = max((y for _, y in places.values()), default=_LEVELS["nic"])
        widest = max(text_width(harmless(topology.server_of(nic), NAME), SMALL) for nic in nics)
        upright = widest > width / len({topology.server_of(nic) for nic in nics})
        label = widest if upright else 2 * SMALL / POINTS
        figure = canvas(width, 1.25 + label + 0.45 * (top - _LEVELS["nic"]))
        axes = panel(figure, 0.1, 0.05, 0.1, 0.05)
        axes.set(xlim=(-0.8, len(nics) - 0.2), xticks=[], yticks=[])
        unit = (top + 0.3) / (figure.get_size_inches()[1] - label)  # of the vertical axis an inch
        axes.set_ylim(-0.1 - unit * label, top + 0.3)
        _links(axes, topology, at, places)
        for name, (x, y) in places.items():
            _label(axes, (x, y), name, guilty=name in guilty)
        _arcs(axes, job, at)
        for nic, x in at.items():
            server = topology.server_of(nic)
            bad = nic in guilty or server in guilty
            axes.plot(x, _LEVELS["nic"], "o", color=PALETTE["root" if bad else "ink"], markersize=7 if bad else 4)
        _servers(axes, topology, at, guilty, upright=upright, room=width / len(nics))
    return figure


def _blamed(finding: FlowFinding) -> Sequence[str]:
    """The NIC, server or switch that a finding names: a NIC's server is not at fault itself."""
    who = finding.subject
    return [name for name in (who.switch, who.nic or who.server) if name] if who else []


def switch_places(topology: Topology, at: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Leaves above the middle of their NICs, and level by level what joins them, up to what joins all."""
    below: dict[str, list[float]] = {}
    for nic, x in at.items():
        if nic in topology.leaf:
            below.setdefault(topology.leaf[nic], []).append(x)
    places = {leaf: (sum(xs) / len(xs), _LEVELS["leaf"]) for leaf, xs in below.items()}
    # storage may be attached to a spine, which is no leaf for that
    leaves = {leaf for address, leaf in topology.leaf.items() if address not in topology.roles}
    lower = set(below)
    for level in range(_MOST_LEVELS):
        ends = [pair for end, opposite in topology.trunks for pair in ((end, opposite), (opposite, end))]
        upper = {far for near, far in ends if near in lower and far not in places and far not in leaves}
        for number, name in enumerate(sorted(upper), start=1):
            places[name] = ((len(at) - 1) * number / (len(upper) + 1), _LEVELS["switch"] + level)
        if len(upper) < 2:
            break
        lower = upper
    return places


def _links(axes: Axes, topology: Topology, at: dict[str, float], places: dict[str, tuple[float, float]]) -> None:
    ends = {nic: (x, _LEVELS["nic"]) for nic, x in at.items()} | places
    pairs = [*sorted(topology.leaf.items()), *sorted(topology.trunks)]
    for end, opposite in pairs:
        if end in ends and opposite in ends:
            axes.plot(*zip(ends[end], ends[opposite], strict=True), color=PALETTE["rule"], linewidth=1, zorder=0)


def _label(axes: Axes, where: tuple[float, float], name: str, *, guilty: bool) -> None:
    box = {"boxstyle": "round,pad=0.35", "facecolor": PALETTE["paper"], "edgecolor": PALETTE["other"]}
    colour = PALETTE["root" if guilty else "ink"]
    axes.annotate(
        harmless(name, NAME), where, ha="center", va="center", fontsize=SMALL, color=colour,
        bbox=box | ({"edgecolor": PALETTE["root"]} if guilty else {}),
    )  # fmt: skip


def _arcs(axes: Axes, job: JobAnswer, at: dict[str, float]) -> None:
    """An arc a pair; the further apart its ends, the deeper."""
    for a, b, kind in job.pairs:
        apart = abs(at[a] - at[b])
        depth = _DEPTH[kind] * (0.15 + 0.85 * apart / max(1, len(at) - 1))
        axes.add_patch(
            Arc(
                ((at[a] + at[b]) / 2, _LEVELS["nic"]), apart, depth, theta1=180, theta2=360,
                color=PALETTE[PART[kind]], linewidth=1.3, linestyle="--" if kind == "pp" else "-",
            )
        )  # fmt: skip


def _servers(
    axes: Axes, topology: Topology, at: dict[str, float], guilty: set[str], *, upright: bool, room: float
) -> None:
    """The name of each server below its NICs; left out where they would overlap in ``room`` inches a NIC."""
    middle: dict[str, list[float]] = {}
    for nic, x in at.items():
        middle.setdefault(topology.server_of(nic), []).append(x)
    for server, xs in middle.items():
        bad = server in guilty or any(nic in guilty for nic in at if topology.server_of(nic) == server)
        if bad or room * len(xs) > 1.3 * SMALL / POINTS:
            axes.annotate(
                harmless(server, NAME), (sum(xs) / len(xs), -0.05), ha="center", va="top",
                rotation=90 if upright else 0,
                fontsize=SMALL, color=PALETTE["root" if bad else "muted"],
            )  # fmt: skip
