"""Records over several lines, or in one array: ``journalctl -o json-pretty``, ``gcloud logging read``, ``jq``.

Also what Grafana's explorer saves, and the events of CloudWatch without their answer around them.
"""

import re
from typing import Any

from core.logs.wraps import cloudwatch, loki
from core.logs.wraps.documents import Document
from core.logs.wraps.entries import is_entry, read_entry
from core.logs.wraps.peeled import Peeled
from core.logs.wraps.records import is_record, read_record


def _read(record: Any, _: Any) -> Peeled | None:
    if not isinstance(record, dict):
        return None
    if is_entry(record):
        return read_entry(record)
    if isinstance(source := record.get("_source"), dict):
        return read_record(source)
    payload = record.get("jsonPayload")  # Google's: what the program said, in an object about where it ran
    fields = (
        {name: value for name, value in record.items() if name != "jsonPayload"} | payload
        if isinstance(payload, dict)
        else record
    )
    return (
        loki.read_line(record) or cloudwatch.read_event(record) or (read_record(fields) if is_record(fields) else None)
    )


DOCUMENT = Document("JSON records", re.compile(r"\A\s*(?:\[\s*\{|\{[ \t]*\r?\n)"), ("",), _read)
