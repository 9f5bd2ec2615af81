"""Where all stood when nothing moved any more: how long the program was silent, and who lacks what others wrote."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer.job_lookup import found_rows
from core.course.job_clock import end_by_logs
from core.events.row_text import read_rows
from core.live.findings import duration
from core.logs.lines import NO_TIME

LEAST = 30 * SECOND  # of a silence; chosen: nobody calls a shorter pause of a training one
TIMES = 4  # times the usual time between two iterations that a silence lasts: savings and evaluations take less
FEWEST = 3  # ranks of which one may lack what the others wrote
FEW = 0.125  # share of the ranks that may lack it: a machine of eight in eight, or one rank of a few
MAX_KINDS = 2_000  # kinds of messages whose speakers are counted
MAX_TEXT = 90  # characters of a message in a sentence


@dataclass(frozen=True, slots=True)
class Silence:
    """A pause of the program after its last iteration: its last row before, the next one (-1: none), microseconds."""

    row: int
    following: int
    begins: int
    ends: int

    @property
    def seconds(self) -> float:
        """How long it was."""
        return (self.ends - self.begins) / SECOND


@dataclass(frozen=True, slots=True)
class Missing:
    """Ranks that lack a message which all others wrote: the row of one of those, and how many wrote it."""

    ranks: tuple[int, ...]
    row: int
    wrote: int


def silence(subject: Subject) -> Silence | None:
    """The longest pause of the program behind its last iteration; None where it went on, or no line has a clock."""
    table, spoke = subject.parsed.table, subject.parsed.table.spoke
    known = spoke.first != NO_TIME
    rows = table.rows_of_voices(_voices(subject))
    times = table.time[rows]
    own = (times != NO_TIME) & table.timed[rows]  # a clock of its own, not that of a line above
    rows, times = rows[own], times[own]
    if not len(rows) or not known.any():
        return None
    order = np.argsort(times, kind="stable")
    rows, times = rows[order], times[order]
    course = subject.parsed.iterations.course
    begin = int(np.searchsorted(times, int(course.times[-1]))) if len(course) else 0
    rows, times = rows[begin:], times[begin:]
    end = max(
        int(spoke.last[known].max()), end_by_logs(subject.parsed.job.manifest, int(spoke.first[known].min())) or 0
    )
    gaps = np.diff([*times.tolist(), max(end, int(times[-1]) if len(times) else end)])
    if not len(gaps):
        return None
    at = int(np.argmax(gaps))
    usual = float(np.median(np.diff(course.times))) if len(course) > 1 else 0.0
    if gaps[at] < max(LEAST, TIMES * usual):
        return None
    following = int(rows[at + 1]) if at + 1 < len(rows) else -1
    return Silence(int(rows[at]), following, int(times[at]), int(times[at]) + int(gaps[at]))


def told_silence(subject: Subject) -> Lines:
    """How long the program wrote nothing, with its last words before; empty where it was never silent."""
    pause = silence(subject)
    if pause is None:
        return []
    texts = read_rows(subject.parsed.files, subject.parsed.table, np.array(sorted({pause.row}), np.intp))
    until = "the next line of its own" if pause.following >= 0 else "the end"
    says = f"It stood still for {duration(pause.seconds)}: the program wrote nothing from {clock(pause.begins)} "
    says += f"(“{_short(texts.get(pause.row, ''))}”) to {until} at {clock(pause.ends)}."
    shown = [pause.row] + ([pause.following] if pause.following >= 0 else [])
    return [cited(says), *quoted(found_rows(subject.parsed, "", shown), 2)]


def told_missing(subject: Subject) -> Lines:
    """Which ranks lack what all others wrote in the end, with their own last lines; empty where none does."""
    found = missing(subject)
    if found is None:
        return []
    table = subject.parsed.table
    text = read_rows(subject.parsed.files, table, np.array([found.row], np.intp)).get(found.row, "")
    homes = sorted({home for rank in found.ranks if (home := subject.home.get(rank))})
    on = f" on {wording.names(homes, 3, 80)}" if homes else ""
    who = f"{wording.ranks(found.ranks)}{on}"
    says = f"{who[0].upper()}{who[1:]}: {found.wrote:,} of {len(table.ranks):,} ranks wrote “{_short(text)}”, "
    says += f"{'this one' if len(found.ranks) == 1 else 'these'} did not."
    last = [row for rank in found.ranks[:2] if (row := _last_of(subject, rank)) >= 0]
    return [cited(says), *quoted(found_rows(subject.parsed, "", [*last, found.row]), 3)]


@lru_cache(maxsize=4)
def missing(subject: Subject) -> Missing | None:
    """The ranks that most often lack a message of all others, and the first such message."""
    every = list(_lacking(subject))
    if not every:
        return None
    often = Counter(ranks for ranks, _, _ in every)
    ranks = max(often, key=lambda ranks: (often[ranks], -len(ranks), tuple(-rank for rank in ranks)))
    table = subject.parsed.table
    _, row, wrote = min(
        (item for item in every if item[0] == ranks),
        key=lambda item: (int(table.time[item[1]]), int(table.line[item[1]])),
    )
    return Missing(ranks, row, wrote)


def _lacking(subject: Subject) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Of each kind of message that all but a few ranks wrote equally often: who wrote it once less, a row, how many."""
    table = subject.parsed.table
    every = set(table.ranks)
    if len(every) < FEWEST:
        return
    for rows in table.rows_of(range(min(len(table.templates), MAX_KINDS))).values():
        mine = rows[table.head[rows]]
        ranks = table.rank_of_voice[table.voice[mine]]
        counts = Counter(ranks[ranks >= 0].tolist())
        most = max(counts.values(), default=0)
        full = {rank for rank, count in counts.items() if count == most}
        less = tuple(sorted(every - full))
        if less and len(less) <= max(1, FEW * len(every)) and all(counts[rank] == most - 1 for rank in less):
            yield less, int(mine[np.flatnonzero(ranks == min(full))[-1]]), len(full)


def _voices(subject: Subject) -> Sequence[int]:
    """The voices of the program: of ranks, and of who counts iterations; all where neither is known."""
    table = subject.parsed.table
    ranks = np.flatnonzero(table.is_rank)
    own: NDArray[np.intp] = np.union1d(ranks, subject.parsed.iterations.voices).astype(np.intp)
    return own.tolist() if len(own) else list(range(len(table.origins)))


def _last_of(subject: Subject, rank: int) -> int:
    table = subject.parsed.table
    rows = table.rows_of_voices(np.flatnonzero(table.rank_of_voice == rank).tolist())
    rows = rows[table.head[rows]]
    return int(max(rows.tolist(), key=lambda row: (int(table.time[row]), row))) if len(rows) else -1


def _short(text: str) -> str:
    text = wording.without_clock(text.strip())
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT // 2].rstrip()} … {text[-MAX_TEXT // 2 :].lstrip()}"
