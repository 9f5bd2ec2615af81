r"""Docker's json-file driver: ``{"log":"text\n","stream":"stderr","time":"2026-11-22T04:49:38.177137210Z"}``.

moby, daemon/logger/jsonfilelog; ``attrs`` (labels of the container) may stand between. A record without a newline at
the end of ``log`` is a part of 16 KiB of a longer line.
"""

import re

from core.logs.wraps.json_objects import as_bytes, read_object
from core.logs.wraps.line_forms import Cut
from core.logs.wraps.peeled import Peeled, Wrap, any_text, usual
from core.logs.wraps.stamps import iso, tokens_of

_KEYS = frozenset(("log", "stream", "time", "attrs"))


def peel(line: bytes) -> Peeled | None:
    """What the container wrote."""
    if not line.startswith(b'{"log":"'):
        return None
    record = read_object(line)
    if record is None or not {"log", "time"} <= record.keys() <= _KEYS:
        return None
    text, stream = as_bytes(record["log"]), as_bytes(record.get("stream", ""))
    return Peeled(text.removesuffix(b"\n"), iso(as_bytes(record["time"])), stream=stream, ends=text.endswith(b"\n"))


_SIMPLE = re.compile(rb'(\{"log":")([^"\\\x00-\x1f]*)(\\n","stream":"std(?:out|err)","time":")([0-9T:.Z+-]+)("\})')


def _cut(line: bytes) -> Cut | None:
    """A record whose text needs no escapes; else its bytes are not those of the text."""
    match = _SIMPLE.fullmatch(line)
    return Cut((match[1],), match[2], (match[3], *tokens_of(match[4]), match[5])) if match else None


fit = usual(Wrap("docker", peel, is_torn=any_text, cut=_cut))
