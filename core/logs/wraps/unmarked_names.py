"""Names of speakers that nothing marks as names: ``sirius starts round 3``, ``hb worker04 seq=7``, ``A1  0.73  4.90``.

Any word may stand at the beginning of a line. Names do what a phase or a part of a model does not: they come in another
order each time, or a line of their own tells of each on which machine it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.logs.speaker_names import MACHINE
from core.logs.wraps.peeled import Peeled, Wrap
from core.logs.wraps.shared_files import LEVEL, has_no_clock, tells_of_an_error
from core.logs.wraps.speaker_turns import LEAST, NamedLine, in_changing_order, names_that_return, take_turns

MIN_NAMES = 3  # of two, one may answer the other
FIRST_LINES = 200  # in which each name stands beside its machine
_PLACES = (0, 1)  # words behind the clock: the name, or one word of the program before it
_CLOCK = (
    rb"(?:[\[(]?(?:[0-9]{2,4}[-/.][0-9]{2}[-/.][0-9]{2,4}[T ])?[0-9]{1,2}:[0-9]{2}:[0-9]{2}[0-9.,]{0,10}Z?[\])]?"
    rb"[ |]{1,3})?"
)
_NAME = rb"(?!(?i:" + LEVEL + rb"\b))[A-Za-z][A-Za-z0-9_.-]{0,62}[A-Za-z0-9]"
_HEADS = tuple(
    re.compile(rb"^\s{0,8}" + _CLOCK + rb"(?:[A-Za-z]{1,16}[:]? ){%d}(?P<name>" % place + _NAME + rb")(?=[ \t]+\S)")
    for place in _PLACES
)
# An address may stand behind more words, for nothing else looks so: "gen    7 10.3.1.12 ok  evals 64"
_ADDRESS = re.compile(rb"^(?:[^\s]{1,40}[ \t]{1,8}){0,5}?(?P<name>(?:[0-9]{1,3}\.){3}[0-9]{1,3})(?=[ \t:,]|$)")
_WORD = re.compile(rb"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_BESIDE = 60  # bytes of what a line says, as much as tells it from another (core.logs.wraps.speaker_turns)


@dataclass(frozen=True, slots=True)
class _UnmarkedNames:
    """Takes the name off a line that has one of these where they stand."""

    head: re.Pattern[bytes]
    names: frozenset[bytes]

    def peel(self, line: bytes) -> Peeled | None:
        """The line without its name, of that machine."""
        match = self.head.match(line)
        if match is None or match["name"] not in self.names:
            return None
        before, behind = line[: match.start("name")], line[match.end() :]
        if before and behind.startswith(b":"):
            return None  # who speaks stands before it: "pdsh@login2: 10.0.0.7: ssh exited with exit code 255"
        behind = behind.lstrip() if before else behind.lstrip(b": \t")
        return Peeled(before + behind, nodes=(match["name"],))


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The word that names who speaks in most lines; none where it may be anything else."""
    for head in (*_HEADS, _ADDRESS):
        named = [
            NamedLine(match["name"], line[match.end() : match.end() + _BESIDE])
            for line in lines
            if (match := head.match(line)) is not None
        ]
        if len(named) < LEAST * len(lines):
            continue
        names = frozenset(_that_say_the_same(named))
        named = [one for one in named if one.name in names]
        if len(names) < MIN_NAMES or len(named) < LEAST * len(lines) or not take_turns(named):
            continue
        if in_changing_order(named) or _have_machines(names, lines[:FIRST_LINES]):
            words = _UnmarkedNames(head, names)
            return Wrap("unmarked names", words.peel, continues=has_no_clock, goes_on=tells_of_an_error)
    return None


def _that_say_the_same(named_lines: Sequence[NamedLine]) -> list[bytes]:
    """Names that come again, and of whose lines most are messages of half of the others too."""
    names = set(names_that_return(named_lines))
    if len(names) < MIN_NAMES:  # what a line says beside a name is dear to ask for
        return []
    speakers: dict[bytes, set[bytes]] = defaultdict(set)
    rests = [(one.name, one.rest) for one in named_lines if one.name in names]
    for name, rest in rests:
        speakers[rest].add(name)
    shared = Counter(name for name, rest in rests if 2 * len(speakers[rest]) >= len(names))
    every = Counter(name for name, _ in rests)
    return sorted(name for name in names if 2 * shared[name] > every[name])


def _have_machines(names: Collection[bytes], lines: Iterable[bytes]) -> bool:
    """Whether each name stands beside one machine, as many beside each."""
    machines: Mapping[bytes, set[bytes]] = defaultdict(set)
    for line in lines:
        found = [word for word in _WORD.findall(line) if word in names]
        of_line = {match["named"] or match[0] for match in MACHINE.finditer(line)}
        if len(found) == len(of_line) == 1:
            machines[found[0]] |= of_line
    own = Counter(next(iter(of)) for of in machines.values() if len(of) == 1)
    return own.total() == len(names) and len(own) > 1 and len(set(own.values())) == 1  # as many on each
