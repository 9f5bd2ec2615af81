"""The heat map of who logged when: a row a rank or node, darker where it says more, empty where it is silent."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from bot.report.plotted import ticks
from bot.text.harmless import harmless
from bot.text.wording import clocks, counted
from core.model import Activity, ActivityLane, Diagnosis

LEVELS = 4  # of darkness; chosen: more are not told apart in print or by everybody
MAX_TICKS = 4  # on a phone, where a clock takes a quarter of the width
_NAME = 28  # characters; a phone has about 45 in a line


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row: its name, whom it stands for, a path for each level of darkness, and the row in words."""

    name: str
    beside: str
    paths: tuple[tuple[int, str], ...]
    words: str
    suspect: bool


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The rows and, in percent of the width, the times below them."""

    rows: tuple[HeatRow, ...]
    columns: int
    times: tuple[tuple[float, str], ...]
    note: str


def heat_map(diagnosis: Diagnosis) -> HeatMap | None:
    """The picture of the diagnosis; None where one speaker, or no clock, leaves nothing to compare."""
    shown = diagnosis.pictures.activity
    if shown is None:
        return None
    most = max(max(lane.counts, default=0) for lane in shown.lanes)
    accused = {suspect.node for suspect in diagnosis.nodes}
    accused |= {f"rank {rank}" for suspect in diagnosis.nodes for rank in suspect.ranks}
    rows = tuple(_row(lane, most, suspect=lane.name in accused) for lane in shown.lanes)
    span = shown.last - shown.first
    times = tuple(((at - shown.first) / span * 100, word) for at, word in ticks(shown.first, shown.last, MAX_TICKS))
    return HeatMap(rows, len(shown.lanes[0].counts), times, _note(shown))


def _row(lane: ActivityLane, most: int, *, suspect: bool) -> HeatRow:
    beside = f"of {harmless(lane.beside[0], _NAME)} to {harmless(lane.beside[-1], _NAME)}" if lane.beside else ""
    heard = f"last heard {clocks([lane.last])[0]}" if lane.last is not None else "no line with a time"
    words = f"{harmless(lane.name, _NAME)}: {counted(sum(lane.counts), 'line')}, {heard}."
    return HeatRow(harmless(lane.name, _NAME), beside, tuple(_paths(lane.counts, most)), words, suspect)


def _paths(counts: tuple[int, ...], most: int) -> Iterator[tuple[int, str]]:
    """Neighbours of one level are one rectangle, and all rectangles of a level one path."""
    levels = [_level(count, most) for count in counts]
    starts = [at for at in range(len(levels)) if not at or levels[at] != levels[at - 1]]
    runs = [(levels[at], at, end - at) for at, end in zip(starts, [*starts[1:], len(levels)], strict=True)]
    for level in range(1, LEVELS + 1):
        path = "".join(f"M{at} 0h{width}v1h-{width}z" for number, at, width in runs if number == level)
        if path:
            yield level, path


def _level(count: int, most: int) -> int:
    """0 for silence, else 1 to LEVELS by the order of magnitude: who says little is not silent."""
    if not count:
        return 0
    return 1 + min(LEVELS - 1, int(LEVELS * math.log(count) / math.log(most + 1)))


def _note(shown: Activity) -> str:
    sentences = ["Lines over the time of the job; darker is more, empty is silence."]
    if shown.lane_of > 1:
        sentences.append(f"A row stands for {shown.lane_of:,}: it is the one of them that fell silent first.")
    if shown.every > 1:
        sentences.append(f"One of {shown.every:,} lines was counted.")
    return " ".join(sentences)
