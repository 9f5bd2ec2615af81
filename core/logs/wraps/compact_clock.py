"""A date and a clock without signs between their numbers: ``261123-164747``, ``20261123T164747``, ``1795370040123``.

``date +%Y%m%d-%H%M%S``, ISO 8601's basic form, seconds since 1970 or thousandths, millionths, billionths of them. So
many digits may be anything; they are a time where nearly all lines begin with them, each means a day and an hour, and
they never fall by much.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from core.logs.wraps.peeled import Peeled, Wrap, evenly, has_known_clock
from core.logs.wraps.stamps import NO_STAMP, Stamp, epoch

_CLOCK = re.compile(
    rb"[\[(]?(?:(?P<date>(?:20)?[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]))[-_T]?"
    rb"(?P<clock>(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,9}))?(?P<zone>Z)?"
    rb"|(?P<epoch>1[0-9]{9}(?:[0-9]{3}){0,3}))[\])]?(?:[:,;|][ \t]?|[ \t])"
)
_LEAST = 0.2  # of the lines: a traceback has none, and may be most of a short file
_MOST = 0.8  # of the lines with a clock: libraries that a program uses write their own
_LEAST_LINES = 3  # of two, both may be in order by chance
_RISING = 0.9  # of them are not before the one above: several processes write to one file
_CENTURY, _LONG = b"20", 8  # of a year of two digits; digits of a date whose year has four


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Such clocks, where nearly all lines with a clock have one."""
    tried = evenly(lines)
    stamps = [peeled.stamp.text for line in tried if (peeled := peel(line)) is not None]
    if len(stamps) < max(_LEAST_LINES, _LEAST * len(tried)):
        return None
    read = sum(has_known_clock(line) for line in tried)
    if len(stamps) < _MOST * (len(stamps) + read) or len(set(stamps)) < 2:
        return None
    rising = sum(one <= other for one, other in pairwise(stamps))
    return Wrap("compact clock", peel) if rising >= _RISING * (len(stamps) - 1) else None


def peel(line: bytes) -> Peeled | None:
    """What stands behind the clock, and when it was said."""
    match = _CLOCK.match(line)
    stamp = _stamp(match) if match is not None else NO_STAMP
    return Peeled(line[match.end() :], stamp) if match is not None and stamp.text else None


def _stamp(match: re.Match[bytes]) -> Stamp:
    if match["epoch"]:
        return epoch(match["epoch"].decode())
    date = match["date"] if len(match["date"]) == _LONG else _CENTURY + match["date"]
    try:
        read = datetime.strptime((date + match["clock"]).decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # a day that its month does not have
        return NO_STAMP
    fraction = b"." + match["fraction"][:6] if match["fraction"] else b""
    return Stamp(f"{read:%Y-%m-%dT%H:%M:%S}".encode() + fraction + (match["zone"] or b""), match["zone"] is not None)
