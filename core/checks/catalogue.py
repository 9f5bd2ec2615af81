"""The checks that exist: catalogue.toml beside this file, and a site's own of the same form."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from core.errors import BadSettings

Load = Literal["none", "light", "heavy"]
Scope = Literal["node", "pair", "group"]
Read = Literal["exit code", "text", "dcgm", "number", "json"]
LONGEST_S = 86_400.0  # a check of a day is none
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LIMITS = ("least", "most", "least_of_peers", "most_of_peers")


@dataclass(frozen=True, slots=True)
class Check:
    """A check: of each node, of pairs of them, or of all at once (``scope``).

    what: in words. command: words, in which {node} and the like are filled in. timeout_s: seconds. load: "none" may run
    beside a job. read: how its result is read. fail: of "text", what must not stand in the output. find: of "number" an
    expression with one group, of "json" the names on the way to a value. equals: the text that this value has to be.
    least, most: limits of the number; least_of_peers, most_of_peers: the same as factors of the middle of all nodes.
    needs: "root", or "idle" for an idle node although the load is none.
    """

    name: str
    what: str
    command: tuple[str, ...]
    timeout_s: float
    load: Load
    read: Read
    fail: str = ""
    scope: Scope = "node"
    needs: tuple[str, ...] = ()
    find: str = ""
    equals: str = ""
    least: float | None = None
    most: float | None = None
    least_of_peers: float | None = None
    most_of_peers: float | None = None

    @property
    def idle(self) -> bool:
        """Whether it may only run where no job does."""
        return self.load != "none" or "idle" in self.needs

    @property
    def among_peers(self) -> bool:
        """Whether its number is set against those of the other nodes."""
        return self.least_of_peers is not None or self.most_of_peers is not None


def catalogue() -> tuple[Check, ...]:
    """All checks of nodes that we know, in the order in which they are run."""
    path = Path(__file__).with_suffix(".toml")
    return read_catalogue(path.read_text(encoding="utf-8"), path.name)


def read_catalogue(text: str, name: str) -> tuple[Check, ...]:
    """The checks of a catalogue, in its order.

    Args:
        text: TOML, a table ``[[check]]`` for each.
        name: of the file, for what is said of it.

    Raises:
        BadSettings: it is no catalogue; says of which check, and why.
    """
    try:
        entries = tomllib.loads(text).get("check")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSettings(f"{name} is no TOML: {error}.", _HINT) from error
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise BadSettings(f"{name} has no [[check]].", _HINT)
    checks = tuple(_check(entry, f"Check {place} of {name}") for place, entry in enumerate(entries, start=1))
    names = [check.name for check in checks]
    if twice := next((word for word in names if names.count(word) > 1), None):
        raise BadSettings(f"{name} has two checks called {twice}.", "Give each its own name.")
    return checks


_HINT = "docs/how-to/checks.md shows what a catalogue looks like."


def _check(entry: Mapping[str, Any], where: str) -> Check:
    known = {field.name: field for field in fields(Check)}
    if strange := sorted(entry.keys() - known.keys()):
        raise BadSettings(f"{where} has a key that no check has: {strange[0][:40]}.", _HINT)
    if missing := [name for name, field in known.items() if field.default is MISSING and name not in entry]:
        raise BadSettings(f"{where} lacks {missing[0]}.", _HINT)
    try:
        check = Check(**{name: _typed(name, value) for name, value in entry.items()})
    except TypeError as error:
        raise BadSettings(f"{where} has a key that makes no sense: {error}.", _HINT) from error
    if wrong := _wrong(check):
        raise BadSettings(f"{where} ({check.name[:40]}): {wrong}.", _HINT)
    return check


def _typed(name: str, value: object) -> Any:
    """A value of the kind that its key has; raises TypeError."""
    if name in ("command", "needs"):
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise TypeError(f"{name} is a list of words")
        return tuple(value)
    if name == "timeout_s" or name in _LIMITS:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} is a number")
        return float(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text")
    return value


def _wrong(check: Check) -> str:
    """What is wrong with a check, in words; empty where nothing is."""
    limited = any(getattr(check, name) is not None for name in _LIMITS)
    numeric = check.read == "number" or (check.read == "json" and limited)
    rules = (
        (not _NAME.fullmatch(check.name), "a name has small letters, digits and hyphens, 40 at most"),
        (not check.command, "command is empty"),
        (not 0 < check.timeout_s <= LONGEST_S, f"timeout_s is above 0 and at most {LONGEST_S:,.0f}"),
        (check.load not in get_args(Load), "load is none, light or heavy"),
        (check.scope not in get_args(Scope), "scope is node, pair or group"),
        (check.read not in get_args(Read), f"read is one of {', '.join(get_args(Read))}"),
        (bool(set(check.needs) - {"root", "idle"}), "needs knows root and idle"),
        (check.read == "text" and _groups(check.fail) is None, "text needs fail, an expression"),
        (check.read == "number" and _groups(check.find) != 1, "number needs find, an expression with one group"),
        (check.read == "json" and not check.find, "json needs find, names with dots between them"),
        (check.read == "number" and not limited, f"number needs a limit: {', '.join(_LIMITS)}"),
        (check.read == "json" and not (limited or check.equals), "json needs equals, or a limit"),
        (limited and not numeric, "limits are for number and json"),
        (check.among_peers and check.scope != "node", "peers are for scope node"),
        (check.scope == "pair" and not check.idle, "pairs need idle nodes: load light or heavy"),
    )
    return next((says for applies, says in rules if applies), "")


def _groups(expression: str) -> int | None:
    """How many groups an expression has; None where it is none."""
    try:
        return re.compile(expression).groups if expression else None
    except (re.error, RecursionError, OverflowError):
        return None
