"""Numbers that lines carry beside a name: ``rss_mb=2187``, ``samples/sec: 50.3``, ``learning rate: 1.3E-04``.

What the course of iterations knows (loss, gradient norm, time) are series of the job; this reads any other number, and
tells who said it when.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.answer.search import rows_of_lines
from core.errors import UnreadableLog
from core.job import LogFile
from core.parsed import Parsed

MAX_BYTES = 1 << 30  # of a job that are read for numbers, a second or two
MAX_VALUES = 200_000  # values that are kept
MAX_BEFORE = 4_000  # bytes of a line before a number in which it is seen to be an argument
_BLOCK = 1 << 22
# What a job was given: by its name, or as an argument of a command line or of argparse's printed namespace
_GIVEN = re.compile(
    rb"(?:[a-z]{1,20}_){0,4}?(?:(?:target|goal|threshold|limit|cap|initial|init|default|requested)_|(?:max|min)_(?:lr|learn))"
)
_ARGUMENT = re.compile(rb"--[\w-]{0,60}$|\b(?:Namespace|TrainingArguments)\(")
_NUMBER = rb"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,3})?"
_BETWEEN = rb"[\"']?(?: ?[(\[][a-zA-Z/%]{1,12}[)\]])?[ \t]{0,4}[:=|]?[ \t]{0,12}\"?"


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Values beside one name, in the order of their clocks. rows: places in the event table. name: as in the lines."""

    name: str
    rows: NDArray[np.intp]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, kept: NDArray[np.bool_]) -> "Measured":
        """The measurements whose place in ``kept`` is True."""
        return Measured(self.name, self.rows[kept], self.values[kept])


def beside_name(name: str) -> re.Pattern[bytes]:
    """An expression for a number beside a name, itself an expression; case is ignored. Groups: the name, the number."""
    named = rb"(?<![a-z0-9_])(?<!--)((?:[a-z]{1,20}_){0,4}[a-z]{0,20}(?:" + name.encode() + rb")[a-z_]{0,12})"
    return re.compile(named + _BETWEEN + rb"(" + _NUMBER + rb")(?![0-9a-z_.:]{0,3}[:_])", re.IGNORECASE)


def measured(
    parsed: Parsed,
    value: re.Pattern[bytes],
    beside: re.Pattern[bytes] | None = None,
    *,
    voices: Collection[int] | None = None,
    given: bool = False,
) -> Measured:
    """All numbers beside a name; of several spellings the one that most lines have.

    Args:
        value: of ``beside_name``.
        beside: what the line must hold as well.
        voices: of the speakers whose lines are read; None: of all.
        given: whether what the job was given (a target, a limit) is wanted, which is no measurement, and not the rest.
    """
    table = parsed.table
    rows: list[int] = []
    names: list[bytes] = []
    values: list[float] = []
    left = MAX_BYTES
    for place, file in enumerate(table.files):
        hits, read = _numbers(parsed.files[file], value, beside, left)
        left -= read
        row_numbers = rows_of_lines(table, place, [hit[0] for hit in hits])
        at = dict(zip(table.line[np.array(row_numbers, np.intp)].tolist(), row_numbers, strict=True))
        kept = [hit for hit in hits if hit[0] in at and (_GIVEN.match(hit[1]) is not None) == given]
        kept = [hit for hit in kept if voices is None or int(table.voice[at[hit[0]]]) in voices]
        rows += [at[number] for number, _, _ in kept]
        names += [text for _, text, _ in kept]
        values += [value_ for _, _, value_ in kept]
    return _commonest(parsed, rows, names, values)


def _commonest(parsed: Parsed, rows: list[int], names: list[bytes], values: list[float]) -> Measured:
    if not rows:
        return Measured("", np.zeros(0, np.intp), np.zeros(0))
    spelt = sorted(set(names))
    chosen = max(spelt, key=lambda name: (names.count(name), name))
    kept = np.array([name == chosen for name in names])
    places, numbers = np.array(rows, np.intp)[kept], np.array(values)[kept]
    order = np.lexsort((places, parsed.table.time[places]))
    return Measured(chosen.decode(errors="replace"), places[order], numbers[order])


def _numbers(
    file: LogFile, value: re.Pattern[bytes], beside: re.Pattern[bytes] | None, most: int
) -> tuple[list[tuple[int, bytes, float]], int]:
    """Of each line that holds one: its number, the name as it stands, the value; and the bytes that were read."""
    hits: list[tuple[int, bytes, float]] = []
    number, read, rest = 1, 0, b""
    try:
        with file.open() as stream:
            while read < most and len(hits) < MAX_VALUES and (block := stream.read(_BLOCK)):
                read += len(block)
                whole, newline, rest = (rest + block).rpartition(b"\n")
                number = _read(whole, value, beside, number, hits) if newline else number
    except UnreadableLog:
        pass  # the diagnosis has told of it
    _read(rest, value, beside, number, hits)
    return hits, read


def _read(
    text: bytes,
    value: re.Pattern[bytes],
    beside: re.Pattern[bytes] | None,
    number: int,
    hits: list[tuple[int, bytes, float]],
) -> int:
    """Add what the lines of a text hold; the number of the line after it."""
    lines = text.split(b"\n")
    if value.search(text):
        for at, line in enumerate(lines, number):
            if (beside is None or beside.search(line)) and (match := value.search(line)):
                argument = _ARGUMENT.search(line[max(0, match.start() - MAX_BEFORE) : match.start()])
                name = b"requested_" + match[1] if argument else match[1]
                hits.append((at, name.lower(), float(match[2])))
    return number + len(lines)
