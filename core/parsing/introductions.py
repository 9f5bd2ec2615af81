"""Who speaks in files that each have one line of the same shape: ``Rang 3 von 12 auf knoten02, Gerät 1``.

No phrase marks such a line, in whatever language; what it does tells: a number in it counts the files from 0 on, and a
name in it is that of as many files each, as launchers start the ranks of a job.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from core.job import Manifest
from core.logs.hosts import MACHINE_NAME, Hosts
from core.logs.lines import without_ansi
from core.logs.voices import FileSpeaker
from core.parsing.identified_files import IDENTIFIER
from core.shares import few_of

MIN_FILES = 4  # two machines with two ranks each: of fewer, any two names stand by chance beside two numbers
_TRIED = 200  # lines of a file: who speaks is told before the first iterations
_WORD = re.compile(r"[\w.-]++")
_MAX_DIGITS = 6  # of a rank
_GPU_MACHINE = re.compile(r"[gxn]pu-?\d{2,6}", re.IGNORECASE)  # devices have one digit, and each machine has the same


def find_introductions(heads: Mapping[str, bytes], manifest: Manifest) -> dict[str, FileSpeaker]:
    """The machine and the rank of each file, where all files of one shape of line tell them; else none.

    Args:
        heads: the first bytes of each file.
        manifest: its names of machines, where it has any, are the only ones.
    """
    said: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for name, head in sorted(heads.items()):
        for shape, slots in _said_once(head).items():
            said[shape][name] = slots
    likely = [shape for shape, of_file in said.items() if len(of_file) >= MIN_FILES]
    for shape in sorted(likely, key=lambda shape: (-len(said[shape]), shape)):
        ranks = _ranks(said[shape])
        homes = homes_of_ranks({rank: said[shape][name] for name, rank in ranks.items()})
        if manifest.nodes:
            homes = _as_listed(homes, manifest)
        if homes:
            return {name: FileSpeaker(homes[rank], rank) for name, rank in ranks.items()}
    return {}


def slots_of(text: str) -> list[str]:
    """The words of a line that hold a digit, in order: what may be a number or the name of a machine."""
    return [word.rstrip(".-") for word in _WORD.findall(text) if _has_digit(word)]


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))  # most words are of letters, which is told at once


def homes_of_ranks(slots: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """The machine of each rank, from the words of the line that each says of itself; none where no place tells them.

    Args:
        slots: the words of each rank, as many of each; few ranks may have said nothing.
    """
    ranks = sorted(slots)
    columns = zip(*(slots[rank] for rank in ranks), strict=False) if len(ranks) >= MIN_FILES else ()
    homes = (dict(zip(ranks, column, strict=True)) for column in columns)
    return next((of_rank for of_rank in homes if _are_machines(of_rank)), {})


def _said_once(head: bytes) -> dict[str, Sequence[str]]:
    """The words of each line that is the only one of its shape, by that shape."""
    lines = without_ansi(head).decode("utf-8", "replace").split("\n")[:_TRIED]
    shapes = [_WORD.sub(lambda word: "*" if _has_digit(word[0]) else word[0], line) for line in lines]
    counts = Counter(shapes)
    return {shape: slots_of(line) for shape, line in zip(shapes, lines, strict=True) if counts[shape] == 1}


def _ranks(of_file: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The rank of each file: the first number of the line that is another one in each, few of which are left out."""
    files = sorted(of_file)
    for column in zip(*(of_file[name] for name in files), strict=False):
        if all(word.isdecimal() and len(word) <= _MAX_DIGITS for word in column):
            ranks = [int(word) for word in column]
            if len(set(ranks)) == len(ranks) and _count_from_zero(ranks):
                return dict(zip(files, ranks, strict=True))
    return {}


def _count_from_zero(ranks: Collection[int]) -> bool:
    total = max(ranks) + 1
    return total - len(ranks) < few_of(total)


def _are_machines(of_rank: Mapping[int, str]) -> bool:
    """Whether these are names of several machines, each of as many ranks, block by block or in turn."""
    counts = Counter(of_rank.values())
    each, total = max(counts.values()), max(counts.values()) * len(counts)
    if not (1 < len(counts) < len(of_rank) and max(of_rank) < total and total - len(of_rank) < few_of(total)):
        return False
    in_blocks = len({(rank // each, name) for rank, name in of_rank.items()}) == len(counts)
    in_turn = len({(rank % len(counts), name) for rank, name in of_rank.items()}) == len(counts)
    of_machines = all(MACHINE_NAME.fullmatch(name) or (in_blocks and _GPU_MACHINE.fullmatch(name)) for name in counts)
    return (in_blocks or in_turn) and of_machines and not any(map(IDENTIFIER.fullmatch, counts))


def _as_listed(homes: Mapping[int, str], manifest: Manifest) -> dict[int, str]:
    """The same by the names of job.json; none where one is not in it."""
    hosts = Hosts(manifest)
    called = {rank: hosts.called(home) for rank, home in homes.items()}
    return {rank: node for rank, node in called.items() if node is not None} if all(called.values()) else {}
