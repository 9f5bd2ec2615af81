"""A speaker in the head of each line, in a file that several share: ``13:09:54 INFO [gpu-03/5] step 31``.

Nobody announces such a column, and no word marks it: it stands in one place behind the clock, and what it does tells
(``turns``). The column becomes the label; a machine and its rank may have a column each.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from core.logs.lines import mask
from core.logs.speaker_names import PLAIN_RANKS, NameReading, are_made_alike, count_all, count_their_total, find_reading
from core.logs.wraps.peeled import Wrap
from core.logs.wraps.shared_files import (
    ALL_DIGITS_ALIKE,
    HEAD,
    LABELLED,
    LEVEL,
    has_clock,
    has_no_clock,
    tells_of_an_error,
)
from core.logs.wraps.speaker_turns import ALWAYS, LEAST, NamedLine, names_that_return, take_turns
from core.logs.wraps.speakers import SpeakerWord, peel_all, together

SPEAKERS = "heads"  # the name of this layer
_TOKENS = 8  # words of a head: a date, a clock, a level, the name of a logger, a place in the code, the speaker
_MAX_SHAPES = 64  # of names, their digits apart, in one expression; a cluster has a few
_PAD = rb"(?: {0,6}(?=[0-9]{1,6}[\])>|}]))?"  # "[ 3]": numbers of one width
_WORD = re.compile(rb"[^\sA-Za-z0-9]{0,8}" + _PAD + rb"[A-Za-z0-9][^\s|]*")  # what is but a sign between words is none
# Brackets or a key around a name; a bare name must have letters, and a digit or several parts, as machines have.
_SPEAKER = rb"(?:(?:global|local)[ _-]?)?rank|rang|worker|proc(?:ess)?|task|host(?:name)?|node|machine|pod"
_SPEAKER_WORD = re.compile(_SPEAKER, re.IGNORECASE)
_OF_A_MACHINE = re.compile(rb"local.{0,8}|[gnx]pu|cuda|dev(?:ice)?|card|slot|lane", re.IGNORECASE)
_COUNTED = (
    rb"(?i:(?:step|epoch|iter(?:ation)?|batch|round|layer|block|fold|phase|pass|try|attempt|line|page|part|trial)s?\b)"
)
_TOKEN = re.compile(
    rb"(?P<open>[\[(<|{#]{0,2})"
    + _PAD
    + rb"(?P<key>(?i:"
    + _SPEAKER
    + rb")[ ]|(?!"
    + _COUNTED
    + rb")[A-Za-z]{2,16}[ ](?=r?[0-9]{1,4}[:\])>}|])|[A-Za-z_]{1,16}[=:#])?"
    rb"(?P<name>[A-Za-z0-9][A-Za-z0-9._/@#:\[-]{0,63}?)(?P<close>[\])>|}]{0,2}[:,;]?)(?=[ \t|]|$)(?! = )"  # a setting
)
_PROSE = re.compile(
    rb"(?!" + LEVEL + rb"\b)"
    rb"(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b)[A-Za-z]{2,}:?",
    re.IGNORECASE,
)
_MOST_PROSE = 1  # the name of a logger
_BARE = re.compile(
    rb"(?:[0-9]{1,6}[@/])?(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[@#:/]r?[0-9]{1,6})?"
    rb"|(?=[^.]*[A-Za-z])(?=.*(?:[0-9]|[A-Za-z][.-][A-Za-z]))[A-Za-z][A-Za-z0-9.@#:/-]+(?:\[[0-9]{1,6})?)"
)
_CLOCK = re.compile(
    rb"[\[(]?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?[0-9]{2}:[0-9]{2}:[0-9]{2}[0-9.,]{0,10}Z?[\])]?[ |]{1,3}"
)
_DIGITS = re.compile(rb"[0-9]+")
_DEVICES = (b"NVIDIA", b"Tesla", b"Quadro", b"GeForce", b"AMD Instinct")  # as gpustat (1.1) has them
_NO_SPEECH = re.compile(rb"\s*(?:$|(?:" + rb"|".join(_DEVICES) + rb") [^|]{1,80}\|)")
_DEVICE_WORDS = tuple(device.split()[0] for device in _DEVICES)  # nothing else that is masked begins so
_MIN_ALL = 3  # ranks, each on a machine of its own: two may be a ratio, or a date


@dataclass(frozen=True, slots=True)
class NamePlace:
    """Where a name may stand: its place among the words of a line, and what stands around it."""

    place: int
    open: bytes
    key: bytes
    close: bytes


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The columns of speakers, if there are any."""
    lines = [line for line in lines if not LABELLED.match(line)]
    heads = [line for line in lines if has_clock(line)]  # tracebacks have none; where most have none, few tell less
    tried = (heads, lines) if 2 * len(heads) > len(lines) else (lines, heads)
    columns = _fit(tried[0]) or (_fit(tried[1]) if len(heads) < len(lines) else [])
    if not columns:
        return None
    (first, *others) = columns
    stays = not (others or first.is_taken_off or first.reading.tells_node)
    return Wrap(
        SPEAKERS,
        partial(peel_all, columns),
        continues=_goes_on,
        goes_on=tells_of_an_error,
        cut=first.cut if stays else None,
    )


def _goes_on(line: bytes) -> bool:
    """Whether a line may go on with the record above it."""
    return has_no_clock(line) and not LABELLED.match(line)


def _fit(lines: Sequence[bytes]) -> Sequence[SpeakerWord]:
    """A column that tells both machine and rank, or one for each."""
    first = _find(lines) if lines else None
    if first is None or first.reading.tells_both:
        return [first] if first is not None else []
    behind = [peeled.text if (peeled := first.peel(line)) is not None else line for line in lines]
    second = _find(behind, beside=first.reading)
    return [first] if second is None else together(first, second, lines)


def _find(lines: Sequence[bytes], beside: NameReading | None = None) -> SpeakerWord | None:
    """The leftmost column of speakers; beside another one, one that tells what the other does not."""
    clock = _words_of_clock(lines)
    for column, named_lines in sorted(_by_column(lines).items(), key=_place):
        first = column.place == 0 or (column.place == clock and not column.open)
        everywhere = len(named_lines) >= ALWAYS * len(lines)
        always = first and everywhere
        if len(named_lines) < LEAST * len(lines) or _say_nothing(named_lines):
            continue
        in_turns, once_each = (
            _reading(column, names, always=always, everywhere=everywhere, beside=beside)
            for names in (names_that_return(named_lines), _names_of_all(named_lines))
        )
        if in_turns is None and once_each is None:  # whether they take turns is dear to ask: it masks all lines
            continue
        reading = in_turns if take_turns(named_lines, always=always) else once_each
        if reading is not None:
            padded = column.open != b"" and any(column.open + b" " in line[:HEAD] for line in lines)
            return _speakers(column, named_lines, reading, always=always or padded)
    return None


def _reading(
    column: NamePlace, names: Sequence[bytes], *, always: bool, everywhere: bool, beside: NameReading | None
) -> NameReading | None:
    """How these names of a column are read; None when they are not those of speakers, or tell what ``beside`` does."""
    if not names or (column.key == b"ip=" and column.close.startswith(b")")):
        return None  # the latter is of Ray's label, "(Worker pid=7, ip=10.0.0.7) ", which core.logs.lines reads whole
    # "<7>" is a priority of syslog, but behind that no blank stands
    is_enclosed = column.open in (b"[", b"(", b"{", b"<") or column.close[:1] == b"|"
    reading = find_reading(names, column.key[:-1], opens=everywhere and is_enclosed)
    is_open = reading is None or all(name.startswith(b"r") for name in names)  # no machine: r04, behind a word
    if is_open and column.key.endswith(b" ") and (always or column.open) and _count_all(names):
        # "shelf 5: ...", "<seat r06>", "[local 2]", from 0 on, in turns: whatever a rank is called
        reading = replace(PLAIN_RANKS, is_local=_OF_A_MACHINE.fullmatch(column.key[:-1]) is not None)
    # "<gpu-3 12>", of two words; "3| ..." in each line
    closes = (always or beside is not None) and column.close[:1] in (b"]", b")", b">", b"}", b"|")
    if reading is None or not (closes or _are_names(column, names, reading, everywhere=everywhere)):
        return None
    tells_the_same = beside is not None and (reading.tells_both or reading.tells_node == beside.tells_node)
    return None if tells_the_same else reading


def _say_nothing(named_lines: Sequence[NamedLine]) -> bool:
    """Whether most of them say nothing, or what device it is: a list of machines is told by somebody else."""
    said = (named.beside.lstrip() for named in named_lines)
    silent = sum(
        not words or (words.startswith(_DEVICE_WORDS) and _NO_SPEECH.match(named.rest) is not None)
        for named, words in zip(named_lines, said, strict=True)
    )
    return 2 * silent > len(named_lines)


def _count_all(names: Sequence[bytes]) -> bool:
    """Whether they are numbers in a row, from 0 or from a multiple of how many there are on, and enough of them."""
    numbers = sorted(int(name.removeprefix(b"r")) for name in names if name.removeprefix(b"r").isdigit())
    least = numbers[0] if len(numbers) == len(names) >= _MIN_ALL else 1
    return numbers == list(range(least, least + len(names))) and least % len(names) == 0


def _words_of_clock(lines: Sequence[bytes]) -> int:
    """How many words the clock has that nearly every line begins with; 0 where there is none."""
    found = [len(_WORD.findall(match[0])) for line in lines if (match := _CLOCK.match(line)) is not None]
    return found[0] if len(found) >= ALWAYS * len(lines) and len(set(found)) == 1 else 0


def _names_of_all(named_lines: Iterable[NamedLine]) -> list[bytes]:
    """Names that tell a machine and a rank each, and every rank once: however seldom most of them speak."""
    names = sorted({named.name for named in named_lines})
    return names if len(names) >= _MIN_ALL and (count_all(names) or count_their_total(names)) else []


def _place(item: tuple[NamePlace, list[NamedLine]]) -> tuple[int, bytes, bytes, bytes]:
    column = item[0]
    return column.place, column.open, column.key, column.close


def _by_column(lines: Iterable[bytes]) -> Mapping[NamePlace, list[NamedLine]]:
    found: dict[NamePlace, list[NamedLine]] = defaultdict(list)
    for line in lines:
        # whether a digit is a 3 or a 7 changes no column, and ranks print lines that differ in little else
        for column, start, stop, end in _columns(line[:_SEEN].translate(ALL_DIGITS_ALIKE)):
            found[column].append(NamedLine(line[start:stop], line[end : end + HEAD]))
    return found


_SEEN = HEAD + 128  # bytes: a token that begins in the head ends before, with its key, its name and what is behind it


@lru_cache(maxsize=1 << 12)  # heads of lines, their digits apart: a job has some hundred messages, in several widths
def _columns(line: bytes) -> tuple[tuple[NamePlace, int, int, int], ...]:
    """What may be a speaker: brackets, a key, or nothing but clocks and levels before it.

    Each with where its name begins and ends, and where all of it ends.
    """
    prose, found = 0, list[tuple[NamePlace, int, int, int]]()
    for place, word in enumerate(_WORD.finditer(line, 0, HEAD)):
        match = _TOKEN.match(line, word.start())
        if match is not None:
            opens, key, close = match.group("open", "key", "close")
            is_spoken = key is not None and key.endswith(b" ")  # behind a word it is talked about
            is_word = place > 0 and is_spoken and not opens and _is_any_word(key)
            is_marked = opens or (key and not is_spoken) or ((is_spoken or close) and not prose)
            if not is_word and (is_marked or (not prose and _BARE.fullmatch(match["name"]))):
                found.append((NamePlace(place, opens, key or b"", close), *match.span("name"), match.end()))
        prose += _PROSE.fullmatch(word[0]) is not None
        if place + 1 >= _TOKENS or prose > _MOST_PROSE:
            break
    return tuple(found)


def _is_any_word(key: bytes) -> bool:
    """Whether a key is a word that is no speaker's: in what is said any may stand before a number."""
    return key.endswith(b" ") and _SPEAKER_WORD.fullmatch(key.strip()) is None


def _are_names(column: NamePlace, names: Sequence[bytes], reading: NameReading, *, everywhere: bool) -> bool:
    """Whether these are marked as names, or made as such; everywhere: nearly every line has one.

    Machines before a colon, as pdsh puts them, are left to ``core.logs.lines``.
    """
    is_marked = bool(column.open or column.key)
    if reading.tells_rank:
        return is_marked or not names[0].isdigit()
    is_host_alone = all(name == speaker.node for name in names if (speaker := reading.read(name)) is not None)
    is_read_anyway = column.place == 0 and column.close == b":" and not is_marked and is_host_alone
    begins = column.place == 0 or is_marked
    return not is_read_anyway and ((everywhere and begins) or are_made_alike(names))


def _speakers(
    column: NamePlace, named_lines: Sequence[NamedLine], reading: NameReading, *, always: bool
) -> SpeakerWord:
    names = sorted({named.name for named in named_lines})
    shapes = sorted({_DIGITS.sub(rb"[0-9]+", re.escape(name).replace(rb"\-", b"-")) for name in names})[:_MAX_SHAPES]
    pattern = re.compile(
        # words, each with what stands before it: no sign is in two parts of this
        rb"^(?:[^A-Za-z0-9]*[A-Za-z0-9][^\s|]*(?:[ \t]|(?=\|))){%d}[^A-Za-z0-9]*?(?P<word>" % column.place
        + re.escape(column.open)
        + (_PAD if column.open else b"")
        + re.escape(column.key)
        + rb"(?P<name>"
        + rb"|".join(shapes)
        + rb")"
        + re.escape(column.close)
        + rb")(?=[ \t|]|$)"
    )
    is_pair = column.key.endswith(b"=")  # which ``named_pairs`` would find again
    before_table = 2 * sum(named.rest.lstrip().startswith(b"|") for named in named_lines) > len(named_lines)
    # templates of all speakers must be the same, and what stands before a table is none of its columns; what stands
    # before each line was put there, before the labels of launchers and the tracebacks that are read by their beginning
    differ = len({mask(name) for name in names}) > 1
    return SpeakerWord(pattern, reading, is_taken_off=always or is_pair or before_table or differ)
