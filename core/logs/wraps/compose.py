"""``docker compose logs``: ``trainer-1  | text``, the names of services or containers padded to one width.

docker/compose pkg/compose/logs.go, cmd/formatter/logs.go (2.29): the width is that of the longest name that writes.
"""

import re
from collections import Counter
from collections.abc import Sequence

from core.logs.wraps.peeled import Peeled, Wrap, evenly

_LINE = re.compile(rb"(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,127}) *\| ?")
_MOST = 0.9  # of the lines; compose writes no others but how containers ended
_BAR = b"|"


def peel(line: bytes) -> Peeled | None:
    """What a container wrote, and its name."""
    match = _LINE.match(line)
    return Peeled(line[match.end() :], nodes=(match["name"],)) if match else None


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Nearly all lines have their bar in one column, behind two names or more that come again."""
    tried = evenly(lines)
    found = [match for line in tried if (match := _LINE.match(line))]
    bars = Counter(match[0].index(_BAR) for match in found)
    names = Counter(match["name"] for match in found)
    aligned = bool(found) and max(bars.values()) >= _MOST * len(tried)
    return Wrap("docker compose", peel) if aligned and 2 <= len(names) <= len(found) / 2 else None
