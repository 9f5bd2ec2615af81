"""Tracebacks in fields of a record, as lines: text, or the lists of structlog's ``dict_tracebacks``."""

import re
from collections.abc import Iterator
from typing import Any

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
