"""Round times for the axis of a plot."""

from bot.text.wording import moment

_SECOND = 1_000_000
_STEPS = [
    _SECOND * step for step in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
]
_DAY = 86_400 * _SECOND


def ticks(first: int, last: int, most: int) -> list[tuple[int, str]]:
    """At most ``most`` round times from first to last (microseconds), with what to write at them."""
    span = max(1, last - first)
    step = next((step for step in _STEPS if span // step < most), 0)
    if not step:
        step = -(-span // (most * _DAY)) * _DAY
    times = range(-(-first // step) * step, last + 1, step)
    style = "%H:%M:%S" if step < 60 * _SECOND else "%H:%M" if step < _DAY else "%m-%d"
    return [(time, moment(time).strftime(style)) for time in times]
