"""The iteration that an error names itself: "gradient norm is nan at step 2" knows it better than the line above."""

import re
from collections.abc import Iterable

from core.course.iterations import NO_ITERATION

_NAMED = re.compile(
    r"\b(?:global[_ ])?(?:steps?|iter(?:ation)?|update|(?:mini-?)?batch|round)[\"']?\s?[=:#]?\s?(\d{1,9})\b"
    r"(?!\s?[/.]\d|\s?[KMG]?i?B\b)",
    re.IGNORECASE,
)


def named_iteration(lines: Iterable[str], completed: int, interval: int) -> int | None:
    """The iteration that the lines of an error name; None where they name none, or one that cannot be.

    Args:
        completed: the iteration completed last before the error, NO_ITERATION where none was.
        interval: iterations between two that the logs print; the error comes before the next one is printed.
    """
    named = next((int(match[1]) for line in lines if (match := _NAMED.search(line))), None)
    if named is None or completed == NO_ITERATION:
        return named
    return named if completed <= named <= completed + max(1, interval) else None
