"""From what was found to what is said: evidence with its sentences, lines and numbers."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.baseline import Profile
from core.crossjob import Candidate
from core.iterations import Iterations
from core.job import LogFile, Manifest
from core.model import (
    Coverage,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    Mark,
    NodeBar,
    NodeEvidence,
    Pictures,
    Role,
    Scope,
    Skipped,
    Stage,
)
from core.parse import Reading
from core.rank import first_time
from core.spatial import Suspicion, last_words
from core.stages import STAGES
from core.suspicion import key_rows
from core.table import EventTable
from core.temporal import Odd
from core.text import read_rows
from core.verdict import Verdict

MAX_ROOTS = 6  # a reader looks at few; the lab's faults leave at most six kinds of direct traces
MAX_TOLD = 6
MIN_SHARE = 0.5  # of the leading root's score; what is weaker than that explains nothing that it does not
MAX_LINES = 8  # cited lines an event
MAX_MARKS = 4000  # points in the picture


def stage_of_failure(table: EventTable, candidates: Sequence[Candidate], stages: np.ndarray, iterations: Iterations) -> Stage:
    """Stage in which the job failed: of the leading root, else of what peers told, else where the log ends."""
    for role in (Role.ROOT, Role.PROPAGATED):
        told = [one for one in candidates if one.role is role and one.stage is not Stage.UNKNOWN]
        if told and told[0].fact.known and not table.templates[told[0].event].block:
            # a line has the stage of the clock, a traceback of the same kind names its own
            kind = told[0].fact.kind
            told.sort(key=lambda one: one.fact.kind != kind or not table.templates[one.event].block)
        if told:
            return told[0].stage
    if iterations.last is not None:
        return Stage.TRAINING
    known = stages[stages != STAGES.index(Stage.UNKNOWN)]
    if len(known):
        return STAGES[int(known[-1])]
    # a job that fails before any stage was named fails while it starts
    return Stage.INITIALIZATION if any(one.role is Role.ROOT for one in candidates) else Stage.UNKNOWN


def shown(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What a reader gets to see: the telling roots and what peers say; never teardown or benign events."""
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    told = [candidate for candidate in candidates if candidate.role is Role.PROPAGATED]
    strong = [root for root in roots if root.score >= MIN_SHARE * roots[0].score and (root.fact.known or not roots[0].fact.known)]
    return (*strong[:MAX_ROOTS], *told[:MAX_TOLD])


def diagnosis(
    reading: Reading,
    table: EventTable,
    candidates: Sequence[Candidate],
    verdict: Verdict,
    iterations: Iterations,
    stages: np.ndarray,
    stage: Stage,
    odd: Sequence[Odd],
    profiles: Sequence[Profile],
    files: Mapping[str, LogFile],
    skipped: Sequence[Skipped],
) -> Diagnosis:
    """Assemble the answer."""
    telling = () if verdict.scope is Scope.NONE and not _stopped(candidates, verdict) else shown(candidates)
    events = tuple(_event(f"E{n}", table, one, iterations, profiles, files) for n, one in enumerate(telling, start=1))
    ids = {candidate.event: evidence.id for candidate, evidence in zip(telling, events, strict=True)}
    manifest = reading.job.manifest
    ranks = {node: tuple(sorted(own)) for node, own in _ranks(table, manifest).items()}
    nodes = tuple(_node(f"N{n}", one, ranks, ids) for n, one in enumerate(verdict.suspects, start=1))
    return Diagnosis(
        job=reading.job.id,
        method="firstfault",
        scope=verdict.scope,
        confidence=verdict.confidence,
        headline=verdict.headline,
        why=verdict.why,
        checks=verdict.checks,
        events=events,
        nodes=nodes if verdict.scope is Scope.NODE else (),
        stage=stage,
        iterations=_iterations(table, telling, ids, iterations, odd) if verdict.scope is not Scope.NONE or telling else (),
        skipped=tuple(skipped),
        coverage=_coverage(reading, table, profiles),
        pictures=_pictures(table, telling, ids, verdict, iterations),
        facts={key: value for key, value in (("model", manifest.model), ("framework", manifest.framework), ("status", manifest.status.value)) if value},
    )


def _stopped(candidates: Sequence[Candidate], verdict: Verdict) -> bool:
    return bool(candidates) and candidates[0].fact.stop and bool(verdict.checks)


def _event(
    name: str, table: EventTable, one: Candidate, iterations: Iterations, profiles: Sequence[Profile], files: Mapping[str, LogFile]
) -> EventEvidence:
    reached = sorted({int(number) for number in iterations.of_row[one.rows] if number >= 0})
    time = first_time(table, one)
    return EventEvidence(
        id=name,
        score=one.score,
        because=_because(table, one, reached, profiles),
        lines=_lines(table, one.rows, files),
        event=table.templates[one.event].id,
        template=table.templates[one.event].text,
        role=one.role,
        count=len(one.rows),
        nodes=one.nodes,
        stage=one.stage,
        iterations=tuple(reached[:20]),
        first_time=time if time >= 0 else None,
    )


def _because(table: EventTable, one: Candidate, reached: Sequence[int], profiles: Sequence[Profile]) -> str:
    who = f"{len(one.nodes)} of {len(table.nodes)} nodes" if len(one.nodes) > 3 else ", ".join(one.nodes)
    if one.ranks and len(one.ranks) <= 4:
        who = f"rank{'s' * (len(one.ranks) > 1)} {', '.join(map(str, one.ranks))}" + (f" on {who}" if who else "")
    times = "once" if len(one.rows) == 1 else f"{len(one.rows)} times"
    when = f", after iteration {reached[0]}" if reached else ""
    known = ""
    if profiles:
        rarely = "never" if one.excess >= 1 else "less often"
        known = f"; {rarely} in {len(profiles)} successful job{'s' * (len(profiles) > 1)}"
    say = f"{who[:1].upper()}{who[1:]} logged this {times}" if who else f"Logged {times}"
    return f"{say}{when}{known}." + (f" {one.fact.says[:1].upper()}{one.fact.says[1:]}." if one.fact.says else "") + (f" ({one.why}.)" if one.why else "")


def _lines(table: EventTable, rows: np.ndarray, files: Mapping[str, LogFile]) -> tuple[Line, ...]:
    """Cited lines: the earliest of each node first, then more, at most MAX_LINES."""
    timed = rows[np.argsort(table.time[rows], kind="stable")]
    _, first = np.unique(table.node[timed], return_index=True)
    ordered = [*timed[np.sort(first)].tolist(), *np.delete(timed, first).tolist()]
    chosen: list[int] = []
    for head in ordered:
        chosen += [row for row in key_rows(table, head) if row not in chosen]
        if len(chosen) >= MAX_LINES:
            break
    texts = read_rows(files, table, chosen[:MAX_LINES])
    return tuple(Line(table.files[table.file[row]], int(table.line[row]), texts[row]) for row in chosen[:MAX_LINES] if row in texts)


def _node(name: str, one: Suspicion, ranks: Mapping[str, tuple[int, ...]], ids: Mapping[int, str]) -> NodeEvidence:
    return NodeEvidence(
        id=name,
        score=one.score,
        because=" ".join(sign.because for sign in one.signs),
        node=one.node,
        ranks=ranks.get(one.node, ()),
        events=tuple(sorted({ids[sign.event] for sign in one.signs if sign.event in ids})),
    )


def _iterations(
    table: EventTable, telling: Sequence[Candidate], ids: Mapping[int, str], iterations: Iterations, odd: Sequence[Odd]
) -> tuple[IterationEvidence, ...]:
    if iterations.last is None:
        return ()
    found = []
    broken = [one for one in odd if one.score >= 1.0 and "is nan" in one.because or "is inf" in one.because]
    at = iterations.last
    roots = [ids[one.event] for one in telling if one.role is Role.ROOT and at in iterations.of_row[one.rows]]
    reached = f"Iteration {at} is the last that any rank completed" + (f", of {iterations.total} planned." if iterations.total else ".")
    found = [(1.0 if not broken else 0.9, at, reached, tuple(roots))]
    found += [(one.score if one in broken else one.score * 0.8, one.iteration, one.because[:1].upper() + one.because[1:], ()) for one in odd[:3]]
    found.sort(key=lambda entry: -entry[0])
    return tuple(
        IterationEvidence(id=f"I{n}", score=score, because=because, iteration=number, events=events)
        for n, (score, number, because, events) in enumerate(found, start=1)
    )


def _coverage(reading: Reading, table: EventTable, profiles: Sequence[Profile]) -> Coverage:
    manifest = reading.job.manifest
    expected = set(range(manifest.world_size)) if manifest.world_size else {rank for ranks in manifest.node_ranks.values() for rank in ranks}
    spoke = set(table.ranks)
    return Coverage(
        files=len(reading.scans),
        lines=sum(scan.columns.lines for scan in reading.scans),
        bytes=sum(scan.bytes for scan in reading.scans),
        ranks=len(spoke),
        ranks_expected=len(expected) or None,
        ranks_missing=tuple(sorted(expected - spoke)) if spoke else (),
        nodes=len(table.nodes),
        nodes_missing=tuple(node for node in manifest.nodes if node not in table.nodes),
        unreadable_files=tuple(scan.name for scan in reading.scans if scan.problem),
        undecodable_lines=sum(scan.columns.undecodable for scan in reading.scans),
        baseline_jobs=len(profiles),
        baseline_ids=tuple(profile.job_id for profile in profiles),
    )


def _ranks(table: EventTable, manifest: Manifest) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {node: set(ranks) for node, ranks in manifest.node_ranks.items()}
    for origin in table.origins:
        if origin.rank is not None and origin.node:
            found.setdefault(origin.node, set()).add(origin.rank)
    return found


def _pictures(table: EventTable, telling: Sequence[Candidate], ids: Mapping[int, str], verdict: Verdict, iterations: Iterations) -> Pictures:
    scores = {one.node: one.score for one in verdict.suspects}
    words = last_words(table)
    bars = []
    for place, node in enumerate(table.nodes):
        rows = np.flatnonzero(table.node == place)
        times = table.time[rows][table.time[rows] >= 0]
        ranks = {origin.rank for origin in table.origins if origin.node == node and origin.rank is not None}
        reached = [iterations.of_rank[rank] for rank in sorted(ranks) if rank in iterations.of_rank]
        last = max((words[rank] for rank in sorted(ranks) if rank in words), default=int(times.max()) if len(times) else None)
        bars.append(NodeBar(node, scores.get(node, 0.0), int(times.min()) if len(times) else None, last, len(rows), max(reached, default=None)))
    marks = [
        Mark(ids[one.event], table.nodes[table.node[row]] if table.node[row] >= 0 else "scheduler", int(table.time[row]))
        for one in telling
        for row in one.rows.tolist()[:MAX_MARKS]
        if table.time[row] >= 0
    ]
    return Pictures(nodes=tuple(bars), marks=tuple(marks[:MAX_MARKS]), series=iterations.series)
