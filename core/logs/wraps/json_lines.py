"""Loggers that write an object a line: structlog, python-json-logger, loguru, pino, zap, slog, and shippers of logs."""

from collections.abc import Sequence

from core.logs.wraps.json_forms import cut_object
from core.logs.wraps.json_objects import names_of, read_object
from core.logs.wraps.line_forms import NO_OBJECT
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.records import is_record, read_record

_TRIED = 32  # lines, evenly over the sample: enough to tell one in twenty from none
# Of all lines: what the interpreter and libraries print beside the logger, tracebacks of ten lines among it, is more.
_LEAST = 0.05


def peel(line: bytes) -> Peeled | None:
    """What the logger was told."""
    record = read_object(line)
    return None if record is None else read_record(record)


def _is_torn(line: bytes) -> bool:
    """Whether this begins or ends as an object does, and is none."""
    return line.startswith(b'{"') or line.endswith(b'"}')


_WRAP = Wrap("JSON", peel, is_torn=_is_torn, layout=names_of, cut=cut_object, beside=NO_OBJECT)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Some lines are objects with a message, and of the lines that look like objects most."""
    alike = [line for line in lines if line.startswith(b"{")]
    if len(alike) < _LEAST * len(lines):
        return None
    tried = evenly(alike, _TRIED)
    records = sum((record := read_object(line)) is not None and is_record(record) for line in tried)
    return _WRAP if records * 2 > len(tried) else None
