"""GNU parallel's ``--tag``: ``gpu-7<TAB>text``, the argument of the process that wrote it; its own lines have no tag.

GNU parallel src/parallel (20221122): --tagstring writes any text, then a tab.
"""

import re
from collections import Counter
from collections.abc import Sequence

from core.logs.wraps.peeled import Peeled, Wrap, evenly

_LINE = re.compile(rb"(?P<tag>(?=[^\t]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_.-]{0,127})\t(?!.*\t)")  # two tabs are a table
_OWN = re.compile(rb"parallel: |\s*$")
_MOST = 0.9  # of the other lines; parallel writes none without


def peel(line: bytes) -> Peeled | None:
    """What a process wrote, and its tag."""
    match = _LINE.match(line)
    if match is not None:
        return Peeled(line[match.end() :], nodes=(match["tag"],))
    return Peeled(line) if _OWN.match(line) else None


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Nearly all lines begin so, with two tags or more that come again."""
    tried = [line for line in evenly(lines) if not _OWN.match(line)]
    tags = Counter(match["tag"] for line in tried if (match := _LINE.match(line)))
    is_tagged = tags.total() >= _MOST * len(tried) and 2 <= len(tags) <= tags.total() / 2
    return Wrap("GNU parallel", peel) if is_tagged else None
