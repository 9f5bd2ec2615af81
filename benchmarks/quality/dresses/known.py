"""Pairs whose answer differs, by name and reason: the page and the tests take them from here, and nowhere else."""

from collections.abc import Mapping

Pair = tuple[str, str]  # job, dress

KNOWN: Mapping[Pair, str] = {
    (
        "j01",
        "no job.json",
    ): "the address that two nodes name is taken for the master's, who names another; it is the silent worker's",
}
