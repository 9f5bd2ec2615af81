"""Lines that a logger wrote, as they look when they are masked: a clock, a level or an object stands first."""

import re

_LEVELS = r"DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE|SUCCESS|TRACE"
_CLOCK = r"(?:<NUM>[/.-]<NUM>[/.-]<NUM>[ T]|(?:[A-Z][a-z]{2} ){1,2})?<TS>"  # Spark's day has two figures of the year
# glog and absl: E<TS>, F<NUM> <TS> with the year; NeMo: [NeMo E <TS>
_LETTER = r"(?:NeMo )?[DIWEF] ?(?:<NUM> )?<TS>"
_RECORD = re.compile(rf"^[^\w<]*(?:{_CLOCK}|(?:{_LEVELS})\b|{_LETTER})|^\{{\"")
_LEVEL = re.compile(
    rf"^[^\w<]*(?:NeMo )?(?P<letter>[DIWEF]) ?(?:<NUM> )?<TS>|\b(?P<level>{_LEVELS})\b"
    r"|\[(?P<word>debug|info|warning|error|critical|exception|fatal) *\]"
    r"|\blevel(?:name)?\W{1,4}(?P<field>[a-z]+)\b"
)
_LEVEL_WITHIN = 160  # characters: clock, process, file and function may stand before it
_ERRORS = ("ERROR", "CRITICAL", "FATAL", "SEVERE", "EXCEPTION", "E", "F")


def is_record(text: str) -> bool:
    """Whether a logger wrote the row."""
    return _RECORD.match(text) is not None


def is_error(text: str) -> bool:
    """Whether a logger wrote the row at a level of errors."""
    return _level(text) in _ERRORS


def is_warning(text: str) -> bool:
    """Whether a logger wrote the row at the level of what it goes on after."""
    return _level(text) in ("WARN", "WARNING", "W")


def is_fatal(text: str) -> bool:
    """Whether a logger wrote the row at the level after which the process is aborted."""
    return _level(text) in ("FATAL", "CRITICAL", "F")


def message_of(text: str) -> str:
    """What stands behind the level of a record."""
    match = _LEVEL.search(text[:_LEVEL_WITHIN])
    return text[match.end() :] if match else text


def _level(text: str) -> str:
    match = _LEVEL.search(text[:_LEVEL_WITHIN]) if is_record(text) else None
    return next((name.upper() for name in match.groups() if name), "") if match else ""
