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
