"""Log stores: Loki, Elasticsearch and OpenSearch, CloudWatch; by their answers and by what their tools print.

The pods' labels and fields are those that Promtail, Filebeat and Container Insights give them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.quality.dresses.outfit import Outfit, Piece, outfit
from benchmarks.quality.dresses.put_on import WrappedLine, of_node, together
from benchmarks.quality.dresses.stamps import made_up, millis, moment, nanos, pod_of
from benchmarks.quality.dresses.wearer import COLLECTOR, Wearer

_MACHINES = "ip-172-31-{}-{}.ec2.internal"  # below the pods


def loki(wearer: Wearer) -> Outfit:
    """The answer of ``/loki/api/v1/query_range``, as ``jq .`` prints it."""
    pieces: list[Piece] = [
        (b'{\n  "status": "success",\n  "data": {\n    "resultType": "streams",\n    "result": [', None)
    ]
    nodes = _nodes(wearer)
    for place, node in enumerate(nodes):
        labels = json.dumps(_labels(node), indent=2).replace("\n", "\n        ")
        pieces.append((f'      {{\n        "stream": {labels},\n        "values": ['.encode(), None))
        lines = list(of_node(wearer, node))
        for number, line in enumerate(lines, start=1):
            value = json.dumps([str(line.time * 1000), _text(line)], indent=2, ensure_ascii=False)
            pieces.append(_piece(value, "," * (number < len(lines)), line))
        pieces.append((("        ]\n      }" + "," * (place + 1 < len(nodes))).encode(), None))
    pieces.append((b'    ],\n    "stats": {\n      "summary": {}\n    }\n  }\n}', None))
    return _answer(wearer, "logs/loki.json", pieces)


def _piece(value: str, comma: str, line: WrappedLine) -> Piece:
    return ("          " + value.replace("\n", "\n          ") + comma).encode(), line.spoken.place


def logcli(wearer: Wearer) -> Outfit:
    """``logcli query``: labels that differ, padded to one width; blanks around a line are lost (output/default.go)."""
    width = max(len(_unlike(node)) for node in _nodes(wearer))
    return together(wearer, "logs/logcli.txt", lambda line: [_logcli(line, width)])


def _logcli(line: WrappedLine, width: int) -> bytes:
    return f"{moment(line.time):%Y-%m-%dT%H:%M:%SZ} {_unlike(line.node):<{width}} ".encode() + line.text.strip()


def _unlike(node: str) -> str:
    return f'{{node_name="{_machine(node)}", pod="{pod_of(node)}"}}'


def logcli_jsonl(wearer: Wearer) -> Outfit:
    """``logcli query --output=jsonl``."""
    return together(wearer, "logs/logcli.jsonl", _logcli_jsonl)


def _logcli_jsonl(line: WrappedLine) -> Iterator[bytes]:
    yield _compact({"labels": _labels(line.node), "line": _text(line), "timestamp": nanos(line.time)})


def elastic(wearer: Wearer) -> Outfit:
    """Hits one a line, as elasticdump writes them."""
    return together(wearer, "logs/elastic.ndjson", lambda line: [_compact(_hit(line))])


def opensearch(wearer: Wearer) -> Outfit:
    """The answer of a search, hit after hit on lines of their own."""
    lines = sorted((line for node in _nodes(wearer) for line in of_node(wearer, node)), key=lambda line: line.time)
    head = b'{"took":12,"timed_out":false,"hits":{"total":{"value":%d,"relation":"eq"},"max_score":null,"hits":['
    hits = [
        (_compact(_hit(line)) + b"," * (at < len(lines)), line.spoken.place) for at, line in enumerate(lines, start=1)
    ]
    return _answer(wearer, "logs/opensearch.json", [(head % len(lines), None), *hits, (b"]}}", None)])


def _hit(line: WrappedLine) -> dict[str, Any]:
    file, number = line.spoken.place
    pod = pod_of(line.node)
    return {
        "_index": "filebeat-8.15.0",
        "_id": made_up(f"{file} {number}", 20),
        "_score": None,
        "_source": {
            "@timestamp": millis(line.time),
            "message": _text(line),
            "stream": _stream(line),
            "log": {"offset": 200 * number, "file": {"path": f"/var/log/containers/{pod}_research_pytorch.log"}},
            "input": {"type": "container"},
            "kubernetes": {
                "pod": {"name": pod},
                "node": {"name": _machine(line.node)},
                "namespace": "research",
                "container": {"name": "pytorch"},
                "labels": {"app": "train"},
            },
            "host": {"name": _machine(line.node)},
            "agent": {"type": "filebeat", "version": "8.15.0", "name": _machine(line.node)},
            "ecs": {"version": "8.0.0"},
        },
    }


def cloudwatch_tail(wearer: Wearer) -> Outfit:
    """``aws logs tail``."""
    return together(wearer, "logs/tail.txt", _tailed)


def _tailed(line: WrappedLine) -> Iterator[bytes]:
    yield f"{moment(line.time):%Y-%m-%dT%H:%M:%S.%f}+00:00 {_log_stream(line.node)} ".encode() + line.text


def cloudwatch_json(wearer: Wearer) -> Outfit:
    """``aws logs filter-log-events``."""
    lines = sorted((line for node in _nodes(wearer) for line in of_node(wearer, node)), key=lambda line: line.time)
    pieces: list[Piece] = [(b'{\n    "events": [', None)]
    for at, line in enumerate(lines, start=1):
        event = {
            "logStreamName": _log_stream(line.node),
            "timestamp": line.time // 1000,
            "message": _text(line),
            "ingestionTime": line.time // 1000 + 700,
            "eventId": str(int(made_up(str(line.spoken.place), 32), 16)),
        }
        written = json.dumps(event, indent=4).replace("\n", "\n        ")
        pieces.append((f"        {written}{',' * (at < len(lines))}".encode(), line.spoken.place))
    return _answer(wearer, "logs/events.json", [*pieces, (b'    ],\n    "searchedLogStreams": []\n}', None)])


def _log_stream(node: str) -> str:
    pod = pod_of(node)
    return f"{_machine(node)}-application.var.log.containers.{pod}_research_pytorch-{made_up(pod, 64)}.log"


def _labels(node: str) -> dict[str, str]:
    return {
        "app": "train",
        "container": "pytorch",
        "namespace": "research",
        "node_name": _machine(node),
        "pod": pod_of(node),
    }


def _machine(node: str) -> str:
    return _MACHINES.format(*divmod(int(made_up(node, 4), base=16), 256))


def _nodes(wearer: Wearer) -> list[str]:
    return [*wearer.by_node, *([COLLECTOR] if wearer.shared else [])]


def _text(line: WrappedLine) -> str:
    return line.text.decode("utf-8", "replace")


def _stream(line: WrappedLine) -> str:
    return "stdout" if line.stream.stdout else "stderr"


def _compact(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def _answer(wearer: Wearer, name: str, pieces: list[Piece]) -> Outfit:
    names = {stream.name for stream in wearer.streams if stream.trains}
    return outfit({path: content for path, content in wearer.files.items() if path not in names}, {name: pieces})
