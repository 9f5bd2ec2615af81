"""Flow records as read, and what a person should know of how they were read."""

from dataclasses import dataclass

import polars as pl

from core.flows.table import REQUIRED


@dataclass(frozen=True, slots=True)
class Records:
    """A frame in the contract (core/flows/table.py) and sentences about the file: its clock, what is missing."""

    frame: pl.DataFrame
    remarks: tuple[str, ...] = ()


def none_of(what: str) -> Records:
    """Of a file that is whole and has nothing in it, as a collector writes in a quiet minute: no record, and that.

    Args:
        what: that it has none of ("packets").
    """
    return Records(pl.DataFrame(schema=REQUIRED), (f"the file holds no {what}",))


TOLD = "flow logs of a cloud are sums over an interval: jobs and shares of bytes, no steps"
DOCS = "docs/how-to/flows.md tells which flow logs of clouds are read."


def counted(count: int, what: str) -> tuple[str, ...]:
    """A sentence where there were any."""
    return (f"{count:,} {what}",) if count else ()


AHEAD_S = 86_400  # seconds that a flow can end after it was received, before its clock is called wrong
WRAP_DAYS = 2**32 / 86_400_000  # of a 32-bit uptime in milliseconds


def ahead_of(seconds: float | None) -> tuple[str, ...]:
    """A sentence where flows end long after they were received; their times are left as they are.

    Args:
        seconds: from when they were received to when they end.
    """
    if seconds is None or seconds <= AHEAD_S:
        return ()
    days = seconds / 86_400
    wrap = ", about 2^32 ms: softflowd does this to captures of the past" if abs(days - WRAP_DAYS) < 1 else ""
    return (f"the flows end {days:.1f} days after they were received{wrap}; their times are left as they are",)
