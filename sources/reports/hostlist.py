"""Lists of nodes as Slurm writes them: ``gpu[017-020,033],login1`` (its src/common/hostlist.c)."""

import re
from itertools import product

MOST = 65_536  # names; the largest clusters have less
_PART = re.compile(r"[^,\[\]]{1,253}(?:\[[0-9,-]{1,10000}\][^,\[\]]{0,253}){0,4}|[^,\[\]]{1,253}")
_NUMBERS = re.compile(r"\[([0-9,-]{1,10000})\]")


def expand(text: str) -> tuple[str, ...]:
    """The names in a list, in its order; a list that no Slurm writes, or of too many names, is one name."""
    found: list[str] = []
    for part in _PART.findall(text.strip()):
        pieces = _NUMBERS.split(part)
        choices = [_numbers(piece) if place % 2 else [piece] for place, piece in enumerate(pieces)]
        total = 1
        for choice in choices:
            total *= len(choice)
        if not total or total + len(found) > MOST:
            return (text.strip(),)
        found += ["".join(words) for words in product(*choices)]
    return tuple(found)


def _numbers(text: str) -> list[str]:
    """The numbers of "017-020,033", with their zeros; none where a range is no range or too long."""
    found: list[str] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first or (dash and not last) or "-" in last or len(part) > 2 * 9 + 1:
            return []
        low, high = int(first), int(last or first)
        if not 0 <= high - low <= MOST:
            return []
        found += [f"{number:0{len(first)}d}" for number in range(low, high + 1)]
    return found
