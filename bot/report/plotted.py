"""What plots show of a diagnosis: which nodes by themselves, which numbers first, which times; without matplotlib."""

from collections.abc import Sequence

from bot.text.wording import SECOND, moment
from core.model import Diagnosis, NodeBar, Series
from core.naming import natural

MAX_BARS, MAX_PANELS = 12, 4  # chosen: what is seen without scrolling
_FIRST = ("time", "loss", "grad")
_LARGEST = 1e30  # what is larger is as good as infinite, and no axis can hold it


def split(bars: Sequence[NodeBar], accused: Sequence[str], most: int = MAX_BARS) -> tuple[list[NodeBar], list[NodeBar]]:
    """The nodes that get a bar of their own (suspects in their order, then by score), and the others."""
    order = {node: place for place, node in enumerate(accused)}
    ranked = sorted(bars, key=lambda bar: (order.get(bar.node, len(order)), -bar.score, natural(bar.node)))
    if len(ranked) <= most:
        return ranked, []
    alone = max(min(len(order), most - 1), min(len(order) + 4, most * 2 // 3))
    return ranked[:alone], ranked[alone:]


def shown(diagnosis: Diagnosis, most: int = MAX_PANELS) -> list[Series]:
    """The series that hold anything to draw, at most so many: what every training has comes first."""
    drawn = [series for series in diagnosis.pictures.series if series.iterations]
    return sorted(drawn, key=lambda series: _place(series.name))[:most]


def drawable(value: float) -> bool:
    """Whether a value has a place on an axis."""
    return abs(value) < _LARGEST  # False for NaN


def _place(name: str) -> int:
    return next((place for place, word in enumerate(_FIRST) if word in name.lower()), len(_FIRST))


_STEPS = [
    SECOND * step for step in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
]
_DAY = 86_400 * SECOND


def ticks(first: int, last: int, most: int) -> list[tuple[int, str]]:
    """At most ``most`` round times from first to last (microseconds), with what to write at them."""
    span = max(1, last - first)
    step = next((step for step in _STEPS if span // step < most), 0)
    if not step:
        step = -(-span // (most * _DAY)) * _DAY
    times = range(-(-first // step) * step, last + 1, step)
    style = "%H:%M:%S" if step < 60 * SECOND else "%H:%M" if step < _DAY else "%m-%d"
    return [(time, moment(time).strftime(style)) for time in times]
