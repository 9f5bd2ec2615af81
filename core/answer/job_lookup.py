"""Looking things up in a job for somebody who asks: of a node, a rank, an iteration, an event, some words.

Each look gives one sentence that holds the numbers, and the lines that show it. Nothing here judges: what complains is
told by ``core.facts``, who is to blame by the diagnosis.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from core.events.messages import key_rows
from core.events.row_text import cite_rows
from core.events.table import EventTable, rows_by
from core.events.template import Template
from core.facts import complains, fact_of
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.model import Line, Role
from core.parsed import Parsed

MAX_LINES = 12  # of a look: more than anybody reads in a thread


@dataclass(frozen=True, slots=True)
class LookResult:
    """What a look gives: a sentence, and lines with who wrote them when (same order and length).

    who: "node-01 rank 3", "node-01" or "". clock: time of day of the job's clock, or "". total: lines that there are.
    """

    says: str
    lines: tuple[Line, ...] = ()
    who: tuple[str, ...] = ()
    clock: tuple[str, ...] = ()
    total: int = 0


def of_node(parsed: Parsed, node: str) -> LookResult:
    """What a node wrote: how much, from when to when, how far its ranks came, its complaints and its last words."""
    table = parsed.table
    if node not in table.nodes:
        return LookResult(f"No log names {node}.")
    rows = rows_of_node(table, node)
    return _told(parsed, rows, node, _progress(parsed, rows))


def of_rank(parsed: Parsed, rank: int) -> LookResult:
    """What a rank wrote, as ``of_node``."""
    rows = rows_of_rank(parsed.table, rank)
    if not len(rows):
        return LookResult(f"No log names rank {rank}.")
    return _told(parsed, rows, f"Rank {rank}", _progress(parsed, rows))


def of_iteration(parsed: Parsed, iteration: int) -> LookResult:
    """Who completed an iteration and when, and what complained between it and the next one."""
    table, iterations = parsed.table, parsed.iterations
    marks = iterations.marks[iterations.numbers == iteration]
    if not len(marks):
        known = f" The logs count iterations up to {iterations.last}." if iterations.last is not None else ""
        return LookResult(f"No line says that iteration {iteration} was completed.{known}")
    reached = [first + np.flatnonzero(numbers == iteration) for first, numbers in iterations.of_row.parts()]
    after = np.concatenate([np.zeros(0, np.intp), *reached])
    after = after[table.head[after]]
    bad = complaints(table, after)
    ranks = sorted({int(rank) for rank in table.rank[marks] if rank >= 0})
    who = f" by {len(ranks)} of {len(table.ranks)} ranks" if ranks else ""
    says = f"Iteration {iteration} was completed{who}, {span(table, marks)}; {_times(len(bad), 'complaint')} after it."
    return found_rows(parsed, says, [*marks[:3].tolist(), *bad.tolist()])


def compare(parsed: Parsed, first_node: str, second_node: str) -> LookResult:
    """Two nodes beside each other: how much, until when, how far, and what only one of them says."""
    table = parsed.table
    missing = [node for node in (first_node, second_node) if node not in table.nodes]
    if missing:
        return LookResult(f"No log names {' or '.join(missing)}.")
    spoke = [rows_of_node(table, node) for node in (first_node, second_node)]
    rows = [of[table.head[of]] for of in spoke]
    events = [set(table.event[of].tolist()) for of in rows]
    sentences = [
        f"{node} wrote {len(of)} messages, {span(table, of)}{_progress(parsed, of)}."
        for node, of in zip((first_node, second_node), rows, strict=True)
    ]
    first_alone, second_alone = events[0] - events[1], events[1] - events[0]
    sentences.append(
        f"{_times(len(first_alone), 'event')} only on {first_node}, {len(second_alone)} only on {second_node}."
    )
    chosen: list[int] = []
    for of, alone in zip(rows, (first_alone, second_alone), strict=True):
        only = of[np.isin(table.event[of], sorted(alone))]
        _, first = np.unique(table.event[only], return_index=True)
        firsts = only[np.sort(first)]
        chosen += [*complaints(table, firsts).tolist(), *firsts.tolist()][: MAX_LINES // 2]
    return found_rows(parsed, " ".join(sentences), chosen)


def last_words(parsed: Parsed, rows: NDArray[np.intp], name: str) -> LookResult:
    """The last messages among some rows, the last one first."""
    rows = rows[parsed.table.head[rows]]
    if not len(rows):
        return LookResult(f"No log names {name}.")
    messages = found_rows(parsed, "", by_time(parsed.table, rows)[::-1][:MAX_LINES].tolist())
    filled = [at for at, line in enumerate(messages.lines) if line.text.strip()]
    columns = (
        tuple(messages.lines[at] for at in filled),
        tuple(messages.who[at] for at in filled),
        tuple(messages.clock[at] for at in filled),
    )
    return LookResult("", *columns, total=len(rows))


def rows_of_rank(table: EventTable, rank: int) -> NDArray[np.intp]:
    """All rows of a rank."""
    return table.rows_of_voices(np.flatnonzero(table.rank_of_voice == rank).tolist())


def rows_of_program(table: EventTable, programs: Collection[Program]) -> NDArray[np.intp]:
    """All rows of launchers, daemons or the scheduler."""
    return table.rows_of_voices([at for at, origin in enumerate(table.origins) if origin.program in programs])


def ends(parsed: Parsed) -> LookResult:
    """The last line of every rank, where logs name ranks, else of every node; the earliest end first."""
    table = parsed.table
    speaker = np.where(table.is_rank, table.rank_of_voice, -1) if table.ranks else table.node_of_voice
    spoke = [table.rows_of_voices(voices.tolist()) for _, voices in rows_by(speaker, np.flatnonzero(speaker >= 0))]
    rows = [heads for of in spoke if len(heads := of[table.head[of]])]
    ordered = sorted((int(by_time(table, of)[-1]) for of in rows), key=lambda row: (int(table.time[row]), row))
    if not ordered:
        return LookResult("The logs name no rank and no node.")
    first, last = ordered[0], ordered[-1]
    says = f"{_who(table, first)} wrote its last line first{_at(int(table.time[first]), ', at ')}"
    if len(ordered) > 1:
        says += f"; {_who(table, last)} last{_at(int(table.time[last]), ', at ')}"
    return found_rows(parsed, f"{says}.", ordered)


# --- rows -----------------------------------------------------------------------------------------------------------


def _told(parsed: Parsed, rows: NDArray[np.intp], name: str, progress: str) -> LookResult:
    table = parsed.table
    bad = complaints(table, rows[table.head[rows]])
    says = f"{name} wrote {_times(len(rows), 'line')}, {span(table, rows)}{progress}; {_times(len(bad), 'complaint')}."
    tail = by_time(table, rows[table.head[rows]])[-3:]
    return found_rows(parsed, says, [*spread(table, bad)[: MAX_LINES - len(tail)], *tail.tolist()])


def rows_of_node(table: EventTable, node: str) -> NDArray[np.intp]:
    """All rows of a node."""
    return table.rows_of_voices(np.flatnonzero(table.node_of_voice == table.nodes.index(node)).tolist())


def _progress(parsed: Parsed, rows: NDArray[np.intp]) -> str:
    reached = parsed.iterations.of_row[rows]
    return f", last complete iteration {int(reached.max())}" if len(reached) and reached.max() >= 0 else ""


def complaints(table: EventTable, heads: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of some heads of messages that tell of something that goes wrong."""
    bad = {event for event in set(table.event[heads].tolist()) if _complains(table.templates[event])}
    return heads[np.isin(table.event[heads], sorted(bad))]


def _complains(template: Template) -> bool:
    """Whether an event tells of something that goes wrong, and is not known to be harmless."""
    fact = fact_of(template.sample, block=template.block)
    return fact is not None and fact.role is not Role.BENIGN and (template.block or complains(template.sample))


def by_time(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows in the order of their clocks."""
    return rows[np.argsort(table.time[rows], kind="stable")]


def spread(table: EventTable, rows: NDArray[np.intp]) -> list[int]:
    """The first row of each event, then the other rows, by time."""
    timed = by_time(table, rows)
    _, first = np.unique(table.event[timed], return_index=True)
    return [*timed[np.sort(first)].tolist(), *np.delete(timed, first).tolist()]


def found_rows(parsed: Parsed, says: str, rows: Iterable[int]) -> LookResult:
    """The sentence with the lines of some rows; of a block the lines that say what happened."""
    table = parsed.table
    keys = list(dict.fromkeys(key for row in rows for key in (key_rows(table, row) if table.head[row] else [row])))
    texts = cite_rows(parsed.files, table, keys[:MAX_LINES])
    shown = [row for row in keys[:MAX_LINES] if row in texts]
    return LookResult(
        says,
        tuple(Line(table.files[table.file[row]], int(table.line[row]), texts[row]) for row in shown),
        tuple(_who(table, row) for row in shown),
        tuple(_at(int(table.time[row])) for row in shown),
        len(keys),
    )


def _who(table: EventTable, row: int) -> str:
    origin = table.origins[table.voice[row]]
    rank = f"rank {origin.rank}" if origin.rank is not None else ""
    return " ".join(dict.fromkeys(part for part in (origin.node or "", rank) if part))


def span(table: EventTable, rows: NDArray[np.intp]) -> str:
    """The times of some rows: "from 13:45:20 to 13:45:27"."""
    times = table.time[rows]
    times = times[times != NO_TIME]
    if not len(times):
        return "at no known time"
    first, last = _at(int(times.min())), _at(int(times.max()))
    return f"at {first}" if first == last else f"from {first} to {last}"


def _at(micros: int, before: str = "") -> str:
    if micros == NO_TIME:
        return ""
    return f"{before}{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros):%H:%M:%S}"


def _times(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
