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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from core.phrases import phrases_of, read_rules, rule_files
from tests.growth import pumps, seconds

ROOT = Path(__file__).resolve().parents[1]
RULES, CHOICES = "core/rules", "core/phrases.py"
PACKAGES = ("core", "bot", "faultlib", "sources")
# Characters of the texts whose times are compared, each four times as long as the one before. What takes long for one
# is not tried with the next: something cubic would take minutes.
LENGTHS = (256, 1024, 4096)
LONG = 1000.0  # times the reference: a text of 4,096 characters takes something linear some ten to a hundred of it
REFERENCE = re.compile("[a-z]+x|[0-9]{3}")  # linear
# Exponents: time grows as length to that power. Linear ones measure up to 1.2, quadratic ones 1.7 and more.
LINEAR, FASTER = 1.3, 1.5
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
    # A choice of hundreds takes as long as its worst: each of the rules is measured alone, and not their choice.
    found = {one: place for one, place in found.items() if not (place == CHOICES and one[0].startswith("u(?:"))}
    return found | {(f"u{pattern}", int(re.IGNORECASE | re.ASCII)): RULES for pattern in _of_rules()}


def _of_rules() -> Iterator[str]:
    """Every pattern of the rule files, whether it was needed yet or not."""
    for name in (file.name for file in (ROOT / RULES).glob("*.toml")):
        yield from _said(read_rules(name))
    for name in rule_files("facts"):
        yield from _said(read_rules(name))


def _said(rules: Mapping[str, Any]) -> Iterator[str]:
    for kind in rules.values():
        for rule in kind if isinstance(kind, list) else ():
            yield from (phrase.match for phrase in phrases_of(rule) if isinstance(rule, Mapping))


def exponent(pattern: re.Pattern[Any]) -> float:
    """By which power of the length the time grows, for the worst text that is made from the expression itself."""
    reference = seconds(REFERENCE, "", "1 ", 64)
    worst = 0.0
    for start, piece in pumps(_text(pattern), pattern.flags & ~re.DEBUG):
        power = _power(pattern, start, piece, reference)
        for _ in range(MORE_TRIES if power > max(worst, LINEAR) else 0):  # others may be using the machine
            power = min(power, _power(pattern, start, piece, reference))
        worst = max(worst, power)
    return worst


def _power(pattern: re.Pattern[Any], start: str, piece: str, reference: float) -> float:
    """Of the two longest texts that were tried."""
    if seconds(pattern, start, piece, LENGTHS[0] // 8) > LONG * reference:
        return math.inf
    times: list[tuple[int, float]] = []
    for length in LENGTHS:
        times.append((length, max(reference / 4, seconds(pattern, start, piece, length))))
        if times[-1][1] > LONG * reference:
            break
    if len(times) == 1:
        times.append((2 * length, seconds(pattern, start, piece, 2 * length)))
    (short, before), (long, after) = times[-2:]
    return math.log(after / before) / math.log(long / short)


def _text(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern


def _caller() -> str:
    """The file of the house that wants the expression; empty when somebody else does."""
    file = Path(sys._getframe(3).f_code.co_filename)
    mine = file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in PACKAGES
    return str(file.relative_to(ROOT)) if mine else ""


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
        sys.stderr.write(f"{place} {name[:100]}\n")  # the last one is where it hangs
        yield {"place": place, "pattern": name, "exponent": exponent(pattern)}


if __name__ == "__main__":
    for one in measured():
        sys.stdout.write(json.dumps(one) + "\n")
