"""All that metrics beside the logs tell of a job, as signs of nodes and as findings about the whole of it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.course.job_clock import end_by_logs
from core.job import Status
from core.judge.candidates import Candidate
from core.metrics.course import numbers, pace, pace_of_parts
from core.metrics.metric_finding import ALARMS, MetricFinding, Says
from core.metrics.metric_kinds import Quantity, measure_of
from core.metrics.peers import MIN_PEERS, ended, leaving
from core.metrics.series import JOB, SECOND, Metric, span_of
from core.metrics.traffic import devices, standing
from core.model import MetricEvidence, Role
from core.nodes.blame import Names
from core.nodes.sign import Sign
from core.parsed import Parsed

MAX_SHOWN = 8  # findings, the most telling first: a person reads few
BESIDE_A_FAULT = 0.35  # of a metric that is apart when the logs tell what broke: it may be what that fault did
_RANK = re.compile(r"rank (\d{1,6})")
_SLACK = 60 * SECOND  # a scrape may come so much after the last line
_OWN_RULES = (Quantity.LOSS, Quantity.NORM, Quantity.XID, Quantity.BROKEN_MEMORY, Quantity.ITERATION)
_CHANNEL = {Says.DEVICE: "device", Says.APART: "metric", Says.ENDS: "metric ends"}
_CHECKS = {
    Says.DEVICE: "Take {who} out and look at its kernel log and nvidia-smi -q: the device reports its own fault.",
    Says.APART: "Look at {who}: what its metric shows, its kernel log, cooling, power and links.",
    Says.ENDS: "Look whether {who} is alive: its exporter says nothing more.",
}


@dataclass(frozen=True, slots=True)
class MetricFindings:
    """Signs of nodes, what is told of the whole job, evidence for the reader, and what was left out.

    alarm: what breaks it; slower: that its pace fell for good.
    """

    signs: tuple[Sign, ...] = ()
    alarm: MetricFinding | None = None
    slower: MetricFinding | None = None
    shown: tuple[MetricEvidence, ...] = ()
    problems: tuple[str, ...] = ()


@np.errstate(all="ignore")  # infinite values and huge ones: their differences are no numbers, and no finding
def find_metric_evidence(parsed: Parsed, candidates: Sequence[Candidate]) -> MetricFindings:
    """Evidence of the files in metrics/; nothing for a job without."""
    if not parsed.job.metrics:
        return MetricFindings()
    from core.metrics.metric_files import read_metrics  # noqa: PLC0415 with polars .15 s of CPU, for few jobs

    read = read_metrics(parsed.job.metrics)
    metrics, problems = _at_home(parsed, read.metrics)
    metrics, until_end, clipped = _while_it_ran(parsed, metrics)
    by_name: dict[str, list[Metric]] = defaultdict(list)
    for metric in metrics:
        if metric.who != JOB and measure_of(metric.name) not in _OWN_RULES:
            by_name[metric.name].append(metric)
    progressed = parsed.iterations.course.times
    found = [
        *devices(metrics),
        *(finding for own in by_name.values() for finding in leaving(own, until_end=until_end)),
        *(ended([metric for metric in metrics if metric.who != JOB]) if until_end else ()),
        *standing(metrics, int(progressed[-1]) if len(progressed) else None),
        *numbers([metric for metric in metrics if metric.who in (JOB, "rank 0")]),
        *_pace(metrics, parsed.iterations.began),
    ]
    found.sort(key=lambda item: (-item.weight, item.who, item.metric.label))
    broke = any(
        candidate.role is Role.ROOT and not candidate.fact.stop and candidate.fact.known for candidate in candidates
    )
    signs = [_sign(entry, broke=broke) for entry in found if entry.kind in _CHANNEL]
    alarms = [entry for entry in found if entry.kind in ALARMS]
    return MetricFindings(
        tuple(signs),
        alarms[0] if alarms else None,
        next((entry for entry in found if entry.kind is Says.PACE), None),
        tuple(entry.evidence(number) for number, entry in enumerate(found[:MAX_SHOWN], start=1)),
        (*read.problems, *problems, *clipped),
    )


def _pace(metrics: Sequence[Metric], began: int | None) -> list[MetricFinding]:
    """That the job became slower: by its own metrics, else by those of its nodes and ranks."""
    whole = pace([metric for metric in metrics if metric.who == JOB], began)
    return whole or pace_of_parts([metric for metric in metrics if metric.who != JOB], began)


def _sign(finding: MetricFinding, *, broke: bool) -> Sign:
    weight = finding.weight if finding.kind is Says.DEVICE or not broke else min(finding.weight, BESIDE_A_FAULT)
    check = _CHECKS[finding.kind].format(who=finding.who)
    return Sign(
        finding.who,
        _CHANNEL[finding.kind],
        weight,
        finding.because,
        says=finding.says,
        check=check,
        lines=finding.lines,
    )


def _at_home(parsed: Parsed, metrics: Sequence[Metric]) -> tuple[list[Metric], tuple[str, ...]]:
    """Metrics with the job's own names for its nodes; those of machines that are not in the job are left out."""
    names, nodes = Names(parsed.table, parsed.job.manifest), parsed.nodes
    of_nodes = parsed.unit == "node" and bool(nodes)
    found: list[Metric] = []
    strange: set[str] = set()
    for metric in metrics:
        rank = _RANK.fullmatch(metric.who)  # "rank zero" is a name like any other
        who = (names.of_rank(int(rank[1])) if rank and of_nodes else None) or names.node(metric.who) or metric.who
        if who == JOB or not of_nodes or who in nodes:
            part = metric.who if rank and who not in (metric.who, JOB) else metric.part
            found.append(replace(metric, who=who, part=part))
        else:
            strange.add(who)
    owners = {metric.who for metric in found} - {JOB}
    problems = []
    if strange:
        first = min(strange)
        problems.append(f"Metrics of {len(strange)} machines that are not in the job were left out, {first} first.")
    missing = [node for node in nodes if node not in owners]
    if owners and missing and of_nodes:
        problems.append(f"There are no metrics of {len(missing)} of {len(nodes)} nodes, {missing[0]} first.")
    if owners and len(owners) < MIN_PEERS:
        problems.append(f"Metrics of {len(owners)} nodes are too few to compare them with each other.")
    return found, tuple(problems)


def _while_it_ran(parsed: Parsed, metrics: Sequence[Metric]) -> tuple[list[Metric], bool, tuple[str, ...]]:
    """The samples between start and end of the job; whether their end is its end; what could not be told."""
    span = span_of(parsed.table)
    timed = [metric for metric in metrics if len(metric.times) and int(metric.times[0]) >= 0]
    if span is None or not timed:
        return list(metrics), True, ()
    first, last = span
    last = max(last, end_by_logs(parsed.job.manifest, first) or last) + _SLACK
    if parsed.job.status is Status.RUNNING:
        last = int(np.iinfo(np.int64).max)
    clipped = [
        metric.between(first - _SLACK, last) if len(metric.times) and int(metric.times[0]) >= 0 else metric
        for metric in metrics
    ]
    kept = [metric for metric in clipped if len(metric.times)]
    if timed and not any(int(metric.times[0]) >= 0 for metric in kept):
        return list(metrics), False, ("The clocks of metrics and logs do not meet: is one of another zone?",)
    return kept, True, ()
