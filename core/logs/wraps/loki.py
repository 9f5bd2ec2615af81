"""Loki: answers of its API, and what logcli prints by default and with ``--output=jsonl``.

grafana/loki, pkg/loghttp and pkg/logcli/output: ``2026-11-22T04:27:10Z {container="pytorch", pod="llama-0"} text``.
"""

import re
from collections.abc import Mapping
from typing import Any

from core.logs.wraps.documents import Document
from core.logs.wraps.json_objects import as_bytes, as_text, read_object
from core.logs.wraps.peeled import Peeled, Wrap, always, any_text, usual
from core.logs.wraps.stamps import NO_STAMP, RFC3339, Stamp, epoch, iso, stamp_of

_LINE = re.compile(RFC3339 + rb' \{(?P<labels>(?:[^"{}]|"(?:[^"\\]|\\.)*")*)\} *')
_LABEL = re.compile(r'(?<!\w)([A-Za-z_]\w*+)="((?:[^"\\]|\\.)*)"')  # each word once: a line may have 4 MB
_NODE = (
    "pod",
    "pod_name",
    "k8s_pod_name",
    "hostname",
    "host",
    "nodename",
    "node_name",
    "node",
    "instance",
    "k8s_node_name",
)
_UNIT = ("container", "container_name", "k8s_container_name", "unit", "systemd_unit", "identifier", "app")


def peel_line(line: bytes) -> Peeled | None:
    """What logcli prints: time, labels, line."""
    match = _LINE.match(line)
    if match is None:
        return None
    return _said(line[match.end() :], stamp_of(match), dict(_LABEL.findall(as_text(match["labels"]))))


def peel_object(line: bytes) -> Peeled | None:
    """What logcli prints as objects, and Grafana's explorer saves: labels or fields, line, timestamp."""
    record = read_object(line)
    return None if record is None else read_line(record)


def read_line(record: Mapping[str, Any], _: Any = None) -> Peeled | None:
    """A line with its labels and time; None when the object is none."""
    text, labels = record.get("line"), record.get("labels", record.get("fields", {}))
    if not isinstance(text, str) or not isinstance(labels, dict) or "timestamp" not in record:
        return None
    return _said(as_bytes(text), _time(record["timestamp"]), labels)


def _read_value(value: Any, stream: Any) -> Peeled | None:
    """Time in nanoseconds and line, of a stream with such labels; Loki 3 has labels of the line's own behind them."""
    if not (isinstance(value, list) and len(value) >= 2 and isinstance(value[1], str)):
        return None
    own = value[2] if len(value) > 2 and isinstance(value[2], dict) else {}
    return _said(as_bytes(value[1]), _time(value[0]), (stream if isinstance(stream, dict) else {}) | own)


def _said(text: bytes, stamp: Stamp, labels: Mapping[str, Any]) -> Peeled:
    nodes = dict.fromkeys(as_bytes(labels[name]) for name in _NODE if labels.get(name))
    rank = str(labels.get("rank", ""))
    return Peeled(
        text.rstrip(b"\n"),
        stamp,
        nodes=tuple(node.partition(b":")[0] for node in nodes),  # instance="10.0.0.7:9100"
        rank=int(rank) if rank.isdecimal() and len(rank) < 7 else None,
        unit=next((as_bytes(labels[name]) for name in _UNIT if labels.get(name)), b""),
    )


def _time(value: Any) -> Stamp:
    stamp = iso(as_bytes(value)) if isinstance(value, str) else NO_STAMP
    return stamp if stamp.text else epoch(value)


fit_line = usual(Wrap("logcli", peel_line, continues=always), 0.3)
fit_object = usual(Wrap("logcli jsonl", peel_object, is_torn=any_text))
DOCUMENT = Document(
    "Loki",
    re.compile(r'"(?:resultType"\s*:\s*"streams"|streams"\s*:\s*\[|stream"\s*:\s*\{)'),
    ("values",),
    _read_value,
    "stream",
)
