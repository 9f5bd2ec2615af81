"""What training and node daemons wrote to the journal of each node, as journalctl prints it (systemd 252).

The identifier is that of the program that prints: torchrun, of whose ranks the lines are labelled, else an interpreter
for each rank. journald drops empty lines (journald-stream.c); journalctl shows what holds control characters as
``[12B blob data]`` (logs-show.c), but for those of colours, which journald keeps and ``-o short`` takes away.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.quality.dresses.outfit import Outfit, Piece, outfit
from benchmarks.quality.dresses.put_on import WrappedLine, of_node
from benchmarks.quality.dresses.stamps import made_up, moment
from benchmarks.quality.dresses.wearer import COLLECTOR, Stream, Wearer

_DAEMON = re.compile(rb"\S+ (?P<host>\S+) (?P<name>[a-z][\w-]*)\[(?P<pid>\d+)\]: (?P<text>.*)", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class _Entry:
    line: WrappedLine
    identifier: str
    pid: int
    text: bytes


def short(wearer: Wearer) -> Outfit:
    """``journalctl --merge``: all nodes in one file."""
    entries = sorted((entry for own in _journals(wearer).values() for entry in own), key=lambda entry: entry.line.time)
    return _printed(wearer, {"logs/journal.txt": [_plain(entry, "%b %d %H:%M:%S") for entry in entries]})


def short_iso(wearer: Wearer) -> Outfit:
    """``journalctl -o short-iso``: a file each node."""
    journals = _journals(wearer).items()
    return _printed(
        wearer,
        {f"logs/{node}.txt": [_plain(entry, "%Y-%m-%dT%H:%M:%S+0000") for entry in own] for node, own in journals},
    )


def export(wearer: Wearer) -> Outfit:
    """``journalctl -o export``: a file each node."""
    return _printed(
        wearer, {f"logs/{node}.export": [_exported(entry) for entry in own] for node, own in _journals(wearer).items()}
    )


def as_json(wearer: Wearer) -> Outfit:
    """``journalctl --merge -o json``."""
    entries = sorted((entry for own in _journals(wearer).values() for entry in own), key=lambda entry: entry.line.time)
    return _printed(wearer, {"logs/journal.json": [_as_json(entry) for entry in entries]})


def _plain(entry: _Entry, clock: str) -> Piece:
    head = f"{moment(entry.line.time):{clock}} {entry.line.node} {entry.identifier}[{entry.pid}]: ".encode()
    text = _COLOUR.sub(b"", entry.text)
    return head + (b"[%dB blob data]" % len(entry.text) if _CONTROL.search(text) else text), entry.line.spoken.place


def _exported(entry: _Entry) -> Piece:
    is_text = not _CONTROL.search(entry.text)
    message = b"MESSAGE=" + entry.text if is_text else b"MESSAGE\n" + len(entry.text).to_bytes(8, "little") + entry.text
    return b"".join(
        f"{name}={value}\n".encode() for name, value in _fields(entry)
    ) + message + b"\n", entry.line.spoken.place


def _as_json(entry: _Entry) -> Piece:
    is_text = not _CONTROL.search(entry.text)
    message = entry.text.decode("utf-8", "replace") if is_text else list(entry.text)
    written = json.dumps(dict(_fields(entry)) | {"MESSAGE": message}, ensure_ascii=False, separators=(",", ":"))
    return written.encode(), entry.line.spoken.place


def _fields(entry: _Entry) -> Iterator[tuple[str, str]]:
    time, node = entry.line.time, entry.line.node
    file, number = entry.line.spoken.place
    boot, sequence = made_up(f"{node} boot", 32), made_up(f"{file} {number}", 16)
    yield "__CURSOR", f"s={made_up(node, 32)};i={number:x};b={boot};m={time % 10**10:x};t={time:x};x={sequence}"
    yield "__REALTIME_TIMESTAMP", str(time)
    yield "__MONOTONIC_TIMESTAMP", str(time % 10**10)
    yield "_BOOT_ID", boot
    yield "_TRANSPORT", "stdout"
    yield "PRIORITY", "6"
    yield "_HOSTNAME", node
    yield "SYSLOG_IDENTIFIER", entry.identifier
    yield "_PID", str(entry.pid)
    yield "_SYSTEMD_UNIT", "train.service" if entry.identifier in _TRAINS else f"{entry.identifier}.service"


_TRAINS = ("torchrun", "python3.11")


def _journals(wearer: Wearer) -> dict[str, list[_Entry]]:
    """The journal of each node that has anything of its own in the logs; the collector's, of what is nobody's."""
    streams = [stream for stream in wearer.others if stream.node is not None and _is_daemon(stream)]
    journals: dict[str, list[_Entry]] = {}
    for node in (*wearer.nodes, COLLECTOR):
        lines = list(of_node(wearer, node)) if node in wearer.by_node or (node == COLLECTOR and wearer.shared) else []
        own = [_entry(line, wearer) for line in lines]
        own += [
            _Entry(
                WrappedLine(match["text"], line, stream, node), match["name"].decode(), int(match["pid"]), match["text"]
            )
            for stream in streams
            if stream.node == node
            for line in stream.lines
            if (match := _DAEMON.fullmatch(line.text))
        ]
        if own:
            journals[node] = sorted((entry for entry in own if entry.text), key=lambda entry: entry.line.time)
    return journals


def _is_daemon(stream: Stream) -> bool:
    return all(_DAEMON.fullmatch(line.text) for line in stream.lines)


def _entry(line: WrappedLine, wearer: Wearer) -> _Entry:
    alone = line.stream.rank is None or "attempt_" in line.stream.name
    place = wearer.nodes.index(line.node) if line.node in wearer.nodes else 0
    return _Entry(
        line,
        "torchrun" if alone else "python3.11",
        6600 + 10 * place + (0 if alone else line.stream.rank or 0),
        line.text,
    )


def _printed(wearer: Wearer, pieces: dict[str, list[Piece]]) -> Outfit:
    files = {place[0] for own in pieces.values() for _, place in own if place}
    return outfit({name: content for name, content in wearer.files.items() if name not in files}, pieces)
