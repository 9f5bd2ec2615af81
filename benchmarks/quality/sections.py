"""The parts of the report: what was found, as text under the name of its markers in a document."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.quality.ablation import NO_CHANNEL, STEPS
from benchmarks.quality.calibration import accused_wrongly, degrees
from benchmarks.quality.findings import Finding
from benchmarks.quality.intervals import LEVEL, RESAMPLES, Interval, intervals
from benchmarks.quality.measures import Measures, measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.report import cell, methods, table
from benchmarks.quality.robustness import ChangeResult, rows
from benchmarks.quality.sameness import RUNS
from benchmarks.quality.score import Score
from benchmarks.quality.targets import Reached, reached

Sets = Mapping[str, Sequence[Finding]]
MAIN = {
    "verdict": "verdict",
    "macro F1": "macro_f1",
    "first": "first",
    "top-1": "top1",
    "quiet": "quiet",
    "scope": "scope",
}
_MAX_IDS = 12  # of jobs that a table names


def sections(sets: Sets, unlike: Mapping[str, Sequence[str]] | None, commit: str) -> dict[str, str]:
    """Every part for which something was measured, by the name of its markers."""
    by_method = {
        name: {method: measure([finding.scores[method] for finding in own]) for method in METHODS}
        for name, own in sets.items()
    }
    parts = {
        "quality": methods(by_method),
        "intervals": _titled(sets, _intervals),
        "families": _titled(sets, _families),
        "targets": _titled(sets, _targets),
        "calibration": _titled(sets, _calibration),
    }
    if any(finding.without for own in sets.values() for finding in own):
        parts["ablation"] = _titled(sets, _ablation)
    if any(finding.varied for own in sets.values() for finding in own) or unlike is not None:
        parts["robustness"] = _titled(sets, lambda name, own: _robustness(own, (unlike or {}).get(name)))
    return {name: f"{text}\n\nMeasured at commit {commit}." for name, text in parts.items()}


def _intervals(_: str, findings: Sequence[Finding]) -> str:
    """The main measures with their bounds."""
    lines = []
    for method in METHODS:
        found = intervals([finding.scores[method] for finding in findings])
        lines.append([method, *(_bounds(found.get(field)) for field in MAIN.values())])
    asked = intervals([finding.ours for finding in findings])
    counts = ["jobs", *(str(asked[field].jobs) if field in asked else "0" for field in MAIN.values())]
    note = f"{LEVEL} % intervals: percentile bootstrap by job, {RESAMPLES:,} resamples, fixed seed."
    return f"{table(['method', *MAIN], [*lines, counts])}\n\n{note}"


def _families(_: str, findings: Sequence[Finding]) -> str:
    """Our method by what had happened."""
    families: dict[tuple[str, str], list[Score]] = defaultdict(list)
    for finding in findings:
        if finding.truth.failed:
            families[finding.truth.category, finding.truth.kind or "unknown"].append(finding.ours)
    lines = []
    for (category, kind), scores in sorted(families.items()):
        measures = measure(scores)
        cells = (cell(measures, field) for field in ("first", "top1", "scope", "macro_f1"))
        lines.append([kind, category, str(len(scores)), *cells])
    return table(["family", "category", "jobs", "first", "top-1", "scope", "macro F1"], lines, texts=(0, 1))


def _targets(name: str, findings: Sequence[Finding]) -> str:
    head = ["measure", "target", "reached", f"{LEVEL} %", "jobs", "", "not all that they could be"]
    return table(head, [_target(item) for item in reached(name, findings)], texts=(0, 5, 6))


def _target(item: Reached) -> list[str]:
    value = item.reached
    sure = f"{value.low:.2f} to {value.high:.2f}" if value.low < value.high else "-"
    bound = f"{item.target.sign} {item.target.bound:g}"
    met = "met" if item.met else "**missed**"
    return [item.target.measure, bound, f"{value.value:.2f}", sure, str(value.jobs), met, _ids(item.misses)]


def _calibration(_: str, findings: Sequence[Finding]) -> str:
    by_degree = degrees(findings)
    lines = [
        [
            degree.confidence.value,
            str(degree.jobs),
            str(degree.jobs - len(degree.wrong)),
            f"{degree.right:.2f}" if degree.jobs else "-",
        ]
        for degree in by_degree
    ]
    wrong = [f"- {job_id} ({degree.confidence}): {why}" for degree in by_degree for job_id, why in degree.wrong.items()]
    wronged = accused_wrongly(findings)
    innocent = sum(not finding.ours.faulty for finding in findings)
    named = "".join(f" {job_id}: {nodes}." for job_id, nodes in wronged.items())
    note = f"Nodes accused though none is to blame: in {len(wronged)} of {innocent} jobs.{named}"
    return "\n\n".join(
        filter(None, (table(["confidence", "failed jobs", "right", "share"], lines), "\n".join(wrong), note))
    )


def _ablation(_: str, findings: Sequence[Finding]) -> str:
    """What is lost (or won) without each part; of a job in which a channel says nothing, nothing is."""
    asked = [finding for finding in findings if finding.without]
    whole = measure([finding.ours for finding in asked])
    lines = [["nothing", "", *(cell(whole, field) for field in MAIN.values()), cell(whole, "top1"), "", ""]]
    for part in (*STEPS, *sorted({part for finding in asked for part in finding.without} - set(STEPS))):
        speaks, alone = "", ""
        if part not in STEPS:
            speaks = str(sum(part in finding.without for finding in asked))
            alone = cell(measure([finding.alone.get(part, finding.alone[NO_CHANNEL]) for finding in asked]), "top1")
        left = measure([finding.without.get(part, finding.ours) for finding in asked])
        changed = [
            finding.truth.job_id
            for finding in asked
            if _answers(finding.without.get(part, finding.ours)) != _answers(finding.ours)
        ]
        costs = (_change(whole, left, field) for field in MAIN.values())
        lines.append([part, speaks, *costs, alone, str(len(changed)), _ids(changed)])
    return table(["without", "speaks in", *MAIN, "alone: top-1", "changed", "which"], lines, texts=(0, 10))


def _answers(score: Score) -> tuple[object, ...]:
    shares = (score.first, score.root3, score.top1, score.top3, score.quiet, score.scope, score.stage, score.iteration)
    return (score.verdicts, score.found, score.accused, *shares)


def _robustness(findings: Sequence[Finding], unlike: Sequence[str] | None) -> str:
    lines = [
        _row(row) for row in rows({finding.truth.job_id: finding.varied for finding in findings if finding.varied})
    ]
    parts = []
    if lines:
        parts.append(table(["change", "jobs", *MAIN, "accuse wrongly", "which lose something"], lines, texts=(0, 9)))
    if unlike is not None:
        same = "the same bytes for every job" if not unlike else f"other bytes for {_ids(unlike)}"
        parts.append(
            f"{len(RUNS)} runs in fresh processes, each with another hash seed, with one worker and with two, with and"
            f" without what is known from before: {same} ({len(findings)} jobs)."
        )
    return "\n\n".join(parts)


def _row(row: ChangeResult) -> list[str]:
    both = [
        text if (text := cell(row.after, field)) == (was := cell(row.before, field)) else f"{was} → {text}"
        for field in MAIN.values()
    ]
    lost = [f"{job_id} ({', '.join(what)})" for job_id, what in row.worse.items()]
    other = [f"{job_id} (other {', '.join(what)})" for job_id, what in row.differs.items() if job_id not in row.worse]
    return [row.name, str(row.after.jobs), *both, str(row.after.accuses), _ids([*lost, *other])]


def _change(whole: Measures, part: Measures, field: str) -> str:
    was, now = getattr(whole, field), getattr(part, field)
    if was is None or now is None:
        return "-"
    return f"{now - was:+.2f}" if abs(now - was) >= 0.005 else "0"


def _bounds(interval: Interval | None) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})" if interval else "-"


def _ids(ids: Iterable[str]) -> str:
    known = list(ids)
    more = f" and {len(known) - _MAX_IDS} more" if len(known) > _MAX_IDS else ""
    return f"{', '.join(known[:_MAX_IDS])}{more}"


def _titled(sets: Sets, text: Callable[[str, Sequence[Finding]], str]) -> str:
    return "\n\n".join(f"**{name}**\n\n{text(name, own)}" for name, own in sets.items())
