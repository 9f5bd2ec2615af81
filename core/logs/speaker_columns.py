"""Machine and rank in rows that are made alike: labels before lines, names of files, lines that each says once.

No word marks them, what they do tells: one column holds names, another one a number, and the number counts the ranks of
the job, each of which is on one machine, or begins anew with each machine.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from core.logs.speaker_names import are_made_alike, is_machine
from core.shares import few_of

MIN_ROWS, MIN_MACHINES = (
    4,
    2,
)  # two machines with two ranks each: of fewer, any two names stand by chance beside numbers
_TELLING = 2  # columns
_NUMBERED = re.compile(r"(?P<letters>[A-Za-z]{0,12}[-_.]?)(?P<number>\d{1,6})")
_OF_RANK = r"(?:r|p|w|g|rank|rang|proc(?:ess)?|worker|workerlog|task|local|[gnx]pu|cuda|dev(?:ice)?)?[-_.]?"
# What a run, a program or a stream has several of: no machine is called so, and no rank but by what counts ranks
PART_OF_A_RUN = re.compile(
    r"(?:std)?(?:out|err)(?:put)?|logs?|train\w*|val\w*|eval\w*|test|main|run|attempt|epoch|step|stage|phase|part|job"
    r"|shard|trial|fold|rank|local|proc(?:ess)?|task|worker|node|console|debug|info|error|data|metrics?|events?|loss"
    r"|actor|learner|server|client|ps|chief|encoder|decoder|model|layer|expert|gpu|npu|cuda|device",
    re.IGNORECASE,
)
_OF_RANK_WORD = re.compile(_OF_RANK, re.IGNORECASE)
_OF_A_MACHINE = re.compile(r"local|[gnx]pu|cuda|dev(?:ice)?|card|slot", re.IGNORECASE)
_RANK_LETTERS = re.compile(
    _OF_RANK + r"|(?!(?:" + PART_OF_A_RUN.pattern + r")[-_.]?\Z)[A-Za-z]{2,12}[-_.]?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns tell who speaks; node: None where one machine's ranks share a file, and none is named.

    is_local: the number is that of a process of its machine.
    """

    node: int | None
    rank: int
    is_local: bool

    def read(self, row: Sequence[str]) -> tuple[str, int] | None:
        """The machine of a row, empty where no column tells it, and the number; None where there is none."""
        number = _NUMBERED.fullmatch(row[self.rank])
        node = "" if self.node is None else row[self.node]
        return (node, int(number["number"])) if number and (self.node is None or is_machine(node)) else None


def find_columns(rows: Sequence[Sequence[str]], *, others: bool = False, alone: bool = True) -> Columns | None:
    """The columns of the machine and of the rank; None where no two do what those do.

    Args:
        rows: different ones, of as many words each.
        others: whether further columns may differ from row to row: else what differs is a machine or a number.
        alone: whether each machine may have one number alone, which may be its own place among the machines.
    """
    columns = list(zip(*rows, strict=True)) if len(rows) >= MIN_ROWS else []
    differing = [place for place, words in enumerate(columns) if len(set(words)) > 1]
    if not others and len(differing) != _TELLING:
        return None
    found = [
        Columns(node, rank, is_local)
        for node, rank in permutations(differing, 2)
        if (numbers := _numbers(columns[rank])) and all(map(is_machine, columns[node]))
        for is_local in _counts(columns[node], numbers, alone=alone)
    ]
    return min(found, key=lambda one: (one.is_local, one.node), default=None)


def find_numbers(rows: Sequence[Sequence[str]]) -> Columns | None:
    """The only column that differs, where it counts the ranks of one machine: 0 to 3, or 4 to 7; no steps or parts.

    Whether the numbers are those of a machine only another machine's file tells, if no word does.
    """
    columns = list(zip(*rows, strict=True))
    differing = [place for place, words in enumerate(columns) if len(set(words)) > 1]
    numbers = sorted(_numbers(columns[differing[0]])) if len(differing) == 1 else []
    least = numbers[0] if numbers else 0
    if not numbers or numbers != list(range(least, least + len(numbers))) or least % len(numbers):
        return None
    letters = [re.sub(r"[^A-Za-z]", "", word) for word in rows[0]]
    is_counted = any(PART_OF_A_RUN.fullmatch(word) and not _OF_RANK_WORD.fullmatch(word) for word in letters)
    if is_counted or not _OF_RANK_WORD.fullmatch(letters[differing[0]]):
        return None
    return Columns(None, differing[0], is_local=any(map(_OF_A_MACHINE.fullmatch, letters)))


def may_tell(rows: Sequence[Sequence[str]]) -> bool:
    """Whether in some of the rows nothing differs but a number, or what may be a machine and a number."""
    columns = [words for words in zip(*rows, strict=True) if len(set(words)) > 1]
    if len(columns) == 1:
        return bool(_numbers(columns[0]))
    return len(columns) == _TELLING and any(
        _numbers(rank) and all(map(is_machine, node)) for node, rank in permutations(columns)
    )


def _numbers(words: Sequence[str]) -> list[int]:
    """The numbers of a column; none unless each word is one, behind the same letters."""
    found = [match for word in words if (match := _NUMBERED.fullmatch(word)) is not None]
    letters = {match["letters"] for match in found}
    alike = len(found) == len(words) and len(letters) == 1 and _RANK_LETTERS.fullmatch(letters.pop())
    return [int(match["number"]) for match in found] if alike else []


def _counts(names: Sequence[str], numbers: Sequence[int], *, alone: bool) -> Iterator[bool]:
    """Whether the numbers count the ranks of the job (False), or those of each machine (True); nothing when neither."""
    homes: dict[int, set[str]] = defaultdict(set)
    own: dict[str, set[int]] = defaultdict(set)
    for name, number in zip(names, numbers, strict=True):
        homes[number].add(name)
        own[name].add(number)
    if len(own) < MIN_MACHINES:
        return
    if all(len(of) == 1 for of in homes.values()):
        if (alone or len(own) < len(homes)) and are_blocks({number: next(iter(of)) for number, of in homes.items()}):
            yield False
    elif _are_nearly_all(len(own) * len(homes), sum(map(len, own.values()))) and sorted(homes) == list(
        range(len(homes))
    ):
        yield True


def are_blocks(homes: Mapping[int, str]) -> bool:
    """Whether numbers from 0 on are on machines with as many each, block by block or in turn; a few may be missing."""
    counts = Counter(homes.values())
    each = max(counts.values())
    total = each * len(counts)
    if max(homes) >= total or not _are_nearly_all(total, len(homes)):
        return False
    if each == 1:
        return are_made_alike([name.encode() for name in counts])
    in_blocks = len({(number // each, name) for number, name in homes.items()}) == len(counts)
    return in_blocks or len({(number % len(counts), name) for number, name in homes.items()}) == len(counts)


def _are_nearly_all(total: int, count: int) -> bool:
    return count == total or total - count < few_of(total)


# --- names of files ---------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*")
_PART = re.compile(r"[A-Za-z]+|\d+")
_FOLDER = re.compile(
    r"(?<![^/])[^/]{1,255}(?=/)|[A-Za-z]{0,12}\d{1,6}\Z"
)  # and the number at the end: gpu-07/metrics-r12
_NAME_AND_NUMBER = re.compile(
    r"(?P<before>[A-Za-z0-9.-]{0,80}[A-Za-z0-9])[.-](?:" + _OF_RANK + r")(?P<number>\d{1,6})", re.IGNORECASE
)
_IN_PARTS = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}\.")  # no address
_NUMBER_AND_NAME = re.compile(r"(?:[A-Za-z.-]{0,80}[.-])?(?P<number>\d{1,6})[.-](?P<behind>[A-Za-z0-9].{0,80})")


def speakers_in(texts: Collection[str]) -> dict[str, tuple[str, int, bool]]:
    """The machine and the number of each of several texts that are made alike, and whether it is a local one.

    Words are taken as they are, then apart: a number may stand in one word with the name of a machine, ``gpu-07-3``;
    then folders, each with files of several kinds, ``gpu-07/metrics-r12`` and ``gpu-07/run-r12``.
    """
    found: dict[str, tuple[str, int, bool]] = {}
    for words, rows_of in ((_WORD, _as_words), (_PART, _as_parts), (_FOLDER, _as_folders)):
        groups: dict[str, list[str]] = defaultdict(list)
        for text in sorted(set(texts) - set(found)):
            groups[words.sub(_kind, text)].append(text)
        for group in groups.values():
            for rows in rows_of(group):
                columns = find_columns(list(rows.values()), alone=False)
                if columns is not None:
                    found |= _named({text: columns.read(row) for text, row in rows.items()}, columns)
                    break
    return found


def _named(told: Mapping[str, tuple[str, int] | None], columns: Columns) -> dict[str, tuple[str, int, bool]]:
    """The machines without what all of them begin with, ``out.gpu-07``; none where they are parts of a run."""
    speakers = {text: one for text, one in told.items() if one is not None}
    names = {name: name for name, _ in speakers.values()}
    while len({name.partition(".")[0] for name in names.values()}) == 1 and all(map(_IN_PARTS.match, names.values())):
        names = {whole: name.partition(".")[2] for whole, name in names.items()}
    if any(PART_OF_A_RUN.fullmatch(name) for name in names.values()):
        return {}
    return {text: (names[name], number, columns.is_local) for text, (name, number) in speakers.items()}


def _kind(word: re.Match[str]) -> str:
    """What words have in common that may stand in one column."""
    number = _NUMBERED.fullmatch(word[0])
    return f"{number['letters']}#" if number is not None and _RANK_LETTERS.fullmatch(number["letters"]) else "*"


def _as_words(group: Sequence[str]) -> Iterator[Mapping[str, Sequence[str]]]:
    yield {text: tuple(_WORD.findall(text)) for text in group}


def _as_folders(group: Sequence[str]) -> Iterator[Mapping[str, Sequence[str]]]:
    yield {text: tuple(_FOLDER.findall(text)) for text in group}


def _as_parts(group: Sequence[str]) -> Iterator[Mapping[str, Sequence[str]]]:
    """The only word that differs, as a name before a number, or behind one."""
    words = list(zip(*map(_WORD.findall, group), strict=True))
    (*differing,) = (column for column in words if len(set(column)) > 1)
    if len(differing) == 1:
        for form, name in ((_NAME_AND_NUMBER, "before"), (_NUMBER_AND_NAME, "behind")):
            matches = {text: form.fullmatch(word) for text, word in zip(group, differing[0], strict=True)}
            rows = {text: (match[name], match["number"]) for text, match in matches.items() if match is not None}
            if len(rows) == len(group):
                yield rows
