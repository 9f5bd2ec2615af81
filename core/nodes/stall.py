"""Who held up a job that hung or became slow: in what few ranks differ while the others wait for them.

The whole step takes longer everywhere, so nobody's step tells. What tells is a part of it: what one rank measures of
its own work rises there alone, and what the others measure of waiting rises everywhere else. In a hang it is absence: a
rank lacks what its peers said last, or does not answer the order to stop that its peers answer.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from core.course.pace import SECOND
from core.course.timings import LAG, find_timings, is_milliseconds, is_rate
from core.events.table import EventTable, rows_by
from core.judge.ending import Ending, Slowdown
from core.judge.ranks import MAJORITY, last_words
from core.nodes.sign import Sign, short
from core.parsing.parsed import Parsed
from core.text import read_rows

FEW = 0.25  # of the ranks; a difference that more share is another part of the program (as in core.dumps.outliers)
MIN_RANKS = 3  # of two that differ, either may be the odd one
OWN_PART = 0.7  # as sure as a stack dump: it tells where the time goes
LAGS = 0.3  # a hint: its processor is slow, or what its neighbour in a ring sends comes late
LACKS = 0.4  # like a rank that is behind by an iteration
NO_ANSWER = 0.45  # a stopped process does not answer; one that waits in native code may not either
FELL_SILENT = 0.5  # it spoke at a beat of its own that ended first
ROSE = 1.6  # times its level before; the others must stay below SAME (docs/LOG.md)
SAME = 1.4
SHARE = 0.25  # of what a step became slower by; less does not explain it
LAG_OF_STEP = 0.2  # of a slow step's time: printing and flushing take less
ANSWER = 60 * SECOND  # after an order to stop; schedulers wait 30 s before they kill


def stall_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that held the job up.

    Args:
        home: node of each rank.
    """
    if len(home) < MIN_RANKS:
        return []
    slow = ending.slow or ending.drift
    found = _slow_parts(parsed, slow, home) if slow else []
    if ending.hung or ending.pausing:
        lacking = _lacks(parsed, ending, home)
        found += lacking or _stands_elsewhere(parsed, ending, home)
        found += _unanswered(parsed, ending, home)
    return found


# --- slowness -------------------------------------------------------------------------------------------------------


def _slow_parts(parsed: Parsed, slow: Slowdown, home: Mapping[int, str]) -> list[Sign]:
    signs = []
    for name, values in find_timings(parsed.table, parsed.files, parsed.iterations).items():
        rose = {rank: change for rank, of in values.items() if (change := _change(of, slow)) is not None}
        if len(rose) < max(MIN_RANKS, len(home) * MAJORITY):
            continue
        signs += _odd_ones(parsed, name, rose, slow, home)
    return signs


def _matters(name: str, change: tuple[float, float], slow: Slowdown) -> bool:
    """Whether a part's change is a good share of what a step became slower by; a part in milliseconds may be too."""
    more = (change[1] - change[0]) / (1000 if is_milliseconds(name) else 1)
    return more >= SHARE * (slow.after - slow.before)


def _change(values: Mapping[int, float], slow: Slowdown) -> tuple[float, float] | None:
    """Medians of a series before and after the onset; None where one side is missing."""
    before = [value for iteration, value in values.items() if iteration < slow.iteration]
    after = [value for iteration, value in values.items() if iteration >= slow.iteration]
    if not after or not (before or slow.than_good_jobs):
        return None
    return (float(np.median(before)) if before else 0.0), float(np.median(after))


def _odd_ones(
    parsed: Parsed, name: str, rose: Mapping[int, tuple[float, float]], slow: Slowdown, home: Mapping[int, str]
) -> list[Sign]:
    """Signs for the few ranks whose numbers rose, or stayed, while those of most did the contrary."""
    if name == LAG:
        changed = {rank for rank, (before, after) in rose.items() if after - before > LAG_OF_STEP * slow.after}
        same = set(rose) - changed
        weight, does = LAGS, "falls behind the clocks of the others"
    else:
        level = float(np.median([after for _, after in rose.values()])) if slow.than_good_jobs else 0.0
        ratio = {rank: after / max(level or before, 1e-9) for rank, (before, after) in rose.items()}
        if not is_rate(name):
            ratio |= {rank: 1.0 for rank, change in rose.items() if not _matters(name, change, slow)}
        changed = {rank for rank, one in ratio.items() if one >= ROSE}
        same = {rank for rank, one in ratio.items() if one <= SAME}
        weight, does = OWN_PART, f"its {name} rose"
    few = min(changed, same, key=len)
    if not few or len(few) > len(rose) * FEW or len(changed) + len(same) < len(rose):
        return []
    if few == same and name != LAG:
        does = f"its {name} stayed as it was, while that of the others rose: they wait for it"
    elif few == same:
        return []
    signs = []
    for node in sorted({home[rank] for rank in few if rank in home}):
        own = sorted(rank for rank in few if home.get(rank) == node)
        before, after = rose[own[0]]
        levels = f"median {before:.3g} before iteration {slow.iteration}, {after:.3g} after"
        told = f"{parsed.table.called(own, node)}: {does} ({levels})."
        signs.append(
            Sign(
                node,
                "own part" if name != LAG else "lag",
                weight,
                told,
                says="it slowed the others down",
                check=f"Compare {node} with a healthy node: load, clocks and throttling, memory, network, storage.",
                ranks=tuple(own),
            )
        )
    return signs


# --- hangs ----------------------------------------------------------------------------------------------------------


def _lacks(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks that lack what most of the others said once more, since the last progress and before the stop."""
    marks = set(
        np.unique(parsed.table.event[parsed.iterations.marks]).tolist()
    )  # who is behind by an iteration is told
    counts = {event: of_rank for event, of_rank in _counts(parsed.table).items() if event not in marks}
    lacking: dict[int, list[int]] = {}
    for event, of_rank in counts.items():
        if len(of_rank) <= len(home) * MAJORITY:
            continue
        times = [of_rank.get(rank, 0) for rank in home]
        usual = int(np.bincount(times).argmax())
        few = [rank for rank in home if of_rank.get(rank, 0) < usual]
        if few and usual and len(few) <= max(1, len(home) * FEW) and times.count(usual) > len(home) * MAJORITY:
            lacking[event] = few
    late = _said_late(parsed, sorted(lacking), ending)
    signs = []
    for event in late:
        text = short(parsed.table.templates[event].sample)
        for node in sorted({home[rank] for rank in lacking[event]}):
            own = sorted(rank for rank in lacking[event] if home[rank] == node)
            because = f"{parsed.table.called(own, node)} never came to \u201c{text}\u201d, which the others said last."
            signs.append(_stuck(node, "lacks", LACKS, because, own))
    return signs


def _stands_elsewhere(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks whose last words before the stop are others than those of most, and no words of theirs alone."""
    table = parsed.table
    last = _last_rows(table, home, ending.stopped)
    if len(last) < MIN_RANKS:
        return []
    said = {rank: int(table.message[row]) for rank, row in last.items()}
    usual, count = Counter(said.values()).most_common(1)[0]
    odd = sorted(rank for rank, message in said.items() if message != usual)
    if count <= len(home) * MAJORITY or len(odd) > max(1, len(home) * FEW):
        return []
    counts = _counts(table)
    odd = [rank for rank in odd if len(counts.get(int(table.event[last[rank]]), {})) > len(home) * MAJORITY]
    texts = read_rows(parsed.files, table, [last[rank] for rank in odd])
    signs = []
    for node in sorted({home[rank] for rank in odd}):
        own = [rank for rank in odd if home[rank] == node]
        text = short(texts.get(last[own[0]], "").strip())
        most = f"{count} of {len(home)} {table.speaker}s went on to say something else"
        because = f"The last word of {table.called(own, node)} was \u201c{text}\u201d; {most}."
        signs.append(_stuck(node, "lacks", LACKS, because, own))
    return signs


def _last_rows(table: EventTable, home: Mapping[int, str], until: int | None) -> dict[int, int]:
    """The last head row of each rank before a time."""
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0))
    rows = table.rows_of_voices(voices.tolist())
    rows = rows[table.head[rows]]
    rows = rows[table.time[rows] <= until] if until is not None else rows
    order = np.lexsort((rows, table.time[rows]))
    return {
        rank: int(rows[order][mine[-1]])
        for rank, mine in rows_by(table.rank[rows[order]], np.arange(len(rows)))
        if rank in home
    }


def _counts(table: EventTable) -> dict[int, dict[int, int]]:
    """How often each rank says each event, of events that point to no failure or do, alike."""
    found: dict[int, dict[int, int]] = {}
    rank = table.rank_of_voice[table.said.voice]
    for event, who, heads in zip(table.said.event.tolist(), rank.tolist(), table.said.heads.tolist(), strict=True):
        if who >= 0:
            of_rank = found.setdefault(event, {})
            of_rank[who] = of_rank.get(who, 0) + heads
    return found


def _said_late(parsed: Parsed, events: Sequence[int], ending: Ending) -> list[int]:
    """Events whose last occurrence came after the last progress and before the stop."""
    table, since, until = parsed.table, ending.progressed, ending.stopped
    if since is None or until is None:
        return []
    late = []
    for event, rows in table.rows_of(events).items():
        last = int(table.time[rows].max())
        if since - SECOND <= last < until:
            late.append(event)
    return late


def _unanswered(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks that said nothing after the order to stop, while most of the others did."""
    if not ending.ordered or ending.stopped is None:
        return []
    last = last_words(parsed.table)
    answered = {rank for rank in home if last.get(rank, 0) >= ending.stopped - SECOND}
    silent = sorted(set(home) & set(last) - answered)
    if not silent or len(answered) <= len(home) * MAJORITY or len(silent) > max(1, len(home) * FEW):
        return []
    signs = []
    for node in sorted({home[rank] for rank in silent}):
        own = [rank for rank in silent if home[rank] == node]
        who, most = parsed.table.called(own, node), f"{len(answered)} of {len(home)} {parsed.table.speaker}s"
        because = f"{who} did not answer the order to stop; {most} did."
        signs.append(_stuck(node, "no answer", NO_ANSWER, because, own))
    return signs


def _stuck(node: str, channel: str, weight: float, because: str, ranks: Sequence[int]) -> Sign:
    check = f"Collect stacks on {node} (py-spy dump), and look at its processes, kernel log, storage and network."
    return Sign(node, channel, weight, because, says="a process there is stuck", check=check, ranks=tuple(ranks))
