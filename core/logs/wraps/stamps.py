"""Times as wrappers write them, in a form that ``core.logs.lines`` reads: ``2026-11-22T04:27:10.477538Z``."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.logs.wraps.line_forms import Run, RunKind, Token

_CLOCK = rb"(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?"
_DATE = rb"(?P<year>[0-9]{4})[-/](?P<month>[0-9]{2})[-/](?P<day>[0-9]{2})"
_ZONE = rb"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})"
RFC3339 = _DATE + b"T" + _CLOCK + _ZONE  # patterns that others are made of
SYSLOG = rb"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(?P<day>[0-9]{1,2}) " + _CLOCK
_ISO = re.compile(_DATE + rb"[T ]" + _CLOCK + rb" ?(?:" + _ZONE + rb"|UTC)?")
MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_NUMBER = re.compile(r"[0-9]{9,19}(?:\.[0-9]+)?")
_FRACTION, _DIGIT = re.compile(rb"[.,][0-9]{1,6}"), re.compile(rb"[0-9]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A number is a time when it means one of these years: 0.3 is how long something took, 12 a step.
_FIRST, _LAST = 946_684_800, 4_102_444_800  # seconds, of the years 2000 and 2100
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)  # of a second: seconds, milliseconds, microseconds, nanoseconds


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time. text: empty when there is none. zoned: whether its zone is known."""

    text: bytes = b""
    zoned: bool = False


NO_STAMP = Stamp()


def iso(text: bytes) -> Stamp:
    """The time of an ISO 8601 or RFC 3339 text, with any fraction and zone, a blank or a T between its halves."""
    match = _ISO.fullmatch(text)
    return stamp_of(match) if match else NO_STAMP


def stamp_of(match: re.Match[bytes]) -> Stamp:
    """The time that the groups of ``RFC3339`` hold, to the microsecond, in the zone that it was written in."""
    year, month, day, clock, fraction, zone = match.group("year", "month", "day", "clock", "fraction", "zone")
    written = b"%s-%s-%sT%s%s" % (year, month, day, clock, b"." + fraction[:6] if fraction else b"")
    zone = zone or (b"Z" if match[0].endswith(b"UTC") else b"")
    return Stamp(written + zone, zone != b"")


def tokens_of(stamp: bytes) -> tuple[Token, ...]:
    """A time of RFC 3339 as tokens of a form: to the microsecond, what is finer, and the zone."""
    fraction = _FRACTION.search(stamp)
    end = fraction.end() if fraction else 19
    shape = _DIGIT.sub(b"9", stamp[:end])
    finer = len(stamp[end:]) - len(stamp[end:].lstrip(b"0123456789"))
    return (
        (Run(RunKind.SHAPE, shape=shape), Run(RunKind.DIGITS, 3), stamp[end + finer :])
        if finer
        else (Run(RunKind.SHAPE, shape=shape), stamp[end:])
    )


def syslog_of(match: re.Match[bytes]) -> Stamp:
    """The time that the groups of ``SYSLOG`` hold: without a year, which ``core.logs.lines`` is told."""
    name, day, clock, fraction = match.group("name", "day", "clock", "fraction")
    written = b"%02d%02d %s.%s" % (MONTHS.index(name) + 1, int(day), clock, (fraction or b"0")[:6])
    return Stamp(written, zoned=False)


def epoch(value: object) -> Stamp:
    """The time of a number, or of its digits: seconds, milliseconds, microseconds or nanoseconds since 1970."""
    digits = str(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(digits):
        return NO_STAMP
    whole, _, fraction = digits.partition(".")
    number = int(whole)
    for unit in _UNITS:
        if _FIRST <= number // unit < _LAST:
            micros = number * 1_000_000 // unit + (int(fraction[:6].ljust(6, "0")) // unit if fraction else 0)
            return _written(_EPOCH + timedelta(microseconds=micros))
    return NO_STAMP


def _written(time: datetime) -> Stamp:
    return Stamp(f"{time:%Y-%m-%dT%H:%M:%S.%f}Z".encode(), zoned=True)


def nearer(outer: Stamp, inner: Stamp) -> Stamp:
    """Which of two layers says better when: the inner one, which was nearer, unless only the outer one has a zone."""
    if not inner.text or (outer.zoned and not inner.zoned):
        return outer
    return inner
