"""Nodes that repeat: named more often than the rate of the others explains, with the share of false alarms bounded.

A node that was only there when a job failed is no offender: a large job fails more often. Only named suspects count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammainc

FALSE = 0.05  # share of false alarms (Benjamini and Hochberg)
LEAST = 2  # incidents: one is nobody's habit
HALF = 0.5  # of an incident, at least, is the others' rate made of
WINDOW = 28.0  # days: half a year of history predicts nothing of the next (StepFun's trace, 400 nodes)
MOST_TOLD = 1_000  # incidents of one node that are looked at
SAME = 1 / 24  # of a day: a fault that comes back so soon, or that two sources tell of, is one (StepFun's trace)


@dataclass(frozen=True, slots=True)
class Incident:
    """A fault of a node. day: when, in days; until: when it was over, or None; job: where it was seen, if in a job."""

    day: float
    node: str
    kind: str
    until: float | None = None
    job: str = ""


@dataclass(frozen=True, slots=True)
class Repeater:
    """A node that repeats: how often, how often each class, and the chance of that by the others' rate."""

    node: str
    incidents: int
    kinds: Mapping[str, int]
    chance: float


def repeaters(incidents: Sequence[Incident], days: Mapping[str, float]) -> tuple[Repeater, ...]:
    """Nodes with more incidents than chance explains, the least explained first.

    Args:
        incidents: of the window; two of one job count once.
        days: how long each node was in use; also those without an incident.
    """
    nodes = sorted(days.keys() | {incident.node for incident in incidents})
    seen = {(incident.node, incident.job or str(number)): incident for number, incident in enumerate(incidents)}
    of_node: dict[str, list[Incident]] = {node: [] for node in nodes}
    for incident in seen.values():
        of_node[incident.node].append(incident)
    counts = np.array([len(of_node[node]) for node in nodes])
    exposed = np.array([max(days.get(node, 0.0), 1e-9) for node in nodes])
    if len(nodes) <= 1:
        return ()
    rates = np.maximum(counts.sum() - counts, HALF) / np.maximum(exposed.sum() - exposed, 1e-9)
    chances = np.where(counts > 0, gammainc(np.maximum(1, counts), rates * exposed), 1.0)  # P(Poisson >= count)
    order = np.argsort(chances, kind="stable")
    holds = chances[order] <= FALSE * np.arange(1, len(nodes) + 1) / len(nodes)
    significant = order[: int(np.flatnonzero(holds)[-1]) + 1] if holds.any() else order[:0]
    return tuple(
        Repeater(nodes[at], int(counts[at]), _kinds(of_node[nodes[at]]), float(chances[at]))
        for at in significant.tolist()
        if counts[at] >= LEAST
    )


def least_told(incidents: Sequence[Incident], days: Mapping[str, float]) -> int:
    """How many incidents a node must have had to be told from chance, were it the only one; 0 where nobody can be.

    Args:
        incidents: of the window.
        days: how long each node was in use.
    """
    nodes = len(days.keys() | {incident.node for incident in incidents})
    if nodes <= 1 or not incidents:
        return 0
    usual = max(len(incidents), HALF) / nodes  # of a node that was in use as long as the others
    chances = gammainc(np.arange(1, MOST_TOLD + 1), usual)
    found = np.flatnonzero(chances <= FALSE / nodes)
    return max(LEAST, int(found[0]) + 1) if len(found) else 0


def merged(incidents: Sequence[Incident]) -> tuple[Incident, ...]:
    """Incidents by time, those of one node that begin within an hour of the one before, or of its end, as one.

    Its class is that of the first; it is over when the last is, and never where one of them is not known to be.
    """
    open_ones: dict[str, Incident] = {}
    found: list[Incident] = []
    for incident in sorted(incidents, key=lambda incident: (incident.day, incident.node, incident.until is None)):
        before = open_ones.get(incident.node)
        if before is not None and incident.day - max(before.day, before.until or before.day) <= SAME:
            ends = [before.until, incident.until]
            until = None if None in ends else max(end for end in ends if end is not None)
            open_ones[incident.node] = replace(before, until=until)
            continue
        if before is not None:
            found.append(before)
        open_ones[incident.node] = incident
    return tuple(sorted((*found, *open_ones.values()), key=lambda incident: (incident.day, incident.node)))


def back_from_repair(incidents: Sequence[Incident], day: float) -> dict[str, float]:
    """Days since the last repair ended before ``day``, by node; it fails again within a week in a quarter of cases."""
    since: dict[str, float] = {}
    for incident in incidents:
        if incident.until is not None and 0 <= day - incident.until <= WINDOW:
            since[incident.node] = min(day - incident.until, since.get(incident.node, WINDOW))
    return since


def _kinds(incidents: Sequence[Incident]) -> dict[str, int]:
    kinds = [incident.kind for incident in incidents]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
