"""A log without its layers, as a stream of bytes like those that it is made from.

A label of ``core.logs.label`` in what is read was written here: the byte that begins one is taken out of all texts,
those of a plain log too, or a line could say whose it is.
"""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, cast

from core.errors import UnreadableLog
from core.logs.lines import LABEL_MARK
from core.logs.wraps.documents import DocumentPart
from core.logs.wraps.kept_text import KeptBlocks, KeptText, TextKeeper
from core.logs.wraps.line_blocks import FAST_BYTES, Blocks
from core.logs.wraps.peeled import Wrap
from core.logs.wraps.sample import LEAST_LINES, SAMPLE_BYTES, SAMPLE_LINES, Wrapping, find_wrapping
from core.logs.wraps.unwrap import Unwrapper

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BLOCK_BYTES = 1 << 18  # bytes that are read at once, as many as a sample has
_NEVER = 1 << 62  # bytes that no log comes to
_SUBSTITUTE = b"\x1a"  # SUB of ASCII, "used in the place of a character that has been found to be invalid" (ECMA-48)
KEPT_BYTES = 1 << 25  # of all unwrapped texts of a job: an eighth of what its rows may take (FIRSTFAULT_MEMORY)
_MAX_LINE = 1 << 22  # bytes of a line that are held; the rest of a longer one is handed on piece by piece


@dataclass(frozen=True, slots=True)
class OpenUnwrapped:
    """Opens a log without its layers; can be pickled when what opens the log can.

    How the log is wrapped is found out once; where it is one of many (``files``), from fewer of its lines.
    A text that was read to its end is kept if it, or what is left of it when it is packed, has at most ``room`` bytes:
    taking the layers off takes longer than all else that is done with it. So is a plain log that is no longer than a
    sample: of ten thousands of those most of the time goes to opening them.
    """

    open: Callable[[], BinaryIO]
    room: int = field(default=0, compare=False)
    files: int = field(default=1, compare=False)
    known: list[Wrapping] = field(default_factory=list, repr=False, compare=False)
    _kept: list[KeptBlocks] = field(default_factory=list, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[type["OpenUnwrapped"], tuple[Callable[[], BinaryIO], int, int, list[Wrapping]]]:
        """Without the kept text: whoever works elsewhere reads it there."""
        return OpenUnwrapped, (self.open, self.room, self.files, self.known)

    def __call__(self) -> BinaryIO:
        """A stream without label marks, which cannot be sought in unless the log is plain; raises as the log's own."""
        if self._kept:
            return cast("BinaryIO", KeptText(self._kept[0]))
        stream = self.open()
        if not self.known:
            sample, is_all = _sample(stream)
            self.known.append(find_wrapping(sample, max(LEAST_LINES, SAMPLE_LINES // self.files)))
            if is_all and not self.known[0] and len(sample) <= self.room and stream.seekable():
                stream.close()
                text = sample.replace(LABEL_MARK, _SUBSTITUTE)
                self._keep(KeptBlocks([text], [0, len(text)], packed=False, taken=len(sample), capped=""))
                return cast("BinaryIO", KeptText(self._kept[0]))
            stream = self._at_the_start(stream)
        wrapping = self.known[0]
        if not wrapping:
            return cast("BinaryIO", PlainStream(stream))
        return cast("BinaryIO", UnwrappedStream(stream, wrapping, self._keep, self.room))

    def _keep(self, text: KeptBlocks) -> None:
        self._kept[:] = [text]

    def _at_the_start(self, stream: BinaryIO) -> BinaryIO:
        if stream.seekable():
            stream.seek(0)
            return stream
        stream.close()
        return self.open()


def _sample(stream: BinaryIO) -> tuple[bytes, bool]:
    """The first bytes, as far as they can be read, and whether there are no others."""
    sample, is_all = b"", False
    try:
        while len(sample) < SAMPLE_BYTES and (block := stream.read(SAMPLE_BYTES - len(sample))):
            sample += block
        is_all = len(sample) < SAMPLE_BYTES
    except UnreadableLog:
        pass  # comes again when it is read
    whole = sample.rfind(b"\n") + 1
    return sample[:whole] if len(sample) >= SAMPLE_BYTES and whole else sample, is_all


class PlainStream(io.RawIOBase):
    """The bytes of a plain log; ASCII's own substitute stands for each that would be the mark of a label."""

    def __init__(self, stream: BinaryIO) -> None:
        """Stand where the log's stream does."""
        self._stream = stream

    def readable(self) -> bool:
        """True, as ``io`` asks of a stream that is read."""
        return True

    def seekable(self) -> bool:
        """As the log's stream is."""
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go there; all bytes stand where they do in the log."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Where in the log the next byte stands."""
        return self._stream.tell()

    def read(self, size: int = -1, /) -> bytes:
        """As the log's stream has it; searched as fast as memory is read, copied only where a mark is found."""
        return self._stream.read(size).replace(LABEL_MARK, _SUBSTITUTE)

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """As the log's stream has it."""
        view = memoryview(buffer).cast("B")
        filled = cast(io.RawIOBase, self._stream).readinto(view) or 0
        text = bytes(view[:filled])
        if LABEL_MARK in text:
            view[:filled] = text.replace(LABEL_MARK, _SUBSTITUTE)
        return filled

    def close(self) -> None:
        """Close the log too."""
        self._stream.close()
        super().close()


class UnwrappedStream(io.RawIOBase):
    """What was said, from the first line to the last, or to where the log stops being readable."""

    def __init__(
        self, stream: BinaryIO, wrapping: Wrapping, keep: Callable[[KeptBlocks], None] | None = None, room: int = 0
    ) -> None:
        """Take the layers off a stream that stands at its start.

        Args:
            keep: is handed the whole text at its end.
            room: bytes that this may have.
        """
        self._keep = keep
        self._keeper = TextKeeper(room)
        self.taken = 0  # bytes of the log that were read
        self._stream = stream
        self._failure: UnreadableLog | None = None
        self._unwrapper = unwrapper = Unwrapper(wrapping.layers)
        if wrapping.parts is None:
            self._texts = _of_lines(unwrapper, wrapping.layers, self._blocks())
        else:
            self._texts = _of_parts(unwrapper, wrapping.parts(self._blocks()))
        self._held = memoryview(b"")

    @property
    def capped(self) -> str:
        """What was read less exactly so far, as the end of a sentence about the log; empty for nothing."""
        return self._unwrapper.capped

    def readable(self) -> bool:
        """True, as ``io`` asks of a stream that is read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """As many bytes as asked for, fewer only at the end, or before an ``UnreadableLog``."""
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and (self._held or self._pull()):
            part = self._held[: len(view) - filled]
            view[filled : filled + len(part)] = part
            filled, self._held = filled + len(part), self._held[len(part) :]
        if not filled and len(view) and self._failure is not None:
            raise self._failure
        return filled

    def close(self) -> None:
        """Close the log too."""
        self._stream.close()
        super().close()

    def _pull(self) -> bool:
        """Hold some more; False when there is none."""
        text = next(filter(None, self._texts), b"")
        self._held = memoryview(text)
        self._remember(text)
        return bool(text)

    def _remember(self, text: bytes) -> None:
        """Hand the whole text over at its end, if there was room for all of it."""
        if self._keep is None:
            return
        if self._failure is not None or (text and not self._keeper.add(text)):
            self._keep = None
        elif not text:
            self._keep(self._keeper.done(self.taken, self.capped))
            self._keep = None

    def _blocks(self) -> Iterator[bytes]:
        try:
            while block := self._stream.read(_BLOCK_BYTES):
                self.taken += len(block)
                yield block
        except UnreadableLog as failure:
            self._failure = failure


def _of_lines(unwrapper: Unwrapper, layers: Sequence[Wrap], blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Text out for blocks in. A newline comes with the line behind it: what is left over belongs to the last."""
    newline = rest = last = b""
    unwrap = _ByAndBy(unwrapper, layers)
    for block in blocks:
        whole, end, rest = (rest + block).rpartition(b"\n")
        if end:
            text = unwrap(whole + end)[:-1]
            yield newline + text
            newline, last = b"\n", text[text.rfind(b"\n") + 1 :]
        if len(rest) > _MAX_LINE:  # a progress bar of days: its next segments are of the same line
            cut = rest.rfind(b"\r") + 1 or len(rest)
            last = next(unwrapper.unwrap((rest[:cut],)))
            yield newline + last
            newline, rest = b"\r", rest[cut:]
    if rest:
        last = next(unwrapper.unwrap((rest,)))
        yield newline + last
    left = unwrapper.left()
    yield b"\r" + left if left and last else left
    yield b"" if rest else newline.replace(b"\r", b"")


class _ByAndBy:
    """Unwraps whole lines, one by one until there are many of them."""

    def __init__(self, unwrapper: Unwrapper, layers: Sequence[Wrap]) -> None:
        self._one_by_one, self._layers = unwrapper, layers
        self._done = 0
        self._blocks: Blocks | None = None

    def __call__(self, text: bytes) -> bytes:
        is_loaded = "core.logs.kernel" in sys.modules  # for another file
        if self._blocks is None and (is_loaded or self._done >= FAST_BYTES) and self._done < _NEVER:
            try:
                self._blocks = Blocks(self._one_by_one, self._layers)
            except ImportError:  # no numba for this Python or machine: slow, and right all the same
                self._done = _NEVER
        self._done += len(text)
        if self._blocks is not None:
            return self._blocks.unwrap(text)
        return b"".join(line + b"\n" for line in self._one_by_one.unwrap(text[:-1].split(b"\n")))


def _of_parts(unwrapper: Unwrapper, parts: Iterable[DocumentPart]) -> Iterator[bytes]:
    """Text out for the parts of a document: as many newlines as it has, and its records between them."""
    joint = b""  # before the next record on a line that holds one already
    for part in parts:
        newlines = part.raw.count(b"\n")
        if part.broken:
            *lines, last = part.raw.split(b"\n")
            text = b"".join(unwrapper.broken(line) + b"\n" for line in lines)
            yield joint + text + (unwrapper.broken(last) if last else b"")
            joint = b"\r" if last else b""
        elif part.record is None:
            yield b"\n" * newlines
            joint = b"" if newlines else joint
        else:
            before = min(part.place, newlines)
            yield (b"\n" * before or joint) + unwrapper.say(part.record) + b"\n" * (newlines - before)
            joint = b"\r" if newlines == before else b""
