"""Answers about clocks: the zone of the shown times, and nodes whose clocks are hours away from the others'."""

from collections import Counter
from statistics import median

import numpy as np

from bot.ask.find_values import SPOKEN_CLOCK
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer.job_lookup import found_rows
from core.course.job_clock import moment
from core.logs.lines import NO_TIME
from core.naming import natural

QUARTER = 15 * 60 * 1_000_000  # microseconds: all zones of the world are whole quarters of an hour apart
DAY = 24 * 60 * 60 * 1_000_000  # microseconds
NEAR = 5 * 60 * 1_000_000  # how far from a whole quarter a node may be: nodes of one job start within minutes


def clocks(subject: Subject, question: Question) -> Lines:
    """How far the clocks of nodes are apart, and what zone the times are in."""
    spans = _spans(subject)
    away = _away(spans)
    named = [node for node in question.nodes if node in spans]
    chosen = {node: away[node] for node in named if node in away} or away
    sentences = []
    for node, quarters in sorted(chosen.items(), key=lambda item: natural(item[0]))[:2]:
        hours = f"{abs(quarters) / 4:g} hours {'ahead of' if quarters > 0 else 'behind'} the other nodes"
        first, last = spans[node]
        other = f"{clock(first)} there is {clock(first - quarters * QUARTER)} on the others"
        sentences.append(
            cited(f"The same run: {node} writes in another time zone, {hours}: {other}; its last line {clock(last)}.")
        )
    if not away and len(spans) > 1:
        firsts = [first for first, _ in spans.values()]
        apart = (max(firsts) - min(firsts)) / 1_000_000
        sentences.append(cited(f"No node's clock is in another zone: their first lines came within {apart:.1f} s."))
    manifest = subject.parsed.job.manifest
    zone = wording.clock_zone(subject.diagnosis)
    sentence = f" job.json says that it began at {manifest.start}." if moment(manifest.start) is not None else ""
    sentences.append(cited(f"Times are shown as the logs write them, {zone}.{sentence}"))
    return sentences


def _spans(subject: Subject) -> dict[str, tuple[int, int]]:
    """The first and the last time of each node."""
    table = subject.parsed.table
    found: dict[str, tuple[int, int]] = {}
    for voice, place in enumerate(table.node_of_voice.tolist()):
        first, last = int(table.spoke.first[voice]), int(table.spoke.last[voice])
        if place >= 0 and first != NO_TIME:
            known = found.get(table.nodes[place], (first, last))
            found[table.nodes[place]] = min(first, known[0]), max(last, known[1])
    return found


def _away(spans: dict[str, tuple[int, int]]) -> dict[str, int]:
    """Nodes that begin a whole number of quarters of an hour away from the middle of all, and that number.

    One quarter is not told: hardly any two zones are so close, and a machine may begin its log that much earlier.
    """
    if not spans:
        return {}
    middle = median(first for first, _ in spans.values())
    offsets = {}
    for node, (first, _) in spans.items():
        quarters = round((first - middle) / QUARTER)
        if abs(quarters) > 1 and abs(first - middle - quarters * QUARTER) < NEAR:
            offsets[node] = quarters
    return offsets


def at_clock(subject: Subject, question: Question) -> Lines | None:
    """What was written at the time of day that a question names, the rarest kinds of lines first; None at no such."""
    spoken, table = SPOKEN_CLOCK.search(question.text), subject.parsed.table
    if spoken is None:
        return None
    times, unit = table.time[:], SECOND if spoken[3] else 60 * SECOND
    asked = (int(spoken[1]) * 3600 + int(spoken[2]) * 60 + int(spoken[3] or 0)) * SECOND
    rows = np.flatnonzero((times != NO_TIME) & (times % DAY // unit == asked // unit) & table.head[:])
    if not len(rows):
        return None
    often = Counter(table.event[:].tolist())
    kinds = {int(table.event[row]): row for row in rows.tolist()[::-1]}  # of each kind its first line
    rarest = sorted(kinds.values(), key=lambda row: (often[int(table.event[row])], row))
    who = {origin.node for row in rows.tolist() if (origin := subject.origin(row)).node}
    by = f" by {wording.names(sorted(who, key=natural), 3, 80)}" if who else ""
    said = f"At {spoken[0]} {wording.counted(len(rows), 'line was', 'lines were')} written{by}; the rarest:"
    return [cited(said), *quoted(found_rows(subject.parsed, "", rarest), 4)]
