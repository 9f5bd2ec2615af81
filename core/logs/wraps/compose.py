"""``docker compose logs``: ``trainer-1  | text``, the names of services or containers padded to one width.

Others put names before a bar as well, and pad nothing: ``red  | text``.

docker/compose pkg/compose/logs.go, cmd/formatter/logs.go (2.29): the width is that of the longest name that writes.
"""

import re
from collections import Counter
from collections.abc import Sequence

from core.logs.speaker_names import PLAIN_RANKS
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.shared_files import LEVEL
from core.logs.wraps.speaker_turns import ALWAYS, NamedLine, take_turns

_LINE = re.compile(rb"(?!" + LEVEL + rb"\b)(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,127}) *\| ?")
_MOST = 0.9  # of the lines; compose writes no others but how containers ended
_BAR = b"|"


def peel(line: bytes) -> Peeled | None:
    """What a container wrote, and its name."""
    match = _LINE.match(line)
    return Peeled(line[match.end() :], nodes=(match["name"],)) if match else None


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Nearly all lines have a bar in one column, or behind names that take turns: two names or more that come again."""
    tried = evenly(lines)
    found = [match for line in tried if (match := _LINE.match(line))]
    bars = Counter(match[0].index(_BAR) for match in found)
    names = Counter(match["name"] for match in found)
    if not 2 <= len(names) <= len(found) / 2 or all(map(PLAIN_RANKS.form.fullmatch, names)):
        return None  # ranks before a bar are read with all others (core.logs.wraps.speaker_heads)
    is_aligned = max(bars.values()) >= _MOST * len(tried)
    return Wrap("docker compose", peel) if is_aligned or _take_turns(lines) else None


def _take_turns(lines: Sequence[bytes]) -> bool:
    """Whether nearly all lines have a name before a bar, and the names do what those of speakers do."""
    found = [match for line in lines if (match := _LINE.match(line))]
    named_lines = [NamedLine(match["name"], match.string[match.end() :]) for match in found]
    return len(found) >= _MOST * len(lines) and take_turns(named_lines, always=len(found) >= ALWAYS * len(lines))
