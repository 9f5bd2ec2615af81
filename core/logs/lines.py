r"""What a log line is: the specification that every faster scanner must reproduce byte for byte.

A file is a sequence of physical lines that end at ``\n``. A line holds one *segment*, or several when it holds
carriage returns (a progress bar is one line with many segments; docs/reference/logs.md). A segment is taken apart into

    prefix   who speaks: ``0: [default3]:[rank3]: `` (srun, torchrun, torch), ``host: `` (pdsh), ``(Worker pid=7) ``
             (Ray), ``GPU-719:3198547:3203306 [6] `` (NCCL); kept raw, because it holds the rank. A container's stamp
             before it (``2026-11-21T13:12:42.728Z ``, ``... stdout F ``) belongs to neither prefix nor body. In a file
             that was unwrapped (``core.logs.wraps``) it begins with the label that stands between two ``\x1e``
    body     what is said, masked: times, addresses, hexadecimal words and numbers become ``<TS> <IP> <HEX> <NUM>``;
             typed slots (errno, exit code, signal, status, Xid) keep their value, because it is the clue
    time     the first clock reading of the body, else the stamp, in microseconds; -1 when there is none. The stamp also
             where the body's reading is far from it: that is a clock of another zone, or a time that is talked about.
             A bare ``12:34:56`` at the beginning of the body counts from BARE on: which day it means is for
             ``core.logs.bare_clocks`` to find out, when all of the file was read

Masking knows nothing of other lines, so the same line has the same body in every job. A body starts with two
spaces when the text was indented by two or more: that is how tracebacks are told from what follows them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

NO_TIME = -1
BARE = -(1 << 62)  # what a clock without a date counts from: no date is so long ago
DAY = 86_400 * 1_000_000  # microseconds
_KEPT = 256  # bytes of a text whose mask is kept: twice where a clock may stand
MAX_SEGMENT = 1 << 16  # bytes of a segment that are looked at; real lines end at about 14,000 (docs/reference/logs.md)
MAX_BODY = 2048  # bytes of a masked body that tell one line from another

# What core.logs.wraps writes before a line whose wrapper it took off: stamp, blank, label, as in
# 2026-11-22T04:27:10.477538Z \x1enode=gpu14\x1funit=torchrun[6609]\x1e
LABEL_MARK, FIELD_MARK = b"\x1e", b"\x1f"
MAX_STAMP = 40  # bytes of a stamp before a label
# Zones differ by a quarter of an hour at least (those of the tz database: Nepal's is +05:45).
FAR = 15 * 60 * 1_000_000

_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_ZONED = re.compile(rb"(?:Z|[+-][0-9]{2}:?[0-9]{2})\Z")
_CLOCK = rb"[0-9]{2}:[0-9]{2}:[0-9]{2}"
_ZONE = rb"(?:Z|[+-][0-9]{2}:?[0-9]{2}(?![0-9]))?"
_TS = b"|".join(
    (
        rb"(?P<named>[0-9]{2}[-/ ](?:" + b"|".join(_MONTHS) + rb")[-/ ](?:[12][0-9]{3}|[0-9]{2})[ :]" + _CLOCK + rb")",
        rb"(?P<iso>[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T_-]" + _CLOCK + rb"(?:[.,][0-9]+(?:\.[0-9]+)?)?" + _ZONE + rb")",
        rb"(?P<absl>0000 00:00:[0-9]{10}\.[0-9]+)",  # seconds of the epoch, before absl is set up
        rb"(?P<glog>[0-9]{3,4} " + _CLOCK + rb"\.[0-9]+)",
        rb"(?P<us>[0-9]{2}/[0-9]{2}/[0-9]{4} " + _CLOCK + rb")",
        rb"(?P<short>[0-9]{2}/[0-9]{2}/[0-9]{2} " + _CLOCK + rb")",
        rb"(?P<monthday>[0-9]{2}-[0-9]{2} " + _CLOCK + rb")",
        rb"(?P<unix>(?:(?<="
        + b" )|(?<=".join(_MONTHS)
        + rb" )|(?<="
        + b"  )|(?<=".join(_MONTHS)  # syslog pads the day: "Mar  3"
        + rb"  ))[0-9]{1,2} "
        + _CLOCK
        + rb"(?: [12][0-9]{3}(?![0-9]))?)",
        rb"(?P<clock>[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?)",
    )
)
_HEX = (
    rb"\b(?=[a-f]{0,7}[0-9])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    rb"|0x[0-9a-fA-F]+|\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{6,}\b"
)
_IP = rb"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?::[0-9]+)?"
_NUM = rb"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_VARIABLE = re.compile(_TS + rb"|(?P<hex>" + _HEX + rb")|(?P<ip>" + _IP + rb")|(?P<num>" + _NUM + rb")")

# Typed slots: the word before a number says that the number is a kind, not a measurement (logs.md, "Masks").
SLOT_WORDS = frozenset((b"err", b"error", b"errn", b"signal", b"sig", b"xid", b"rc", b"ret", b"http", b"exit"))
SLOT_ENDS = (b"errno", b"code", b"status")
SLOT_GAP = frozenset(b" :=([\"'#-")
MAX_SLOT_GAP = 6  # torchrun aligns: "exitcode  : -9"
MAX_SLOT_DIGITS = 5
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_XID = re.compile(rb"Xid \(PCI:[0-9a-fA-F:.]{1,24}\): $")

# ECMA-48: control sequences (colours), operating system commands (links, titles) up to BEL or ST; ISO 2022: character
# sets, which `tput sgr0` selects.
_ANSI = re.compile(
    rb"\x1b\[[0-9;?]*[ -/]*[@-~]"
    rb"|\x1b\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)"
    rb"|\x1b[()][0-9A-Za-z]"
)


@dataclass(frozen=True, slots=True)
class Format:
    """What was learned of a file before it is scanned.

    task_labels: lines start with the task number of ``srun --label``; hosts: names that pdsh and the like put before
    lines; year: for clocks that have none; labelled: lines start with the label of ``core.logs.wraps``.
    """

    task_labels: bool = False
    hosts: tuple[bytes, ...] = ()
    year: int = 1970
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment taken apart; see the module."""

    prefix: bytes
    body: bytes
    time: int


def segments(line: bytes) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of the segments of a physical line (without its newline): at least one, empty ones left out."""
    parts = line.split(b"\r")
    offset, found = 0, False
    for number, part in enumerate(parts, start=1):
        if part or (number == len(parts) and not found):
            found = True
            yield offset, part
        offset += len(part) + 1


def take_apart(segment: bytes, file_format: Format) -> Segment:
    """Prefix, masked body and time of one segment."""
    text, label, stamped = _unstamped(without_ansi(segment[:MAX_SEGMENT]), file_format)
    end = _prefix_end(text, label, file_format)
    rest = text[end:]
    body, time = (_masked if len(rest) <= _KEPT else _masked.__wrapped__)(rest, file_format.year)
    is_far = stamped != NO_TIME and abs(time - stamped) >= FAR
    return Segment(text[:end], body, stamped if time == NO_TIME or is_far else time)


@lru_cache(maxsize=1 << 12)  # behind labels of their own thousands of ranks say the same; a job has a thousand messages
def _masked(text: bytes, year: int) -> tuple[bytes, int]:
    """The masked body and the time of a text without prefix."""
    if text.translate(None, b"0123456789") == text:  # no variable is without one; to look for each kind takes long
        return _laid_out(text, text)[:MAX_BODY], NO_TIME
    return mask(text), first_time(text, year)


def without_ansi(text: bytes) -> bytes:
    """The text without colours, links and titles of a terminal."""
    return _ANSI.sub(b"", text) if b"\x1b" in text else text


def mask(text: bytes) -> bytes:
    """The masked body of a text without prefix, at most MAX_BODY bytes."""
    return _laid_out(_VARIABLE.sub(_replace, text), text)[:MAX_BODY]


def _laid_out(masked: bytes, text: bytes) -> bytes:
    """What was masked, its words one blank apart, behind two where the text is indented."""
    words = b" ".join(masked.split())
    indented = len(text) > 1 and text[0] in b" \t" and text[1] in b" \t"
    return b"  " + words if indented and words else words


def mask_start(text: bytes, size: int) -> bytes:
    """The first bytes of ``mask`` of a text; what stands behind them is not looked at, which costs most of a mask."""
    pieces, at, room, length = list[bytes](), 0, size, 0
    for match in _VARIABLE.finditer(text):
        pieces += text[at : match.start()], _replace(match)
        length += match.start() - at + len(pieces[-1])
        at = match.end()
        if length > room:  # at least; white space is laid out as one blank
            if len(masked := _laid_out(b"".join(pieces), text)) > size:
                return masked[:size]
            room = 2 * length
    return _laid_out(b"".join((*pieces, text[at:])), text)[:size]


def variables(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and mask of each part of a text that ``mask`` replaces; typed slots keep their value."""
    for match in _VARIABLE.finditer(text):
        if (name := _replace(match)) != match[0]:
            yield match.start(), match.end(), name


# --- prefix -------------------------------------------------------------------------------------------------------

TASK = re.compile(rb" {0,6}[0-9]{1,6}: ")
_TAGS = re.compile(
    rb"\[default[0-9]+\]:|\[rank[0-9]+\]: ?|\[[0-9]+,[0-9]+\]<std(?:out|err)>:(?: (?! ))?"
    rb"|\([A-Za-z_][A-Za-z0-9_]*(?: pid=[0-9]+(?:, ip=[0-9.]+)?|, ip=[0-9.]+)\) "
    rb"|(?![0-9]+:)[A-Za-z0-9][A-Za-z0-9_.-]*:[0-9]+:[0-9]+ \[[0-9]+\] "
)
# kubectl logs --timestamps, and the files of a container runtime: 2026-11-21T13:12:42.728Z stdout F
STAMP = re.compile(
    rb"^[0-9]{4}-[0-9]{2}-[0-9]{2}T"
    + _CLOCK
    + rb"(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}) (?P<stream>std(?:out|err) [FP] )?"
)
# what core.logs.wraps writes
LABEL = re.compile(rb"(?:(?P<stamp>[0-9][0-9T:.Z+ -]{0,%d}) )?(?P<label>\x1e[^\x1e]*\x1e)" % (MAX_STAMP - 1))
HOST_LABEL = re.compile(rb"([A-Za-z0-9][A-Za-z0-9_.-]*): ")
MAX_LABELS = 4


def label_of(text: bytes) -> re.Match[bytes] | None:
    """The label of ``core.logs.wraps`` that a text begins with, and the stamp before it."""
    return LABEL.match(text)


def _unstamped(text: bytes, file_format: Format) -> tuple[bytes, int, int]:
    """The text behind its stamp, where the label of ``core.logs.wraps`` in it ends (0: none), the time of the stamp."""
    if file_format.labelled and (label := LABEL.match(text)):
        return text[label.start("label") :], len(label["label"]), _read_stamp(label["stamp"] or b"", file_format.year)
    stamp = STAMP.match(text)
    if stamp is None:
        return text, 0, NO_TIME
    behind = text[stamp.end() :]
    if not stamp["stream"] and not _prefix_end(behind, 0, file_format):
        return text, 0, NO_TIME  # a clock of the program's own
    return behind, 0, first_time(stamp[0], file_format.year)


def _read_stamp(stamp: bytes, year: int) -> int:
    """The time of what begins with a clock."""
    clock = _VARIABLE.match(stamp)
    read = _READERS.get(clock.lastgroup or "") if clock else None
    return read(clock, year) if clock and read else NO_TIME


def _prefix_end(text: bytes, start: int, file_format: Format) -> int:
    """Where the labels end that stand from ``start`` on."""
    end = start
    for _ in range(MAX_LABELS):
        match = _TAGS.match(text, end) or (file_format.task_labels and TASK.match(text, end)) or None
        if match is None and file_format.hosts:
            host = HOST_LABEL.match(text, end)
            match = host if host and host[1] in file_format.hosts else None
        if match is None:
            break
        end = match.end()
    return end


# --- masks --------------------------------------------------------------------------------------------------------

_NUMBERS = {"hex": b"<HEX>", "num": b"<NUM>"}


def _replace(match: re.Match[bytes]) -> bytes:
    kind, value = match.lastgroup or "", match[0]
    if kind in _NUMBERS:
        return value if _is_slot(match.string, match.start(), value) else _NUMBERS[kind]
    return b"<IP>" if kind == "ip" else b"<TS>"


def _is_slot(text: bytes, start: int, value: bytes) -> bool:
    """Whether the number that starts there keeps its value: a short integer or a 0x word after a slot word."""
    if not (value.isdigit() and len(value) <= MAX_SLOT_DIGITS) and not value.startswith(b"0x"):
        return False
    gap = start
    while gap > 0 and start - gap < MAX_SLOT_GAP and text[gap - 1] in SLOT_GAP:
        gap -= 1
    if gap == start:
        return False
    word_start = gap
    while word_start > 0 and gap - word_start < 24 and text[word_start - 1] in _LETTERS:
        word_start -= 1
    word = text[word_start:gap].lower()
    if word in SLOT_WORDS or word.endswith(SLOT_ENDS):
        return True
    return text.endswith(b"): ", 0, start) and _XID.search(text[max(0, start - 48) : start]) is not None


# --- clocks -------------------------------------------------------------------------------------------------------

LAST_MONTH = 12  # of the calendar
CENTURY = 2000  # of years with two digits
SHORT_YEAR = len("22-Nov-26 13:31:49")
TIME_WINDOW = 96  # a time further right is something that the line talks about
_LONGEST = 128  # characters; no clock has a third of that, and a long line without any was looked at to its end
_EPOCH = re.compile(rb"1[0-9]{9}\.[0-9]{1,9}")  # seconds since 1970, with a fraction: a whole number may be anything
_BEFORE_EPOCH = frozenset((b"", b"[", b"(", b"ts=", b"t=", b"time="))
_MILLIS = re.compile(rb"1[0-9]{12}(?![0-9])")
_MILLIS_KEY = b'time_ms": '


def first_time(text: bytes, year: int) -> int:
    """The first of the masked variables that is a clock with a date, else a bare clock that the text begins with."""
    bare = NO_TIME
    for match in _VARIABLE.finditer(text, 0, TIME_WINDOW + _LONGEST):
        start, kind = match.start(), match.lastgroup or ""
        if start >= TIME_WINDOW:
            break
        if kind in _READERS:
            return _READERS[kind](match, year)
        if kind == "clock" and (start == 0 or (start == 1 and text[:1] in b"[(")):
            bare = _read_bare(match[0])
        if kind == "num" and text[:start] in _BEFORE_EPOCH and _EPOCH.fullmatch(match[0]):
            whole, fraction = match[0].split(b".")
            return int(whole) * 1_000_000 + int(fraction[:6].ljust(6, b"0"))
        if kind == "num" and text.endswith(_MILLIS_KEY, 0, start) and (millis := _MILLIS.match(match[0])):
            return int(millis[0]) * 1000
    return bare


def clock_form(text: bytes) -> str:
    """How the first clock of a text is written: its pattern's name, and whether it names its zone; "" without any."""
    for match in _VARIABLE.finditer(text[:TIME_WINDOW]):
        kind = match.lastgroup or ""
        if kind in _READERS or (kind == "clock" and _read_bare(match[0]) != NO_TIME):
            return f"{kind} zoned" if _ZONED.search(match[0]) else kind
    return ""


def _read_bare(clock: bytes) -> int:
    """Since BARE; one digit before the first colon is how long something took."""
    hours, minutes, seconds = clock[:2], clock[3:5], clock[6:8]
    if clock[2:3] != b":" or hours > b"23" or minutes > b"59" or seconds > b"59":
        return NO_TIME
    return BARE + (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1_000_000 + int(clock[9:15].ljust(6, b"0"))


def _read_iso(match: re.Match[bytes], _year: int) -> int:
    text = match[0]
    tail = re.fullmatch(rb"(?:[.,]([0-9]+)(?:\.([0-9]+))?)?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?", text[19:])
    if tail is None:
        return NO_TIME
    # HCCL writes milliseconds and microseconds as two groups: 35.212.164
    fraction = ((tail[1] or b"") + (tail[2] or b""))[:6].ljust(6, b"0")
    offset = (int(tail[4]) * 60 + int(tail[5])) * (60 if tail[3] == b"+" else -60) if tail[3] else 0
    return _epoch(int(text[0:4]), int(text[5:7]), int(text[8:10]), text[11:19], int(fraction)) - offset * 1_000_000


def _read_glog(match: re.Match[bytes], year: int) -> int:
    date, clock = match[0].split(b" ")
    whole, fraction = clock.split(b".")
    micros = int(fraction[:6].ljust(6, b"0"))
    return _epoch(year, int(date[:-2]), int(date[-2:]), whole, micros)


def _read_us(match: re.Match[bytes], _year: int) -> int:
    text = match[0]
    month, day = _month_first(int(text[0:2]), int(text[3:5]))
    return _epoch(int(text[6:10]), month, day, text[11:19], 0)


def _month_first(first: int, second: int) -> tuple[int, int]:
    """Month and day of a date that has both in digits: American, unless there is no such month."""
    return (second, first) if first > LAST_MONTH >= second else (first, second)


def _read_short(match: re.Match[bytes], year: int) -> int:
    """log4j's yy/MM/dd, as Spark and Hadoop have it; the year last where only that is a date, or the job's year."""
    text = match[0]
    first, second, third = int(text[0:2]), int(text[3:5]), int(text[6:8])
    if CENTURY + third == year != CENTURY + first or second > LAST_MONTH:
        month, day = _month_first(first, second)
        return _epoch(CENTURY + third, month, day, text[9:17], 0)
    return _epoch(CENTURY + first, second, third, text[9:17], 0)


def _read_named(match: re.Match[bytes], _year: int) -> int:
    """22-Nov-26 or 22/Nov/2026, as Python's datefmt, Apache and nginx have it."""
    text = match[0]
    year, clock = int(text[7:-9]), text[-8:]
    return _epoch(
        year if len(text) > SHORT_YEAR else CENTURY + year, _MONTHS.index(text[3:6]) + 1, int(text[0:2]), clock, 0
    )


def _read_absl(match: re.Match[bytes], _year: int) -> int:
    whole, fraction = match[0][11:].split(b".")
    return int(whole) * 1_000_000 + int(fraction[:6].ljust(6, b"0"))


def _read_monthday(match: re.Match[bytes], year: int) -> int:
    text = match[0]
    return _epoch(year, int(text[0:2]), int(text[3:5]), text[6:14], 0)


def _read_unix(match: re.Match[bytes], year: int) -> int:
    words = match[0].split(b" ")
    month = _MONTHS.index(match.string[max(0, match.start() - 5) : match.start()].strip()[-3:]) + 1
    return _epoch(int(words[2]) if len(words) > 2 else year, month, int(words[0]), words[1], 0)


_READERS = {
    "named": _read_named,
    "iso": _read_iso,
    "absl": _read_absl,
    "glog": _read_glog,
    "us": _read_us,
    "short": _read_short,
    "monthday": _read_monthday,
    "unix": _read_unix,
}


def _epoch(year: int, month: int, day: int, clock: bytes, micros: int) -> int:
    """Microseconds since 1970 of a civil date (H. Hinnant's days_from_civil; no calendar library inside a kernel)."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    seconds = days * 86400 + int(clock[0:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:8])
    return seconds * 1_000_000 + micros
