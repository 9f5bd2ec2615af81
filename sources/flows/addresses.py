"""Addresses in two numbers of 64 bits each, as text that is made once for each address."""

from ipaddress import IPv4Address, IPv6Address

import polars as pl

MAPPED = 0xFFFF  # stands before an IPv4 address in the lower half, as in an IPv6 address that maps it


def address(high: int, low: int) -> str:
    """The text of an address."""
    if not high and low >> 32 == MAPPED:
        return str(IPv4Address(low & 0xFFFFFFFF))
    return str(IPv6Address(high << 64 | low))


def named(records: pl.DataFrame) -> pl.DataFrame:
    """Records with ``src`` and ``dst`` in place of the two halves of each (``high_src``, ``low_src``, ...)."""
    for end in ("src", "dst"):
        halves = [f"high_{end}", f"low_{end}"]
        distinct = records.select(halves).unique(maintain_order=True)
        texts = pl.Series(end, [address(*row) for row in distinct.iter_rows()], pl.String)
        codes = distinct.with_columns(texts.cast(pl.Categorical))
        records = records.join(codes, on=halves, how="left", maintain_order="left").drop(halves)
    return records
