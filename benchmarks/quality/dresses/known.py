"""Pairs whose answer differs, by name and reason: the page and the tests take them from here, and nowhere else."""

from collections.abc import Mapping

Pair = tuple[str, str]  # job, dress

KNOWN: Mapping[Pair, str] = {}
