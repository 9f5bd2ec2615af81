"""Who is apart in the last list of all ranks or nodes that somebody prints once a job stands still.

``phase of ranks: r0=reduce_scatter r1=reduce_scatter r2=fetch_batch``, or a line for each: ``c1-02  310  tokenize``. In
whatever words: where all others are told alike, one that is at something else, further behind, or far off in a number
is the one that they wait for.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.events.row_text import read_rows
from core.judge.ending import Ending
from core.naming import natural
from core.nodes.blame import Names
from core.nodes.rank_levels import is_wait
from core.nodes.rank_values import CLOCK
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MIN_RANKS

LISTED_APART = 0.6  # as who stood elsewhere when all gave up (core.nodes.waits): one look tells it of all of them
AGAIN = 3  # lists in a row that tell the same where no clock says how long nothing went on: one is any moment
FAR = 10.0  # times all others, or such a part of them: an age that grows on one alone, a device that alone is idle
MAX_FILES, MAX_ROWS = 16, 512  # of a job and of either end of each of its files: a tenth of a second
BETWEEN = 4  # lines within a list that are of nobody: its heading, a rule
_NAME = re.compile(r"[\w.-]{1,64}")
# A rank by its number: r0=, rank 3:, worker 5 idle, [7] idle, 0:41
_NUMBERED = re.compile(
    r"(?<![\w.:-])(?:(?:r|w|p|rank|worker|proc(?:ess)?|task|gpu)[ _#-]?\[?(\d{1,5})\b\]?(?=\s?[=:(]|\s)"
    r"|\[(\d{1,5})\]|(\d{1,5})(?=\s?[=:(]))",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?P<number>(?<![\w.])-?\d{1,12}(?:\.\d{1,9})?)|(?P<word>(?<!\d)[A-Za-z][\w:.-]{0,63})")
# A list of who is in which collective tells of another branch of the program, and not of a machine
_COLLECTIVE = re.compile(
    r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|barrier|send|recv", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Who is told otherwise than all others in a list: its place among them, what it has and what they have."""

    subject: str
    own: str
    usual: str


def last_list_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str], names: Names) -> list[Sign]:
    """A sign for the node of the only one that the last lists tell otherwise than all others.

    Args:
        home: node of each rank.
    """
    if len(parsed.nodes) < 2 or not (ending.hung or (ending.allowed is None and ending.slow is None)):
        return []
    reader = _Reader(parsed, home, names)
    least = 1 if ending.hung else AGAIN
    for file in reader.files():
        of_kind: dict[int, list[tuple[Mapping[str, int], _Apart | None]]] = {}
        for rows, values in reader.last_lists(file):
            told = of_kind.setdefault(int(parsed.table.event[min(rows.values())]), [])
            if len(told) < least:
                told.append((rows, _apart(values)))
        for told in of_kind.values():
            rows, first = told[0]
            is_steady = len(told) == least and {of for _, of in told} == {first}
            if first is not None and is_steady and not reader.was_so_before(file, first):
                return [_sign(parsed, reader, first, rows[first.subject])]
    return []


def _sign(parsed: Parsed, reader: "_Reader", apart: _Apart, row: int) -> Sign:
    node, rank = reader.node_of(apart.subject)
    who = parsed.table.called([rank], node) if rank >= 0 else node
    own, usual = short(apart.own, 40), short(apart.usual, 40)
    because = f"In the last list of all, {who} has \u201c{own}\u201d, all others \u201c{usual}\u201d."
    says = f"it was at \u201c{own}\u201d while all others were at \u201c{usual}\u201d"
    says = f"a list of all has {own} for it, and {usual} for all others" if own[:1].isdigit() else says
    check = f"Look at {node}: what its process waits for (py-spy dump), its storage and its network."
    ranks = (rank,) if rank >= 0 else ()
    return Sign(node, "waits", LISTED_APART, because, says=says, check=check, ranks=ranks, rows=(row,))


class _Reader:
    """Lists of all ranks, or of all nodes, from the end of a file to its beginning."""

    def __init__(self, parsed: Parsed, home: Mapping[int, str], names: Names) -> None:
        self._parsed, self._names = parsed, names
        told = {} if parsed.table.ranks_are_nodes else home
        self._home = (
            dict(told) if len(told) == (parsed.job.manifest.world_size or len(told)) else _in_blocks(parsed, told)
        )
        self._ranks, self._nodes = {str(rank) for rank in self._home}, set(parsed.nodes)
        self._places: dict[str, str] = {}  # the machine of each whose rank nobody knows

    def node_of(self, subject: str) -> tuple[str, int]:
        """The node of a subject, and its rank; -1 where it is a node."""
        if subject in self._ranks:
            return self._home[int(subject)], int(subject)
        return self._places.get(subject, subject), -1

    def files(self) -> Sequence[int]:
        """The files that are looked at: of ranks only where there are few others, which list what they watch."""
        table = self._parsed.table
        of_ranks = set(table.file_of_voice[table.rank_of_voice >= 0].tolist())
        return sorted(range(len(table.files)), key=lambda file: (file in of_ranks, file))[:MAX_FILES]

    def last_lists(self, file: int) -> Iterator[tuple[Mapping[str, int], Mapping[str, str]]]:
        """The row that tells of each, and what it tells, of the lists since the last progress, the last one first."""
        whole = self._parsed.table.rows_of_file(file)
        found = list(self._in_rows(file, range(max(whole.start, whole.stop - MAX_ROWS), whole.stop)))
        tables = [list(rows.values()) for rows, _ in found if len(set(rows.values())) > 1]
        # lines that each says of itself come in any order
        is_table = len(tables) >= AGAIN and all(rows == sorted(rows) for rows in tables)
        for rows, values in found:
            if self._is_before(min(rows.values())):
                return
            if is_table or len(set(rows.values())) == 1:
                yield rows, values

    def was_so_before(self, file: int, apart: _Apart) -> bool:
        """Whether a list told the same of the same one while the job still made progress."""
        whole = self._parsed.table.rows_of_file(file)
        early = self._in_rows(file, range(whole.start, min(whole.stop, whole.start + MAX_ROWS)))
        return any(_apart(values) == apart for rows, values in early if self._is_before(max(rows.values())))

    def _is_before(self, row: int) -> bool:
        """Whether an iteration was completed after a row."""
        iterations = self._parsed.iterations
        return iterations.last is not None and int(iterations.of_row[np.array([row])][0]) < iterations.last

    def _in_rows(self, file: int, rows: range) -> Iterator[tuple[Mapping[str, int], Mapping[str, str]]]:
        texts = read_rows(self._parsed.files, self._parsed.table, rows)
        local = self._local(file)
        found, told, gap = dict[str, int](), dict[str, str](), 0
        for row in reversed(rows):
            own = self._subjects(texts.get(row, ""), self._ranks | local.keys())
            if local and own.keys() == local.keys():
                own = {local[subject]: text for subject, text in own.items()}
                yield dict.fromkeys(own, row), own
            elif self._is_whole(own):
                yield dict.fromkeys(own, row), own
            if len(own) == 1 and told.keys().isdisjoint(own):
                found, told, gap = found | dict.fromkeys(own, row), told | own, 0
            else:
                gap += 1
                found, told = (found, told) if gap <= BETWEEN and not own else ({}, {})
            if self._is_whole(told):
                order = sorted(found, key=natural)
                yield {subject: found[subject] for subject in order}, told
                found, told = {}, {}

    def _local(self, file: int) -> Mapping[str, str]:
        """Of a file of one machine that runs several ranks, but not all: who they are, by their place there, from 0 on.

        By their ranks where those are known; else by that place on the machine.
        """
        table, nodes = self._parsed.table, self._parsed.nodes
        of_file = [table.origins[voice] for voice in np.flatnonzero(table.file_of_voice == file).tolist()]
        homes = {origin.node for origin in of_file}
        node = homes.pop() if len(homes) == 1 else None
        if node is None or any(origin.rank is not None for origin in of_file):
            return {}
        ranks = [str(rank) for rank, home in sorted(self._home.items()) if home == node]
        each = 0 if self._home else (self._parsed.job.manifest.world_size or 0) // len(nodes)
        unknown = [f"{node} {place}" for place in range(each)]
        self._places |= dict.fromkeys(unknown, node)
        members = ranks or unknown
        is_part = len(members) >= MIN_RANKS and len(nodes) > 1
        return {str(place): member for place, member in enumerate(members)} if is_part else {}

    def _is_whole(self, told: Mapping[str, str]) -> bool:
        return any(len(all_) >= MIN_RANKS and all_ == told.keys() for all_ in (self._ranks, self._nodes))

    def _subjects(self, text: str, numbers: Collection[str]) -> dict[str, str]:
        """What a line tells of each whom it names: what stands behind the name, or such a number, up to the next."""
        text = CLOCK.sub(" ", text)
        nodes = [(found.span(), node) for found in _NAME.finditer(text) if (node := self._names.node(found[0]))]
        numbered = [(found.span(), str(int(found[found.lastindex or 0]))) for found in _NUMBERED.finditer(text)]
        ranks = [(span, rank) for span, rank in numbered if rank in numbers]
        for found in sorted((nodes, ranks), key=len, reverse=True):
            if len(found) != len({subject for _, subject in found}) or not found:
                continue
            if len(found) == 1 and text[: found[0][0][0]].strip(" |*[-"):
                continue  # a line of a table begins with its name
            ends = [start for (start, _), _ in found[1:]]
            ends.append(len(text))
            return {
                subject: text[behind:end].strip(" =:,;|()[]{}\"'>-")
                for ((_, behind), subject), end in zip(found, ends, strict=True)
            }
        return {}


def _in_blocks(parsed: Parsed, told: Mapping[int, str]) -> dict[int, str]:
    """The node of each rank where few are known, as launchers count them: machine by machine, as they are listed.

    None where a rank is known to be elsewhere.
    """
    nodes, world = parsed.job.manifest.nodes, parsed.job.manifest.world_size or 0
    each = world // max(1, len(nodes))
    if not nodes or each * len(nodes) != world:
        return {}
    homes = {rank: nodes[rank // each] for rank in range(world)}
    return homes if all(homes.get(rank) == node for rank, node in told.items()) else {}


def _apart(values: Mapping[str, str]) -> _Apart | None:
    """Who is told in other words than all others, else who has a number far from theirs, or a lower count."""
    words = {subject: " ".join(_words(text)) for subject, text in values.items()}
    usual, count = Counter(words.values()).most_common(1)[0]
    odd = [subject for subject, own in words.items() if own != usual]
    if len(odd) == 1 and count == len(words) - 1:
        own = words[odd[0]]
        is_branch = _COLLECTIVE.search(own) and _COLLECTIVE.search(usual)
        waits = is_wait(own) or _COLLECTIVE.search(own) is not None
        return None if is_branch or not own or (waits and not _COLLECTIVE.search(usual)) else _Apart(odd[0], own, usual)
    return _by_numbers(values) if not odd else None


def _by_numbers(values: Mapping[str, str]) -> _Apart | None:
    """The only one that some column of numbers sets apart from all others, which agree in it."""
    columns = {
        subject: [float(found["number"]) for found in _VALUE.finditer(text) if found["number"]]
        for subject, text in values.items()
    }
    width = {len(column) for column in columns.values()}
    found: dict[str, _Apart] = {}
    for place in range(width.pop() if len(width) == 1 else 0):
        for subject, column in columns.items():
            others = [other[place] for of, other in columns.items() if of != subject]
            if _is_apart(column[place], min(others), max(others)):
                usual = f"{min(others):g}" if min(others) == max(others) else f"{min(others):g} to {max(others):g}"
                found[subject] = _Apart(subject, f"{column[place]:g}", usual)
    return found.popitem()[1] if len(found) == 1 else None


def _is_apart(own: float, least: float, most: float) -> bool:
    """Whether a number is lower than one that all others share, or far from all of theirs."""
    behind = least == most > own and own >= 0 and most.is_integer() and own.is_integer()
    return behind or own > FAR * max(most, 1.0) or 0 <= own < least / FAR


def _words(text: str) -> Sequence[str]:
    return [found["word"].rstrip(":.") for found in _VALUE.finditer(text) if found["word"]]
