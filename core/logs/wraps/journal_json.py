"""``journalctl -o json``, ``-o json-seq`` and ``-o json-sse``, and what journald's shippers forward of it."""

from core.logs.lines import LABEL_MARK
from core.logs.wraps.entries import is_entry, read_entry
from core.logs.wraps.json_objects import read_object
from core.logs.wraps.peeled import Peeled, Wrap, usual

_EVENT = b"data: "  # of json-sse; json-seq begins each record with a mark of RFC 7464


def peel(line: bytes) -> Peeled | None:
    """What was written to the journal."""
    entry = read_object(line.removeprefix(LABEL_MARK).removeprefix(_EVENT))
    return read_entry(entry) if entry is not None and is_entry(entry) else None


def _is_torn(line: bytes) -> bool:
    return line.lstrip(LABEL_MARK).startswith((b"{", _EVENT)) or line.endswith(b"}")


fit = usual(Wrap("journal JSON", peel, is_torn=_is_torn), 0.4)  # json-sse has an empty line behind each
