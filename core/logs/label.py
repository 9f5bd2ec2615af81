"""The label before a line that was unwrapped: who spoke, as its wrapper had it.

``core.logs.wraps`` writes it, ``core.logs.lines`` makes it the beginning of the prefix, ``core.logs.origins`` reads it,
and whoever shows a line to a person shows it as people write it: ``gpu14 torchrun[6609]: ...``.
"""

import re
from dataclasses import dataclass

from core.logs.lines import FIELD_MARK, LABEL_MARK, NO_TIME, Format, first_time, label_of, without_ansi
from core.logs.wraps.stamps import MONTHS

MAX_FIELD = 200  # bytes of a field; names of Kubernetes pods reach 253, those of DNS too, and few exceed 63
_CONTROL = re.compile(rb"[\x00-\x20\x7f]+")
_SHOWN_HEAD = 160  # bytes in which a line's own clock and rank stand
_YEARLESS = re.compile(rb"(?P<month>0[1-9]|1[0-2])(?P<day>[0-3][0-9]) (?P<clock>[0-9:]{8})(?:\.0)?(?P<finer>\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Label:
    """Who spoke.

    nodes: names of the machine, the most telling first (a pod, the host below it). unit: container, systemd unit or
    identifier, with the process id where several may write. broken: the line was not whole.
    """

    nodes: tuple[bytes, ...] = ()
    rank: int | None = None
    local_rank: int | None = None
    unit: bytes = b""
    broken: bool = False


def write_label(label: Label) -> bytes:
    """The label as bytes, without any byte that ends it, a field or a line."""
    fields = [b"node=" + _clean(node) for node in label.nodes]
    if label.rank is not None:
        fields.append(b"rank=%d" % label.rank)
    if label.local_rank is not None:
        fields.append(b"local=%d" % label.local_rank)
    if label.unit:
        fields.append(b"unit=" + _clean(label.unit))
    if label.broken:
        fields.append(b"broken=1")
    return LABEL_MARK + FIELD_MARK.join(fields) + LABEL_MARK


def read_label(prefix: bytes) -> tuple[Label, bytes]:
    """The label that a prefix begins with, and what follows it."""
    if not prefix.startswith(LABEL_MARK):
        return Label(), prefix
    written, _, rest = prefix[1:].partition(LABEL_MARK)
    fields = [field.partition(b"=")[::2] for field in written.split(FIELD_MARK)]
    values = dict(fields)
    return (
        Label(
            nodes=tuple(value for key, value in fields if key == b"node" and value),
            rank=_number(values.get(b"rank")),
            local_rank=_number(values.get(b"local")),
            unit=values.get(b"unit", b""),
            broken=b"broken" in values,
        ),
        rest,
    )


def what_was_said(segment: bytes) -> bytes:
    """A segment of a file without the stamp and label of its wrapper, and without colours."""
    text = without_ansi(segment)
    return text[match.end() :] if LABEL_MARK in text and (match := label_of(text)) else text


def as_people_write(segment: bytes) -> bytes:
    """A segment of a file as it is shown: the label in words, with the stamp where the text has no clock."""
    text = without_ansi(segment)
    match = label_of(text) if LABEL_MARK in text else None
    if match is None:
        return text
    message = text[match.end() :]
    label, _ = read_label(match["label"])
    clock = first_time(message[:_SHOWN_HEAD], Format().year) == NO_TIME and _as_syslog(match["stamp"] or b"")
    return b"".join((clock + b" " if clock else b"", _in_words(label, message), message))


def _as_syslog(stamp: bytes) -> bytes:
    """A stamp without a year as syslog had it (``core.logs.wraps.stamps.syslog_of``): ``Nov 14 08:01:34``."""
    found = _YEARLESS.fullmatch(stamp)
    if found is None:
        return stamp
    return b"%s %2d %s%s" % (MONTHS[int(found["month"]) - 1], int(found["day"]), found["clock"], found["finer"] or b"")


def _in_words(label: Label, text: bytes) -> bytes:
    is_named = label.unit != b"" and text.startswith(
        (label.unit + b": ", label.unit + b"[")
    )  # a daemon, before what it says
    rank = b"" if label.rank is None or _says_rank(label.rank, text) else b"[rank%d]" % label.rank
    words = b" ".join(word for word in (*label.nodes[:1], b"" if is_named else label.unit, rank) if word)
    return words + (b" " if is_named else b": ") if words else b""


def _says_rank(rank: int, text: bytes) -> bool:
    return re.search(rb"(?i)rank\W{0,2}%d\b" % rank, text[:_SHOWN_HEAD]) is not None


def _clean(value: bytes) -> bytes:
    return _CONTROL.sub(b"_", value.strip())[:MAX_FIELD]


def _number(value: bytes | None) -> int | None:
    return int(value) if value and value.isdigit() and len(value) <= 7 else None
