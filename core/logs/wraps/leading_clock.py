"""A clock before each line, of ``aws logs tail --format short``, ``docker logs -t``, ``ts`` and the like.

The clock of a program looks the same, and ``core.logs.lines`` reads both; it is taken off for what stands behind it.
"""

import re

from core.logs.wraps.peeled import Peeled, Wrap, usual
from core.logs.wraps.stamps import iso

_CLOCK = re.compile(rb"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}[0-9.,]*(?:Z|[+-][0-9:]{4,5})?) ")


def peel(line: bytes) -> Peeled | None:
    """What stands behind a clock."""
    match = _CLOCK.match(line)
    return Peeled(line[match.end() :], iso(match[1])) if match else None


fit = usual(Wrap("clock", peel, weak=True))
