"""From what was found to what is said: the diagnosis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.answer.evidence import event_evidence, iteration_evidence, node_evidence
from core.answer.findings import Findings, Verdict
from core.answer.pictures import pictures
from core.baseline import Profile
from core.dumps.dump_signs import DumpEvidence
from core.judge.candidates import Candidate
from core.judge.ranking import telling_roots
from core.judge.temporal import Odd
from core.logs.fold import JOB_TEXTS, is_folded
from core.metrics.evidence import MetricFindings
from core.model import Coverage, Diagnosis, Role, Scope, Skipped
from core.parsed import Parsed
from core.processes import MAX_NAMED, MAX_REPORTS

MAX_TOLD = 6  # a reader looks at few
TOO_MANY_REPORTS = (
    f"Reports of how processes ended are more than {MAX_REPORTS:,}, or name more than {MAX_NAMED:,} tasks together or"
    f" {MAX_REPORTS:,} in one line: the first ones were read."
)

_OTHER_PROGRAM = (
    "began in other words, as another version of the program does: how fast it trained, and what it always says, was"
    " not compared."
)


def as_told(parsed: Parsed, candidates: Sequence[Candidate], verdict: Verdict) -> tuple[tuple[Candidate, ...], Verdict]:
    """Both without the numbers that stood in place of ranks while nodes were compared."""
    if not parsed.table.ranks_are_nodes:
        return tuple(candidates), verdict
    suspects = tuple(
        replace(suspect, signs=tuple(replace(sign, ranks=()) for sign in suspect.signs)) for suspect in verdict.suspects
    )
    onset = tuple(replace(candidate, ranks=()) for candidate in verdict.onset)
    carried = tuple(replace(candidate, ranks=()) for candidate in verdict.carried)
    without_ranks = replace(verdict, suspects=suspects, onset=onset, carried=carried)
    return tuple(replace(candidate, ranks=()) for candidate in candidates), without_ranks


def present(
    parsed: Parsed,
    candidates: Sequence[Candidate],
    verdict: Verdict,
    found: Findings,
    odd: Sequence[Odd],
    dumps: DumpEvidence,
    metrics: MetricFindings,
) -> Diagnosis:
    """Put verdict and evidence together, each piece with its sentence, numbers and lines."""
    ending = found.ending
    telling = shown(candidates, verdict)
    suspect = verdict.suspects[0].node if verdict.suspects else None
    events = tuple(event_evidence(f"E{n}", parsed, candidate, suspect) for n, candidate in enumerate(telling, start=1))
    ids = {candidate.event: event.id for candidate, event in zip(telling, events, strict=True)}
    nodes = tuple(node_evidence(f"N{n}", parsed, suspect, ids) for n, suspect in enumerate(verdict.suspects, start=1))
    ended = verdict.scope is not Scope.NONE or bool(verdict.checks)  # of a job that completed nothing is told
    return Diagnosis(
        job=parsed.job.id,
        method="firstfault",
        scope=verdict.scope,
        confidence=verdict.confidence,
        headline=verdict.headline,
        why=verdict.why,
        checks=verdict.checks,
        events=events,
        nodes=nodes,
        stage=found.stage,
        iterations=iteration_evidence(parsed, telling, ids, odd, ending, verdict.suspects) if ended else (),
        skipped=(
            *skipped(parsed),
            *(Skipped("reading", TOO_MANY_REPORTS) for _ in range(found.exits.are_capped)),
            *(Skipped("dumps", problem) for problem in dumps.problems),
            *(Skipped("metrics", problem) for problem in metrics.problems),
        ),
        coverage=coverage(parsed),
        pictures=pictures(parsed, telling, ids, verdict.suspects, ending=ending, stacks=dumps.bars),
        stacks=dumps.stacks,
        metrics=metrics.shown if ended else (),
        facts=facts(parsed),
    )


def shown(candidates: Sequence[Candidate], verdict: Verdict) -> tuple[Candidate, ...]:
    """What a reader gets to see, each event once; never teardown.

    What began with a slowdown, the lines in which a finding shows, the telling roots, and what peers say. Of a job that
    completed nothing; of one that was stopped from outside the stop, and what it did to the ranks.
    """
    roots = telling_roots(candidates) or verdict.stop
    if verdict.scope is Scope.NONE and not (roots and verdict.checks):
        return ()
    roots = _suspects_own_first(roots, verdict)
    peers = [candidate for candidate in candidates if candidate.role is Role.PROPAGATED][:MAX_TOLD]
    of_event: dict[int, Candidate] = {}
    for candidate in (*verdict.onset, *verdict.carried, *roots, *peers):
        of_event.setdefault(candidate.event, candidate)
    return tuple(of_event.values())


def _suspects_own_first(roots: tuple[Candidate, ...], verdict: Verdict) -> tuple[Candidate, ...]:
    """The roots, that which names the first suspect before what other nodes say."""
    if not roots or not roots[0].nodes or not verdict.suspects or verdict.suspects[0].node in roots[0].nodes:
        return roots
    named = verdict.suspects[0].signs[0].event
    return tuple(sorted(roots, key=lambda root: root.event != named))


def skipped(parsed: Parsed) -> tuple[Skipped, ...]:
    """Steps that could not run, and logs that could not be read."""
    steps = []
    if not parsed.profiles:
        steps.append(Skipped("cross-job", "There is no successful job with these settings to compare with."))
    if parsed.usual is not None and parsed.usual.others:
        others, good = parsed.usual.others, len(parsed.profiles)
        who = f"{others} of the {good}" if others < good else f"All {good}" if good > 1 else "The only"
        steps.append(Skipped("cross-job", f"{who} successful job{'s' * (good > 1)} {_OTHER_PROGRAM}"))
    if parsed.iterations.last is None and parsed.job.logs:
        steps.append(Skipped("temporal", "No line of the logs counts iterations."))
    if len(parsed.nodes) == 1 and len(parsed.table.ranks) <= 1:
        steps.append(Skipped("spatial", "One node and at most one rank: there is nobody to compare it with."))
    problems = (*parsed.job.problems, *(scan.problem for scan in parsed.reading.scans if scan.problem))
    capped = dict.fromkeys((*parsed.reading.capped, *_capped_baseline(parsed.profiles)))
    return (*steps, *(Skipped("reading", sentence) for sentence in (*problems, *capped)))


def _capped_baseline(profiles: Sequence[Profile]) -> Iterator[str]:
    for profile in profiles:
        if is_folded(profile.texts()):
            yield (
                f"The successful job {profile.job_id} says more than {JOB_TEXTS:,} different things:"
                " those that are alike were taken for one."
            )


def coverage(parsed: Parsed) -> Coverage:
    """How much was read, and what is missing."""
    manifest, scans, spoke = parsed.job.manifest, parsed.reading.scans, set(parsed.table.ranks)
    listed = {rank for ranks in manifest.node_ranks.values() for rank in ranks}
    expected = set(range(manifest.world_size)) if manifest.world_size else listed
    logged = set(parsed.table.nodes)
    return Coverage(
        files=len(scans),
        lines=sum(scan.lines for scan in scans),
        bytes=sum(scan.size for scan in scans),
        ranks=len(spoke),
        ranks_expected=len(expected) or None,
        ranks_missing=tuple(sorted(expected - spoke)) if spoke else (),
        nodes=len(parsed.table.nodes) if parsed.unit == "node" else 0,
        nodes_missing=tuple(node for node in parsed.nodes if node not in logged) if parsed.unit == "node" else (),
        unreadable_files=tuple(scan.name for scan in scans if scan.problem),
        undecodable_lines=sum(scan.undecodable for scan in scans),
        broken_lines=sum(scan.broken for scan in scans),
        baseline_jobs=len(parsed.profiles),
        baseline_ids=tuple(profile.job_id for profile in parsed.profiles),
        dumps=len(parsed.job.dumps),
    )


def facts(parsed: Parsed) -> Mapping[str, str]:
    """What the manifest says of the job, for the reader."""
    manifest = parsed.job.manifest
    named = {"model": manifest.model, "framework": manifest.framework, "status": manifest.status.value}
    return {name: value for name, value in named.items() if value}
