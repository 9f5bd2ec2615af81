"""The checks that exist, as catalogue.toml beside this file lists them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """A check of one node. timeout_s: seconds; load: none may run beside a job; read, fail: as in ``read_ran``."""

    name: str
    what: str
    command: tuple[str, ...]
    timeout_s: float
    load: Literal["none", "light", "heavy"]
    read: str
    fail: str = ""


def catalogue() -> tuple[Check, ...]:
    """All checks of nodes, in the order in which they are run."""
    told = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(Check(**{**one, "command": tuple(one["command"])}) for one in told["check"])
