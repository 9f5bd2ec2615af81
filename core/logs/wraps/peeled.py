"""What taking one layer off a line gives, and what a layer is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.logs.lines import NO_TIME, first_time
from core.logs.wraps.line_forms import Cut, Run
from core.logs.wraps.stamps import NO_STAMP, Stamp, nearer


@dataclass(frozen=True, slots=True)
class Peeled:
    r"""What stands inside a layer, and what the layer says about it.

    text: may hold several lines, each ended by ``\n`` or ``\r``.
    nodes: names of the machine that spoke. unit: container, systemd unit, identifier.
    tags: labels that ``core.logs.lines`` reads, as they were: ``0: [default3]:``.
    stream: what its parts are joined by, where ``ends`` says that more is to come.
    """

    text: bytes
    stamp: Stamp = NO_STAMP
    nodes: tuple[bytes, ...] = ()
    rank: int | None = None
    local_rank: int | None = None
    unit: bytes = b""
    tags: bytes = b""
    stream: bytes = b""
    ends: bool = True

    def around(self, inner: "Peeled") -> "Peeled":
        """What both layers say together; what the inner one says was nearer to the program."""
        return Peeled(
            inner.text,
            nearer(self.stamp, inner.stamp),
            inner.nodes + self.nodes,
            self.rank if inner.rank is None else inner.rank,
            self.local_rank if inner.local_rank is None else inner.local_rank,
            inner.unit or self.unit,
            self.tags + inner.tags,
        )


def never(_: bytes) -> bool:
    """False for every line."""
    return False


def always(_: bytes) -> bool:
    """True for every line."""
    return True


def any_text(line: bytes) -> bool:
    """Whether a line holds anything: where every line is wrapped, one that is not is broken."""
    return bool(line.strip())


@dataclass(frozen=True, slots=True)
class Wrap:
    """A kind of wrapper.

    peel: what stands inside a line of this kind; None when it is none.
    is_torn: whether a line that cannot be peeled is one that was broken; else somebody wrote beside the wrapper.
    continues: whether such a line goes on with what the line above it said, as far as it is from the left or not.
    goes_on: whether the line above it may have more lines, where others write to the same file.
    weak: whether ``core.logs.lines`` reads such lines as well; it is taken off for what else is inside.
    record: reads an object that is printed on lines of its own below a line of this kind.
    layout: the names of a line's fields, empty where it has none; lines of one form have the same.
    cut: such a line as tokens of a form (``core.logs.wraps.line_forms``). beside: the token for a line that is not
    wrapped so, where there may be any.
    """

    name: str
    peel: Callable[[bytes], Peeled | None]
    is_torn: Callable[[bytes], bool] = never
    continues: Callable[[bytes], bool] = never
    goes_on: Callable[[bytes], bool] = always
    weak: bool = False
    record: Callable[[bytes], Peeled | None] | None = None
    layout: Callable[[bytes], bytes] | None = None
    cut: Callable[[bytes], Cut | None] | None = None
    beside: Run | None = None


# From lines of a log to how they are wrapped; None when they are not wrapped so.
Fit = Callable[[Sequence[bytes]], Wrap | None]

TRIED = 64  # lines that tell as much of a log as all of its first ones


def evenly(lines: Sequence[bytes], most: int = TRIED) -> Sequence[bytes]:
    """Some of many lines, from everywhere."""
    return lines if len(lines) <= most else [lines[place * len(lines) // most] for place in range(most)]


@lru_cache(maxsize=2 * TRIED)  # all kinds of clocks ask of the same lines, one after the other
def has_known_clock(line: bytes) -> bool:
    """Whether ``core.logs.lines`` reads a clock in a line."""
    return first_time(line, 1970) != NO_TIME


def share(lines: Sequence[bytes], wrap: Wrap) -> float:
    """The part of the lines that can be peeled."""
    tried = evenly(lines)
    return sum(wrap.peel(line) is not None for line in tried) / max(1, len(tried))


def usual(wrap: Wrap, least: float = 0.5) -> Fit:
    """A kind that is the same in every log, where so large a part of the lines is of it."""

    def fit(lines: Sequence[bytes]) -> Wrap | None:
        tried = evenly(lines)
        left = len(tried)
        for line in tried:
            left -= wrap.peel(line) is None
            if left / len(tried) < least:
                return None  # most kinds are known not to be it by half of the lines
        return wrap if tried else None

    return fit
