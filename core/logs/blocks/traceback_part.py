"""What a reader of one traceback gives back."""

from dataclasses import dataclass


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
