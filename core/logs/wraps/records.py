"""An object with fields, as loggers write them, as a line of text: ``ERROR trainer: step failed loss=nan step=31``.

structlog, python-json-logger, loguru (``serialize=True``), Bunyan and pino, zap, slog and logrus, the Elastic common
schema, Google's, and what Fluent Bit, Filebeat and Vector make of container logs: they differ in the names of a handful
of fields (``fields``). Level and message come first, the other fields behind them in the order of their names; who
spoke and when becomes the label; the traceback follows, line by line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from core.logs.wraps.fields import LEVEL_NUMBERS, LEVELS, MEANINGS, WHERE, Meaning
from core.logs.wraps.json_objects import MAX_DEPTH, as_bytes
from core.logs.wraps.peeled import Peeled
from core.logs.wraps.stamps import NO_STAMP, Stamp, epoch, iso

MAX_VALUE, MAX_FIELDS = 1_000, 200  # characters of a value; fields of a record


_NUMBER = re.compile(r"[-+.\deE]{1,40}", re.ASCII)
_PLAIN = re.compile(r'[^\s"=]+', re.ASCII)  # a value that needs no quotes
_LINE_END = re.compile(r"\r?\n|\r")
_TELLING = frozenset((Meaning.LEVEL, Meaning.TIME, Meaning.NODE, Meaning.UNIT, Meaning.RANK))


def is_record(record: Mapping[str, Any]) -> bool:
    """Whether an object is a logger's: it has a message, and a time, a level or somebody who said it.

    Or a row of metrics: numbers of a rank at some time.
    """
    found = _Fields(_flat(_opened(record)))
    if not found.first(Meaning.MESSAGE):
        return all(found.first(meaning) is not None for meaning in (Meaning.TIME, Meaning.RANK))
    return any(found.first(meaning) is not None for meaning in _TELLING)


def read_record(record: Mapping[str, Any]) -> Peeled:
    """What an object of a logger says, and who said it when."""
    fields = _Fields(_flat(_opened(record)))
    first, *more = _LINE_END.split(str(fields.first(Meaning.MESSAGE) or "").rstrip("\r\n"))
    level, logger = fields.first(Meaning.LEVEL), fields.first(Meaning.LOGGER)
    parts = (_level(level) if level else "", f"{logger}:" if logger else "", first, fields.told())
    trace = [line for value in fields.all(Meaning.TRACEBACK) for line in in_words(value)]
    more += trace if trace and trace[-1] not in more else []
    return Peeled(
        as_bytes("\n".join([" ".join(filter(None, parts)), *more])),
        next((stamp for value in fields.all(Meaning.TIME) if (stamp := _time(value)).text), NO_STAMP),
        tuple(as_bytes(node) for node in fields.all(Meaning.NODE)),
        _whole(fields.first(Meaning.RANK)),
        _whole(fields.first(Meaning.LOCAL_RANK)),
        as_bytes(fields.first(Meaning.UNIT) or ""),
    )


class _Fields:
    """The fields of a record by what they mean."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._known: dict[Meaning, list[tuple[int, str, Any]]] = {}
        self._others: list[tuple[str, Any]] = []
        for name, value in fields.items():
            meaning, order = MEANINGS.get(name) or (_TRACE if is_traceback(value) else _UNKNOWN)
            if meaning is None:
                if not name.startswith(WHERE):
                    self._others.append((name, value))
            elif meaning is Meaning.TRACEBACK or (value and isinstance(value, str)):
                self._known.setdefault(meaning, []).append((order, name, value))
            elif meaning is Meaning.MESSAGE and value != "":  # an empty line says nothing
                self._others.append((name, value))
        for found in self._known.values():
            found.sort(key=_ORDER)

    def first(self, meaning: Meaning) -> str | None:
        """The value of the field that means it most."""
        found = self._known.get(meaning)
        return found[0][2] if found else None

    def all(self, meaning: Meaning) -> Iterator[Any]:
        """The values of all fields that mean it."""
        return (value for _, _, value in self._known.get(meaning, ()))

    def told(self) -> str:
        """What means nothing else, in the order of names: other fields, and further messages and loggers."""
        beside = (self._known.get(meaning, ())[1:] for meaning in (Meaning.MESSAGE, Meaning.LOGGER))
        others = [*self._others, *((name, value) for found in beside for _, name, value in found)]
        return " ".join(f"{name}={_value(value)}" for name, value in sorted(others, key=_NAME))


_UNKNOWN = (None, 0)
_TRACE = (Meaning.TRACEBACK, 0)  # whatever its field is called
_ORDER, _NAME = itemgetter(0), itemgetter(0)


def _opened(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record whose message stands in an object of its own, without that object."""
    return _of_tracing(_of_loguru(_of_event(record)))


def _of_event(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """An event of Kubernetes, of the pod or the node that it is about (core/v1 involvedObject, events/v1 regarding)."""
    about = next((value for name in ("involvedObject", "regarding") if isinstance(value := record.get(name), dict)), {})
    if about.get("kind") not in ("Pod", "Node") or "pod" in record or "node" in record:
        return record
    return {**record, about["kind"].lower(): about.get("name")}


def _of_tracing(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """``{"timestamp": ..., "level": ..., "fields": {"message": ...}, "target": ..., "span": {...}}`` of Rust's tracing.

    Who speaks stands beside the event (tracing-subscriber src/fmt/format/json.rs, 0.3), or in the span around it; a
    node that is a number is a socket of its machine.
    """
    inner, span = record.get("fields"), record.get("span")
    if "message" in record or not (isinstance(inner, dict) and "message" in inner):
        return record
    around = span if isinstance(span, dict) else {}
    told = {name: value for name, value in inner.items() if name != "node" or not _NUMBER.fullmatch(str(value))}
    outer = {name: value for name, value in record.items() if name not in ("fields", "span", "spans")}
    return {**told, **{name: value for name, value in around.items() if name != "name"}, **outer}


def _of_loguru(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """loguru's ``{"text": ..., "record": {...}}``; the text holds the traceback, behind the record's own line."""
    inner = record.get("record")
    if not (isinstance(inner, dict) and isinstance(record.get("text"), str)):
        return record
    extra, message = inner.get("extra"), str(inner.get("message", ""))
    fields = {
        "level": _within(inner.get("level"), "name"),
        "time": _within(inner.get("time"), "repr"),
        "logger": inner.get("name"),
        "message": message,
        "traceback": record["text"].partition(message)[2].strip("\n") if inner.get("exception") else None,
    }
    return (extra if isinstance(extra, dict) else {}) | {name: value for name, value in fields.items() if value}


def _within(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else value


def _flat(record: Mapping[str, Any], above: str = "", depth: int = 1) -> dict[str, Any]:
    """All fields by their path: ``log.level``. What is nested too deep is left out, and so is what is too much."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        path = f"{above}{name}"
        if isinstance(value, dict):
            fields |= _flat(value, f"{path}.", depth + 1) if depth < MAX_DEPTH else {}
        else:
            fields[path] = value
        if len(fields) >= MAX_FIELDS:
            break
    return fields


def _level(value: str) -> str:
    if value.isdecimal():
        return LEVEL_NUMBERS.get(value, value)
    return LEVELS.get(value.lower(), value.upper())


def _value(value: Any) -> str:
    if isinstance(value, str) and len(value) <= MAX_VALUE and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)[:MAX_VALUE]


def _time(value: str) -> Stamp:
    stamp = iso(as_bytes(value.strip()))
    return stamp if stamp.text else epoch(value)


def _whole(value: str | None) -> int | None:
    """A small number, or its digits."""
    return int(value) if value is not None and value.isdecimal() and len(value) < 7 else None


_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"
MAX_FRAMES = 1_000  # of one exception: Python's own limit of calls


_HEAD = "Traceback (most recent call last):"
# On one line: what stands for the ends of its lines, behind the head
_ON_ONE_LINE = re.compile(re.escape(_HEAD) + r" ?(?P<end>//|\\n|\||;) ")


def is_traceback(value: Any) -> bool:
    """Whether a value is a traceback as Python prints it."""
    return isinstance(value, str) and value.startswith(_HEAD)


def in_words(value: Any) -> Iterator[str]:
    """The lines of a traceback; none when the value is no traceback."""
    if isinstance(value, str):
        written = _ON_ONE_LINE.match(value)
        lines = value.split(written["end"]) if written else value.rstrip().splitlines()
        yield from (line.rstrip().removeprefix(" ") if written else line for line in lines)
    elif isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        yield from "\n".join(value).splitlines()
    elif isinstance(value, list):
        yield from _chain([entry for entry in value if isinstance(entry, dict)])


def _chain(stacks: list[dict[str, Any]]) -> Iterator[str]:
    """structlog has what was raised first, then its cause, then the cause of that; Python the other way round."""
    for place, stack in enumerate(reversed(stacks)):
        if place:
            yield from ("", _CAUSE if stacks[-place].get("is_cause") else _CONTEXT, "")
        yield from _exception(stack)


def _exception(stack: dict[str, Any]) -> Iterator[str]:
    frames = stack.get("frames")
    yield "Traceback (most recent call last):"
    for frame in frames[:MAX_FRAMES] if isinstance(frames, list) else ():
        if isinstance(frame, dict):
            yield f'  File "{frame.get("filename", "?")}", line {frame.get("lineno", 0)}, in {frame.get("name", "?")}'
            yield from (f"    {line}" for line in str(frame.get("line") or "").splitlines())
    kind, says = str(stack.get("exc_type", "Exception")), str(stack.get("exc_value", ""))
    yield from (f"{kind}: {says}" if says else kind).splitlines()
    notes = stack.get("exc_notes")
    yield from (str(note) for note in notes) if isinstance(notes, list) else ()
