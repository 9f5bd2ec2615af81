"""Who said what how often, and from when to when: counted while the files were read, so that nobody asks the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.logs.file_rows import FileRows


@dataclass(frozen=True, slots=True, eq=False)
class EventCounts:
    """How often each voice starts a message of each event: sorted by voice, then by event."""

    voice: NDArray[np.uint32]
    event: NDArray[np.uint32]
    heads: NDArray[np.int64]

    def count(self, voice: int, event: int) -> int:
        """How often a voice says an event."""
        first, last = np.searchsorted(self.voice, [voice, voice + 1])
        return int(self.heads[first:last][self.event[first:last] == event].sum())


@dataclass(frozen=True, slots=True, eq=False)
class VoiceCounts:
    """How many rows each voice has, and its first and last time (NO_TIME where none is known)."""

    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The distinct messages of some files, and of each file which one each of its messages is."""

    all: tuple[str, ...]
    of_file: tuple[NDArray[np.uint32], ...]


def number_texts(scans: Sequence[FileRows]) -> Texts:
    """Number the messages of files in the order in which they come."""
    numbers: dict[str, int] = {}
    of_file = tuple(
        np.array([numbers.setdefault(text, len(numbers)) for text in scan.texts], np.uint32) for scan in scans
    )
    return Texts(tuple(numbers), of_file)


def count_texts(scans: Sequence[FileRows], texts: Texts) -> dict[str, int]:
    """How often each distinct message starts."""
    message = joined([of[scan.tally.message] for scan, of in zip(scans, texts.of_file, strict=True)], np.int64)
    heads = joined([scan.tally.heads for scan in scans], np.int64)
    counts = np.bincount(message, heads, minlength=len(texts.all)).astype(np.int64)
    return dict(zip(texts.all, counts.tolist(), strict=True))


def said_by(
    scans: Sequence[FileRows], voices: Sequence[int], events: Sequence[NDArray[np.uint32]], kinds: int
) -> EventCounts:
    """Who said what how often.

    Args:
        voices: the first voice of each file.
        events: of each file the event of each of its messages.
        kinds: number of events.
    """
    voice = joined([scan.tally.prefix + first for scan, first in zip(scans, voices, strict=True)], np.int64)
    event = joined([of[scan.tally.message] for scan, of in zip(scans, events, strict=True)], np.int64)
    heads = joined([scan.tally.heads for scan in scans], np.int64)
    pairs, place = np.unique(voice * max(1, kinds) + event, return_inverse=True)
    voice, event = np.divmod(pairs, max(1, kinds))
    counts = np.bincount(place, heads, minlength=len(pairs)).astype(np.int64)
    return EventCounts(voice.astype(np.uint32), event.astype(np.uint32), counts)


def spoken_by(scans: Sequence[FileRows]) -> VoiceCounts:
    """Who spoke how much, from when to when, by the clocks as they stand."""
    tallies = [scan.tally for scan in scans]
    rows, first, last = (
        joined([getattr(tally, name) for tally in tallies], np.int64) for name in ("rows", "first", "last")
    )
    return VoiceCounts(rows, first, last)


def joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    """One array of all parts; an empty one of this kind where there are none."""
    return np.concatenate([np.zeros(0, kind), *parts])
