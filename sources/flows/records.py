"""Flow records as read, and what a person should know of how they were read."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Records:
    """A frame in the contract (core/flows/table.py) and sentences about the file: its clock, what is missing."""

    frame: pl.DataFrame
    remarks: tuple[str, ...] = ()
