"""Whether words that stand in one place are those of speakers, told by what they do.

There are few of them, each comes again and again between the others, and under each the same messages stand. A counter
rises, a module has messages of its own, a level is not spread evenly.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.logs.lines import mask_start
from core.logs.speaker_names import OF_A_RUN

_SAID = 40  # bytes of a message that tell it from another; what comes behind may be measured
LEAST = 0.6  # of the lines have such a word; the others are of other programs
_MIN_EACH = 5  # lines of a speaker; of fewer nothing can be said
_FEW = 0.2  # speakers a line: of more values than that something is counted, or measured
_INTERLEAVED = 0.2  # changes of speaker a line; what comes in stretches is an epoch, an attempt, a phase
_SHARED = 0.5  # of the lines are messages that half of the speakers say
_MAX_SPEAKERS = 1 << 12  # names: the ranks that share a file are fewer
ALWAYS = 0.95  # of the lines begin with it: who collects the lines of several puts the name before each
_TURNS = 3  # that most speakers have at least, where tracebacks make their turns long


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A word that may be a name, and what a line says beside it."""

    name: bytes
    beside: bytes

    @property
    def rest(self) -> bytes:
        """What tells a message from another: its masked beginning. It is dear, and few columns come to be asked."""
        return _said(self.beside)


@lru_cache(maxsize=1 << 13)  # forms, and the search for a date before it, ask the same of the same first lines
def _said(beside: bytes) -> bytes:
    return mask_start(beside, _SAID)


def names_that_return(named_lines: Iterable[NamedLine]) -> list[bytes]:
    """Those that come again, which tells speakers from what is counted."""
    counts = Counter(named.name for named in named_lines)
    return sorted(name for name, count in counts.items() if count >= _MIN_EACH)


def take_turns(named_lines: Sequence[NamedLine], *, always: bool = False) -> bool:
    """Whether a few names take turns, and say the same.

    Args:
        always: nearly every line begins with one, tracebacks too, which come in long stretches.
    """
    names = set(names_that_return(named_lines))
    if not 2 <= len(names) <= min(_MAX_SPEAKERS, _FEW * len(named_lines)):
        return False
    kept = [named for named in named_lines if named.name in names]
    begins = Counter(other.name for one, other in pairwise(kept) if one.name != other.name)
    is_often = 2 * sum(begins[name] + 1 >= _TURNS for name in names) > len(names)
    is_run = any(OF_A_RUN.fullmatch(name) for name in names)
    interleaved = begins.total() >= _INTERLEAVED * len(kept) or (always and is_often and not is_run)
    if len(kept) < LEAST * len(named_lines) or not interleaved:
        return False
    speakers: dict[bytes, set[bytes]] = defaultdict(set)
    rests = [named.rest for named in kept]
    for named, rest in zip(kept, rests, strict=True):
        speakers[rest].add(named.name)
    shared = sum(len(speakers[rest]) >= max(2, len(names) / 2) for rest in rests)
    return shared >= _SHARED * len(kept)


def in_changing_order(named_lines: Iterable[NamedLine]) -> bool:
    """Whether most names are followed by several others, as those of processes are that each write when they may.

    Phases of a step, or parts of a model, come in one order each time.
    """
    followers: dict[bytes, set[bytes]] = defaultdict(set)
    for one, other in pairwise(named_lines):
        followers[one.name].add(other.name)
    several = sum(len(others - {name}) >= 2 for name, others in followers.items())
    return 2 * several > len(followers)
