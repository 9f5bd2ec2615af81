"""Names of nodes and ranks as people order and say them."""

import re
from collections.abc import Sequence

_RANK = re.compile(r"rank (\d+)")


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Sort key by which "rank 9" comes before "rank 14", and node-2 before node-10."""
    parts = re.split(r"(\d+)", name)
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def together(names: Sequence[str]) -> str:
    """Several names in a sentence: "node-1, node-2", and of ranks "ranks 9, 14"."""
    ranks = [_RANK.fullmatch(name) for name in names]
    numbers = [match[1] for match in ranks if match]
    if len(numbers) > 1 and len(numbers) == len(names):
        return f"ranks {', '.join(numbers)}"
    return ", ".join(names)
