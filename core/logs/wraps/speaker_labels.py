"""A label of machine and rank before the lines of all: ``[gpu-07] [rank 12] step 31``, ``3@gpu-07 | step 31``.

Before each line of one machine's ranks it is the rank alone: ``#3> step 31``.

Whatever stands around, between and before the two: the label ends where nothing but a machine and its rank has differed
(``core.logs.speaker_columns``). A launcher's lines beside them may name the machine alone, as ``pdsh`` does.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from core.logs.speaker_columns import Columns, find_columns, find_numbers, may_tell
from core.logs.wraps.peeled import Peeled, Wrap, evenly, never
from core.logs.wraps.shared_files import ALL_DIGITS_ALIKE, HEAD, LABELLED, has_clock, has_no_clock, tells_of_an_error
from core.logs.wraps.speaker_turns import ALWAYS, NamedLine, take_turns

MIN_WORDS, MAX_WORDS = 1, 6  # of a label: "host gpu-07 rank 3/16"
LEAST = 0.5  # of the lines have the label, of which no launcher says of what machine they are
LEAST_OF_ALL = 0.25  # of the lines are not a launcher's
MIN_EACH = 3  # lines of a speaker, on average
MAX_SPEAKERS = 1 << 12  # ranks of the largest jobs, with room
_OF_MACHINE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9.-]{0,62}: ")  # "gpu-07: starting 4 processes", as pdsh has it
_INDENTED = re.compile(rb"\s{1,64}[^\s0-9]")
_KEPT = 256  # bytes of a line whose signs are kept: a label of all words that it may have, and what is said behind it
_OF_TASKS = ((b"", b":"),)
_WORD = re.compile(rb"([ \[\](){}<>|:/@#,=_]{0,4})([A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*)")
_CLOSE = re.compile(rb"(?: ?\||[\])>}]{1,2}:?|:)?(?: |$)")
_PAD = re.compile(rb"(?:(?<=[\[(<{|])|^) {1,4}\Z|(?<= ) {1,4}")  # numbers of one width: "[ 3]"


class _Head(NamedTuple):
    """The beginning of a line: the signs around its first words, the words, and where what was said begins."""

    line: bytes
    shape: tuple[bytes, ...]
    words: tuple[str, ...]
    end: int


def _heads(line: bytes) -> dict[int, _Head]:
    """What may be the label of a line, by how many words it has."""
    # whether a digit is a 3 or a 7 changes no sign, and ranks print lines that differ in little else
    read = _shapes if len(line) <= _KEPT else _shapes.__wrapped__
    ends, shapes = read(line.translate(ALL_DIGITS_ALIKE))
    words = tuple(line[start:end].decode("ascii") for start, end in ends)
    return {count: _Head(line, shape, words[:count], end) for count, shape, end in shapes}


@lru_cache(maxsize=1 << 12)  # lines, their digits apart: a job has some hundred messages, in several widths
def _shapes(line: bytes) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, tuple[bytes, ...], int], ...]]:
    """Where the first words of a line stand, and for each number of them that may be a label its signs and its end."""
    found, signs, words, at = list[tuple[int, tuple[bytes, ...], int]](), list[bytes](), list[tuple[int, int]](), 0
    for count in range(1, MAX_WORDS + 1):
        match = _WORD.match(line, at)
        if match is None or _INDENTED.match(line):  # the latter is a row of a list that one tells of all
            break
        at = match.end()
        signs.append(_PAD.sub(b"", match[1]))
        words.append(match.span(2))
        close = _CLOSE.match(line, at)
        if close is not None and count >= MIN_WORDS:
            found.append((count, (*signs, close[0].rstrip()), close.end()))
    return tuple(words), tuple(found)


@dataclass(frozen=True, slots=True)
class _Label:
    """The label of a log: the signs around its words, those that are in all of them, and the columns that tell."""

    shape: tuple[bytes, ...]
    same: tuple[str | None, ...]
    columns: Columns

    def peel(self, line: bytes) -> Peeled | None:
        """The line without its label, of that machine and rank."""
        head = _heads(line).get(len(self.same))
        if head is None or head.shape != self.shape:
            return None
        told = self.columns.read(head.words) if _are_common(head.words, self.same) else None
        if told is None:
            return None
        node, number = told
        rank, local = (None, number) if self.columns.is_local else (number, None)
        return Peeled(line[head.end :], nodes=(node.encode(),) if node else (), rank=rank, local_rank=local)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The shortest label of most lines that tells a machine and a rank, and nothing else."""
    every, lines = lines, [line for line in lines if not (LABELLED.match(line) or _OF_MACHINE.match(line))]
    tried = (heads for heads in _alike(evenly(lines)) if len(lines) >= LEAST_OF_ALL * len(every))
    if not any(may_tell([head.words for head in heads]) for heads in tried):
        return None  # files of one speaker, and logs with other labels: nearly all
    for heads in _alike(lines):
        rows = sorted({head.words for head in heads})
        if len(rows) * MIN_EACH > len(heads) or len(rows) > MAX_SPEAKERS:
            continue
        columns = find_columns(rows) or (find_numbers(rows) if _is_before_each(every, heads) else None)
        if columns is None or not _are_speakers(heads, columns):
            continue
        same = [words[0] if len(set(words)) == 1 else None for words in zip(*rows, strict=True)]
        label = _Label(heads[0].shape, tuple(same), columns)
        names = frozenset(told[0].encode() for row in rows if (told := columns.read(row)) is not None)
        named = sum(label.peel(line) is not None for line in lines)
        goes_on = never if named >= ALWAYS * len(lines) else partial(_goes_on, names)
        return Wrap("speaker labels", label.peel, continues=goes_on, goes_on=tells_of_an_error)
    return None


def _is_before_each(lines: Sequence[bytes], heads: Sequence[_Head]) -> bool:
    """Whether nearly every line begins so; a number before a colon is that of srun's task."""
    return len(heads) >= ALWAYS * len(lines) and heads[0].shape not in _OF_TASKS


def _alike(lines: Sequence[bytes]) -> Iterator[list[_Head]]:
    """The heads of most lines, of two words and of more, as far as they are made alike."""
    every = [_heads(line) for line in lines]
    for count in range(MIN_WORDS, MAX_WORDS + 1):
        heads = [of[count] for of in every if count in of]
        shape, most = next(iter(Counter(head.shape for head in heads).most_common(1)), ((), 0))
        is_clock = any(has_clock(head.line[: head.end]) for head in heads[:1])
        is_marked = any(sign.strip() for sign in shape)  # columns that only blanks part are those of a table
        if most >= LEAST * len(lines) and is_marked and not is_clock:
            yield _without_strays([head for head in heads if head.shape == shape])


def _without_strays(heads: Sequence[_Head]) -> list[_Head]:
    """Those with the words that nearly all of them have: another line may begin with the same signs."""
    common: list[str | None] = []
    for words in zip(*(head.words for head in heads), strict=True):
        word, count = Counter(words).most_common(1)[0]
        common.append(word if count >= ALWAYS * len(heads) else None)
    return [head for head in heads if _are_common(head.words, common)]


def _are_common(words: Sequence[str], common: Sequence[str | None]) -> bool:
    return all(own in (None, word) for own, word in zip(common, words, strict=True))


def _are_speakers(heads: Sequence[_Head], columns: Columns) -> bool:
    """Whether names without a number, which may be those of anything, at least take turns, and numbers come again."""
    if columns.node is None:
        return sum(one.words != other.words for one, other in pairwise(heads)) > len({head.words for head in heads})
    if any(map(str.isdigit, heads[0].words[columns.node])):
        return True
    return take_turns(
        [NamedLine(repr(head.words).encode(), head.line[head.end : head.end + HEAD]) for head in heads], always=True
    )


def _goes_on(machines: Collection[bytes], line: bytes) -> bool:
    """Whether a line may go on with the record above it: no launcher says it of a machine."""
    return has_no_clock(line) and line.partition(b": ")[0] not in machines
