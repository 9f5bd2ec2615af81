"""Names of nodes and ranks as people order and say them."""

import re
from collections.abc import Collection, Iterable, Sequence

MAX_RUNS = 6  # runs of ranks that a sentence names
_PLAIN_WORD = re.compile(r"[a-z][a-z\u2019']{0,40}")  # no digit, sign or capital
_WHOLE = 999.5  # where rounding to three digits would need a power of ten
_OF_SEVERAL = {"runs": "run", "asks": "ask", "was": "were", "has": "have"}  # verbs that differ
_RANK = re.compile(r"rank (\d+)")
_DIGITS = 18  # of a number that is compared as one; Python refuses to read those of thousands


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Sort key by which "rank 9" comes before "rank 14", and node-2 before node-10."""
    parts = re.split(r"(\d+)", name)
    return tuple((part.isdecimal(), _number(part) if part.isdecimal() else 0, part) for part in parts)


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS


def together(names: Sequence[str]) -> str:
    """Several names in a sentence: "node-1, node-2", and of ranks "ranks 9, 14"."""
    ranks = [_RANK.fullmatch(name) for name in names]
    numbers = [match[1] for match in ranks if match]
    if len(numbers) > 1 and len(numbers) == len(names):
        return called([int(number) for number in numbers])
    return ", ".join(names)


def figure(number: float) -> str:
    """A number as a person writes it, with three digits, large ones whole and never as a power: 0.0294, 18.9, 6,979."""
    return f"{number:,.0f}" if abs(number) >= _WHOLE else f"{number:.3g}"


def sentence(text: str, names: Collection[str] = ()) -> str:
    """The text with a capital, unless its first word is one of the names, or has what only names have.

    Names of nodes and columns are told as they are written: a reader types or greps them.
    """
    first = text.split(" ", 1)[0].rstrip(",:;.")
    return text if first in names or not _PLAIN_WORD.fullmatch(first) else text[:1].upper() + text[1:]


def of_several(text: str) -> str:
    """What is said of one, "its own work took longer", "it runs on", as it is said of several."""
    subject, _, rest = text.partition(" ")
    verb, _, behind = rest.partition(" ")
    if subject == "it":
        return f"they {_OF_SEVERAL.get(verb, verb)} {behind}"
    return f"their {rest}" if subject == "its" else text


def folded(ranks: Iterable[int]) -> str:
    """Ranks as a reader likes them: "0-6, 8-15"."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    sentences = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:MAX_RUNS]]
    return ", ".join(sentences) + (", \u2026" if len(runs) > MAX_RUNS else "")


def called(ranks: Collection[int]) -> str:
    """The same with its noun: "rank 9", "ranks 9, 14"."""
    return f"rank{'s' * (len(set(ranks)) != 1)} {folded(ranks)}"
