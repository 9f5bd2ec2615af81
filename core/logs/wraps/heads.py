"""A speaker in the head of each line, in a file that several share: ``13:09:54 INFO [gpu-03/5] step 31``.

Nobody announces such a column, and no word marks it; what it does tells. It stands in one place behind the clock, it
has few values, each of them comes again and again between the others, and under each the same messages stand: a counter
rises, a module's name has messages of its own, a level is not spread evenly. The column becomes the label.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.logs.lines import mask
from core.logs.wraps.peeled import Peeled, Wrap
from core.logs.wraps.shared import HEAD, has_clock, has_no_clock, tells_of_an_error

_TOKENS = 8  # words of a head: a date, a clock, a level, the name of a logger, a place in the code, the speaker
_LEAST = 0.6  # of the lines with a clock have the column; the others are of other programs
_ALWAYS = 0.95  # of the lines begin with it: who collects the lines of several puts the name before each
_MIN_EACH = 5  # lines of a speaker; of fewer nothing can be said
_FEW = 0.2  # speakers a line: of more values than that a column counts, or measures
_INTERLEAVED = 0.2  # changes of speaker a line; what comes in stretches is an epoch, an attempt, a phase
_SHARED = 0.5  # of the lines are messages that half of the speakers say
_MAX_SPEAKERS = 1 << 12
_MAX_SHAPES = 64
_WORD = re.compile(rb"\S+")
# Brackets or a key around a name; a bare name must have letters and a digit, as machines have.
_TOKEN = re.compile(
    rb"(?P<open>[\[(<|{]{0,2})(?P<key>[A-Za-z_]{1,16}[=:#])?(?P<name>[A-Za-z0-9][A-Za-z0-9._/@:-]{0,63}?)(?P<close>[\])>|}]{0,2}[:,;]?)"
)
_PROSE = re.compile(
    rb"(?!(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)[A-Za-z]{2,}:?", re.IGNORECASE
)
_MOST_PROSE = 1  # the name of a logger
_DIGITS = re.compile(rb"[0-9]+")
_BARE = re.compile(rb"(?=[^.]*[A-Za-z])(?=.*[0-9])[A-Za-z][A-Za-z0-9.-]+")
# A count or a measure is nobody's name: 12, 0.01s, 35%, 4.2GiB, 8it/s.
_MEASURED = re.compile(rb"[0-9]+(?:[.][0-9]+)?(?:%|[A-Za-z]?i?[Bb]|[munk]?s|secs?|min|h|it|[A-Za-z]{1,3}/s)?")
_RANK_KEY = re.compile(rb"(?:global_?)?rank|worker|proc(?:ess)?|task|r|w|p", re.IGNORECASE)
_NAME_AND_RANK = re.compile(rb"(?P<node>[A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)[/@:](?:r|rank)?(?P<rank>[0-9]{1,6})")
_RANK_AT_NODE = re.compile(rb"(?:r|rank)?(?P<rank>[0-9]{1,6})[/@](?P<node>[A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)")
_AT_NODE = re.compile(
    rb"[A-Za-z]{1,32}[-_]?[0-9]{1,6}@(?P<node>[0-9.-]{0,62}[A-Za-z][A-Za-z0-9.-]{0,62})"
)  # stage3@gpu-7
_RANK = re.compile(rb"(?:r|rank|w|worker|p|proc|task)?[-_]?(?P<rank>[0-9]{1,6})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """Where a name may stand: its place among the words of a line, and what stands around it."""

    place: int
    open: bytes
    key: bytes
    close: bytes


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The column of speakers, if there is one."""
    heads = [line for line in lines if has_clock(line)]
    return (_fit(heads) if heads else None) or _fit(lines)


def _fit(heads: Sequence[bytes]) -> Wrap | None:
    for column, said in sorted(_by_column(heads).items(), key=_place):
        is_read_anyway = column.place == 0 and column.close == b":" and not any(b"@" in one.name for one in said)
        if is_read_anyway:
            continue  # by core.logs.lines: hosts, as pdsh puts them
        always = not column.place and len(said) >= _ALWAYS * len(heads)
        if len(said) >= _LEAST * len(heads) and _are_speakers(column, said, always=always):
            return _wrap(column, said)
    return None


@dataclass(frozen=True, slots=True)
class Said:
    """A name in a column, and what stands behind it, masked."""

    name: bytes
    rest: bytes


def _place(item: tuple[Column, list[Said]]) -> tuple[int, bytes, bytes, bytes]:
    column = item[0]
    return column.place, column.open, column.key, column.close


def _by_column(lines: Iterable[bytes]) -> Mapping[Column, list[Said]]:
    found: dict[Column, list[Said]] = defaultdict(list)
    for line in lines:
        for column, match, end in _columns(line):
            found[column].append(Said(match["name"], mask(line[end : end + HEAD])[:40]))
    return found


def _columns(line: bytes) -> Iterator[tuple[Column, re.Match[bytes], int]]:
    """What may be a speaker: brackets, a key, or nothing but clocks and levels before it."""
    prose = 0
    for place, word in enumerate(_WORD.finditer(line, 0, HEAD)):
        match = _TOKEN.fullmatch(word[0])
        if match is not None:
            is_marked = match["open"] or match["key"] or (match["close"] and not prose)
            if is_marked or (not prose and _BARE.fullmatch(match["name"])):
                yield Column(place, match["open"], match["key"] or b"", match["close"]), match, word.end()
        prose += _PROSE.fullmatch(word[0]) is not None
        if place + 1 >= _TOKENS or prose > _MOST_PROSE:
            return


def _are_speakers(column: Column, said: Sequence[Said], *, always: bool) -> bool:
    """Whether a column holds who speaks; always: nearly every line begins with it, whatever program wrote it."""
    counts = Counter(one.name for one in said)
    names = [name for name, count in counts.items() if count >= _MIN_EACH]
    if not 2 <= len(names) <= min(_MAX_SPEAKERS, _FEW * len(said)) or not (
        _are_names(column, names) or (always and all(map(_BARE.fullmatch, names)))
    ):
        return False
    kept = [one for one in said if counts[one.name] >= _MIN_EACH]
    changes = sum(one.name != other.name for one, other in pairwise(kept))
    if len(kept) < _LEAST * len(said) or changes < _INTERLEAVED * len(kept):
        return False
    speakers: dict[bytes, set[bytes]] = defaultdict(set)
    for one in kept:
        speakers[one.rest].add(one.name)
    shared = sum(len(speakers[one.rest]) >= max(2, len(names) / 2) for one in kept)
    return shared >= _SHARED * len(kept)


def _are_names(column: Column, names: Sequence[bytes]) -> bool:
    """Whether all are made alike, and tell apart: ranks from 0 on, or names with a digit that differ in little."""
    numbers = [match["rank"] for name in names if (match := _RANK.fullmatch(name))]
    if len(numbers) == len(names):
        from_zero = min(map(int, numbers)) == 0 and max(map(int, numbers)) < 2 * len(numbers)
        return from_zero and (column.open != b"" or column.key != b"" or not names[0].isdigit())
    if any(_MEASURED.fullmatch(name) or (b"/" in name and not _read_both(name)) for name in names):
        return False  # 3/8 is a rank of so many, which other columns tell better
    alike = len({_DIGITS.sub(b"9", name) for name in names}) == 1
    return (alike and _DIGITS.search(names[0]) is not None) or _differ_in_little(names)


def _differ_in_little(names: Sequence[bytes]) -> bool:
    """p5-a, p5-b: one beginning, and one letter behind it."""
    first = min(names)
    shared = next(
        (at for at, pair in enumerate(zip(first, max(names), strict=False)) if pair[0] != pair[1]), len(first)
    )
    return shared >= 2 and all(len(name) - shared <= 2 for name in names)


def _wrap(column: Column, said: Sequence[Said]) -> Wrap:
    names = sorted({one.name for one in said})
    shapes = sorted({_DIGITS.sub(rb"[0-9]+", re.escape(name).replace(rb"\-", b"-")) for name in names})[:_MAX_SHAPES]
    pattern = re.compile(
        rb"^[ \t]*(?:\S+[ \t]+){%d}(?P<word>" % column.place
        + re.escape(column.open + column.key)
        + rb"(?P<name>"
        + rb"|".join(shapes)
        + rb")"
        + re.escape(column.close)
        + rb")(?=[ \t]|$)"
    )
    is_rank = all(_RANK.fullmatch(name) for name in names) and _means_rank(column, names)
    before_table = 2 * sum(one.rest.lstrip().startswith(b"|") for one in said) > len(said)
    # templates of all speakers must be the same, and what stands before a table is none of its columns
    differs = len({mask(name) for name in names}) > 1 or before_table

    def peel(line: bytes) -> Peeled | None:
        match = pattern.match(line)
        if match is None:
            return None
        node, rank = _read(match["name"], is_rank=is_rank)
        text = line[: match.start("word")] + line[match.end() :].lstrip() if differs else line
        return Peeled(text, nodes=(node,) if node else (), rank=rank)

    return Wrap("heads", peel, continues=has_no_clock, goes_on=tells_of_an_error)


def _means_rank(column: Column, names: Sequence[bytes]) -> bool:
    return all(name.isdigit() for name in names) or _RANK_KEY.fullmatch(column.key[:-1]) is not None


def _read_both(name: bytes) -> re.Match[bytes] | None:
    """A machine and a rank of it."""
    return _NAME_AND_RANK.fullmatch(name) or _RANK_AT_NODE.fullmatch(name)


def _read(name: bytes, *, is_rank: bool) -> tuple[bytes, int | None]:
    if (match := _read_both(name)) is not None:
        return match["node"], int(match["rank"])
    if (match := _AT_NODE.fullmatch(name)) is not None:
        return match["node"], None
    if is_rank and (alone := _RANK.fullmatch(name)) is not None:
        return b"", int(alone["rank"])
    return name, None
