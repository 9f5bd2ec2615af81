"""Who is singled out while a job stands still: the only peer that another one's new lines name.

``clock 75 still open after 6s, outstanding: trainer-1@tr-1``: a server or a leader that waits says for whom, in words
that nobody can know beforehand. What tells is that it was never said while the job made progress, and that it names one
of many.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from core.course.pace import SECOND
from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import fact_of
from core.judge.ending import Ending
from core.judge.ranking import quote
from core.logs.lines import NO_TIME
from core.nodes.blame import Names
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MIN_RANKS

SINGLED_OUT = 0.6  # as sure as silence: somebody waits, and says for whom
_WAITS = re.compile(r"wait(?:s|ed|ing)?\b|no progress|stuck|stall", re.IGNORECASE)
_OWN_LABEL = re.compile(r"\[rank ?\d{1,6}\]:?", re.IGNORECASE)  # before what a rank says
AGAIN = 2  # times at least that it is said: who takes leave of a peer says so once
MIN_LISTED = 2  # others than the speaker that a line names which leaves one out: else it names one
MAX_ROWS = 512  # lines of a message that are read; a server that waits says so once in some seconds
MAX_LINES = 1 << 14  # of all such messages, 0.1 ms each: an hour of four lines a second


def singled_signs(parsed: Parsed, ending: Ending, names: Names) -> list[Sign]:
    """Signs for the node that lines of others name alone, or alone leave out, and only since the job stands still."""
    if len(parsed.nodes) < MIN_RANKS or not (ending.hung or ending.vague or ending.progressed is None):
        return []
    by_name: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    rows = _new_rows(parsed, ending)
    texts = (
        read_rows(parsed.files, parsed.table, sorted(row for of_rank in rows.values() for row in of_rank))
        if rows
        else {}
    )
    for _, of_rank in sorted(rows.items()):
        of_event = _singled(parsed, {row: texts.get(row, "") for row in of_rank}, names)
        if len(of_event) == 1:  # what is said of each peer in turn tells of none
            for node, lines in of_event.items():
                by_name[node] += lines
    if len(by_name) != 1:
        return []
    ((node, lines),) = by_name.items()
    if len(lines) < AGAIN:
        return []
    who, text, _ = lines[-1]
    text = quote(text)
    does = "leaves out" if node not in names.standing_in(text) else "names"
    because = (
        f"Since the last progress {who} said {len(lines)} times: \u201c{short(text)}\u201d; it {does} {node} alone."
    )
    check = f"Look at {node}: what its process waits for (py-spy dump), its storage and its network."
    return [
        Sign(node, "named", SINGLED_OUT, because, says="the others waited for it", check=check, rows=(lines[0][2],))
    ]


def _new_rows(parsed: Parsed, ending: Ending) -> dict[int, list[int]]:
    """Rows of messages that are said since the last iteration alone, before any stop, and of which no fact is known."""
    table, last = parsed.table, parsed.iterations.last
    few = [
        event for event, heads in enumerate(table.heads.tolist()) if 0 < heads <= MAX_ROWS and _may_wait(table, event)
    ]
    counting = np.unique(table.file[parsed.iterations.marks])
    found: dict[int, list[int]] = {}
    of_events = table.rows_of(few) if last is not None and few else {}
    every = np.concatenate([np.zeros(0, np.intp), *of_events.values()])
    is_before = parsed.iterations.of_row[every] < (0 if last is None else last)
    # what is dated otherwise than the iterations are came before or after the last one, nobody knows
    undated = ~table.timed[every] if len(parsed.iterations.course) else np.ones(len(every), np.bool_)
    is_before |= undated & ~np.isin(table.file[every], counting)
    ends = np.cumsum([len(rows) for rows in of_events.values()], dtype=np.intp)
    are_new = [not part.any() for part in np.split(is_before, ends[:-1])]
    for event, rows in [item for item, is_new in zip(of_events.items(), are_new, strict=False) if is_new]:
        times = table.time[rows]
        # what is said in the second of the stop is said because of it
        until = ending.stopped - SECOND if ending.ordered and ending.stopped is not None else times.max()
        if own := rows[(times == NO_TIME) | (times <= until)].tolist():
            found[event] = own
    first = zip(list(found)[:MAX_ROWS], accumulate(map(len, found.values())), strict=False)
    return {event: found[event] for event, lines in first if lines <= MAX_LINES}


def _may_wait(table: EventTable, event: int) -> bool:
    """Whether nobody knows what a message means."""
    template = table.templates[event]
    fact = None if template.block else fact_of(template.sample, block=False)
    return not template.block and (fact is None or not fact.known)


def _singled(parsed: Parsed, texts: Mapping[int, str], names: Names) -> dict[str, list[tuple[str, str, int]]]:
    """The nodes that lines of others name alone, or leave out where they name all others; speaker, line and row."""
    found: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    every = set(parsed.nodes)
    for row, text in sorted(texts.items()):
        speaker = parsed.table.origins[parsed.table.voice[row]].node or ""
        named = names.standing_in(text if speaker else _OWN_LABEL.sub(" ", text, count=1))
        others = named - {speaker}
        # of thousands of nodes a line names few, and then more than one is left out
        left = every - named - {speaker} if len(named) + 2 >= len(every) else every
        named_alone = others if len(others) == 1 else left if len(left) == 1 and len(others) >= MIN_LISTED else set()
        if (
            named == {speaker} and speaker not in unlabelled(parsed.table, row, text) and _WAITS.search(text)
        ):  # for ranks of its own
            named_alone = named
        if not speaker and named_alone == {names.of_rank(0)} and not _WAITS.search(text):
            continue  # the first rank, which says its number
        for node in named_alone:
            found[node].append((speaker or "a log", text, row))
    return found
