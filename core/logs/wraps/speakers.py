"""Words in lines that name who speaks: a machine and its rank in one word, or in two that are read together."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.logs.speaker_names import NameReading
from core.logs.wraps.line_forms import Cut
from core.logs.wraps.peeled import Peeled
from core.logs.wraps.shared_files import cut_rank


@dataclass(frozen=True, slots=True)
class SpeakerWord:
    """A word that names the speaker of each line.

    pattern: finds the ``word``, and the ``name`` in it. is_taken_off: else the word stays in the text.
    """

    pattern: re.Pattern[bytes]
    reading: NameReading
    is_taken_off: bool = True

    def peel(self, line: bytes) -> Peeled | None:
        """The line, of the speaker whom the word names."""
        match = self.pattern.match(line)
        name = self.reading.read(match["name"]) if match is not None else None
        if match is None or name is None:
            return None
        before, behind = line[: match.start("word")], line[match.end() :].lstrip()
        text = (before + behind if behind else before.rstrip()) if self.is_taken_off else line
        return Peeled(text, nodes=(name.node,) if name.node else (), rank=name.rank, local_rank=name.local_rank)

    def cut(self, line: bytes) -> Cut | None:
        """The tokens of a line in which a rank is named, and stays in the text; None of others."""
        match = self.pattern.match(line)
        rank = self.reading.form.fullmatch(match["name"]) if match is not None else None
        if match is None or rank is None or not line[match.end() :]:
            return None
        start = match.start("name")
        digits = start + rank.start("rank"), start + rank.end("rank")
        return cut_rank(line, match.start("word"), digits, match.end() + 1)


def peel_all(words: Sequence[SpeakerWord], line: bytes) -> Peeled | None:
    """The line, of the speaker whom the first word tells, and with what the second one adds."""
    peeled = words[0].peel(line)
    for word in words[1:]:
        inner = word.peel(peeled.text) if peeled is not None else None
        peeled = peeled.around(inner) if peeled is not None and inner is not None else peeled
    return peeled


def together(first: SpeakerWord, second: SpeakerWord, lines: Iterable[bytes]) -> tuple[SpeakerWord, SpeakerWord]:
    """Both words, one for machines and one for ranks; ranks that several machines have count the processes of each."""
    homes: dict[int | None, set[bytes]] = defaultdict(set)
    for line in lines:
        if (peeled := peel_all((first, second), line)) is not None and peeled.nodes:
            homes[peeled.rank].update(peeled.nodes)
    begin_anew = any(len(nodes) > 1 for rank, nodes in homes.items() if rank is not None)
    local = [replace(word, reading=replace(word.reading, is_local=begin_anew)) for word in (first, second)]
    return (first, local[1]) if first.reading.tells_node else (local[0], second)
