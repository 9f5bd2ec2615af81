"""What differs between the code and arguments of two attempts; paths, seeds, dates and the like are no change."""

import re
from collections.abc import Mapping

from core.history.attempt import Attempt, End

_OWN = re.compile(
    r"seed|date|time|job.?id|run.?(?:id|name)|exp(?:eriment)?.?name|resume|load|restore|restart|attempt|log.?dir|output"
    r"|save.?(?:dir|path)|master|rdzv|node.?rank|host|port|wandb|tensorboard|^word \d+$",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"passw|secret|credential|(?:^|[^a-z])(?:api.?)?(?:key|token)s?$|auth", re.IGNORECASE
)  # no value is told
_PLACE = re.compile(r"^(?:\.{0,2}/|[a-z0-9]+://)")  # a path or a URL
_SHOWN = 40  # characters of a value


def changes(before: Attempt, after: Attempt) -> tuple[str, ...] | None:
    """What was added, removed or changed, a phrase each; None where either attempt tells nothing."""
    sentences = [
        f"code {_short(before.code)} to {_short(after.code)}"
        for _ in range(before.code is not None and after.code is not None and before.code != after.code)
    ]
    if not (before.arguments and after.arguments):
        return tuple(sentences) if before.code is not None and after.code is not None else None
    return (*sentences, *_arguments(before.arguments, after.arguments))


def last_good(attempts: list[Attempt]) -> Attempt | None:
    """The last attempt that made a checkpoint or iterations and was not ended by its own error."""
    good = [attempt for attempt in attempts if attempt.ended is not End.FAILED or attempt.checkpoints]
    return good[-1] if good else None


def _arguments(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    sentences = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new or _OWN.search(name) or any(value and _PLACE.match(value) for value in (old, new)):
            continue
        if _SECRET.search(name):
            sentences.append(f"{name} changed")
        elif old is None:
            sentences.append(f"{name} {_short(new)} added")
        elif new is None:
            sentences.append(f"{name} {_short(old)} removed")
        else:
            sentences.append(f"{name} {_short(old)} to {_short(new)}")
    return sentences


def _short(value: str | None) -> str:
    return value if value and len(value) <= _SHOWN else f"{(value or '')[: _SHOWN - 1]}…" if value else "(none)"
