# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Stacks of all threads when the program is told to end, where STACKS asks for them."""

import faulthandler
import os
import signal


def dump_stacks_when_ended() -> None:
    """On SIGTERM the interpreter first prints where every thread is, then ends as it would have."""
    if os.environ.get("STACKS"):
        faulthandler.register(signal.SIGTERM, all_threads=True, chain=True)
