"""Evidence: a claim with its number, its sentence and its lines; nothing else is ever said."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.messages import key_rows
from core.events.row_text import cite_rows
from core.events.table import EventTable
from core.judge.candidates import Candidate
from core.judge.ending import NUMBERS, Ending
from core.judge.ranking import first_time
from core.judge.slowdown import Slowdown
from core.judge.temporal import Odd
from core.live.findings import duration
from core.model import EventEvidence, IterationEvidence, Line, NodeEvidence, Role
from core.naming import sentence
from core.nodes.sign import Suspicion
from core.parsed import Parsed

MAX_LINES = 8  # cited lines an event
AGAIN = 2  # messages of one node that are cited: the first, and one that shows that it came again
MAX_NAMES = 3  # nodes that a sentence names; of more it says how many
MAX_ITERATIONS = 20  # of an event, for who reads the JSON; the count is whole
MAX_ODD = 3  # iterations that stood apart; a reader looks at few
BEGAN = 1.0  # score of where the steps of the job itself became longer, which is told first: where a suspect's numbers
# were printed next is less exact (docs/LOG.md)
ONSET = 0.97  # of one that is slower than good jobs from its start: what made it slow happened before
SINCE = 1.0  # of where a suspect left the others: what broke by then follows from that
NAMED = 0.98  # of that which the first error names itself: its program knew which one it was in
LAST = 0.95  # score of the last complete iteration: certain, but a number that broke before it says more


def event_evidence(name: str, parsed: Parsed, candidate: Candidate, suspect: str | None = None) -> EventEvidence:
    """An event with where, when, how often, and its lines, the suspect's own before those of other nodes."""
    numbers = np.unique(parsed.iterations.of_row[candidate.rows])
    reached = numbers[numbers >= 0].tolist()
    time = first_time(parsed.table, candidate)
    template = parsed.table.templates[candidate.event]
    return EventEvidence(
        id=name,
        score=candidate.score,
        because=_because(parsed, candidate, reached),
        lines=_lines(parsed, candidate.rows, suspect),
        event=template.id,
        template=template.text,
        role=candidate.role,
        count=candidate.count,
        nodes=candidate.nodes,
        stage=candidate.stage,
        iterations=tuple(reached[:MAX_ITERATIONS]),
        first_time=time if time >= 0 else None,
        ranks=tuple(sorted(candidate.ranks)),
        says=candidate.fact.says,
        unseen=candidate.excess >= 1 if parsed.profiles and not candidate.ordinary else None,
        ordinary=candidate.ordinary,
    )


def node_evidence(name: str, parsed: Parsed, suspicion: Suspicion, ids: Mapping[int, str]) -> NodeEvidence:
    """A suspect with all that points to it."""
    reasons = tuple(sentence(sign.because, _names(parsed)) for sign in suspicion.signs)
    shown = np.array(sorted({row for sign in suspicion.signs for row in sign.rows}), np.intp)
    return NodeEvidence(
        id=name,
        score=suspicion.score,
        because=" ".join(reasons),
        node=suspicion.node,
        lines=(
            *(line for sign in suspicion.signs for line in sign.lines),
            *(_lines(parsed, shown) if len(shown) else ()),
        ),
        ranks=tuple(
            sorted({*_ranks(parsed, suspicion.node), *(rank for sign in suspicion.signs for rank in sign.ranks)})
        ),
        events=tuple(
            sorted({ids[sign.event] for sign in suspicion.signs if sign.event is not None and sign.event in ids})
        ),
        reasons=reasons,
    )


def iteration_evidence(
    parsed: Parsed,
    telling: Sequence[Candidate],
    ids: Mapping[int, str],
    odd: Sequence[Odd],
    ending: Ending,
    suspects: Sequence[Suspicion],
) -> tuple[IterationEvidence, ...]:
    """The last complete iteration, since when the job was slow or a suspect apart, and those unlike the ten before."""
    since = {
        sign.iteration: sign.because for suspect in suspects for sign in suspect.signs if sign.iteration is not None
    }
    others: list[tuple[float, int, str, tuple[str, ...]]] = []
    others += [(SINCE, iteration, sentence(because), ()) for iteration, because in since.items()]
    traces = [candidate for candidate in telling if not candidate.ordinary]
    others += [
        (
            NAMED,
            candidate.iteration,
            f"The first error names iteration {candidate.iteration} itself.",
            (ids[candidate.event],),
        )
        for candidate in traces[:1]
        if candidate.iteration is not None and candidate.iteration != parsed.iterations.last
    ]
    last = _last_complete(parsed, telling, ids)
    others += [
        (odd_iteration.score, odd_iteration.iteration, sentence(odd_iteration.because), ())
        for odd_iteration in odd[:MAX_ODD]
    ]
    by_numbers = any(sign.channel in NUMBERS for suspect in suspects[:1] for sign in suspect.signs)
    if ending.slow is not None and (ending.failed is None or ending.stopped_first or by_numbers):
        score = ONSET if ending.slow.than_good_jobs else BEGAN
        others.insert(0, (score, ending.slow.iteration, slowdown(ending.slow), ()))
    ordered = sorted((*last, *others), key=lambda entry: -entry[0])
    return tuple(
        IterationEvidence(
            id=f"I{n}",
            score=score,
            because=because,
            iteration=number,
            events=events,
        )
        for n, (score, number, because, events) in enumerate(ordered, start=1)
    )


def _last_complete(
    parsed: Parsed, telling: Sequence[Candidate], ids: Mapping[int, str]
) -> list[tuple[float, int, str, tuple[str, ...]]]:
    """The last complete iteration, and the roots that were said in it; nothing where none is counted."""
    last, total = parsed.iterations.last, parsed.iterations.total
    if last is None:
        return []
    within = parsed.iterations.epochs.within(last)
    of_epoch = f" ({within} of its epoch)" if within != last else ""
    of_row, planned = parsed.iterations.of_row, f", of {total} planned" if total and not of_epoch else ""
    roots = [
        ids[candidate.event] for candidate in telling if candidate.role is Role.ROOT and last in of_row[candidate.rows]
    ]
    return [(LAST, last, f"Iteration {last}{of_epoch} is the last that any rank completed{planned}.", tuple(roots))]


def slowdown(slow: Slowdown) -> str:
    """A slowdown in words, with seconds an iteration before and after it."""
    than = "in good jobs" if slow.than_good_jobs else "before"
    return (
        f"A step took {duration(slow.after)} from iteration {slow.iteration} on, until the end, "
        f"and {duration(slow.before)} {than}."
    )


def _because(parsed: Parsed, candidate: Candidate, reached: Sequence[int]) -> str:
    if candidate.ordinary:
        return "This line shows it."
    who = _who(parsed, candidate)
    times = "once" if candidate.count == 1 else f"{candidate.count} times"
    when = f", after iteration {reached[0]}" if reached else ""
    says = f" {sentence(candidate.fact.says)}." if candidate.fact.says else ""
    why = f" ({sentence(candidate.why)}.)" if candidate.why and not _echoes(candidate.why, candidate.fact.says) else ""
    return f"{sentence(who, _names(parsed))} logged this {times}{when}{_in_good_jobs(parsed, candidate)}.{says}{why}"


def _echoes(why: str, says: str) -> bool:
    """Whether a reason has no word, beside an article, that the meaning has not."""
    return bool(says) and set(why.split()) - {"a", "an", "the"} <= set(says.split())


def _who(parsed: Parsed, candidate: Candidate) -> str:
    nodes = ", ".join(candidate.nodes)
    if len(candidate.nodes) > MAX_NAMES:
        nodes = f"{len(candidate.nodes)} of {len(parsed.nodes)} {parsed.unit}s"
    if candidate.ranks and len(candidate.ranks) <= MAX_NAMES and parsed.unit == "node":
        ranks = f"rank{'s' * (len(candidate.ranks) > 1)} {', '.join(map(str, candidate.ranks))}"
        return f"{ranks} on {nodes}" if nodes else ranks
    if candidate.ranks and not nodes:
        return f"{len(candidate.ranks)} of {max(len(parsed.table.ranks), parsed.job.manifest.world_size or 0)} ranks"
    return nodes or parsed.table.files[parsed.table.file[candidate.rows[0]]].rsplit("/", 1)[-1]


def _in_good_jobs(parsed: Parsed, candidate: Candidate) -> str:
    good = len(parsed.profiles)
    if not good:
        return ""
    often = "never" if candidate.excess >= 1 else "less often"
    return f"; {often} in {good} successful job{'s' * (good > 1)}"


def _lines(parsed: Parsed, rows: NDArray[np.intp], suspect: str | None = None) -> tuple[Line, ...]:
    """Cited lines: the earliest message of each node, of one node its next one too; at most MAX_LINES."""
    table = parsed.table
    chosen: list[int] = []
    nodes = len(np.unique(table.node[rows]))
    heads = _by_node(table, rows)[: max(AGAIN, nodes)]
    for head in sorted(heads, key=lambda row: table.origins[table.voice[row]].node != suspect):
        chosen += [row for row in key_rows(table, head) if row not in chosen]
        if len(chosen) >= MAX_LINES:
            break
    texts = cite_rows(parsed.files, table, chosen[:MAX_LINES])
    return tuple(Line(table.files[table.file[row]], int(table.line[row]), texts[row]) for row in chosen if row in texts)


def _by_node(table: EventTable, rows: NDArray[np.intp]) -> list[int]:
    files = np.argsort(np.argsort(np.array(table.files)))[
        table.file[rows]
    ]  # at the same moment by name, in any listing
    timed = rows[np.lexsort((table.line[rows], files, table.time[rows]))]
    _, first = np.unique(table.node[timed], return_index=True)
    return [*timed[np.sort(first)].tolist(), *np.delete(timed, first).tolist()]


def _ranks(parsed: Parsed, node: str) -> tuple[int, ...]:
    spoke = {origin.rank for origin in parsed.table.origins if origin.node == node and origin.rank is not None}
    return tuple(sorted(spoke | set(parsed.job.manifest.node_ranks.get(node, ()))))


def _names(parsed: Parsed) -> frozenset[str]:
    return frozenset((*parsed.nodes, *parsed.table.nodes))
