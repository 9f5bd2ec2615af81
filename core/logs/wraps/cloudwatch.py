"""CloudWatch Logs: ``aws logs tail``, and the answers of get-log-events, filter-log-events and of a query.

aws/aws-cli, awscli/customizations/logs/tail.py: ``2026-11-22T04:27:10.477000+00:00 <stream> text``; with ``--format
json`` an object stands on lines of its own below that, with ``--format short`` only a clock before the text.
"""

import re
from collections.abc import Sequence
from typing import Any

from core.logs.wraps.documents import Document
from core.logs.wraps.json_lines import peel as peel_json
from core.logs.wraps.json_objects import as_bytes, read_object
from core.logs.wraps.peeled import Peeled, Wrap, always, any_text, evenly, share, usual
from core.logs.wraps.stamps import RFC3339, epoch, iso, stamp_of

_LINE = re.compile(
    RFC3339.replace(b"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})", b"(?P<zone>[+]00:00)") + rb" (?P<stream>[^ :*]{1,512}) ?"
)
MAX_STREAM = (
    512  # characters of a stream's name (API of CloudWatch Logs); what a hostile record holds there has any length
)
# Streams of Container Insights and Fluent Bit hold the name of the container's file in /var/log/containers.
_CONTAINER = re.compile(
    rb"(?:(?P<host>.+?)[-.]application\.)?var\.log\.containers\.(?P<pod>[^_]+)_[^_]+_(?P<container>.+)-[0-9a-f]{64}\.log"
)
# Amazon SageMaker's training jobs: "my-job-2026-11-12-17-16-02-169/algo-1-1794504020" (developer guide, CloudWatch)
_OF_SAGEMAKER = re.compile(rb"[^/]{1,256}/(?P<host>algo-[0-9]{1,4})-[0-9]{10}")
_LEVELS = frozenset((b"TRACE", b"DEBUG", b"INFO", b"WARN", b"WARNING", b"ERROR", b"CRITICAL", b"FATAL"))


def peel_line(line: bytes) -> Peeled | None:
    """An event as the command line prints it."""
    match = _LINE.match(line)
    if match is None or match["stream"].strip(b"[]|") in _LEVELS:
        return None
    return _of_stream(line[match.end() :], match["stream"], stamp_of(match))


def peel_object(line: bytes) -> Peeled | None:
    """An event as an object."""
    record = read_object(line)
    return None if record is None else read_event(record)


def read_event(event: Any, _: Any = None) -> Peeled | None:
    """An event of an answer, or a row of a query's; None when it is neither."""
    if isinstance(event, list):  # a row of a query: fields and values
        event = {
            entry["field"].lstrip("@"): entry.get("value")
            for entry in event
            if isinstance(entry, dict) and "field" in entry
        }
    if not isinstance(event, dict) or not isinstance(event.get("message"), str) or "timestamp" not in event:
        return None
    stamp = iso(as_bytes(event["timestamp"]))
    stream = event.get("logStreamName", event.get("logStream", ""))
    return _of_stream(
        as_bytes(event["message"].rstrip("\n")), as_bytes(stream), stamp if stamp.text else epoch(event["timestamp"])
    )


def _of_stream(text: bytes, stream: bytes, stamp: Any) -> Peeled:
    match = _CONTAINER.search(stream[:MAX_STREAM])
    if match is not None:
        return Peeled(text, stamp, nodes=tuple(filter(None, match.group("pod", "host"))), unit=match["container"])
    if sagemaker := _OF_SAGEMAKER.fullmatch(stream[:MAX_STREAM]):
        return Peeled(text, stamp, nodes=(sagemaker["host"],))
    return Peeled(text, stamp, nodes=(stream,) if stream else ())


_TAIL = Wrap("aws logs tail", peel_line, continues=always, record=peel_json)


def fit_line(lines: Sequence[bytes]) -> Wrap | None:
    """Events of few streams; what a program prints behind a clock differs from line to line."""
    streams = [match["stream"] for line in evenly(lines) if (match := _LINE.match(line))]
    return _TAIL if streams and 2 * len(set(streams)) <= len(streams) and share(lines, _TAIL) >= 0.3 else None


def _has_ingestion(line: bytes) -> bool:
    return b'"ingestionTime"' in line or b'"logStreamName"' in line


def fit_object(lines: Sequence[bytes]) -> Wrap | None:
    """Events, one a line, as ``jq -c .events[]`` and exports have them."""
    return _OBJECTS(lines) if any(map(_has_ingestion, evenly(lines))) else None


_OBJECTS = usual(Wrap("CloudWatch events", peel_object, is_torn=any_text))
DOCUMENT = Document("CloudWatch", re.compile(r'"(?:events|results)"\s*:\s*\['), ("events", "results"), read_event)
