"""``journalctl -o short`` and its kin, and what syslog daemons write: ``Nov 22 04:27:10 gpu14 torchrun[6609]: text``.

systemd, src/shared/logs-show.c: short, short-precise, short-iso, short-iso-precise, short-full, with-unit, short-unix,
short-monotonic, short-delta; rsyslog's and syslog-ng's RFC 3339 form too. Further lines of a message are indented as
far as its first one is. The identifier of a node's own daemon stays before its text: what it says is known by it. A
number and a colon is no identifier but the label of a task, which stands in other stores' lines.
"""

import re

from core.logs.units import is_daemon
from core.logs.wraps.line_forms import Cut, Run, RunKind
from core.logs.wraps.peeled import Peeled, Wrap, usual
from core.logs.wraps.stamps import NO_STAMP, RFC3339, SYSLOG, Stamp, epoch, iso, stamp_of, syslog_of, tokens_of

_HOST = rb" (?P<host>[A-Za-z0-9][\w.-]{0,253})"
_UNIT = rb" (?P<unit>(?![0-9]+:)[A-Za-z0-9_(/][\w@.:/()+~-]{0,120}?)(?:\[(?P<pid>[0-9]+)\])?:(?: |$)"
_SPEAKER = _HOST + _UNIT
_BY_SYSLOG = re.compile(SYSLOG + _SPEAKER)
_BY_ISO = re.compile(RFC3339 + _SPEAKER)
_BY_DAY = re.compile(
    rb"[A-Z][a-z]{2} (?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?:\.[0-9]+)?)"
    rb"(?P<zone> [A-Z]{1,5}| [+-][0-9]{2,4})?" + _SPEAKER
)
_BY_EPOCH = re.compile(rb"(?P<time>[0-9]{10}\.[0-9]{6})" + _SPEAKER)
# dmesg has the same clock without a host: "[ 12.3] usb 1-1: text". The journal has a process id, or it is the kernel.
_BY_BOOT = re.compile(rb"\[ *[0-9]+\.[0-9]{6}(?: <[ 0-9.]+>| +)?\](?= \S+ (?:kernel:|\S+\[[0-9]+\]:))" + _SPEAKER)


def peel(line: bytes) -> Peeled | None:
    """What a program wrote to the journal, on which host and as what."""
    for pattern, read_stamp in _FORMS:
        match = pattern.match(line)
        if match is not None:
            return _peeled(line, match, read_stamp(match))
    return None


def _peeled(line: bytes, match: re.Match[bytes], stamp: Stamp) -> Peeled:
    unit = match["unit"]
    if is_daemon(unit):
        return Peeled(line[match.start("unit") :], stamp, nodes=(match["host"],), unit=unit)
    process = b"%s[%s]" % (unit, match["pid"]) if match["pid"] else unit
    return Peeled(line[match.end() :], stamp, nodes=(match["host"],), unit=process)


def _of_day(match: re.Match[bytes]) -> Stamp:
    utc = (match["zone"] or b"").strip() in (b"UTC", b"GMT")
    return iso(match["time"] + b"Z" * utc)


def _of_epoch(match: re.Match[bytes]) -> Stamp:
    return epoch(match["time"].decode())


def _of_boot(_: re.Match[bytes]) -> Stamp:
    return NO_STAMP


_FORMS = (
    (_BY_SYSLOG, syslog_of),
    (_BY_ISO, stamp_of),
    (_BY_DAY, _of_day),
    (_BY_EPOCH, _of_epoch),
    (_BY_BOOT, _of_boot),
)

_CLOCK = re.compile(rb"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?= )")


def _cut(line: bytes) -> Cut | None:
    """The day stays as it is: a new one is a new form."""
    match = _BY_SYSLOG.match(line) or _BY_ISO.match(line) or _BY_DAY.match(line) or _BY_EPOCH.match(line)
    clock = _CLOCK.search(line)
    if match is None or line[match.end() - 1] != ord(" "):
        return None
    if match.re is _BY_ISO:
        stamp = (*tokens_of(line[: match.start("host") - 1]), b" ")
    elif clock is not None and clock.end() < match.start("host"):
        stamp = (
            line[: clock.start()],
            Run(RunKind.SHAPE, shape=_DIGIT.sub(b"9", clock[0])),
            line[clock.end() : match.start("host")],
        )
    else:
        return None
    process = (b"[", Run(RunKind.DIGITS, 10), b"]: ") if match["pid"] else (b": ",)
    return Cut((*stamp, Run(RunKind.HOST, 200), b" " + match["unit"], *process), line[match.end() :])


_DIGIT = re.compile(rb"[0-9]")


def _is_indented(line: bytes) -> bool:
    """How journalctl prints the further lines of a message (src/shared/logs-show.c): others come from elsewhere."""
    return line[:1] in (b" ", b"\t") or not line.strip()


fit = usual(Wrap("journal", peel, continues=_is_indented, cut=_cut))
