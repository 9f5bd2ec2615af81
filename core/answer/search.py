"""Searching the lines of a job for words or for a pattern; who finds nothing says how much was searched."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.answer.job_lookup import LookResult, found_rows, span
from core.errors import UnreadableLog
from core.events.table import EventTable
from core.job import LogFile
from core.parsed import Parsed

MAX_SEARCHED = 4 << 30  # bytes that a search for words reads, some seconds; the answer says when there was more
_BLOCK = 1 << 22  # bytes that are searched at once: 4 MB, as measured below
_WINDOW = 400_000  # matching lines that are counted
# Measured on 4 MB: a table of beginnings 17 ms, a word that is looked for 2.2.
_MANY_WORDS, _BEGINNING, _DIGEST_BITS = 8, 4, 14


def search(
    parsed: Parsed,
    words: Sequence[str],
    *,
    node: str | None = None,
    rank: int | None = None,
    most: int = MAX_SEARCHED,
    whole: bool = False,
) -> LookResult:
    """Lines that hold all of the words, of a node or a rank if one is named; the rarest events first.

    Where the node said none, what others say of it by its name: srun lists whose tasks were killed.
    Case, the number of spaces and quotation marks are ignored, and "..." stands for anything: people quote by hand.

    Args:
        most: bytes that are read at most.
        whole: each word must begin where a word of the line begins, and end at most an ending later.
    """
    typed = [parts for word in words if (parts := _parts(word))]
    if not typed:
        return LookResult("There is nothing to search for.")
    searched_for = " and ".join(f"“{word}”" for word in words)
    longest = max((piece for parts in typed for part in parts for piece in part), key=len).encode().lower()
    patterns = [_as_word(parts) if whole else _as_typed(parts) for parts in typed]
    by_node = seek(parsed, patterns, searched_for, node=node, rank=rank, most=most, words=(longest,))
    if node is None or rank is not None or by_node.lines:
        return by_node
    named = re.compile(rb"(?<![\w.-])" + re.escape(node.partition(".")[0].encode()) + rb"(?![\w-])", re.IGNORECASE)
    by_others = seek(parsed, [*patterns, named], f"{searched_for} and names {node}", most=most, words=(longest,))
    return by_others if by_others.lines else by_node


_GAP = re.compile(r"\.{3,}|…")
_PIECE = re.compile("[^\\s\"'`“”„«»\u2018\u2019]+")  # of a quote: what must stand in the line as it is
# Spaces and quotation marks, escaped ones too
_BETWEEN = rb"(?:[\s\"'`\\]|\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]){1,12}"


def _parts(word: str) -> list[list[str]]:
    """What must stand in a line by a text that somebody typed from it: parts between gaps, each in pieces."""
    return [pieces for part in _GAP.split(word) if (pieces := _PIECE.findall(part))]


def _as_typed(parts: Sequence[Sequence[str]]) -> re.Pattern[bytes]:
    """An expression for such parts: between their pieces any spaces and quotation marks."""
    texts = [_BETWEEN.join(re.escape(piece.encode()) for piece in part) for part in parts]
    return re.compile(rb"[^\n]{0,400}?".join(texts), re.IGNORECASE)


def _as_word(parts: Sequence[Sequence[str]]) -> re.Pattern[bytes]:
    """The same within whole words: "ugh" stands in no "caught", "timeout" in "timeouts" and in "ReadTimeoutError"."""
    begins = rb"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
    return re.compile(begins + rb"(?i:" + _as_typed(parts).pattern + rb")(?:[a-z]{0,3}(?![a-z])|(?=[A-Z0-9_]))")


def seek(
    parsed: Parsed,
    patterns: Sequence[re.Pattern[bytes]],
    searched_for: str,
    *,
    node: str | None = None,
    rank: int | None = None,
    most: int = MAX_SEARCHED,
    latest: bool = False,
    words: Sequence[bytes] = (),
) -> LookResult:
    """Lines that hold all patterns, the rarest events first, or the latest.

    Args:
        what: the patterns in words.
        words: as for ``matching``.
    """
    kept, whole = matching(parsed, patterns, node=node, rank=rank, most=most, words=words)
    return tell(parsed, kept, searched_for, node=node, rank=rank, latest=latest, searched=None if whole else most)


def tell(
    parsed: Parsed,
    rows: Sequence[int],
    searched_for: str,
    *,
    node: str | None = None,
    rank: int | None = None,
    latest: bool = False,
    searched: int | None = None,
) -> LookResult:
    """The lines of rows that were searched for, as ``seek`` does; ``searched``: bytes, where that was not all."""
    table, kept = parsed.table, list(rows)
    where = f" of {node}" if node else f" of rank {rank}" if rank is not None else ""
    more = "" if searched is None else f" Only the first {searched >> 20:,} MiB were searched."
    if not kept:
        return LookResult(f"No line{where} holds {searched_for}.{more}")
    often = Counter(table.event[kept].tolist())
    if latest:
        kept.sort(key=lambda row: (-int(table.time[row]), -row))
    else:
        kept.sort(key=lambda row: (often[int(table.event[row])], int(table.time[row]), row))
    plural = "line holds" if len(kept) == 1 else "lines hold"
    hits = found_rows(
        parsed, f"{len(kept):,} {plural} {searched_for}{where}, {span(table, np.array(kept))}.{more}", kept
    )
    return replace(hits, total=len(kept))


def matching(
    parsed: Parsed,
    patterns: Sequence[re.Pattern[bytes]],
    *,
    node: str | None = None,
    rank: int | None = None,
    most: int = MAX_SEARCHED,
    words: Sequence[bytes] = (),
    others: Sequence[bytes] = (),
) -> tuple[list[int], bool]:
    """Rows of the lines that hold all patterns, file by file, and whether everything was searched.

    Args:
        words: one of these, in lower case, stands in each such line; an expression takes ten times as long to look.
        others: and one of these, too, where a line has one of the words.
    """
    table = parsed.table
    rows: list[int] = []
    left = most
    for number, name in enumerate(table.files):
        hits, read = _grep(parsed.files[name], patterns, left, (words, others))
        left -= read
        rows += rows_of_lines(table, number, hits)
    return [row for row in rows if _is_of(table, row, node, rank)], left > 0


def _is_of(table: EventTable, row: int, node: str | None, rank: int | None) -> bool:
    origin = table.origins[table.voice[row]]
    return (node is None or origin.node == node) and (rank is None or origin.rank == rank)


def _grep(
    file: LogFile, patterns: Sequence[re.Pattern[bytes]], most: int, words: tuple[Sequence[bytes], Sequence[bytes]]
) -> tuple[list[int], int]:
    """Numbers of the lines that hold all patterns, and the bytes that were read."""
    hits: list[int] = []
    number, read, unfinished = 1, 0, b""
    try:
        with file.open() as stream:
            while read < most and len(hits) < _WINDOW and (block := stream.read(_BLOCK)):
                read += len(block)
                lines, newline, unfinished = (unfinished + block).rpartition(b"\n")
                if newline:
                    hits += _hits(lines, patterns, number, words)
                    number += lines.count(b"\n") + 1
    except UnreadableLog:
        pass  # the diagnosis has told of it
    return [*hits, *_hits(unfinished, patterns, number, words)], read


def _hits(
    text: bytes, patterns: Sequence[re.Pattern[bytes]], number: int, words: tuple[Sequence[bytes], Sequence[bytes]]
) -> list[int]:
    """Numbers of the lines of a text that hold all patterns; the first line has the given number."""
    if words[0]:
        lines = [(at, line) for at, line in lines_with(text, words[0]) if _has_any(line, words[1])]
        return [number + at for at, line in lines if all(pattern.search(line) for pattern in patterns)]
    if not all(pattern.search(text) for pattern in patterns):
        return []
    return [
        number + at for at, line in enumerate(text.split(b"\n")) if all(pattern.search(line) for pattern in patterns)
    ]


def _has_any(line: bytes, words: Sequence[bytes]) -> bool:
    """Whether one of some words stands in a line; an expression of them all takes thrice as long."""
    lower = line.lower()
    for word in words:  # any() with a generator takes three times as long
        if word in lower:
            return True
    return not words


def lines_with(text: bytes, words: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a text in which one of some words stands, and the place of each among all.

    Of many words those places are looked at where any of them may begin: to look for each alone takes thrice as long.
    """
    lower = text.lower()
    many = len(words) >= _MANY_WORDS and min(map(len, words)) >= _BEGINNING
    starts = _starts_of_any(lower, words) if many else _starts_of_each(lower, words)
    place = last = 0
    for start in starts:
        place, last = place + text.count(b"\n", last, start), start
        end = text.find(b"\n", start)
        yield place, text[start : end if end >= 0 else len(text)]


def _starts_of_each(lower: bytes, words: Sequence[bytes]) -> Sequence[int]:
    starts = set[int]()
    for word in words:
        at = lower.find(word)
        while at >= 0:
            starts.add(lower.rfind(b"\n", 0, at) + 1)
            end = lower.find(b"\n", at)
            at = lower.find(word, end) if end >= 0 else -1
    return sorted(starts)


def _starts_of_any(lower: bytes, words: Sequence[bytes]) -> Iterator[int]:
    """The same, of words of at least four bytes: a table knows a digest of the beginning of each."""
    begins = np.array([int.from_bytes(word[:_BEGINNING], "little") for word in words], np.uint32)
    table = np.zeros(1 << _DIGEST_BITS, np.bool_)
    table[_digests(begins)] = True
    found = []
    for shift in range(_BEGINNING):
        cells = np.frombuffer(lower, "<u4", max(0, len(lower) - shift) // _BEGINNING, min(shift, len(lower)))
        found.append(np.flatnonzero(table[_digests(cells)]) * _BEGINNING + shift)
    each, done = tuple(words), 0
    for at in np.sort(np.concatenate(found)).tolist():
        if at >= done and lower.startswith(each, at):
            yield lower.rfind(b"\n", 0, at) + 1
            end = lower.find(b"\n", at)
            done = end if end >= 0 else len(lower)


def _digests(beginnings: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Knuth's multiplicative hash (The Art of Computer Programming 3, section 6.4): the upper bits of a product."""
    return (beginnings * np.uint32(2_654_435_769)) >> np.uint32(32 - _DIGEST_BITS)


def rows_of_lines(table: EventTable, file: int, lines: Sequence[int]) -> list[int]:
    """The last row of each of these lines of a file."""
    rows = table.rows_of_file(file)
    of_row = table.line[rows.start : rows.stop]
    places = np.searchsorted(of_row, np.array(lines, dtype=np.uint32), side="right") - 1
    return [rows.start + place for place, line in zip(places.tolist(), lines, strict=True) if of_row[place] == line]
