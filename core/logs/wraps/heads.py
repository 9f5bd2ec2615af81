"""A speaker in the head of each line, in a file that several share: ``13:09:54 INFO [gpu-03/5] step 31``.

Nobody announces such a column, and no word marks it; what it does tells. It stands in one place behind the clock, it
has few values, each of them comes again and again between the others, and under each the same messages stand: a counter
rises, a module's name has messages of its own, a level is not spread evenly. The column becomes the label; a machine
and its rank may have a column each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from core.logs.lines import mask
from core.logs.speaker_names import Reading, are_made_alike, find_reading
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
_SAID = 40  # bytes of a message that tell it from another; what comes behind may be measured
_WORD = re.compile(rb"[^\sA-Za-z0-9]{0,8}[A-Za-z0-9]\S*")  # what is but a sign between words is none
# Brackets or a key around a name; a bare name must have letters, and a digit or several parts, as machines have.
_SPEAKER = rb"(?:(?:global|local)[ _-]?)?rank|worker|proc(?:ess)?|task|host(?:name)?|node|machine|pod"
_TOKEN = re.compile(
    rb"(?P<open>[\[(<|{#]{0,2})(?P<key>(?i:" + _SPEAKER + rb")[ ]|[A-Za-z_]{1,16}[=:#])?"
    rb"(?P<name>[A-Za-z0-9][A-Za-z0-9._/@:\[-]{0,63}?)(?P<close>[\])>|}]{0,2}[:,;]?)(?=[ \t]|$)"
)
_PROSE = re.compile(
    rb"(?!(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)"
    rb"(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b)[A-Za-z]{2,}:?",
    re.IGNORECASE,
)
_MOST_PROSE = 1  # the name of a logger
_BARE = re.compile(rb"(?=[^.]*[A-Za-z])(?=.*(?:[0-9]|[A-Za-z][.-][A-Za-z]))[A-Za-z][A-Za-z0-9.@/-]+(?:\[[0-9]{1,6})?")
_DIGITS = re.compile(rb"[0-9]+")


@dataclass(frozen=True, slots=True)
class Column:
    """Where a name may stand: its place among the words of a line, and what stands around it."""

    place: int
    open: bytes
    key: bytes
    close: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """A name in a column, and what stands behind it, masked."""

    name: bytes
    rest: bytes


@dataclass(frozen=True, slots=True)
class Speakers:
    """A column of speakers.

    pattern: finds the word of the column, and the name in it. is_taken_off: else the names stay in the text.
    """

    pattern: re.Pattern[bytes]
    reading: Reading
    is_taken_off: bool

    def peel(self, line: bytes) -> Peeled | None:
        """The line, of the speaker in its head."""
        match = self.pattern.match(line)
        name = self.reading.read(match["name"]) if match is not None else None
        if match is None or name is None:
            return None
        text = line[: match.start("word")] + line[match.end() :].lstrip() if self.is_taken_off else line
        return Peeled(text, nodes=(name.node,) if name.node else (), rank=name.rank, local_rank=name.local_rank)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The columns of speakers, if there are any."""
    heads = [line for line in lines if has_clock(line)]
    columns = (_fit(heads) if heads else []) or _fit(lines)
    return (
        Wrap("heads", partial(_peel, columns), continues=has_no_clock, goes_on=tells_of_an_error) if columns else None
    )


def _peel(columns: Sequence[Speakers], line: bytes) -> Peeled | None:
    """The line, of the speaker that the first column tells, and with what the second one adds."""
    said = columns[0].peel(line)
    for column in columns[1:]:
        inner = column.peel(said.text) if said is not None else None
        said = said.around(inner) if said is not None and inner is not None else said
    return said


def _fit(lines: Sequence[bytes]) -> list[Speakers]:
    """A column that tells both machine and rank, or one for each."""
    first = _find(lines)
    if first is None or first.reading.tells_both:
        return [first] if first is not None else []
    behind = [said.text if (said := first.peel(line)) is not None else line for line in lines]
    second = _find(behind, beside=first.reading)
    if second is None:
        return [first]
    nodes, ranks = (first, second) if first.reading.tells_node else (second, first)
    return [nodes, replace(ranks, reading=replace(ranks.reading, is_local=_begin_anew(lines, (first, second))))]


def _begin_anew(lines: Iterable[bytes], columns: Sequence[Speakers]) -> bool:
    """Whether a rank is on several machines: then it counts the processes of each."""
    homes: dict[int | None, set[bytes]] = defaultdict(set)
    for line in lines:
        if (said := _peel(columns, line)) is not None and said.nodes:
            homes[said.rank].update(said.nodes)
    return any(len(nodes) > 1 for rank, nodes in homes.items() if rank is not None)


def _find(lines: Sequence[bytes], beside: Reading | None = None) -> Speakers | None:
    """The leftmost column of speakers; beside another one, one that tells what the other does not."""
    for column, said in sorted(_by_column(lines).items(), key=_place):
        if len(said) < _LEAST * len(lines) or not _do_speak(said):
            continue
        names = _names(said)
        reading = find_reading(names, column.key[:-1])
        always = not column.place and len(said) >= _ALWAYS * len(lines)
        if reading is None or not _are_names(column, names, reading, always=always):
            continue
        if beside is None or not (reading.tells_both or reading.tells_node == beside.tells_node):
            return _speakers(column, said, reading)
    return None


def _place(item: tuple[Column, list[Said]]) -> tuple[int, bytes, bytes, bytes]:
    column = item[0]
    return column.place, column.open, column.key, column.close


def _by_column(lines: Iterable[bytes]) -> Mapping[Column, list[Said]]:
    found: dict[Column, list[Said]] = defaultdict(list)
    for line in lines:
        for column, match in _columns(line):
            found[column].append(Said(match["name"], mask(line[match.end() : match.end() + HEAD])[:_SAID]))
    return found


def _columns(line: bytes) -> Iterator[tuple[Column, re.Match[bytes]]]:
    """What may be a speaker: brackets, a key, or nothing but clocks and levels before it."""
    prose = 0
    for place, word in enumerate(_WORD.finditer(line, 0, HEAD)):
        match = _TOKEN.match(line, word.start())
        if match is not None:
            is_spoken = match["key"] is not None and match["key"].endswith(b" ")  # behind a word it is talked about
            is_marked = (
                match["open"] or (match["key"] and not is_spoken) or ((is_spoken or match["close"]) and not prose)
            )
            if is_marked or (not prose and _BARE.fullmatch(match["name"])):
                yield Column(place, match["open"], match["key"] or b"", match["close"]), match
        prose += _PROSE.fullmatch(word[0]) is not None
        if place + 1 >= _TOKENS or prose > _MOST_PROSE:
            return


def _names(said: Iterable[Said]) -> list[bytes]:
    """Those that come again, which tells speakers from what is counted."""
    counts = Counter(one.name for one in said)
    return sorted(name for name, count in counts.items() if count >= _MIN_EACH)


def _do_speak(said: Sequence[Said]) -> bool:
    """Whether a column does what that of speakers does: few names that take turns, and say the same."""
    names = set(_names(said))
    if not 2 <= len(names) <= min(_MAX_SPEAKERS, _FEW * len(said)):
        return False
    kept = [one for one in said if one.name in names]
    changes = sum(one.name != other.name for one, other in pairwise(kept))
    if len(kept) < _LEAST * len(said) or changes < _INTERLEAVED * len(kept):
        return False
    speakers: dict[bytes, set[bytes]] = defaultdict(set)
    for one in kept:
        speakers[one.rest].add(one.name)
    shared = sum(len(speakers[one.rest]) >= max(2, len(names) / 2) for one in kept)
    return shared >= _SHARED * len(kept)


def _are_names(column: Column, names: Sequence[bytes], reading: Reading, *, always: bool) -> bool:
    """Whether these are marked as names, or made as such; always: nearly every line begins with them.

    Machines before a colon, as pdsh puts them, are left to ``core.logs.lines``.
    """
    is_marked = bool(column.open or column.key)
    if reading.tells_rank:
        return is_marked or not names[0].isdigit()
    is_host_alone = all(name == said.node for name in names if (said := reading.read(name)) is not None)
    is_read_anyway = column.place == 0 and column.close == b":" and not is_marked and is_host_alone
    return not is_read_anyway and (always or are_made_alike(names))


def _speakers(column: Column, said: Sequence[Said], reading: Reading) -> Speakers:
    names = sorted({one.name for one in said})
    shapes = sorted({_DIGITS.sub(rb"[0-9]+", re.escape(name).replace(rb"\-", b"-")) for name in names})[:_MAX_SHAPES]
    pattern = re.compile(
        # words, each with what stands before it: no sign is in two parts of this
        rb"^(?:[^A-Za-z0-9]*[A-Za-z0-9]\S*[ \t]){%d}[^A-Za-z0-9]*?(?P<word>" % column.place
        + re.escape(column.open + column.key)
        + rb"(?P<name>"
        + rb"|".join(shapes)
        + rb")"
        + re.escape(column.close)
        + rb")(?=[ \t]|$)"
    )
    before_table = 2 * sum(one.rest.lstrip().startswith(b"|") for one in said) > len(said)
    # templates of all speakers must be the same, and what stands before a table is none of its columns
    return Speakers(pattern, reading, is_taken_off=len({mask(name) for name in names}) > 1 or before_table)
