"""One budget for a message: pieces in reading order, the least telling dropped first, what was dropped counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.slack.blocks import MAX_BLOCKS, MAX_JSON, Blocks, json_size

ALWAYS = 100  # worth of what is never dropped
_RESERVE = 500, 2  # characters and blocks for the sentence that tells what is missing


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message. worth: the least goes first, of equals the last. kind: what it is called when counted."""

    blocks: Blocks
    worth: int = ALWAYS
    kind: str = ""


@dataclass(frozen=True, slots=True)
class FittedParts:
    """The parts that are shown, and how many of each kind are not."""

    parts: tuple[Part, ...]
    dropped: Mapping[str, int]


def fit(parts: Sequence[Part], *, most: Mapping[str, int] | None = None, characters: int = MAX_JSON) -> FittedParts:
    """As much as Slack takes, and of each kind at most so many; a message is read at 3 a.m."""
    kept = _within(parts, most or {})
    room, places = characters - _RESERVE[0], MAX_BLOCKS - _RESERVE[1]
    while _too_large(kept, room, places):
        candidates = [(part.worth, -at) for at, part in enumerate(kept) if part.worth < ALWAYS]
        if not candidates:
            break
        del kept[-min(candidates)[1]]
    dropped = Counter(part.kind for part in parts if part.kind and part.blocks)
    dropped.subtract(part.kind for part in kept if part.kind)
    return FittedParts(tuple(kept), {kind: number for kind, number in dropped.items() if number})


def _within(parts: Sequence[Part], most: Mapping[str, int]) -> list[Part]:
    seen: Counter[str] = Counter()
    kept = []
    for part in parts:
        if not part.blocks:
            continue
        seen[part.kind] += 1
        if seen[part.kind] <= most.get(part.kind, len(parts)):
            kept.append(part)
    return kept


def _too_large(parts: Sequence[Part], room: int, places: int) -> bool:
    blocks = [block for part in parts for block in part.blocks]
    return len(blocks) > places or json_size(blocks) > room
