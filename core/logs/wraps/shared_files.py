"""Files that several processes write to: which lines begin a record, and which may have lines below them."""

import re

LEVEL = rb"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"  # names nobody
HEAD = 120  # bytes; a speaker further right is somebody that the line talks about
_CLOCK = re.compile(rb"[0-9]{1,2}:[0-9]{2}:[0-9]{2}")
_CLOCK_WINDOW = 96  # as core.logs.lines looks for one
_ERROR = re.compile(rb"\b(?:ERROR|CRITICAL|FATAL|EXCEPTION|SEVERE)\b|(?i:\b(?:traceback|error|exception|fail\w*)\b)")


def has_clock(line: bytes) -> bool:
    """Whether a record begins here."""
    return _CLOCK.search(line, 0, _CLOCK_WINDOW) is not None


def has_no_clock(line: bytes) -> bool:
    """Whether a line may go on with the record above it."""
    return not has_clock(line)


def tells_of_an_error(record: bytes) -> bool:
    """Whether a traceback below a record is the record's own, and not that of another process that writes there."""
    return _ERROR.search(record) is not None
