"""How exceptions are written: ``package.Name: what it says``, and how that is told from other lines."""

import re
from dataclasses import dataclass

from core.logs.blocks.logger_records import is_record


@dataclass(frozen=True, slots=True)
class ExceptionText:
    """An exception as it was told: its rows (a printer may wrap it), and their text in one."""

    rows: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class TracebackPart:
    """A traceback that ends before a row, and the exceptions that it tells, in their order; none if it was cut off."""

    end: int
    exceptions: tuple[ExceptionText, ...] = ()


_WORD = r"(?:[^\W\d]|<NUM>|<HEX>)(?:\w|<NUM>|<HEX>)*"
_PATH = rf"{_WORD}(?:\.(?:{_WORD}|<locals>))*"
# ValueError: bad magic, KeyboardInterrupt, ray.exceptions.RayTaskError(ValueError): ray::work()
_TOLD = re.compile(rf"^(?P<type>{_PATH})(?P<of>\({_PATH}\))?(?P<says>:(?: .*)?)?$")
# Names that are exceptions whatever stands around them; and those of ranks that wrote at the same moment,
# KeyErrorKeyError: : 'step''step'.
_KNOWN = re.compile(
    r"^[\w.]*(?:Error|Exception|ExceptionGroup|Interrupt|Exit|Warning|Timeout|Failure|Fault|StopIteration)\b"
    r"|Error(?=[A-Z:]|$)"
)
_FUSED = re.compile(r"[a-z]Error(?=[A-Z]| ?:|$)")
_MODULE = re.compile(rf"^(?:(?:{_WORD}|<locals>)\.)+(?=[A-Z])")
_TWO_HUMPS = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]")


def is_known(text: str) -> bool:
    """Whether a row is an exception by its name alone."""
    return _KNOWN.search(text) is not None and not is_record(text)


def is_fused(text: str) -> bool:
    """Whether a row of ranks that write at the same time holds an exception, wherever it stands."""
    return _FUSED.search(text) is not None and not is_record(text)


def is_told(text: str) -> bool:
    """Whether a row is nothing but an exception with a well-known name, and what it says."""
    match = _TOLD.match(text)
    return match is not None and _KNOWN.match(match["type"]) is not None and not is_record(text)


def may_be(text: str) -> bool:
    """Whether a row may be an exception where one is due: ``queue.Empty``, ``Stuck: no progress``."""
    match = _TOLD.match(text)
    if match is None or is_record(text):
        return is_known(text)
    name = match["type"]
    shouts = match["says"] is not None and name[:1].isupper()
    return shouts or "." in name or _TWO_HUMPS.search(name) is not None or is_known(text)


def without_module(text: str) -> str:
    """An exception without the module of its type, which rich and structlog leave out, and versions move."""
    return _MODULE.sub("", text)


def type_of(text: str) -> str:
    """The name of an exception's type, without its module; empty when the row is none."""
    match = _TOLD.match(text)
    return match["type"].rpartition(".")[2] if match else ""
