"""Every regular expression of the house and its growth: ``python -m tests.support.expressions``, as JSON lines.

In a process of its own, because an expression without end would hold up all other tests; and because expressions that
are made when they are first needed are found by compiling them anew.
"""

import ast
import importlib
import json
import math
import pkgutil
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from core.checks.catalogue import catalogue
from core.phrases import read_rules, rule_files
from tests.support.growth import pumps, seconds
from tests.support.phrases import phrases_of
from tests.support.places import ROOT

RULES, CHOICES = "core/rules", "core/phrases.py"
MADE = "faultlib/signature.py"  # from the events of patterns that people approve: as many as there are, in one form
PACKAGES = ("core", "bot", "faultlib", "sources")
CHECKS = "core/checks/catalogue.toml"
_MAKES = ("compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
# Characters of the texts whose times are compared, each four times as long as the one before. What takes long for one
# is not tried with the next: something cubic would take minutes.
LENGTHS = (256, 1024, 4096)
LONGER = 16384  # for those that seem to grow: a bound on a repeat is a step, after which all is linear again
# Times the reference, which has 64 characters: what takes less for a text of 4,096 is linear, for the square of it is
# eight million steps.
SHORT = 100.0
LONG = 1000.0  # times the reference: a text of 4,096 characters takes something linear some ten to a hundred of it
REFERENCE = re.compile("[a-z]+x|[0-9]{3}")  # linear
# Exponents: time grows as length to that power. Linear ones measure up to 1.3, quadratic ones 1.6 and more.
LINEAR, FASTER = 1.35, 1.5
MORE_TRIES = 3
LIST = ROOT / "tests" / "growth.toml"
_USES_RE = re.compile(r"\bre\s*\.\s*\w+\(")
USED = ("f07",)
ASKED = (
    "what did gpu018 log last?", "what does NCCL mean?", 'is there "timeout" anywhere?', "what is errno 28?",
    "which rocm?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """A call of ``re`` in the source, and its lines. text: as for ``house``; empty when it is made of parts."""

    place: str
    lines: range
    method: str
    text: str
    code: str


@cache
def sites() -> tuple[Site, ...]:
    """Every place where an expression is made or used without a name, whether it was ever reached or not."""
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return tuple(site for file in files for site in _sites_of(file, file.read_text(encoding="utf-8")))


def _sites_of(file: Path, source: str) -> Iterator[Site]:
    if _USES_RE.search(source):  # three of five do not, and to walk a tree takes long
        for node in ast.walk(ast.parse(source)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            if ast.unparse(node.func.value) == "re" and node.func.attr in _MAKES:
                held = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
                text = ("b" + held.decode("latin-1") if isinstance(held, bytes) else f"u{held}") if held else ""
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield Site(str(file.relative_to(ROOT)), lines, node.func.attr, text, ast.unparse(node.args[0]))


def unreached() -> list[Site]:
    """Expressions made of parts that nothing has made while ``house`` was looking."""
    return [
        site
        for site in sites()
        if not site.text and not any((str(ROOT / site.place), line) in _REACHED for line in site.lines)
    ]


_REACHED: set[tuple[str, int]] = set()


def house() -> dict[tuple[str, int], tuple[str, str]]:
    """Where each expression is compiled, and by which method it is used, by its text and flags.

    The text with a ``u`` before it, or a ``b`` for bytes as Latin-1.
    """
    found: dict[tuple[str, int], str] = {}
    compiled = cast("Any", re)._compile

    def noted(pattern: Any, flags: int) -> Any:
        result = compiled(pattern, flags)
        if (place := _caller()) and isinstance(result, re.Pattern):
            frame = sys._getframe(2)
            _REACHED.add((frame.f_code.co_filename, frame.f_lineno))
            found.setdefault(_key(result), place)
        return result

    cast("Any", re)._compile = noted
    try:
        modules = [importlib.import_module(name) for name in _modules()]
        _use()
    finally:
        cast("Any", re)._compile = compiled
    methods = _methods(modules)
    # A choice of hundreds takes as long as its worst: each of the rules is measured alone, and not their choice.
    placed = {
        key: (place, methods.get(key, "finditer"))
        for key, place in found.items()
        if not (place == CHOICES and key[0].startswith("u(?:")) and (place != MADE or key in methods)
    }
    texts = {text for text, _ in placed}
    for site in sites():  # what was not reached, and is written down whole
        if site.text and site.text not in texts:
            anchored = site.method in ("match", "fullmatch")
            placed[_key(_compiled(site.text, 0))] = site.place, site.method if anchored else "finditer"
    placed |= {_key(re.compile(check.fail)): (CHECKS, "finditer") for check in catalogue() if check.fail}
    return placed | {_key(re.compile(text, re.IGNORECASE | re.ASCII)): (RULES, "finditer") for text in _of_rules()}


def exponent(pattern: re.Pattern[Any], method: str, *, is_known: bool = False) -> float:
    """By which power of the length the time grows, for the worst text that is made from the expression itself.

    Of one that grows too fast, for the first such text: most of the time goes into those, and one is proof enough.

    Args:
        is_known: to grow; then it is measured although it takes little time.
    """
    worst, reference = 0.0, _reference()
    for start, piece in pumps(_text(pattern), pattern.flags & ~re.DEBUG):
        if not is_known and _is_short(pattern, start, piece, reference, method):
            continue
        worst = max(worst, _power(pattern, start, piece, reference, method, is_known=is_known))
        if worst > FASTER:
            break
    return worst


@cache
def _reference() -> float:
    """CPU seconds of the least of many tries: from one that was disturbed, too much would follow for the others."""
    return min(seconds(REFERENCE, "", "1 ", 64) for _ in range(100))


def _is_short(pattern: re.Pattern[Any], start: str, piece: str, reference: float, method: str) -> bool:
    """Whether even the longest text takes so little that there is nothing to measure; most of them do."""
    most = SHORT * reference / LENGTHS[-1]  # of a character
    return all(
        seconds(pattern, start, piece, length, method, tries=1) < most * length for length in (LENGTHS[0], LENGTHS[-1])
    )


def _power(pattern: re.Pattern[Any], start: str, piece: str, reference: float, method: str, *, is_known: bool) -> float:
    """Of the two longest texts that were tried, by the least time that each has taken."""
    times: dict[int, float] = {}

    def look(length: int) -> float:
        # One try of the longest text first: what that makes too slow is looked at again.
        tries = 1 if length == LENGTHS[-1] and length not in times else 3
        taken = max(reference / 4, seconds(pattern, start, piece, length, method, tries=tries))
        times[length] = min(taken, times.get(length, math.inf))
        return times[length]

    if look(LENGTHS[0] // 8) > LONG * reference:
        return math.inf
    last = next((length for length in LENGTHS if look(length) > LONG * reference), LENGTHS[-1])
    if _slope(times) > LINEAR:
        look(last)
    # Asked once: a shorter text that comes to lie below the limit at its second try may grow with the third power.
    longer = last == LENGTHS[-1] and times[last] < LONG * reference
    for _ in range(MORE_TRIES):  # others may be using the machine
        if _slope(times) <= LINEAR or (is_known and _slope(times) > FASTER):
            break
        if longer:
            look(LONGER)
        for length in sorted(times)[-2:]:
            look(length)
    return _slope(times)


def _slope(times: Mapping[int, float]) -> float:
    short, long = sorted(times)[-2:]
    return math.log(times[long] / times[short]) / math.log(long / short)


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                yield module.name


def _methods(modules: list[Any]) -> dict[tuple[str, int], str]:
    """How those are used that have a name: one that is only held against the start of a text is not searched for."""
    everywhere: dict[str, set[str]] = defaultdict(set)
    within: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in modules:
        source = Path(module.__file__).read_text(encoding="utf-8")
        for name, method in re.findall(r"\b(_?[A-Z][A-Z0-9_]*)\b(?:\.(\w+))?", source):
            everywhere[name].add(method)
            within[module.__name__, name].add(method)
    found: dict[tuple[str, int], str] = {}
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and found.get(_key(value)) != "finditer":
                used = (within[module.__name__, name] if name.startswith("_") else everywhere[name]) - {""}
                anchored = bool(used) and used <= {"match", "fullmatch"}
                found[_key(value)] = ("fullmatch" if "fullmatch" in used else "match") if anchored else "finditer"
    return found


def _of_rules() -> Iterator[str]:
    """Every pattern of the rule files, whether it was needed yet or not."""
    for name in (*(file.name for file in (ROOT / RULES).glob("*.toml")), *rule_files("facts")):
        for rules in read_rules(name).values():
            for rule in rules if isinstance(rules, list) else ():
                yield from (phrase.match for phrase in phrases_of(rule) if isinstance(rule, Mapping))


def _use() -> None:
    """Let everything be compiled that is compiled when it is needed: diagnose, ask, draw a page."""
    from bot.ask.about_topics import topics  # noqa: PLC0415
    from bot.fetch.jobs import Request  # noqa: PLC0415
    from bot.follow_up import follow_up  # noqa: PLC0415
    from bot.investigate import draft, investigate, page  # noqa: PLC0415
    from bot.settings import Settings  # noqa: PLC0415
    from faultlib.question_search import terms_of  # noqa: PLC0415

    settings = Settings(jobs=str(ROOT / "examples"))
    for job in USED:
        answer = draft(investigate(Request(job, use_cache=False), settings), settings)
        page(answer, version="0")
    for question in ASKED:
        follow_up(question, Request("f07"), settings, found=(answer.diagnosis, answer.known))
    topics()
    topics("quantities")
    terms_of(ASKED[0])


def _caller() -> str:
    """The file of the house that wants the expression; empty when somebody else does."""
    file = Path(sys._getframe(3).f_code.co_filename)
    mine = file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in PACKAGES
    return str(file.relative_to(ROOT)) if mine else ""


def _key(pattern: re.Pattern[Any]) -> tuple[str, int]:
    return ("b" if isinstance(pattern.pattern, bytes) else "u") + _text(pattern), pattern.flags


def _text(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else str(pattern.pattern)


def _compiled(text: str, flags: int) -> re.Pattern[Any]:
    return re.compile(text[1:].encode("latin-1") if text[0] == "b" else text[1:], flags)


def known() -> set[tuple[str, str]]:
    """Place and text of those that are known to grow: ``tests/growth.toml``."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["known"]
    return {(entry["place"], pattern) for entry in listed for pattern in entry["patterns"]}


def measured() -> Iterator[dict[str, object]]:
    """A dictionary for each: its place, text, method and exponent.

    What is not as it is listed is measured again after all others: tries that follow each other at once all meet the
    same busy machine (at a load of twelve two linear ones of 1,400 seemed to grow, at another one that grows did not).
    """
    later, listed = [], known()
    for (name, flags), (place, method) in sorted(house().items()):
        sys.stderr.write(f"{place} {name[:100]}\n")  # the last one is where it hangs
        pattern = _compiled(name, flags)
        is_known = (place, name) in listed
        power = exponent(pattern, method, is_known=is_known)
        if (power < LINEAR) if is_known else (power > FASTER):
            later.append((place, name, method, pattern, power))
        else:
            yield {"place": place, "pattern": name, "method": method, "exponent": power}
    for place, name, method, pattern, before in later:
        choose = max if (place, name) in listed else min
        power = choose(before, *(exponent(pattern, method) for _ in range(MORE_TRIES)))
        yield {"place": place, "pattern": name, "method": method, "exponent": power}


if __name__ == "__main__":
    for one in measured():
        sys.stdout.write(json.dumps(one) + "\n")
        sys.stdout.flush()
    for left in unreached():
        sys.stdout.write(json.dumps({"place": left.place, "unreached": left.code}) + "\n")
