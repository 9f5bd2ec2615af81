"""What a program said at once: a line, or a block of lines that is one thing (``core.logs.blocks``).

A message's text depends on nothing but the message itself, so it is the same in every job and any order of files.
Blocks are found within one voice (a file and a prefix), because ranks interleave in shared files.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.logs.blocks import BLOCK_MARK, are_too_many_open, find_blocks, may_open
from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

NO_TEXT = "<BINARY>"
MAX_ODD = 0.3  # share of bytes that are no text; of random ones three in five
# Rows of a file at which a block is looked for, 10 us each: one of each of the MAX_VOICES ranks of core.logs.fold
MAX_OPENERS = 1 << 14
_SCANNED = 64  # speakers; to look for one takes 40 us a chunk, to sort its rows by speaker some milliseconds
_SORTED = 32  # chunks that stay sorted, a megabyte and a half each

_Number = TypeVar("_Number", np.intp, np.uint32)
# Numbers of body and prefix of the rows of a chunk: files are grouped chunk by chunk, however long they are.
ReadChunk = Callable[[int], tuple[NDArray[np.uint32], NDArray[np.uint32]]]


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Rows grouped into messages.

    message: uint32 a row, place in ``texts``. head: bool a row, True where a message starts.
    key: bool a row, True on the rows that say what happened (the line itself, or the verdict lines of a block).
    """

    message: NDArray[np.uint32]
    head: NDArray[np.bool_]
    key: NDArray[np.bool_]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """How the rows of a file make messages: each row stands for itself, but for the rows of blocks.

    of_body: the message of each body. rows: those of blocks, sorted, and message, head and key of each of them.
    skipped: rows that may open a block at which none was looked for, there being too many.
    unended: whether more tracebacks were open at once than are read, before any of them came to its exception.
    """

    texts: tuple[str, ...]
    of_body: NDArray[np.uint32]
    rows: NDArray[np.intp]
    message: NDArray[np.uint32]
    head: NDArray[np.bool_]
    key: NDArray[np.bool_]
    skipped: int = 0
    unended: bool = False

    def messages(self, body: NDArray[np.uint32], first: int = 0) -> Messages:
        """The messages of some rows in a row, from the row ``first`` on."""
        message = self.of_body[body] if len(body) else np.zeros(0, np.uint32)
        head, key = np.ones(len(body), np.bool_), np.ones(len(body), np.bool_)
        here = slice(*np.searchsorted(self.rows, (first, first + len(body))).tolist())
        rows = self.rows[here] - first
        message[rows], head[rows], key[rows] = self.message[here], self.head[here], self.key[here]
        return Messages(message, head, key, self.texts)


def group(body: NDArray[np.uint32], prefix: NDArray[np.uint32], bodies: Sequence[bytes]) -> Messages:
    """Group the rows of one file into messages.

    Args:
        body: uint32 a row, place in ``bodies``.
        prefix: uint32 a row; rows of one prefix are one voice.
        bodies: the distinct masked bodies of the file.
    """
    return find_messages([len(body)], lambda _: (body, prefix), bodies).messages(body)


def find_messages(
    sizes: Sequence[int], read: ReadChunk, bodies: Sequence[bytes], openers_at_most: int | None = None
) -> Grouping:
    """Find the messages of a file that is given chunk by chunk.

    Args:
        sizes: rows of each chunk.
        read: gives body and prefix of the rows of a chunk; asked for the same one several times.
        bodies: the distinct masked bodies of the file.
        openers_at_most: rows at which a block is looked for, the first and the last ones; MAX_OPENERS if not given.
    """
    raw = [_readable(text) for text in bodies]
    texts: dict[str, int] = {}
    of_body = np.array([texts.setdefault(refine(text), len(texts)) for text in raw], dtype=np.uint32)
    opens = np.array([may_open(text) for text in raw], dtype=np.bool_)
    bodies_of = _bodies_of(sizes, read)
    blocks: list[_Block] = []
    openers, who = _openers(sizes, read, opens)
    most = MAX_OPENERS if openers_at_most is None else openers_at_most
    skipped, unended = max(0, len(openers) - most), False
    for voice, starts in _voices(sizes, read, _bounded(openers, most), _bounded(who, most)):
        lines = VoiceLines(voice, lambda rows: [raw[at] for at in bodies_of(rows).tolist()])
        ahead = iter(starts.tolist())
        for found in find_blocks(lines, ahead):
            number = None if found.text is None else texts.setdefault(found.text, len(texts))
            keys = [int(voice.rows(key, key + 1)[0]) for key in found.keys]
            blocks.append(_Block(voice.rows(found.start, found.end), number, np.array(keys, np.intp)))
            unended |= are_too_many_open(found, starts)
        skipped += sum(1 for _ in ahead)
    return replace(_grouping(tuple(texts), of_body, blocks, bodies_of), skipped=skipped, unended=unended)


def is_block(text: str) -> bool:
    """Whether a message's text stands for a block."""
    return text.startswith(BLOCK_MARK)


def plain(text: str) -> str:
    """A message's text without the mark of a block."""
    return text.removeprefix(BLOCK_MARK)


def _readable(body: bytes) -> str:
    """The body as text; what is none (a core dump, a checkpoint called .log) is one event, not a million."""
    text = body.decode("utf-8", "replace")
    if text.isprintable() and "\ufffd" not in text:
        return text
    odd = sum(character == "\ufffd" or not (character.isprintable() or character.isspace()) for character in text)
    return NO_TEXT if odd > len(text) * MAX_ODD else text


# --- blocks -------------------------------------------------------------------------------------------------------

Rows = NDArray[np.intp]
BodiesOf = Callable[[Rows], NDArray[np.uint32]]


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rows of a block, its message (None: that of the row above it), and the rows that say what happened."""

    rows: Rows
    message: int | None
    keys: Rows


def _grouping(
    texts: tuple[str, ...], of_body: NDArray[np.uint32], blocks: Sequence[_Block], bodies_of: BodiesOf
) -> Grouping:
    known = [block for block in blocks if block.message is not None]
    rows, message = _rows_and_messages([(block.rows, block.message or 0) for block in known])
    late: dict[int, int] = {}
    headless = sorted((block for block in blocks if block.message is None), key=lambda block: int(block.rows[0]))
    for block in headless:  # when it is known what the row above belongs to
        above = int(block.rows[0]) - 1
        at = int(np.searchsorted(rows, above))
        if above in late:
            of_above = late[above]
        elif at < len(rows) and rows[at] == above:
            of_above = int(message[at])
        else:
            of_above = int(of_body[bodies_of(np.array([above]))][0])
        late |= dict.fromkeys(block.rows.tolist(), of_above)
    if late:
        rows, message = _rows_and_messages([(rows, message), (np.array(list(late), np.intp), list(late.values()))])
    head, key = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    head[np.searchsorted(rows, [int(block.rows[0]) for block in known])] = True
    for block in blocks:
        key[np.searchsorted(rows, block.keys)] = True
    return Grouping(texts, of_body, rows, message, head, key)


def _rows_and_messages(parts: Sequence[tuple[Rows, ArrayLike]]) -> tuple[Rows, NDArray[np.uint32]]:
    """Rows, sorted, and the message of each."""
    rows = np.concatenate([np.zeros(0, np.intp), *(rows for rows, _ in parts)])
    messages = [np.broadcast_to(np.asarray(message, np.uint32), rows.shape) for rows, message in parts]
    order = np.argsort(rows, kind="stable")
    return rows[order], np.concatenate([np.zeros(0, np.uint32), *messages])[order]


class _RowsOfSpeakers:
    """Which rows each speaker has, chunk by chunk; of many speakers those of all are found at once."""

    def __init__(self, speakers: int, firsts: Sequence[int], read: ReadChunk) -> None:
        """speakers: how many will be asked for."""
        self._read, self._firsts, self._all_at_once = read, firsts, speakers > _SCANNED
        self._looked: tuple[tuple[int, int], Rows] | None = None
        self._sorted: dict[int, tuple[Rows, NDArray[np.uint32]]] = {}

    def of(self, number: int, speaker: int) -> Rows:
        """Rows of a speaker in the chunk of this number; the last ones are remembered."""
        if self._looked is None or self._looked[0] != (number, speaker):
            rows = self._found(number, speaker) if self._all_at_once else self._scanned(number, speaker)
            self._looked = (number, speaker), rows
        return self._looked[1]

    def _scanned(self, number: int, speaker: int) -> Rows:
        return np.flatnonzero(self._read(number)[1] == speaker) + self._firsts[number]

    def _found(self, number: int, speaker: int) -> Rows:
        if number not in self._sorted:
            if len(self._sorted) == _SORTED:
                del self._sorted[next(iter(self._sorted))]
            prefix = self._read(number)[1]
            order = np.argsort(prefix, kind="stable")
            self._sorted[number] = order + self._firsts[number], prefix[order]
        rows, prefixes = self._sorted[number]
        bounds = np.array([speaker, speaker + 1], np.uint32)  # of another type all prefixes would be copied first
        return rows[slice(*np.searchsorted(prefixes, bounds).tolist())]


class _Voice:
    """The rows of a voice in its file; how many each chunk has is known, which ones is looked up where it is asked."""

    def __init__(
        self, speaker: int, ends: NDArray[np.int64], firsts: Sequence[int], rows_of_speakers: _RowsOfSpeakers
    ) -> None:
        """speaker: number of its prefix. ends: how many rows it has up to the end of each chunk."""
        self._speaker, self._ends, self._firsts, self._rows_of_speakers = speaker, ends, firsts, rows_of_speakers

    def __len__(self) -> int:
        return int(self._ends[-1])

    def rows(self, start: int, stop: int) -> Rows:
        """Rows of the places from start to stop."""
        parts, at, stop = [np.zeros(0, np.intp)], start, min(stop, len(self))
        while at < stop:
            number = int(np.searchsorted(self._ends, at, side="right"))
            before = self._before(number)
            parts.append(self._in_chunk(number)[at - before : stop - before])
            at += len(parts[-1])
        return np.concatenate(parts)

    def places(self, rows: Rows) -> Rows:
        """Where these rows, sorted, stand among those of the voice."""
        numbers = np.searchsorted(self._firsts, rows, side="right") - 1
        parts = [
            self._before(number) + np.searchsorted(self._in_chunk(number), rows[numbers == number])
            for number in np.unique(numbers).tolist()
        ]
        return np.concatenate([np.zeros(0, np.intp), *parts])

    def _before(self, number: int) -> int:
        return int(self._ends[number - 1]) if number else 0

    def _in_chunk(self, number: int) -> Rows:
        return self._rows_of_speakers.of(number, self._speaker)


def _openers(sizes: Sequence[int], read: ReadChunk, opens: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.uint32]]:
    """Rows that may open a block, and who says each of them."""
    opening, who = [np.zeros(0, np.intp)], [np.zeros(0, np.uint32)]
    for number, first in enumerate(_firsts(sizes) if opens.any() else ()):
        body, prefix = read(number)
        rows = np.flatnonzero(opens[body])
        opening.append(rows + first)
        who.append(prefix[rows])
    return np.concatenate(opening), np.concatenate(who)


def _voices(
    sizes: Sequence[int], read: ReadChunk, openers: Rows, who: NDArray[np.uint32]
) -> Iterator[tuple[_Voice, Rows]]:
    """Each voice that says what may open a block, and the places of that among its rows."""
    order = np.argsort(who, kind="stable")
    speakers, begins = np.unique(who[order], return_index=True)
    if not len(speakers):
        return
    firsts = _firsts(sizes)
    ends = np.cumsum([_counts_of(speakers, read(number)[1]) for number in range(len(sizes))], axis=0)
    rows_of_speakers = _RowsOfSpeakers(len(speakers), firsts, read)
    of_speakers = np.split(openers[order], begins[1:])
    for place, (speaker, own) in enumerate(zip(speakers.tolist(), of_speakers, strict=True)):
        voice = _Voice(speaker, ends[:, place], firsts, rows_of_speakers)
        yield voice, voice.places(own)


def _bounded(of_openers: NDArray[_Number], most: int) -> NDArray[_Number]:
    """Of too many rows that may open a block the first and the last ones."""
    if len(of_openers) <= most:
        return of_openers
    return np.concatenate([of_openers[: most // 2], of_openers[-(most // 2) :]])


def _counts_of(speakers: NDArray[np.uint32], prefix: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many rows each of some voices has in a chunk."""
    counts = np.bincount(prefix, minlength=int(speakers[-1]) + 1)
    return counts[speakers].astype(np.int64)


def _firsts(sizes: Sequence[int]) -> list[int]:
    """The first row of each chunk."""
    return [0, *accumulate(sizes)][:-1]


def _bodies_of(sizes: Sequence[int], read: ReadChunk) -> BodiesOf:
    """Bodies of rows of the file, sorted."""
    firsts = np.array([*_firsts(sizes), sum(sizes)], np.intp)

    def bodies_of(rows: Rows) -> NDArray[np.uint32]:
        parts, at = [np.zeros(0, np.uint32)], 0
        while at < len(rows):
            number = int(np.searchsorted(firsts, rows[at], side="right")) - 1
            stop = int(np.searchsorted(rows, firsts[number + 1]))
            parts.append(read(number)[0][rows[at:stop] - firsts[number]])
            at = stop
        return np.concatenate(parts)

    return bodies_of
