"""Counters that no rule knows: a number in a message that rises by the same step each time a rank says it again.

Frameworks print iterations in ever new words (``it   35 of 300``, ``batch 33/40``, ``update 12 nll 3.1``); what they
have in common is what the number does. Only asked where no line is in words of ``rules/iterations.toml``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import complains
from core.job import LogFile

MIN_TIMES = 6  # of one speaker; fewer numbers rise by chance,
FEW_TIMES, MIN_SPEAKERS = 3, 3  # but not where a word names them as a count, and so many speakers say them
MAX_TRIED = 40  # messages, those said most often first: what counts iterations is said in each
MAX_READ = 48  # lines of one speaker that are looked at,
MORE_READ = 768  # and so many where those repeat few numbers: 64 ranks may share a file
REGULAR = 0.8  # of the steps are the same: a line may be missing where ranks share a file
MAX_NUMBERS = 24  # in a line; a counter stands among the first
# A whole number by itself: no part of a clock, a date, a version, an address, a name or a fraction.
ALONE = r"(?<![\w./-])(?<!\d:)\d{1,9}(?![\w-]|[:.]\d|(?:,\d{3}){3}(?!\d))"
# The same, where none of those counts: one letter may stand before it ("e3 i370"), and around it letters of scripts
# that are written without spaces.
_MARKED = r"(?:(?<![A-Za-z0-9_./-])|(?<=[\s(\[|,][A-Za-z])|(?<=^[A-Za-z]))(?<!\d:)\d{1,9}(?![A-Za-z0-9_-]|[:.]\d)"
_TOTAL = re.compile(r"\s*(?:/|of)[\s=]*(\d{1,9})(?![\w.])")
_BEFORE = re.compile(r"([A-Za-z_]+)[\"']?[\s:=,;|#\[(]*$")
_COUNTS = re.compile(
    r"(?:global_?|mini_?|micro_?)?(?:steps?|iter(?:ation)?s?|it|batch(?:es)?|updates?|num_updates)(?:_?(?:idx|id|no|num|index))?",
    re.IGNORECASE,
)
# What rises steadily too, and is none: time, samples, bytes, what is tried again.
_MEASURES = re.compile(
    r"time|elapsed|took|after|seconds?|secs?|samples?|seen|tokens?|bytes|mem\w*|pid|process|rank|port|worker|node|size"
    r"|lines?|columns?|packages?|modules?|layers?|eta|remaining|part|shard|file|chunk|version|[gtp]?flops|retry|retries|tries|attempts?",
    re.IGNORECASE,
)
# What a job has learned from, which rises by as much with each step; asked for where nothing counts steps.
_LEARNED = re.compile(
    r"(?:num_|total_|global_|consumed_|trained_)?(?:samples|examples|tokens|tok|toks|records|images|frames)(?:_seen)?|seen",
    re.IGNORECASE,
)
LIKELY = 2  # of _quality: a word or a total alone, or a regular step beside a measurement
RANK_SKEW = 3  # ranks that share a file are this many iterations apart at most
_COUNTED = re.compile(  # what is counted, behind the number: "after 10 minibatches"
    r"\s(?:mini|micro)?-?(?:batch(?:es)?|steps|iterations|iters|updates)\b", re.IGNORECASE
)
_FRAME = re.compile(r"^\s*#<NUM>[: ]|\[<HEX>\]$")  # of a native stack, as gdb, glibc and dmlc number them
_FRACTION = re.compile(r"\d\.\d|(?<![\d:.,])\d{1,4},\d")  # no second of a clock: 04:00:05,000
# Of the number before it; in "ep=5 ms=205" it is the name of the next one.
_UNIT = re.compile(r"\s?(?:s|sec|secs|ms|us|seconds|min|h|%|[KMG]i?B|tokens|samples)\b(?!\s?[=:])")


class CountingEvent(NamedTuple):
    """An event whose messages count iterations, and what reads the number, and the total where it is printed."""

    event: int
    read: re.Pattern[str]


def find_counter(
    table: EventTable,
    files: Mapping[str, LogFile],
    among: NDArray[np.intp] | None = None,
    counted: Collection[int] = (),
    *,
    learned: bool = False,
) -> CountingEvent | None:
    """What counts iterations: the likeliest number of those that rise; None where none does.

    Args:
        among: voices that are listened to; None for all.
        counted: iterations that others count.
        learned: what a job has learned from counts, too: samples, tokens.
    """
    forms = (ALONE, _MARKED) if among is None else (ALONE,)
    asked = partial(_counting, counted=counted, learned=learned)
    found = [entry for number in forms for entry in _find(table, files, among, asked, number)]
    if not found:
        return None
    *_, place, event, number = max(found, key=lambda entry: entry[:-1])  # of the same in both forms the first
    return CountingEvent(event, _reader(-place, number))


def _find(
    table: EventTable,
    files: Mapping[str, LogFile],
    among: NDArray[np.intp] | None,
    asked: Callable[..., Iterator[tuple[int, int, bool]]],
    number: str,
) -> Iterator[tuple[int, bool, int, int, int, str]]:
    """What may count iterations among the numbers that stand so in a line: the likeliest has the most of each.

    How likely it is, whether it never begins anew (rows of a table do), how often it is said, minus its place in the
    line, its event, and the form of its number.
    """
    form = re.compile(number)
    for event, voice in _often(table, among):
        for place, quality, goes_on in asked(table, files, event, voice, form):
            yield quality, goes_on, int(table.heads[event]), -place, event, number


def _often(table: EventTable, among: NDArray[np.intp] | None) -> Iterator[tuple[int, int]]:
    """Events that some speaker says often enough, and who says each most; the most frequent first."""
    counts = table.counts
    order = np.lexsort((counts.voice, -counts.heads, counts.event))
    order = order if among is None else order[np.isin(counts.voice[order], among)]
    first = order[np.append(True, np.diff(counts.event[order]) > 0)] if len(order) else order
    speakers = np.bincount(counts.event, minlength=len(table.templates))[counts.event[first]]
    least = np.where(speakers >= MIN_SPEAKERS, FEW_TIMES, MIN_TIMES)
    enough = first[counts.heads[first] >= least]
    for entry in enough[np.lexsort((counts.event[enough], -counts.heads[enough]))][:MAX_TRIED].tolist():
        event = int(counts.event[entry])
        template = table.templates[event]
        is_said = not (template.block or complains(template.sample) or _FRAME.search(template.sample))
        if "<NUM>" in template.sample and is_said:
            yield event, int(counts.voice[entry])


def _counting(
    table: EventTable,
    files: Mapping[str, LogFile],
    event: int,
    voice: int,
    form: re.Pattern[str],
    *,
    counted: Collection[int],
    learned: bool,
) -> Iterator[tuple[int, int, bool]]:
    """As ``_rising``, of the last lines of a speaker with this event; of more of them where ranks share a voice."""
    rows = table.rows_of([event])[event]
    mine = rows[table.voice[rows] == voice]
    for most in (MAX_READ, MORE_READ):
        texts = read_rows(files, table, mine[-most:])
        found = list(_rising([texts[row] for row in sorted(texts)], counted, form, learned=learned))
        if found or len(mine) <= most:
            break
    yield from found


def _rising(
    texts: Sequence[str], counted: Collection[int], form: re.Pattern[str], *, learned: bool
) -> Iterator[tuple[int, int, bool]]:
    """Places of whole numbers that rise by the same step from line to line, and how likely each counts iterations.

    And whether it never begins anew.
    """
    lines = [list(form.finditer(text))[:MAX_NUMBERS] for text in texts]
    for place in range(min(map(len, lines), default=0)):
        matches = [line[place] for line in lines]
        numbers = [int(match[0]) for match in matches]
        step = _step(numbers)
        same = _counts_the_same(numbers, counted)
        steady = same or step == 1 or _is_regular(matches)
        quality = _quality(matches, steady=steady, learned=learned) if step else 0
        quality += 2 * (quality > 0 and same)
        if quality > LIKELY or (quality == LIKELY and len(texts) >= MIN_TIMES):
            yield place, quality, not _falls(numbers)


def _counts_the_same(numbers: Collection[int], counted: Collection[int]) -> bool:
    """Whether all of some numbers are among those that others count, or hold those in finer steps."""
    within = {number for number in counted if min(numbers) <= number <= max(numbers)}
    return within.issuperset(numbers) or (len(within) > 1 and within.issubset(numbers))


def _step(numbers: Sequence[int]) -> int:
    """The step by which most of the numbers rise; 0 where they do not. Ranks that share a file repeat a number."""
    steps = np.diff(numbers)
    rises = steps[steps > 0]
    least = max(FEW_TIMES, min(MIN_TIMES, len(numbers)))
    if len(rises) < least - 1 or len(set(numbers)) < least:
        return 0
    rises = rises[1:] if len(rises) > FEW_TIMES - 1 and numbers[0] <= 1 else rises  # 1, 10, 20: the first one always
    usual, count = Counter(rises.tolist()).most_common(1)[0]
    few_falls = _falls(numbers) * MIN_TIMES <= len(rises)
    return int(usual) if count >= REGULAR * len(rises) and few_falls else 0


def _falls(numbers: Sequence[int]) -> int:
    """How often numbers begin anew, as with an epoch."""
    return int((np.diff(numbers) < -RANK_SKEW).sum())


def _quality(matches: Sequence[re.Match[str]], *, steady: bool, learned: bool) -> int:
    """How much says that a number that rises counts iterations; 0 where a word says that it does not."""
    last = matches[-1]
    before, behind = last.string[: last.start()], last.string[last.end() :]
    word = _BEFORE.search(before)
    counted = _COUNTED.match(behind) is not None
    measures = word is not None and any(map(_MEASURES.fullmatch, (word[1], word[1].rpartition("_")[2])))
    of_samples = learned and steady and word is not None and _LEARNED.fullmatch(word[1]) is not None
    if _UNIT.match(behind) or (measures and not counted and not of_samples):
        return 0
    total = _TOTAL.match(behind)
    if word and word[1].lower().startswith("epoch"):  # counts only where nothing counts within it
        return LIKELY
    return (
        2 * (total is not None and int(total[1]) >= max(int(match[0]) for match in matches))
        + 2 * (counted or of_samples or (word is not None and _COUNTS.fullmatch(word[1]) is not None))
        + steady
        + (_FRACTION.search(last.string) is not None)
    )


def _is_regular(matches: Sequence[re.Match[str]]) -> bool:
    """Whether all steps are the same, but for repetitions by others who share the file, and within the first of them.

    1, 10, 20; and 1, 2, 3, 4, 8, 12.
    """
    numbers = np.array([int(match[0]) for match in matches])
    steps = np.diff(numbers)
    usual = steps[steps != 0][-1:]
    later = steps[(steps != 0) & (numbers[:-1] >= usual)] if len(usual) else steps
    return len(later) > 0 and len(set(later.tolist())) == 1


def _reader(place: int, number: str) -> re.Pattern[str]:
    """What finds the number in this place among the whole numbers of a line, and a total behind it.

    Each step is atomic: a line with fewer numbers would be tried with every choice among them, twice as many with each.
    """
    return re.compile(
        rf"^(?>.*?{number}){{{place}}}(?>.*?(?P<iteration>{number}))"
        r"(?:\s*(?:/|of)[\s=]*(?P<total>\d{1,9})(?![\w.]))?"
    )
