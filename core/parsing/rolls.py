"""The roll of a job: lines that tell, once for each of its processes, its number and its machine, in whatever words.

``>> rank 15 -> nid005121 gpu 3``, ``actor  9 registered from sim-c5:41009``, ``10.0.8.21 30050  # trainers 6,7``. No
phrase marks them; what they do tells: all numbers from 0 on, each once, on machines that job.json names, or that have
as many of them each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import PurePosixPath

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile, Manifest
from core.logs.hosts import MACHINE_NAME
from core.logs.paths import strip
from core.logs.voices import Program
from core.parsing.homes import names_only_tasks
from core.processes import MAX_NAMED, MAX_REPORTS

MAX_SHAPES = 64  # that are read: a job has a roll or two among what is said as often as it has processes
GLANCE, MAX_ROWS = 8, 1 << 14  # lines that are looked at first, and read in all: a roll or two of the largest jobs
MIN_NUMBERS = 2  # of one process nobody is told apart
_ANY_ADDRESS = "10.0.0.1"  # stands in for a masked one, as 0 does for a number
_RANKS = frozenset(
    ("rank", "process", "proc", "task", "worker", "trainer", "replica", "pe", "mpirank", "actor", "peer")
)
_OF_MACHINES = frozenset({"machine-rank", "node-rank", "machine_rank", "node_rank"})  # of launchers' own arguments
_NUMBERED = re.compile(
    r"(?<![\w.])(?P<word>(?:(?:machine|node|local)-)?[A-Za-z_]{2,24})[ :=#\[-]{1,4}"
    r"(?P<numbers>\d{1,6}(?:(?:, ?| |-|\.\.)\d{1,6}){0,64})(?![\w.])"
)
_LISTED = re.compile(r"(\d{1,6})(?:(?:-|\.\.)(\d{1,6}))?")
# Before a name that is a machine's for certain; "at" may be before a time too, such as "iter7"
_ON = re.compile(r"(?:\b(?:on|host(?:name)?|node|(?P<at>at))[ =:]{1,2}|\d ?@ ?)$", re.IGNORECASE)
_WORD = re.compile(r"[\w.-]*\w")


@dataclass(frozen=True, slots=True)
class Roll:
    """The numbers of each machine, and what they count: ranks, or processes that go by another word.

    speakers: the machine of each who said a line of it, where each said it of one.
    """

    word: str
    homes: Mapping[str, tuple[int, ...]]
    speakers: Mapping[str, str] = field(default_factory=dict)

    def counts(self, ranks: Collection[int]) -> bool:
        """Whether such a number is a rank: it is called so, or each of several ranks that spoke has one.

        Args:
            ranks: that spoke.
        """
        numbers = {number for own in self.homes.values() for number in own}
        return _is_rank(self.word) or set(ranks) == numbers

    def of_ranks(self, count: int) -> "Roll":
        """The same, where it counts machines, of so many ranks: launchers count them machine by machine."""
        each = -(-count // len(self.homes))
        if self.word not in _OF_MACHINES or each < 1:
            return self
        homes = {
            host: tuple(rank for number in own for rank in range(number * each, (number + 1) * each))
            for host, own in self.homes.items()
        }
        return replace(self, word="rank", homes=homes)


def find_roll(table: EventTable, files: Mapping[str, LogFile], manifest: Manifest) -> tuple[Roll | None, bool]:
    """The roll of most numbers; None where no lines are one. Machines are those that job.json names, or that spoke.

    And whether lines that may be one name more ranks than are read.
    """
    known = frozenset(manifest.nodes or (() if names_only_tasks(table) else table.nodes))
    found, left, is_capped = list[Roll](), MAX_ROWS, False
    for events in _shapes(table, known):
        rows = table.all_rows_of(events)
        rows = rows[table.head[rows]]
        if not MIN_NUMBERS <= len(rows) <= min(MAX_REPORTS, left):
            continue
        if _may_be_one(read_rows(files, table, rows[:GLANCE])):
            left -= len(rows)
            texts = read_rows(files, table, rows)
            speakers = [table.nodes[node] if node >= 0 else "" for node in table.node[rows].tolist()]
            said = [texts.get(row, "") for row in rows.tolist()]
            of_word = _numbers_of_words(said)
            is_capped |= any(_are_too_many(word, numbers) for word, numbers in of_word.items())
            found += _rolls(said, of_word, speakers, known, are_listed=bool(manifest.nodes))
    ranks = manifest.world_size or max(table.ranks, default=-1) + 1
    roll = max(
        (roll.of_ranks(ranks) for roll in found),
        key=lambda roll: (roll.counts(table.ranks), sum(map(len, roll.homes.values())), roll.word),
        default=None,
    )
    return roll, is_capped


def _may_be_one(texts: Mapping[int, str]) -> bool:
    """Whether some word has another number in each of the first lines."""
    numbers: dict[str, list[str]] = defaultdict(list)
    for text in texts.values():
        for word, number in {match["word"]: match["numbers"] for match in _NUMBERED.finditer(text)}.items():
            numbers[word].append(number)
    return any(len(of_word) == len(set(of_word)) == len(texts) for of_word in numbers.values())


def _shapes(table: EventTable, known: Collection[str]) -> Iterator[Sequence[int]]:
    """Events that are one message but for the name of a machine, the first to be said first."""
    shapes: dict[str, list[int]] = defaultdict(list)
    for event, template in enumerate(table.templates):
        if not template.block and 0 < table.heads[event] <= MAX_REPORTS:
            sample = template.sample.replace("<IP>", _ANY_ADDRESS).replace("<NUM>", "0")
            if _NUMBERED.search(sample) and (table.nodes or known or _hosts(sample)):
                shape = " ".join("*" if word in known else word for word in sample.split(" "))
                shapes[MACHINE_NAME.sub("*", shape)].append(event)
    heads = {shape: sum(int(table.heads[event]) for event in events) for shape, events in shapes.items()}
    likely = [shape for shape in shapes if MIN_NUMBERS <= heads[shape] <= MAX_REPORTS]
    return (shapes[shape] for shape in sorted(likely, key=lambda shape: min(shapes[shape]))[:MAX_SHAPES])


def _hosts(text: str) -> list[str]:
    """What looks like a machine in a line."""
    return [match["host"] for match in MACHINE_NAME.finditer(text)]


def _rolls(
    texts: Sequence[str],
    of_word: Mapping[str, Sequence[Sequence[int]]],
    speakers: Sequence[str],
    known: Collection[str],
    *,
    are_listed: bool,
) -> Iterator[Roll]:
    """The roll that these lines are, by each word that is numbered in all of them.

    Args:
        of_word: the numbers behind each word, line by line.
        speakers: the machine that said each, empty where nobody knows it; what no line names may be that.
        known: names of machines. are_listed: by job.json, and there are no others.
    """
    named = [[word for word in _WORD.findall(text) if word in known] for text in texts]
    hosts_of_line = named if are_listed or all(named) else [_hosts(text) for text in texts]
    columns = list(zip(*hosts_of_line, strict=False))
    columns += [tuple(speakers)] if all(speakers) and len(set(speakers)) < len(texts) else []
    for word, of_line in of_word.items():
        counted = sorted(number for own in of_line for number in own)
        if len(of_line) != len(texts) or counted != list(range(len(counted))) or len(counted) < MIN_NUMBERS:
            continue
        for hosts in columns:
            if all(word in host.lower() for host in hosts):
                continue  # the number is a part of the name: "trainer-worker-0"
            homes: dict[str, list[int]] = defaultdict(list)
            for host, own in zip(hosts, of_line, strict=True):
                homes[host] += own
            before = [_ON.search(text[: text.find(host)]) for host, text in zip(hosts, texts, strict=True)]
            spread = _is_rank(word) and not any(match["at"] for match in before if match)
            if _are_homes(homes, known, certain=all(before), may_be_spread=spread):
                pairs = set(zip(speakers, hosts, strict=True))
                of_speaker = dict(pairs) if len(pairs) == len(homes) == len(dict(pairs)) else {}
                ordered = sorted(homes, key=lambda of: homes[of])
                yield Roll(word, {host: tuple(sorted(homes[host])) for host in ordered}, of_speaker)
                break


def _numbers_of_words(texts: Iterable[str]) -> dict[str, list[tuple[int, ...]]]:
    """The numbers of each word, text by text; of more numbers together than any job has ranks the first ones."""
    of_word: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    left: dict[str, int] = defaultdict(lambda: MAX_NAMED)
    for text in texts:
        matches = reversed(list(_NUMBERED.finditer(text)))
        for word, listed in {_singular(match["word"].lower()): match["numbers"] for match in matches}.items():
            if left[word] > 0:
                of_word[word].append(_numbers(listed))
                left[word] -= len(of_word[word][-1])
    return of_word


def _are_too_many(word: str, of_line: Sequence[Sequence[int]]) -> bool:
    """Whether lists of ranks or machines, text by text, were read to a bound; other words have numbers of any kind."""
    longest = max(map(len, of_line), default=0)
    return (_is_rank(word) or word in _OF_MACHINES) and (longest == MAX_REPORTS or sum(map(len, of_line)) >= MAX_NAMED)


def _is_rank(word: str) -> bool:
    """Whether a rank of the whole job is called so."""
    return word.removeprefix("global_").removeprefix("world_") in _RANKS


def _singular(word: str) -> str:
    """Rank of ``ranks``, and of ``rank_id``."""
    word = word.strip("_").removesuffix("_id")
    return word.removesuffix("s") if not word.endswith("ss") else word


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list: "6,7", "0-3", "4"; of far too many the first ones."""
    spans = ((int(first), int(last or first)) for first, last in _LISTED.findall(text))
    return tuple(islice(chain.from_iterable(range(first, last + 1) for first, last in spans), MAX_REPORTS))


def _are_homes(
    homes: Mapping[str, Sequence[int]], known: Collection[str], *, certain: bool, may_be_spread: bool
) -> bool:
    """Whether these are machines with their processes: several that are known, or with equally many of them each.

    certain: their names stand where nothing but a machine's does. may_be_spread: then, unequally over them.
    """
    if len(homes) < MIN_NUMBERS:
        return False
    if (known and set(homes) <= set(known)) or (certain and may_be_spread):
        return True
    each = Counter(len(own) for own in homes.values())
    are_addresses = all(host.replace(".", "").isdigit() for host in homes)
    if len(each) > 1 or (next(iter(each)) == 1 and not (are_addresses or certain)):
        return False  # of names that come once each, any may be that of a thing with that number
    blocks = [sorted(own) for own in homes.values()]
    return all(own[-1] - own[0] == len(own) - 1 for own in blocks)  # launchers count machine by machine


def with_numbered_files(table: EventTable, roll: Roll) -> EventTable:
    """The table in which files that are called after the processes of a roll are of these: ``actor_09.log``.

    Where each process has one, and no rank or machine is known of any of them.
    """
    of_file = {file: _number_of(name, roll.word) for file, name in enumerate(table.files)}
    numbers = sorted(number for number in of_file.values() if number is not None)
    home = {number: node for node, own in roll.homes.items() for number in own}
    places = list(zip(table.origins, table.file_of_voice.tolist(), strict=True))
    is_known = any(origin.node or origin.rank is not None for origin, file in places if of_file.get(file) is not None)
    if is_known or not numbers or len(set(numbers)) < len(numbers) or set(numbers) - set(home):
        return table
    origins = [
        origin
        if (number := of_file.get(file)) is None
        else replace(origin, node=home[number], rank=number, program=Program.RANK)
        for origin, file in places
    ]
    return replace(table, origins=tuple(origins))


def _number_of(name: str, word: str) -> int | None:
    """The number behind a word that a file's name begins with."""
    stem = PurePosixPath(strip(name)).name
    match = _BEHIND.match(stem, len(word)) if stem.lower().startswith(word) else None
    return int(match[1]) if match else None


_BEHIND = re.compile(r"s?[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)
