"""Lengths of time that lines tell, of each node, which became longer: whatever a program calls them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bot.ask.find_values import COUNTED, is_length
from bot.ask.named_values import values_in
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject
from bot.ask.trends import trend_of
from bot.note.claim_source import clock
from core.answer.job_lookup import by_time
from core.events.row_text import read_rows
from core.logs.lines import NO_TIME

SLOWER = 1.3  # times the usual that is slow, as for iterations (bot/ask/about_pace.py)
LEAST = 10  # values of one name and node that have a course: two levels of five
MAX_KINDS = 400  # kinds of messages that are looked through
MAX_ROWS = 4_000  # lines of a kind


class _Place(NamedTuple):
    row: int
    at: str
    value: float


@dataclass(frozen=True, slots=True)
class Rise:
    """A name whose values became longer from a place on: whose, how long before and after, and of how many values."""

    name: str
    who: str
    at: str
    before: float
    after: float
    many: int

    @property
    def says(self) -> str:
        """As a sentence."""
        times = f" ({self.after / self.before:.1f} times as long)" if self.before else ""
        of = f" of {self.who}" if self.who else ""
        return cited(f"{self.name}{of}: {self.after:.4g} from {self.at} on, {self.before:.4g} before{times}.")


def find_rises(subject: Subject) -> list[Rise]:
    """All of them, those of the most values first, then those that rose most."""
    table = subject.parsed.table
    kinds = table.rows_of(list(range(min(len(table.templates), MAX_KINDS))))
    found = []
    for rows in (rows for rows in kinds.values() if len(rows) >= LEAST):
        kept = by_time(table, np.asarray(rows[:MAX_ROWS], np.intp))
        texts = read_rows(subject.parsed.files, table, kept)
        told: dict[tuple[str, str], list[_Place]] = defaultdict(list)
        for row in kept.tolist():
            text = texts.get(row, "")
            match = COUNTED.search(text)
            node = table.origins[table.voice[row]].node or ""
            at = f"{match[1] or 'step'} {match[2] or match[4]}" if match else _clock(int(table.time[row]))
            for named in values_in(text):
                if named.number is not None and is_length(named):
                    told[named.name, node].append(_Place(row, at, named.number))
        found += [rise for (name, who), places in told.items() if (rise := _rise(name, who, places))]
    return sorted(found, key=lambda rise: (-rise.many, -rise.after / rise.before, rise.name, rise.who))


def _rise(name: str, who: str, places: list[_Place]) -> Rise | None:
    trend = trend_of([place.value for place in places]) if len(places) >= LEAST else None
    if trend is None or trend.kind == "stayed" or not trend.rose or trend.before <= 0:
        return None
    after = float(np.median([place.value for place in places[trend.at :]]))
    long = after >= SLOWER * trend.before and places[trend.at].at
    return Rise(name, who, places[trend.at].at, trend.before, after, len(places)) if long else None


def _clock(time: int) -> str:
    return clock(time) if time != NO_TIME else ""
