"""Every regular expression of the house, and how its time grows: ``python -m tests.patterns`` tells it as JSON lines.

In a process of its own, because an expression without end would hold up all other tests; and because expressions that
are made from rules, or when they are first needed, are found by compiling them anew.
"""

import importlib
import json
import math
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from tests.growth import pumps, seconds

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("core", "bot", "faultlib", "sources")
# Characters of the two texts of which the times are compared; beyond, what is cubic takes minutes.
SHORT, LONG = 500, 4000
FIRST = 60  # characters: what takes long for them is not tried with more
ENDLESS = 64.0  # times the reference: of FIRST characters something linear takes about as long as the reference itself
REFERENCE = re.compile("[a-z]+x|[0-9]{3}")  # linear in a text of digits
LINEAR = 1.2  # an exponent: time is length to that power. Linear ones measure 0.7 to 1.2, quadratic ones 1.7 to 2.1
FASTER = 1.55
MORE_TRIES = 3


def house() -> dict[tuple[str, int], str]:
    """Where each expression is compiled first, by its text and flags; bytes as Latin-1 with a ``b`` before it."""
    found: dict[tuple[str, int], str] = {}
    compiled = cast("Any", re)._compile

    def noted(pattern: Any, flags: int) -> Any:
        result = compiled(pattern, flags)
        if (place := _caller()) and isinstance(result, re.Pattern):
            text = result.pattern
            name = f"b{text.decode('latin-1')}" if isinstance(text, bytes) else f"u{text}"
            found.setdefault((name, result.flags), place)
        return result

    cast("Any", re)._compile = noted
    try:
        for package in PACKAGES:
            for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
        _use()
    finally:
        cast("Any", re)._compile = compiled
    return found


def exponent(pattern: re.Pattern[Any]) -> float:
    """By which power of the length the time grows, for the worst text that is made from the expression itself."""
    reference = _reference(FIRST)
    worst = 0.0
    for start, piece in pumps(_text(pattern), pattern.flags & ~re.DEBUG):
        if seconds(pattern, start, piece, FIRST) > ENDLESS * reference * 10:
            return math.inf
        measured = _power(pattern, start, piece)
        for _ in range(MORE_TRIES if measured > LINEAR else 0):  # somebody else may have been using the machine
            measured = min(measured, _power(pattern, start, piece))
        worst = max(worst, measured)
    return worst


def _power(pattern: re.Pattern[Any], start: str, piece: str) -> float:
    floor = _reference(SHORT) / 10
    short, long = (max(floor, seconds(pattern, start, piece, length)) for length in (SHORT, LONG))
    return math.log(long / short) / math.log(LONG / SHORT)


def _reference(length: int) -> float:
    return max(1e-7, seconds(REFERENCE, "", "1 ", length))


def _text(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern


def _caller() -> str:
    """The file of the house that wants the expression."""
    frame = sys._getframe(2)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in PACKAGES:
            return str(file.relative_to(ROOT))
        if "re" not in file.parts and not file.name.startswith(("re", "enum", "functools")):
            return ""
        frame = cast("Any", frame.f_back)
    return ""


def _use() -> None:
    """Let everything be compiled that is compiled when it is needed: diagnose, ask, draw a page."""
    from bot.investigate import Request, draft, follow_up, investigate, page  # noqa: PLC0415
    from bot.settings import Settings  # noqa: PLC0415

    settings = Settings(jobs=str(ROOT / "examples"))
    answer = draft(investigate(Request("f07", use_cache=False), settings), settings)
    page(answer, version="0")
    follow_up("what did node 1 log last?", Request("f07"), settings, found=(answer.diagnosis, answer.known))


def measured() -> Iterator[dict[str, object]]:
    """A dictionary for each: its place, text, flags and exponent."""
    for (name, flags), place in sorted(house().items()):
        text = name[1:]
        pattern: re.Pattern[Any] = re.compile(text.encode("latin-1") if name[0] == "b" else text, flags)
        print(place, name[:100], file=sys.stderr, flush=True)
        yield {"place": place, "pattern": name, "exponent": exponent(pattern)}


if __name__ == "__main__":
    for one in measured():
        print(json.dumps(one), flush=True)
