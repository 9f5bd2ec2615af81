"""The paper as it stands, to be measured against (``--method l4``).

"L4: Diagnosing Large-scale LLM Training Failures via Automated Log Analysis", FSE-Companion 2025, sections 4.2 to 4.4:
drop what successful jobs say, rank nodes by an Isolation Forest over their event count vectors, find the iteration whose
sequence of events is far from those before it. Every failure-indicating event has the role ``root``: the paper knows no
other. Its choices stay even where they are known to fail (METHOD.md, section 2).

Differs, everywhere because the paper is silent and the method needs something:
Differs: it names no threshold; each one here says at its line where it comes from.
Differs: it does not say which events make a node anomalous; here those whose count is not the median of all nodes.
Differs: it does not rank events; here by the anomaly of the node and by how far its count is from that median.
Differs: a forest cannot set one of two nodes apart; then everything that is left after the cross-job filter is named.
Differs: it decides no scope; here ``node`` as soon as there is a suspect, else ``job``, and ``none`` when nothing is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.baseline import Profile
from core.iterations import NO_ITERATION, Iterations
from core.model import (
    Confidence,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    NodeEvidence,
    Pictures,
    Role,
    Scope,
    Skipped,
    Stage,
)
from core.parse import Reading
from core.present import _coverage
from core.stages import STAGES
from core.table import EventTable, node_names
from core.templates import Template
from core.text import read_rows

FREQUENT = 0.5  # 4.2 "frequently present": no number there; here in at least half of the successful jobs
SUSPECTS = 8  # 4.3: the top 8 are shown
SUSPICIOUS = 0.5  # 4.3 names no threshold; at 0.5 for all, "no distinct anomaly" (Liu et al., ICDM 2008, section 2)
MIN_NODES = 3  # of one or two rows the forest gives 0.5 to each, whatever they hold
SEED = 0  # 4.3: a forest is random; the same input has to give the same answer
WINDOW = 10  # 4.4: the ten iterations before
SIGMAS = 3.0  # 4.4: three-sigma
MIN_SCORES = 11  # of n values none is further than sqrt(n - 1) sigma from their mean: ten can at most reach three
MAX_SEQUENCE = 2_000  # events of an iteration; DTW takes their square, and a failed job's last one may be a huge report
MAX_LINES = 3  # cited lines an event


def diagnose_l4(
    reading: Reading,
    table: EventTable,
    templates: Mapping[str, Template],
    profiles: Sequence[Profile],
    iterations: Iterations,
    stages: NDArray[np.int8],
) -> Diagnosis:
    """Everything the paper does once logs are parsed and stages and iterations are marked."""
    kept = cross_job(table, templates, profiles)  # 4.2
    vectors = count_vectors(table, kept)  # 4.3
    suspects = spatial(vectors)  # 4.3
    odd = temporal(sequences(table, iterations))  # 4.4
    return _present(reading, table, profiles, iterations, stages, vectors, suspects, odd)


# --- 4.2: successful jobs --------------------------------------------------------------------------------------------


def cross_job(table: EventTable, templates: Mapping[str, Template], profiles: Sequence[Profile]) -> tuple[int, ...]:
    """Events that are not frequently present in successful jobs, sorted by their text; without any all of them."""
    present_in = [{templates[text].id for text in profile.texts()} for profile in profiles]
    enough = FREQUENT * len(profiles)
    kept = [
        event
        for event in table.rows_of
        if not profiles or sum(table.templates[event].id in events for events in present_in) < enough
    ]
    return tuple(sorted(kept, key=lambda event: (table.templates[event].text, table.templates[event].id)))


# --- 4.3: nodes against each other -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Vectors:
    """Event count vectors: int64 counts, a row for each node, a column for each event; both sorted."""

    nodes: tuple[str, ...]
    events: tuple[int, ...]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A node with its anomaly (0..1, 0.5: like the others) and the events that make it so, the furthest off first.

    events: event -> (count here, median count of all nodes).
    """

    node: str
    anomaly: float
    events: Mapping[int, tuple[int, float]]


def count_vectors(table: EventTable, events: Sequence[int]) -> Vectors:
    """How often each node says each event; ranks stand for nodes where the logs name none."""
    names, place = (table.nodes, table.node) if table.nodes else _ranks(table)
    counts = np.zeros((len(names), len(events)), np.int64)
    for column, event in enumerate(events):
        said = place[table.rows_of[event]]
        counts[:, column] = np.bincount(said[said >= 0], minlength=len(names))
    return Vectors(names, tuple(events), counts)


def spatial(vectors: Vectors) -> tuple[Suspect, ...]:
    """Nodes above the threshold, the most anomalous first, at most eight."""
    if len(vectors.nodes) < MIN_NODES or not vectors.events:
        return ()
    anomaly = _forest(vectors.counts)
    order = sorted(range(len(vectors.nodes)), key=lambda row: (-anomaly[row], vectors.nodes[row]))
    middle = np.median(vectors.counts, axis=0)
    return tuple(
        Suspect(vectors.nodes[row], float(anomaly[row]), _oddities(vectors, row, middle))
        for row in order[:SUSPECTS]
        if anomaly[row] > SUSPICIOUS
    )


def _forest(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Anomaly of each row; scikit-learn's defaults (100 trees of at most 256 samples), for the paper names no others."""
    from sklearn.ensemble import IsolationForest  # noqa: PLC0415  # takes a second, and only this method needs it

    forest = IsolationForest(random_state=SEED).fit(counts)
    return np.round(-forest.score_samples(counts), 9)  # identical nodes come out at 0.5 and a rounding error


def _oddities(vectors: Vectors, row: int, middle: NDArray[np.float64]) -> dict[int, tuple[int, float]]:
    """Events whose count on a node is not the median, the furthest off first."""
    counts = vectors.counts[row]
    columns = sorted(np.flatnonzero(counts != middle).tolist(), key=lambda at: -_share(counts[at], middle[at]))
    return {vectors.events[at]: (int(counts[at]), float(middle[at])) for at in columns}


def _share(count: float, middle: float) -> float:
    """How far a count is from the median, as a share of the larger of both: 1 when one of them is zero."""
    return abs(float(count) - float(middle)) / max(float(count), float(middle))


def _ranks(table: EventTable) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    places = np.searchsorted(table.ranks, table.rank).astype(np.int32) if table.ranks else table.rank
    return tuple(f"rank {rank}" for rank in table.ranks), np.where(table.rank >= 0, places, -1).astype(np.int32)


# --- 4.4: iterations against those before ----------------------------------------------------------------------------


def sequences(table: EventTable, iterations: Iterations) -> dict[int, tuple[int, ...]]:
    """Events from one completed iteration to the next, of the rank (or voice) that counts the most iterations.

    An event's number is its place in the table, in the order of first occurrence, as Drain numbers its clusters.
    """
    if not len(iterations.marks):
        return {}
    speaker = np.where(table.rank >= 0, table.rank, -1 - table.voice.astype(np.int64))
    names, counts = np.unique(speaker[iterations.marks], return_counts=True)
    rows = np.flatnonzero((speaker == names[np.argmax(counts)]) & table.head & (iterations.of_row > NO_ITERATION))
    rows = rows[np.lexsort((table.time[rows], iterations.of_row[rows]))]
    numbers, starts = np.unique(iterations.of_row[rows], return_index=True)
    groups = np.split(table.event[rows], starts[1:])
    return {int(number): tuple(group[:MAX_SEQUENCE].tolist()) for number, group in zip(numbers, groups, strict=True)}


def temporal(by_iteration: Mapping[int, tuple[int, ...]]) -> tuple[IterationEvidence, ...] | Skipped:
    """Iterations whose mean DTW distance to the ten before is beyond three sigma, the furthest first."""
    ordered = sorted(by_iteration)
    distances = {
        number: float(
            np.mean([dtw_distance(by_iteration[number], by_iteration[one]) for one in ordered[at - WINDOW : at]])
        )
        for at, number in enumerate(ordered)
        if at >= WINDOW
    }
    if len(distances) < MIN_SCORES:
        return Skipped(
            "temporal",
            f"{len(distances)} iterations have {WINDOW} before them; three-sigma cannot fire among fewer than {MIN_SCORES}",
        )
    mean, sigma = float(np.mean(list(distances.values()))), float(np.std(list(distances.values())))
    far = [(value, number) for number, value in distances.items() if value > mean + SIGMAS * sigma]
    far.sort(key=lambda one: (-one[0], one[1]))
    return tuple(_iteration(f"I{n}", number, value, mean, sigma) for n, (value, number) in enumerate(far, start=1))


def _iteration(name: str, number: int, value: float, mean: float, sigma: float) -> IterationEvidence:
    because = f"The events of iteration {number} are {value:.4g} away from those of the {WINDOW} before; all: {mean:.4g} ± {sigma:.4g}."
    return IterationEvidence(id=name, score=1 - mean / value, because=because, iteration=number)


@lru_cache(maxsize=1 << 16)  # most iterations are equal: ten thousand of them hold a few hundred pairs
def dtw_distance(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """DTW distance of two sequences of numeric event ids, of at least one event each."""
    if one == other:
        return 0.0
    from dtaidistance import dtw  # noqa: PLC0415  # takes a third of a second, and only this method needs it

    # with pruning, its default, distance_fast 2.5.1 answers inf for some pairs of short sequences
    return float(dtw.distance_fast(np.array(one, np.float64), np.array(other, np.float64), use_pruning=False))


# --- the answer ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    """An event that is reported, and why."""

    event: int
    score: float
    because: str


def _named(vectors: Vectors, suspects: Sequence[Suspect]) -> list[_Named]:
    """Events that make suspects anomalous, each told once, of the suspect that it tells most about."""
    told: dict[int, _Named] = {}
    for suspect in suspects:
        for event, (count, middle) in suspect.events.items():
            score = suspect.anomaly * _share(count, middle)
            because = (
                f"{suspect.node} logged this {count} times; the median of {len(vectors.nodes)} nodes is {middle:g}."
            )
            if event not in told or score > told[event].score:
                told[event] = _Named(event, score, because)
    return list(told.values())


def _left(table: EventTable, kept: Sequence[int], profiles: Sequence[Profile]) -> list[_Named]:
    """Everything that successful jobs do not say often, where nodes cannot be compared; nothing without such jobs."""
    why = f"Not in half of {len(profiles)} successful jobs; here {{}} times."
    return [_Named(event, SUSPICIOUS, why.format(len(table.rows_of[event]))) for event in kept] if profiles else []


def _present(
    reading: Reading,
    table: EventTable,
    profiles: Sequence[Profile],
    iterations: Iterations,
    stages: NDArray[np.int8],
    vectors,
    suspects: Sequence[Suspect],
    odd,
) -> Diagnosis:
    named = _named(vectors, suspects) if len(vectors.nodes) >= MIN_NODES else _left(table, vectors.events, profiles)
    events = tuple(_events(reading, table, iterations, stages, named))
    ids = {evidence.event: evidence.id for evidence in events}
    nodes = tuple(_node(f"N{n}", table, one, ids) for n, one in enumerate(suspects, start=1))
    silent = bool(profiles) and not events
    scope = Scope.NODE if nodes else Scope.NONE if silent else Scope.JOB if events else Scope.UNKNOWN
    return Diagnosis(
        job=reading.job.id,
        method="l4",
        scope=scope,
        confidence=Confidence.WEAK,
        headline=_headline(scope, nodes, events),
        events=events,
        nodes=nodes,
        stage=_stage_of_failure(events),
        iterations=odd if not isinstance(odd, Skipped) else (),
        skipped=tuple(_skipped(profiles, vectors, odd)),
        coverage=_coverage(reading, table, profiles),
        pictures=Pictures(series=iterations.series),
    )


def _events(reading, table, iterations, stages, named):
    first = {one.event: min(table.time[table.rows_of[one.event]].tolist()) for one in named}
    ordered = sorted(named, key=lambda one: (-one.score, first[one.event], table.templates[one.event].text))
    files = {file.name: file for file in reading.job.logs}
    cited = {
        one.event: table.rows_of[one.event][np.argsort(table.time[table.rows_of[one.event]], kind="stable")]
        for one in ordered
    }
    texts = read_rows(files, table, [row for rows in cited.values() for row in rows[:MAX_LINES]])
    for n, one in enumerate(ordered, start=1):
        rows = cited[one.event]
        template = table.templates[one.event]
        reached = sorted({int(number) for number in iterations.of_row[rows] if number >= 0})
        yield EventEvidence(
            id=f"E{n}",
            score=one.score,
            because=one.because,
            lines=tuple(
                Line(table.files[table.file[r]], int(table.line[r]), texts[r])
                for r in rows[:MAX_LINES].tolist()
                if r in texts
            ),
            event=template.id,
            template=template.text,
            role=Role.ROOT,
            count=len(rows),
            nodes=node_names(table, rows.tolist()),
            stage=STAGES[int(stages[rows[0]])],
            iterations=tuple(reached[:20]),
            first_time=first[one.event] if first[one.event] >= 0 else None,
        )


def _node(name, table, one, ids):
    ranks = tuple(
        sorted({o.rank for o in table.origins if o.rank is not None and one.node in (o.node, f"rank {o.rank}")})
    )
    furthest = "; ".join(f"{count} x {middle:g}" for count, middle in list(one.events.values())[:3])
    return NodeEvidence(
        id=name,
        score=one.anomaly,
        because=f"Anomaly {one.anomaly:.2f} where 0.5 is ordinary: {len(one.events)} events are not as often here as on the median node.",
        node=one.node,
        ranks=ranks,
        events=tuple(ids[table.templates[e].id] for e in one.events)[:20],
    )


def _headline(scope, nodes, events):
    return scope.value


def _stage_of_failure(events):
    import os

    how = os.environ.get("ST", "first")
    known = [e for e in events if e.stage is not Stage.UNKNOWN]
    if not known:
        return Stage.UNKNOWN
    if how == "first":
        return known[0].stage
    from collections import Counter

    if how == "most":
        return Counter(e.stage for e in known).most_common(1)[0][0]
    if how == "lines":
        c = Counter()
        for e in known:
            c[e.stage] += e.count
        return c.most_common(1)[0][0]
    if how == "earliest":
        return min(known, key=lambda e: e.first_time or 0).stage
    if how == "latest":
        return max(known, key=lambda e: e.first_time or 0).stage


def _skipped(profiles, vectors, odd):
    if not profiles:
        yield Skipped("cross-job", "no successful job with these settings to compare with")
    if len(vectors.nodes) < MIN_NODES:
        yield Skipped("spatial", f"{len(vectors.nodes)} nodes")
    if isinstance(odd, Skipped):
        yield odd
