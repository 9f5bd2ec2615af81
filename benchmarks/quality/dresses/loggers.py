"""Loggers that write an object or pairs a line, through which a program sends all that it prints.

As python-json-logger and logfmter write them, with rank and host bound; a line that tells its level has it as a field.
A program that writes objects does not send them through a second logger, nor does what a launcher labels for all.
"""

import json
import re
from collections.abc import Iterator

from benchmarks.quality.dresses.outfit import Outfit
from benchmarks.quality.dresses.put_on import WrappedLine, in_place
from benchmarks.quality.dresses.stamps import moment
from benchmarks.quality.dresses.wearer import Wearer

_LEVEL = re.compile(rb"\b(?P<word>DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|(?:^|[\[: ])(?P<letter>[IWEF])\d{4} \d\d:")
_GLOG = {b"I": "INFO", b"W": "WARNING", b"E": "ERROR", b"F": "CRITICAL"}
_HEAD = 80  # bytes in which a line tells its level
_QUOTED = re.compile(r'[\s="]|[^\x20-\x7e]')


def json_logger(wearer: Wearer) -> Outfit | None:
    """An object a line."""
    return None if _has_its_own(wearer) else in_place(wearer, _object)


def _object(line: WrappedLine) -> Iterator[bytes]:
    yield json.dumps(
        {"timestamp": f"{moment(line.time):%Y-%m-%dT%H:%M:%S.%f}Z", **_bound(line), "message": _text(line)},
        ensure_ascii=False,
    ).encode()


def logfmt(wearer: Wearer) -> Outfit | None:
    """Pairs a line."""
    return None if _has_its_own(wearer) else in_place(wearer, _pairs)


def _pairs(line: WrappedLine) -> Iterator[bytes]:
    fields = {"time": f"{moment(line.time):%Y-%m-%dT%H:%M:%S.%f}Z", **_bound(line), "msg": _text(line)}
    yield " ".join(f"{name}={_value(str(value))}" for name, value in fields.items()).encode()


def _has_its_own(wearer: Wearer) -> bool:
    return bool(wearer.shared) or any(
        line.text.startswith(b'{"') for stream in wearer.streams if stream.trains for line in stream.lines
    )


def _bound(line: WrappedLine) -> dict[str, str | int]:
    rank = {} if line.stream.rank is None else {"rank": line.stream.rank}
    return {"level": _level(line), "host": line.node, **rank}


def _level(line: WrappedLine) -> str:
    """Its own; what tells none is an error when it came on standard error, as for whoever sends that to a logger."""
    match = _LEVEL.search(line.text, 0, _HEAD)
    if match is not None:
        return _GLOG[match["letter"]] if match["letter"] else match["word"].decode()
    return "ERROR" if "stderr" in line.stream.name or line.stream.name.endswith(".err") else "INFO"


def _value(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if not value or _QUOTED.search(value) else value


def _text(line: WrappedLine) -> str:
    return line.text.decode("utf-8", "replace")
