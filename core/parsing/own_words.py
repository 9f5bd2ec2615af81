"""Who speaks in files of which each has a word of its own in the head of its lines: ``13:09:54 - gpu-3 - step 31``.

No word announces it. It stands in one place of nearly every line, is the same through a file, another one in the files
beside it, and without it the files say the same.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.job import Manifest
from core.logs.hosts import Hosts
from core.logs.lines import mask, without_ansi
from core.logs.speaker_names import PLAIN_RANKS, NameReading, find_reading, names_rank
from core.logs.voices import FileSpeaker
from core.logs.wraps.shared_files import HEAD, has_clock
from core.shares import MIN_RANKS

_TRIED = 400  # lines of a file
_LEAST_LINES = 3  # of fewer, any word is in each of them
_PLACES = 10  # words of a head: clock and date, level, logger, a place in the code, the speaker
_LEAST_CLOCKS = 0.2  # of the lines: a traceback has none, and may be most of a short file
_LEAST = 0.6  # of the lines have the word in its place; the others are of other programs
_SAME = 0.5  # of the lines are said in half of the files, as core.parsing.speakers has it
_MAX_DIGITS = 6  # of a rank
_KEY = re.compile(rb"[A-Za-z_]{1,16}[=:]")
_AROUND = b"[](){}<>|,;:-=.*'\""
_COMPARED = 60  # bytes of what a line says: what comes behind may be measured


@dataclass(frozen=True, slots=True)
class _File:
    """The heads of a file's lines, word by word, without what stands around words."""

    lines: Sequence[bytes]
    words: Sequence[Sequence[bytes]]

    def word(self, place: int) -> bytes:
        """The word that nearly every line has in a place; empty when there is none."""
        found = Counter(words[place] for words in self.words if len(words) > place)
        word, count = found.most_common(1)[0] if found else (b"", 0)
        return word if count >= max(_LEAST_LINES, _LEAST * len(self.words)) else b""


def find_own_words(heads: Mapping[str, bytes], manifest: Manifest) -> dict[str, FileSpeaker]:
    """The speakers of the files that tell them so.

    Args:
        heads: the first bytes of each file.
        manifest: its names of machines, where it has any, are the only ones.
    """
    files = {name: read for name, head in heads.items() if (read := _read(head)).words}
    nodes: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for place in range(_PLACES):
        for file, node, rank in _speakers(files, place, manifest):
            if node:
                nodes.setdefault(file, node)
            if rank is not None:
                ranks.setdefault(file, rank)
    return {name: FileSpeaker(nodes.get(name), ranks.get(name)) for name in sorted({*nodes, *ranks})}


def _read(head: bytes) -> _File:
    lines = [line for line in without_ansi(head).split(b"\n")[:_TRIED] if line.strip()]
    with_clock = [line for line in lines if has_clock(line)]
    lines = with_clock if len(with_clock) >= _LEAST_CLOCKS * len(lines) else lines
    return _File(lines, [[word.strip(_AROUND) for word in line[:HEAD].split()[:_PLACES]] for line in lines])


def _speakers(files: Mapping[str, _File], place: int, manifest: Manifest) -> Iterator[tuple[str, str, int | None]]:
    """File, node and rank of each file, as far as its word in this place tells."""
    words = {name: word for name, file in files.items() if (word := file.word(place))}
    ranks = {name: word for name, word in words.items() if names_rank(word)}
    words = words if len(ranks) == len(words) else {name: word for name, word in words.items() if name not in ranks}
    keys = Counter(match[0] if (match := _KEY.match(word)) else b"" for word in words.values())
    key = max(sorted(keys), key=keys.__getitem__, default=b"")
    words = {name: word for name, word in words.items() if word.startswith(key)} if key else words
    names = {file: word.removeprefix(key) for file, word in words.items()}
    reading = find_reading(sorted(set(names.values())), key[:-1]) if len(set(names.values())) > 1 else None
    reading = reading or (PLAIN_RANKS if key and _count_all(names.values(), manifest) else None)
    if reading is None or not _tells(names, reading) or not _say_the_same(files, words):
        return
    hosts = Hosts(manifest)
    for file, word in sorted(names.items()):
        if (name := reading.read(word)) is not None:
            node = name.node.decode("ascii")
            yield file, (hosts.called(node) or "") if manifest.nodes else node, name.rank


def _count_all(names: Iterable[bytes], manifest: Manifest) -> bool:
    """Whether files have a number each, which together count all ranks from 0 on: under any key these are ranks."""
    numbers = sorted(int(name) if name.isdigit() and len(name) <= _MAX_DIGITS else -1 for name in names)
    whole = len(numbers) == (manifest.world_size or len(numbers)) >= MIN_RANKS
    return whole and numbers == list(range(len(numbers)))


def _tells(names: Mapping[str, bytes], reading: NameReading) -> bool:
    """Whether each file has a name of its own; of several ranks of a machine each has as many files."""
    files = Counter(names.values())
    if reading.tells_rank:
        return len(files) == len(names)
    return len(set(files.values())) == 1


def _say_the_same(files: Mapping[str, _File], words: Mapping[str, bytes]) -> bool:
    own = [
        [mask(line.replace(word, b"", 1))[:_COMPARED] for line in files[name].lines if word in line[:HEAD]]
        for name, word in words.items()
    ]
    spoken = Counter(shape for shapes in own for shape in set(shapes))
    shared = sum(spoken[shape] * 2 > len(own) for shapes in own for shape in shapes)
    return shared >= _SAME * sum(map(len, own)) > 0
