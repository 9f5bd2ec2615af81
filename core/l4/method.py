"""The paper as it stands, to be measured against (``--method l4``).

"L4: Diagnosing Large-scale LLM Training Failures via Automated Log Analysis", FSE-Companion 2025, sections 4.2 to 4.4:
drop what successful jobs often say, rank nodes by an Isolation Forest over their event count vectors, find iterations
whose events are far from those of the ten before. Its choices stay even where they are known to fail; all reported
events have the role ``root``, because the paper knows no other.

Where the paper is silent:
Differs: it names no thresholds; each one here tells at its line where it comes from.
Differs: it does not say which events make a node anomalous; here those whose count is not the median of the nodes.
Differs: it does not rank events; here by the anomaly of their node and by how far their count is from that median.
Differs: two nodes cannot be told apart by a forest; then all that is left after the cross-job filter is reported.
Differs: it compares iterations rank by rank, but does not join the ranks; here the one beyond three sigma on most.
Differs: it decides no scope; here ``node`` when there is a suspect, else ``job``, and ``none`` when nothing is left.
Differs: it does not say in which of several stages a job failed; here in the one that its logs end in.

Where it is not: its events are lines, and all that successful jobs logged counts.
Differs: all methods start from one table, in which a traceback is one event; of good jobs the last attempt counts.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import NO_ITERATION, Iterations
from core.events.table import EventTable
from core.l4.answer import Named, NodeAnomaly, answer
from core.model import Diagnosis, IterationEvidence, Scope, Skipped
from core.parsed import Parsed

FREQUENT = 0.5  # 4.2 "frequently present", no number given: in at least half of the successful jobs
MAX_SUSPECTS = 8  # 4.3
SUSPICIOUS = 0.5  # 4.3 gives no number; "no distinct anomaly" when all are at 0.5 (Liu et al., ICDM 2008, section 2)
MIN_NODES = 3  # of one or two rows a forest says 0.5, whatever they hold
SEED = 0  # 4.3: a forest is random, and the same input has to give the same answer
WINDOW = 10  # 4.4
SIGMAS = 3.0  # 4.4
MIN_DISTANCES = 11  # of n values none is further than sqrt(n - 1) sigma from their mean: of ten, none beyond three
MAX_SEQUENCE = 2_000  # events of an iteration; DTW takes the square, and what a job says at its end may be long


@dataclass(frozen=True, eq=False)
class Vectors:
    """Event count vectors: a row a node, a column an event, both sorted; ranks stand for nodes that nobody names."""

    nodes: tuple[str, ...]
    events: tuple[int, ...]
    counts: NDArray[np.int64]


def diagnose_l4(parsed: Parsed) -> Diagnosis:
    """What the paper does with a parsed job."""
    kept = cross_job(parsed)  # 4.2
    vectors = count_vectors(parsed.table, kept)  # 4.3
    suspects = spatial(vectors)  # 4.3
    strange = temporal(sequences(parsed.table, parsed.iterations))  # 4.4
    scope = _scope(parsed, vectors, suspects)
    if comparable(vectors):
        return answer(parsed, scope, suspects, telling(vectors, suspects), strange)
    reason = (
        f"{len(vectors.nodes)} nodes with {len(vectors.events)} events to count: the forest needs {MIN_NODES} nodes."
    )
    return answer(parsed, scope, (), left(parsed, vectors), strange, Skipped("spatial", reason))


def _scope(parsed: Parsed, vectors: Vectors, suspects: Sequence[NodeAnomaly]) -> Scope:
    if suspects:
        return Scope.NODE
    if not parsed.profiles and not comparable(vectors):
        return Scope.UNKNOWN
    return Scope.JOB if vectors.events else Scope.NONE


# --- 4.2: successful jobs ---------------------------------------------------------------------------------------------


def cross_job(parsed: Parsed) -> tuple[int, ...]:
    """Events that are not frequently present in successful jobs (without any: all), sorted by their text."""
    table, present = parsed.table, _present_in(parsed)
    enough = FREQUENT * len(parsed.profiles)
    kept = [
        event
        for event in np.unique(table.counts.event).tolist()
        if not parsed.profiles or present[table.templates[event].id] < enough
    ]
    return tuple(sorted(kept, key=lambda event: (table.templates[event].text, table.templates[event].id)))


def _present_in(parsed: Parsed) -> Counter[str]:
    """In how many successful jobs each event is present."""
    return Counter(
        event for profile in parsed.profiles for event in {parsed.templates[text].id for text in profile.texts()}
    )


# --- 4.3: nodes against each other ------------------------------------------------------------------------------------


def count_vectors(table: EventTable, events: Sequence[int]) -> Vectors:
    """How often each node says each event."""
    names, place = table.nodes, table.node_of_voice
    if not names:
        names, rank = tuple(f"rank {rank}" for rank in table.ranks), table.rank_of_voice
        place = np.where(rank >= 0, np.searchsorted(table.ranks, rank), -1).astype(np.int32)
    counts = np.zeros((len(names), len(events)), np.int64)
    columns = {event: column for column, event in enumerate(events)}
    said = table.counts
    for node, event, heads in zip(place[said.voice].tolist(), said.event.tolist(), said.heads.tolist(), strict=True):
        if node >= 0 and event in columns:
            counts[node, columns[event]] += heads
    return Vectors(names, tuple(events), counts)


def comparable(vectors: Vectors) -> bool:
    """Whether a forest has enough to compare."""
    return len(vectors.nodes) >= MIN_NODES and bool(vectors.events)


def spatial(vectors: Vectors) -> tuple[NodeAnomaly, ...]:
    """Nodes above the threshold, the most anomalous first, at most eight."""
    if not comparable(vectors):
        return ()
    anomaly = forest(vectors.counts)
    order = sorted(range(len(vectors.nodes)), key=lambda row: (-anomaly[row], vectors.nodes[row]))
    above = [row for row in order[:MAX_SUSPECTS] if anomaly[row] > SUSPICIOUS]
    return tuple(NodeAnomaly(vectors.nodes[row], float(anomaly[row]), _oddities(vectors, row)) for row in above)


def forest(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Anomaly of each row; 4.3 names no parameters, so scikit-learn's: 100 trees of at most 256 samples."""
    from sklearn.ensemble import IsolationForest  # noqa: PLC0415  # takes a second, and only this method needs it

    scores: NDArray[np.float64] = IsolationForest(random_state=SEED).fit(counts).score_samples(counts)
    return np.round(-scores, 9)  # identical nodes come out at 0.5 and a rounding error


def _oddities(vectors: Vectors, row: int) -> dict[int, tuple[int, float]]:
    counts, middle = vectors.counts[row], np.median(vectors.counts, axis=0)
    columns = sorted(np.flatnonzero(counts != middle).tolist(), key=lambda at: -_share(counts[at], middle[at]))
    return {vectors.events[at]: (int(counts[at]), float(middle[at])) for at in columns}


def _share(count: float, middle: float) -> float:
    """How far a count is from the median, as a share of the larger of both: 1 when one of them is zero."""
    return float(abs(count - middle) / max(count, middle))


def telling(vectors: Vectors, suspects: Sequence[NodeAnomaly]) -> list[Named]:
    """Events that make suspects anomalous, each under the suspect that it tells most about."""
    named: dict[int, Named] = {}
    for suspect in suspects:
        for event, (count, middle) in suspect.events.items():
            score = suspect.anomaly * _share(count, middle)
            if event not in named or score > named[event].score:
                usual = f"the median of {len(vectors.nodes)} nodes is {middle:g}"
                times = f"{count} time{'s' * (count != 1)}"
                named[event] = Named(event, score, f"{suspect.node} logged this {times}; {usual}.")
    return list(named.values())


def left(parsed: Parsed, vectors: Vectors) -> list[Named]:
    """All that successful jobs do not often say; nothing when there are none to compare with."""
    because = f"Less than half of {len(parsed.profiles)} successful jobs say this."
    return [Named(event, SUSPICIOUS, because) for event in vectors.events] if parsed.profiles else []


# --- 4.4: iterations against those before -----------------------------------------------------------------------------

Sequences = Mapping[int, tuple[int, ...]]  # iteration -> its events; an event's number is its place in the table


@dataclass(frozen=True, slots=True)
class _Alarm:
    """An iteration of a rank that is beyond three sigma, and what it is measured by."""

    iteration: int
    rank: str
    distance: float
    mean: float
    sigma: float


def sequences(table: EventTable, iterations: Iterations) -> dict[str, Sequences]:
    """For each rank (or voice, where ranks are unknown) that counts iterations, its events in each of them."""
    rank = table.rank_of_voice.astype(np.int64)
    speaker = np.where(rank >= 0, rank, -1 - np.arange(len(rank)))
    found: dict[str, Sequences] = {}
    for who in np.unique(speaker[table.voice[iterations.marks]]).tolist():
        rows = table.rows_of_voices(np.flatnonzero(speaker == who).tolist())
        rows = rows[table.head[rows]]
        reached = iterations.of_row[rows]
        rows, reached = rows[reached > NO_ITERATION], reached[reached > NO_ITERATION]
        if not len(rows):
            continue  # an iteration that it tells of inside a message counts, and it says nothing more
        order = np.lexsort((table.time[rows], reached))
        rows, reached = rows[order], reached[order]
        numbers, starts = np.unique(reached, return_index=True)
        groups = [tuple(group[:MAX_SEQUENCE].tolist()) for group in np.split(table.event[rows], starts[1:])]
        name = f"rank {who}" if who >= 0 else table.files[table.file[rows[0]]]
        found[name] = dict(zip(numbers.tolist(), groups, strict=True))
    return found


def temporal(by_rank: Mapping[str, Sequences]) -> tuple[IterationEvidence, ...] | Skipped:
    """Iterations whose mean DTW distance to the ten before is beyond three sigma, on the most ranks first."""
    longest = max(map(len, by_rank.values()), default=0) - WINDOW
    if longest < MIN_DISTANCES:
        enough = f"three-sigma needs {MIN_DISTANCES} to ever fire"
        return Skipped("temporal", f"{max(0, longest)} iterations have {WINDOW} before them; {enough}.")
    alarms: dict[int, list[_Alarm]] = defaultdict(list)
    for rank, by_iteration in by_rank.items():
        for alarm in _alarms(rank, by_iteration):
            alarms[alarm.iteration].append(alarm)
    ordered = sorted(
        alarms.values(),
        key=lambda alarms: (-len(alarms), -max(alarm.distance for alarm in alarms), alarms[0].iteration),
    )
    return tuple(_iteration(f"I{n}", anomaly, len(by_rank)) for n, anomaly in enumerate(ordered, start=1))


def _alarms(rank: str, by_iteration: Sequences) -> list[_Alarm]:
    ordered = sorted(by_iteration)
    distances = mean_distances([by_iteration[number] for number in ordered])
    if len(distances) < MIN_DISTANCES:
        return []
    mean, sigma = float(np.mean(distances)), float(np.std(distances))
    far = np.flatnonzero(distances > mean + SIGMAS * sigma).tolist()
    return [_Alarm(ordered[at + WINDOW], rank, float(distances[at]), mean, sigma) for at in far]


def mean_distances(ordered: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Mean distance of each sequence, from the eleventh on, to the ten before it."""
    kinds = {item: place for place, item in enumerate(dict.fromkeys(ordered))}  # most iterations are equal
    events, kind = list(kinds), np.array([kinds[item] for item in ordered], np.int64)
    total = np.zeros(max(0, len(ordered) - WINDOW))
    for lag in range(1, WINDOW + 1) if len(total) else ():
        pairs = kind[WINDOW:] * len(kinds) + kind[WINDOW - lag : -lag]
        distinct, place = np.unique(pairs, return_inverse=True)
        distances = [
            dtw_distance(events[one], events[other]) for one, other in zip(*divmod(distinct, len(kinds)), strict=True)
        ]
        total += np.array(distances)[place]
    return total / WINDOW


@lru_cache(maxsize=1 << 16)
def dtw_distance(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """DTW distance of two sequences of at least one event each, events as numbers."""
    if one == other:
        return 0.0
    from dtaidistance import dtw  # noqa: PLC0415  # takes a third of a second, and only this method needs it

    # with pruning, its default, distance_fast 2.5.1 gives inf for many pairs of short sequences
    return float(dtw.distance_fast(np.array(one, np.float64), np.array(other, np.float64), use_pruning=False))


def _iteration(name: str, alarms: Sequence[_Alarm], ranks: int) -> IterationEvidence:
    most = max(alarms, key=lambda alarm: alarm.distance)
    usual = f"its mean is {most.mean:.4g}, sigma {most.sigma:.4g}"
    because = (
        f"Beyond three sigma on {len(alarms)} of {ranks} ranks: on {most.rank}, iteration {most.iteration} is "
        f"{most.distance:.4g} away from the {WINDOW} before it; {usual}."
    )
    return IterationEvidence(id=name, score=len(alarms) / ranks, because=because, iteration=most.iteration)
