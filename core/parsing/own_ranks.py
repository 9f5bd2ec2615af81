"""Which rank a file belongs to where neither its name nor a label tells, but its lines do: ``INFO [rank 1] ...``."""

import re
from collections.abc import Iterable, Mapping

from core.errors import UnreadableLog
from core.job import LogFile

MAX_FILES = 4096  # one a rank of the largest jobs
_SAMPLE = 1 << 16
MIN_LINES = 3  # of fewer, one that speaks of another rank would decide
# In the head of a line, behind clock and level: [rank 1], (rank=1), rank:1, RANK 1 |
_RANK = re.compile(
    rb"^.{0,96}?[\[(<|]\s?(?:global[_ ])?rank[ :=_]{0,2}(\d{1,6})\s?[\])>|:]", re.IGNORECASE | re.MULTILINE
)


def own_ranks(files: Mapping[str, LogFile], names: Iterable[str]) -> dict[str, int]:
    """The rank of each of these files whose lines name one rank and no other."""
    found = {}
    for name in sorted(names)[:MAX_FILES]:
        ranks = _RANK.findall(_head(files[name]))
        if len(ranks) >= MIN_LINES and len(set(ranks)) == 1:
            found[name] = int(ranks[0])
    return found


def _head(file: LogFile) -> bytes:
    try:
        with file.open() as stream:
            return stream.read(_SAMPLE)
    except UnreadableLog:
        return b""
