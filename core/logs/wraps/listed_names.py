"""Names that a coordinator lists when it begins, and tells of one by one: ``hub: gate 2: cedar in (1/6)``.

It writes for all machines, in one file and in its own words. Which words are machines tells the list of all of them
(``hub: expecting ash, birch, cedar``), and that lines name one at a time, in turns, and say the same of each. The name
becomes the label; lines that name none or several are the coordinator's own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.logs.speaker_names import are_made_alike
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.shared_files import has_clock
from core.logs.wraps.speaker_turns import NamedLine, take_turns

FIRST_LINES = 200  # in which a list of all stands
MIN_NAMES, MAX_NAMES = 3, 1 << 8  # of two a list is any two words
WINDOW = 1 << 12  # bytes of a line in which a list stands
LEAST_LINES = 0.05  # of the lines name one: a coordinator also counts steps, for all
_NAME = rb"[A-Za-z][A-Za-z0-9_.-]{0,61}[A-Za-z0-9]"
_LIST = re.compile(
    rb"\b(?P<key>nodes?|hosts?|machines?|workers?|peers?|members?|participants?|trainers?|actors?|agents?|clients?|servers?"
    rb"|boxes|pods?|arms?|roster|cluster|ring|expect(?:s|ing)?|wait(?:s|ing)? for|on)\b[^,;\n]{0,24}?[ :=(\[]"
    rb"(?P<names>" + _NAME + rb"(?:(?:, ?| )" + _NAME + rb"){2,255})(?![A-Za-z0-9_.-])",
    re.IGNORECASE,
)
_WORD = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class _ListedNames:
    """Takes the name off a line that has one of these, and no other."""

    names: frozenset[bytes]

    def peel(self, line: bytes) -> Peeled | None:
        """The line without its name, of that machine."""
        found = [word for word in _WORD.finditer(line) if word[0] in self.names]
        if len(found) != 1:
            return None
        (name,) = found
        return Peeled(line[: name.start()] + line[name.end() :].lstrip(b" "), nodes=(name[0],))


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The names of the first list of which lines tell one by one; schedulers' lines have a clock, and stay theirs."""
    if 2 * sum(map(has_clock, evenly(lines))) > len(evenly(lines)):
        return None
    for names in _lists(lines[:FIRST_LINES]):
        listed = _ListedNames(names)
        peeled = [of for line in lines if (of := listed.peel(line)) is not None]
        named = [NamedLine(of.nodes[0], of.text) for of in peeled]
        if len(named) >= LEAST_LINES * len(lines) and take_turns(named):
            return Wrap("listed names", listed.peel)
    return None


def _lists(lines: Sequence[bytes]) -> Iterator[frozenset[bytes]]:
    """The names of each list; those that no comma parts are made alike."""
    for line in lines:
        for match in _LIST.finditer(line, 0, WINDOW):
            with_commas = b"," in match["names"]
            names = [name.strip() for name in match["names"].split(b"," if with_commas else b" ")]
            are_names = len(set(names)) == len(names) and MIN_NAMES <= len(names) <= MAX_NAMES
            if are_names and (with_commas or are_made_alike(names)):
                yield frozenset(names)
