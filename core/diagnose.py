"""The method, one line a step (L4, FSE-Companion 2025; its sections beside the steps). No step calls the next."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import chain

from core.answer.at_onset import with_onset
from core.answer.build_diagnosis import as_told, present
from core.answer.finding_lines import with_finding_lines
from core.answer.findings import Findings
from core.answer.since import with_onsets
from core.answer.verdict import decide
from core.cache import ByteCache
from core.course.broken_number import find_broken
from core.course.leak import find_leak
from core.course.stages import STAGES
from core.dumps.dump_signs import find_dump_evidence
from core.events.table import EventTable
from core.flows.answer import FlowsAnswer
from core.flows.evidence import find_flow_evidence, with_network
from core.history.attempt import Attempt
from core.job import Job
from core.judge.alone_at_work import find_alone_at_work
from core.judge.candidates import find_candidates, is_about_numbers
from core.judge.collective_mismatch import find_mismatch
from core.judge.durations import find_durations
from core.judge.ending import find_ending
from core.judge.exits import find_exits
from core.judge.late_lines import find_late
from core.judge.missing_ranks import find_parted
from core.judge.ranking import rank_candidates, stage_of_failure
from core.judge.roles.assign import assign_roles
from core.judge.speaker import name_speakers
from core.judge.temporal import find_odd_iterations
from core.judge.work_spans import find_spans
from core.l4.method import diagnose_l4
from core.l4.opinion import find_outlier
from core.metrics.evidence import find_metric_evidence
from core.model import Diagnosis
from core.next.advise import with_next_step
from core.nodes.sign import suspects
from core.nodes.suspicion import find_signs
from core.parsed import Parsed, parse_job
from core.parsing.parse import Progress


def diagnose(
    job: Job,
    baseline: Sequence[Job],
    *,
    method: str = "firstfault",
    cache: ByteCache | None = None,
    workers: int | Executor = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Read a job and find its failure-indicating events, nodes, stage and iteration.

    Args:
        job: the job in question.
        baseline: successful jobs with the same settings; without any, the comparison is skipped and the answer says so.
        method: ``firstfault`` or ``l4``, the paper as it stands.
        cache: keeps what was read between diagnoses.
        workers: number of threads that read, or whatever runs functions elsewhere.
        memory: bytes of rows that are held in memory; None for all.

    Raises:
        NoLogs: the job has no log files.
    """
    # 4.2 parse; 4.4 stages
    parsed = parse_job(job, baseline, cache=cache, workers=workers, memory=memory, progress=progress)
    return diagnose_parsed(parsed, method=method)


def diagnose_parsed(
    parsed: Parsed, *, method: str = "firstfault", earlier: Sequence[Attempt] = (), network: FlowsAnswer | None = None
) -> Diagnosis:
    """Find the failure-indicating events, nodes, stage and iteration of a job that was read.

    ``earlier``: attempts of the same run before it, for what to do next. ``network``: what flow records tell.
    """
    if method == "l4":
        return diagnose_l4(parsed)  # all of it, as the paper has it
    as_read, parsed = parsed, parsed.with_numbered_nodes()
    candidates = find_candidates(parsed)  # 4.2 cross-job: what good jobs do not explain
    exits = find_exits(parsed)  # beyond the paper: how each process ended
    candidates = assign_roles(parsed, candidates, exits)  # beyond the paper: who is at fault, who only tells of it
    candidates = name_speakers(parsed, candidates, exits)  # beyond the paper: whose words a launcher passes on
    spans = find_spans(parsed)  # beyond the paper: work that begins with one message and ends with another
    durations = find_durations(parsed, spans)  # beyond the paper: how long work took, by words and by clocks
    ending = find_ending(parsed, candidates, spans)  # beyond the paper: did it make progress until the end?
    raised = is_about_numbers(candidates)
    broken = find_broken(parsed.table, parsed.files, parsed.iterations, raised=raised)  # beyond the paper: a nan
    leak = find_leak(parsed.table, parsed.files, parsed.iterations)  # beyond the paper: memory that never comes back
    dumps = find_dump_evidence(as_read)  # beyond the paper: stacks and flight recorders of hung processes
    metrics = find_metric_evidence(parsed, candidates)  # beyond the paper: metrics beside the logs
    candidates = (*candidates, *dumps.traces)  # beyond the paper: where hung processes stood, as their logs tell
    candidates = find_late(parsed, candidates, ending)  # beyond the paper: what is only said once progress has ended
    candidates = rank_candidates(parsed, candidates)  # beyond the paper: the most telling first
    stage = stage_of_failure(parsed, candidates, ending, dumps.stage)  # 4.4 temporal, by stages
    odd = find_odd_iterations(parsed)  # 4.4 temporal, by iterations
    seen = find_flow_evidence(parsed, candidates, network)  # beyond the paper: what the network saw (LLMPrism)
    signs = find_signs(parsed, candidates, ending, exits, spans, durations, broken, leak)  # 4.3 spatial: node by node
    signs = (*signs, *dumps.signs, *metrics.signs, *seen.signs)
    ending = ending.explained_by({sign.channel for sign in signs}, dumps.known)
    found = Findings(
        parsed=parsed,
        candidates=candidates,
        suspicions=suspects(with_onsets(parsed, signs, ending)),  # 4.4 temporal: since when a node stands apart
        stage=stage,
        ending=ending,
        exits=exits,
        outlier=partial(find_outlier, parsed),  # 4.3 as the paper has it, as a second opinion
        dumped=dumps.dumped,
        crossed=dumps.crossed,
        alarm=metrics.alarm,
        slower=metrics.slower,
        broken=broken,
        leak=leak,
        mismatch=find_mismatch(parsed, candidates) or find_parted(parsed),  # beyond the paper: different collectives
        alone=find_alone_at_work(parsed, ending),  # beyond the paper: a rank that all others waited for, at its work
    )
    verdict = with_onset(found, decide(found))  # scope and confidence, in code; what began with a slowdown or a hang
    verdict = with_finding_lines(found, verdict)  # beyond the paper: where a finding shows of which nobody complains
    answer = present(as_read, *as_told(parsed, candidates, verdict), found, odd, dumps, metrics)
    answer = with_network(answer, seen)
    return with_next_step(answer, found, verdict, earlier)  # beyond the paper: what to do about it (ByteRobust)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line with its event, as ``firstfault events`` prints it. time: microseconds since the epoch."""

    file: str
    line: int
    event: str
    template: str
    node: str | None
    rank: int | None
    time: int | None
    stage: str


def events(
    job: Job,
    baseline: Sequence[Job],
    *,
    cache: ByteCache | None = None,
    workers: int | Executor = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Iterator[EventRow]:
    """Every line of a job with its event, file after file; ids are those of ``diagnose`` with the same baseline."""
    parsed = parse_job(job, baseline, cache=cache, workers=workers, memory=memory, progress=progress)
    yield from _rows(parsed)


def _rows(parsed: Parsed) -> Iterator[EventRow]:
    table = parsed.table
    columns = (table.file, table.line, table.event, table.voice, table.time, parsed.stages)
    rows = (zip(*(column[at : at + _AT_ONCE].tolist() for column in columns), strict=True) for at in _starts(table))
    for file, line, event, voice, time, stage in chain.from_iterable(rows):
        template, origin = table.templates[event], table.origins[voice]
        known = time if time >= 0 else None
        name = table.files[file]
        node = origin.node if parsed.unit == "node" else None
        yield EventRow(name, line, template.id, template.text, node, origin.rank, known, STAGES[stage].value)


_AT_ONCE = 1 << 16  # rows


def _starts(table: EventTable) -> range:
    return range(0, len(table), _AT_ONCE)
