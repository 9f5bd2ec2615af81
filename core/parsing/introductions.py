"""Who speaks in files that each have one line of the same shape: ``Rang 3 von 12 auf knoten02, Gerät 1``.

No phrase marks such a line, in whatever language; what it does tells: a number in it counts the files from 0 on, and a
name in it is that of as many files each, as launchers start the ranks of a job.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from core.job import Manifest
from core.logs.hosts import Hosts
from core.logs.lines import without_ansi
from core.logs.speaker_columns import are_blocks, find_columns
from core.logs.speaker_names import is_machine
from core.logs.voices import FileSpeaker
from core.parsing.identified_files import IDENTIFIER

MIN_FILES = 4  # two machines with two ranks each: of fewer, any two names stand by chance beside two numbers
_TRIED = 200  # lines of a file: who speaks is told before the first iterations
_WORD = re.compile(r"\w+(?:[.-]\w+)*")


def find_introductions(heads: Mapping[str, bytes], manifest: Manifest) -> dict[str, FileSpeaker]:
    """The machine and the rank of each file, where all files of one shape of line tell them; else none.

    Args:
        heads: the first bytes of each file.
        manifest: its names of machines, where it has any, are the only ones.
    """
    said: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    lines = {name: without_ansi(head).decode("utf-8", "replace").split("\n")[:_TRIED] for name, head in heads.items()}
    spoken = _spoken_by_most(lines)
    for name, own in sorted(lines.items()):
        for shape, slots in _said_once(own, spoken).items():
            said[shape][name] = slots
    likely = [shape for shape, of_file in said.items() if len(of_file) >= MIN_FILES]
    for shape in sorted(likely, key=lambda shape: (-len(said[shape]), shape)):
        columns = find_columns(list(said[shape].values()), others=True, alone=False)
        told = {name: columns.read(row) for name, row in said[shape].items()} if columns is not None else {}
        homes = {name: one for name, one in told.items() if one is not None and not IDENTIFIER.fullmatch(one[0])}
        nodes = _as_listed({node for node, _ in homes.values()}, manifest)
        if columns is not None and nodes and len(homes) == len(said[shape]):
            ranks = {name: None if columns.is_local else rank for name, (_, rank) in homes.items()}
            return {name: FileSpeaker(nodes[node], ranks[name]) for name, (node, _) in homes.items()}
    return {}


def slots_of(text: str) -> list[str]:
    """The words of a line that hold a digit, in order: what may be a number or the name of a machine."""
    return [word.rstrip(".-") for word in _WORD.findall(text) if any(map(str.isdigit, word))]


def homes_of_ranks(slots: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """The machine of each rank, from the words of the line that each says of itself; none where no place tells them.

    Args:
        slots: the words of each rank, as many of each; few ranks may have said nothing.
    """
    ranks = sorted(slots)
    columns = zip(*(slots[rank] for rank in ranks), strict=False) if len(ranks) >= MIN_FILES else ()
    homes = (dict(zip(ranks, column, strict=True)) for column in columns if all(map(is_machine, column)))
    return next(
        (of_rank for of_rank in homes if 1 < len(set(of_rank.values())) < len(ranks) and are_blocks(of_rank)), {}
    )


def _spoken_by_most(lines: Mapping[str, Sequence[str]]) -> set[str]:
    """The words that most files say, which are a program's own: what stands beside them may be anybody's name."""
    files = Counter(word for own in lines.values() for word in {word for line in own for word in _WORD.findall(line)})
    return {word for word, count in files.items() if 2 * count > len(lines) and not any(map(str.isdigit, word))}


def _said_once(lines: Sequence[str], spoken: Collection[str]) -> dict[str, Sequence[str]]:
    """The words of each line that may be names or numbers, where it is the only one of its shape, by that shape."""
    shapes = [_WORD.sub(lambda word: word[0] if word[0] in spoken else "*", line) for line in lines]
    counts = Counter(shapes)
    return {
        shape: [word for word in _WORD.findall(line) if word not in spoken]
        for shape, line in zip(shapes, lines, strict=True)
        if counts[shape] == 1
    }


def _as_listed(names: Collection[str], manifest: Manifest) -> dict[str, str]:
    """The machine of each name, as job.json has it; none where one is not in it."""
    hosts = Hosts(manifest)
    called = {name: hosts.called(name) if manifest.nodes else name for name in names}
    return {name: node for name, node in called.items() if node is not None} if all(called.values()) else {}
