"""Clocks in log text, set forward: every reading with a date that the parser knows (logs.md), in its own form."""

import re
from datetime import datetime, timedelta

_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_CLOCK = rb"(?P<h>[0-9]{2}):(?P<mi>[0-9]{2}):(?P<s>[0-9]{2})"
_LEAP_YEAR = 2024  # of clocks without one: it has every day
_FORMS = tuple(
    re.compile(form)
    for form in (
        rb"(?P<y>[0-9]{4})[-/](?P<mo>[0-9]{2})[-/](?P<d>[0-9]{2})[ T_-]" + _CLOCK + rb"(?P<f>[.,][0-9]+(?:\.[0-9]+)?)?",
        rb"(?P<mo>[0-9]{2})(?P<d>[0-9]{2}) " + _CLOCK + rb"(?P<f>\.[0-9]+)",  # glog
        rb"(?P<mo>[0-9]{2})/(?P<d>[0-9]{2})/(?P<y>[0-9]{4}) " + _CLOCK,
        rb"(?P<mo>[0-9]{2})-(?P<d>[0-9]{2}) " + _CLOCK,
        rb"(?P<mo>" + b"|".join(_MONTHS) + rb") {1,2}(?P<d>[0-9]{1,2}) " + _CLOCK + rb"(?: (?P<y>[12][0-9]{3}))?",
    )
)
_ANY = re.compile(b"|".join(re.sub(rb"\?P<\w+>", b"?:", form.pattern) for form in _FORMS))
_MICROS = 1_000_000


def set_forward(text: bytes, micros: int) -> bytes:
    """The text with all its clock readings later by so many microseconds; what is no date stays as it is."""
    return _ANY.sub(lambda match: _later(match[0], micros), text) if micros else text


def _later(reading: bytes, micros: int) -> bytes:
    match = next(match for form in _FORMS if (match := form.fullmatch(reading)))
    parts = match.groupdict()
    fraction = re.sub(rb"[^0-9]", b"", parts.get("f") or b"")
    unit: int = 10 ** len(fraction)
    seconds, rest = divmod(int(fraction or b"0") + micros * unit // _MICROS, unit)
    try:
        then = datetime(  # noqa: DTZ001 (a zone moves with its clock)
            int(parts.get("y") or _LEAP_YEAR),
            _month(parts["mo"]),
            int(parts["d"]),
            int(parts["h"]),
            int(parts["mi"]),
            int(parts["s"]),
        ) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return reading
    digits = iter(f"{rest:0{len(fraction)}d}".encode())
    new = {"y": then.year, "d": then.day, "h": then.hour, "mi": then.minute, "s": then.second}
    moments = {
        name: str(value).zfill(match.end(name) - match.start(name)).encode()
        for name, value in new.items()
        if parts.get(name)
    }
    moments["mo"] = str(then.month).zfill(2).encode() if parts["mo"].isdigit() else _MONTHS[then.month - 1]
    if fraction:
        moments["f"] = bytes(next(digits) if 48 <= part <= 57 else part for part in parts["f"])
    out, at = [], 0
    for name in sorted(moments, key=match.start):
        out += [reading[at : match.start(name)], moments[name]]
        at = match.end(name)
    return b"".join((*out, reading[at:]))


def _month(text: bytes) -> int:
    return int(text) if text.isdigit() else _MONTHS.index(text) + 1
