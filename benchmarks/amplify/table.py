"""Outcomes of grown jobs as markdown tables."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.amplify.measure import Outcome

BEGIN, END = "<!-- scale:begin -->", "<!-- scale:end -->"
_HEAD = (
    "nodes", "at fault", "jobs", "top-1", "top-5", "found", "scope", "s", "CPU s", "peak MB", "lines", "MB"
)  # fmt: skip
_QUIET = ("nodes", "jobs", "quiet", "scope", "s", "CPU s", "peak MB", "lines", "MB")
MB = 1_000_000


def tables(outcomes: Sequence[Outcome]) -> str:
    """The table of nodes at fault, that of jobs without any, and the misses by name."""
    blamed = [outcome for outcome in outcomes if outcome.blames]
    others = [outcome for outcome in outcomes if not outcome.blames]
    parts = []
    for history, ranks_only in dict.fromkeys((outcome.plan.history, outcome.plan.ranks_only) for outcome in outcomes):
        past = _past(history) + ("; logs of ranks only" if ranks_only else "")
        own = [
            outcome for outcome in blamed if (outcome.plan.history, outcome.plan.ranks_only) == (history, ranks_only)
        ]
        if own:
            parts.append(f"A node is at fault; compared with {past}:\n\n{_blamed(own)}")
        calm = [
            outcome for outcome in others if (outcome.plan.history, outcome.plan.ranks_only) == (history, ranks_only)
        ]
        if calm:
            parts.append(f"No node is at fault; compared with {past}:\n\n{_calm(calm)}")
    if blamed:
        parts.append(f"By kind, all comparisons: jobs whose first suspect is right, of all.\n\n{_kinds(blamed)}")
    return "\n\n".join(parts)


def _past(history: int | None) -> str:
    if history is None:
        return "no successful job"
    return f"successful jobs of {history:,} nodes" if history else "successful jobs as they are (2 to 8 nodes)"


def told(outcome: Outcome) -> str:
    """One outcome as a line, for whoever waits."""
    plan, answer = outcome.plan, outcome.answer
    right = (outcome.top(1) if outcome.blames else outcome.quiet) and outcome.scope
    guilty = ",".join(sorted(outcome.truth.faulty_nodes)) or "-"
    words = [
        "ok  " if right else "MISS",
        f"{plan.job_id} {outcome.truth.kind} nodes={plan.nodes} faulty={plan.faulty} seed={plan.seed}",
        f"history={plan.history}{' ranks only' * plan.ranks_only} truth={guilty}:",
    ]
    if answer is None:
        return " ".join((*words, outcome.error))
    named = ",".join(answer.nodes) or "-"
    return " ".join(
        (*words, answer.scope, named, f"{answer.seconds:.1f} s {answer.peak / MB:.0f} MB:", answer.headline)
    )


def _blamed(outcomes: Sequence[Outcome]) -> str:
    groups: dict[tuple[int, int], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.plan.nodes, outcome.plan.faulty].append(outcome)
    rows = []
    for (nodes, faulty), own in sorted(groups.items()):
        top1, top5 = _share(item.top(1) for item in own), _share(item.top(5) for item in own)
        found, scope = _share(item.found for item in own), _share(item.scope for item in own)
        rows.append([f"{nodes:,}", str(faulty), str(len(own)), top1, top5, found, scope, *_cost(own)])
    return _markdown(_HEAD, rows)


def _calm(outcomes: Sequence[Outcome]) -> str:
    groups: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.plan.nodes].append(outcome)
    rows = [
        [
            f"{nodes:,}",
            str(len(own)),
            _share(item.quiet for item in own),
            _share(item.scope for item in own),
            *_cost(own),
        ]
        for nodes, own in sorted(groups.items())
    ]
    return _markdown(_QUIET, rows)


def _kinds(outcomes: Sequence[Outcome]) -> str:
    sizes = sorted({outcome.plan.nodes for outcome in outcomes})
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[str(outcome.truth.kind), outcome.plan.job_id].append(outcome)
    rows = []
    for (kind, job_id), own in sorted(groups.items()):
        at = [[item.top(1) for item in own if item.plan.nodes == nodes] for nodes in sizes]
        rows.append([kind, job_id, *(f"{sum(hits)}/{len(hits)}" for hits in at)])
    return _markdown(("kind", "job", *(f"{nodes:,} nodes" for nodes in sizes)), rows)


def _cost(outcomes: Sequence[Outcome]) -> list[str]:
    answers = [outcome.answer for outcome in outcomes if outcome.answer]
    if not answers:
        return ["-"] * 5
    return [
        f"{median(answer.seconds for answer in answers):.1f}",
        f"{median(answer.cpu for answer in answers):.1f}",
        f"{max(answer.peak for answer in answers) / MB:.0f}",
        f"{median(answer.lines for answer in answers):,.0f}",
        f"{median(outcome.size for outcome in outcomes) / MB:.1f}",
    ]


def _share(values: Iterable[float]) -> str:
    known = list(values)
    return f"{sum(known) / len(known):.2f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["--:"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
