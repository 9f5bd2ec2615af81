"""An unwrapped text that is kept in memory: as it is while there is room, else packed block by block.

A diagnosis asks for lines of a log some thirty times, a few of them each time. Each block is packed alone, so that a
line costs no more than the block in which it stands.
"""

import io
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LEVEL = 1  # of zlib: 10 MB of lines at 330 MB/s to an eighth; 6 takes twice as long for a tenth less


@dataclass(frozen=True, slots=True)
class KeptBlocks:
    """A text in blocks: starts: of each, and the end of the text.

    taken: bytes of the log that it was made from. capped: as ``Unwrapper`` has it, of when it was made.
    """

    blocks: Sequence[bytes]
    starts: Sequence[int]
    packed: bool
    taken: int
    capped: str


@dataclass(slots=True)
class TextKeeper:
    """Takes the blocks of a text as they come, as long as they, or what is left when they are packed, find room.

    room: bytes that it may take.
    """

    room: int
    _blocks: list[bytes] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _taken: int = 0
    _packed: bool = False

    def add(self, block: bytes) -> bool:
        """Take the next block; False, and nothing is kept, where there is no room for it."""
        if not self._packed and self._taken + len(block) > self.room:
            self._packed = True
            self._blocks = [zlib.compress(kept, _LEVEL) for kept in self._blocks]
            self._taken = sum(map(len, self._blocks))
        self._sizes.append(len(block))
        self._blocks.append(zlib.compress(block, _LEVEL) if self._packed else block)
        self._taken += len(self._blocks[-1])
        if self._taken > self.room:
            self._blocks, self._sizes = [], []
            return False
        return True

    def done(self, taken: int, capped: str) -> KeptBlocks:
        """The whole text, of a log of which so many bytes were read."""
        return KeptBlocks(self._blocks, list(accumulate(self._sizes, initial=0)), self._packed, taken, capped)


class KeptText(io.RawIOBase):
    """A stream of a text that was unwrapped before."""

    def __init__(self, text: KeptBlocks) -> None:
        """Stand at the start of the text."""
        self.taken, self.capped = text.taken, text.capped
        self._text, self._at = text, 0
        self._number, self._block = -1, b""

    def readable(self) -> bool:
        """True, as ``io`` asks of a stream that is read."""
        return True

    def seekable(self) -> bool:
        """True, as ``io`` asks of one that can be sought in."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a byte of the text; gives its place from the start."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._text.starts[-1]}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """As many bytes as asked for, fewer only at the end."""
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and self._at < self._text.starts[-1]:
            number = bisect_right(self._text.starts, self._at) - 1
            if number != self._number:
                block = self._text.blocks[number]
                self._number, self._block = number, zlib.decompress(block) if self._text.packed else block
            at = self._at - self._text.starts[number]
            part = self._block[at : at + len(view) - filled]
            view[filled : filled + len(part)] = part
            filled, self._at = filled + len(part), self._at + len(part)
        return filled
