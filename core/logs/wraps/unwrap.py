"""Lines without their layers: one line out for each line in."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from core.logs.label import Label, write_label
from core.logs.lines import LABEL_MARK, without_ansi
from core.logs.wraps.peeled import Peeled, Wrap

_MAX_LABELS = 1 << 12  # that are remembered, so that they need not be written anew
# Of one line: a traceback of 1,000 frames has 3,000 lines, a progress bar tens of thousands, of which the last count.
_MAX_PIECES = 1 << 14
_MAX_JOINED = 1 << 20  # bytes of a line that came in parts; real lines end at about 14,000 (docs/reference/logs.md)
# Sets of fields of the records of a file: a logger has some for each of its calls, and all of them together say 1,102
# different messages in the real job that says most (core.logs.fold). A new one is read field by field, at 20 us a line.
MAX_LAYOUTS = 1 << 10
_SHORT = 16  # bytes of a set of fields that is kept as it is, and of the digest of a longer one
MAX_BEYOND = 1 << 12  # records with further ones that are looked at; behind those nothing is taken off any more
_NOTHING = Peeled(b"")


class Unwrapper:
    """Takes the layers off the lines of one file, from its first to its last."""

    def __init__(self, layers: Sequence[Wrap]) -> None:
        self._layers = layers
        self._labels: dict[tuple[object, ...], bytes] = {}
        self._above, self._indent = _NOTHING, b""  # the record that a line may go on with, how far from the left it is
        self._parts: defaultdict[bytes, bytes] = defaultdict(bytes)
        self._object: list[bytes] = []  # lines of an object that is printed below a record
        self._layouts: set[bytes] = set()
        self._beyond = 0  # records whose fields were too many different ones

    def unwrap(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Each line as it was said, without its newline."""
        for line in lines:
            yield self.say(Peeled(line.removesuffix(b"\r")))

    @property
    def waits(self) -> bool:
        """Whether something was said in part."""
        return bool(self._object) or any(self._parts.values())

    @property
    def gave_up(self) -> bool:
        """Whether lines are taken as they stand from here on: names of fields are new in each of too many."""
        return self._beyond > MAX_BEYOND

    @property
    def capped(self) -> str:
        """What was read less exactly, as the end of a sentence about the file; empty for nothing."""
        if not self._beyond:
            return ""
        what = "the rest of it was read as it stands" if self.gave_up else "further ones were read as they stand"
        return f"records with more than {MAX_LAYOUTS:,} different sets of fields: {what}."

    def left(self) -> bytes:
        """What was said in parts of which the last one is missing; asked for when the file is over."""
        texts = [text for text in (*self._parts.values(), b"\n".join(self._object)) if text]
        self._parts.clear()
        return b"\r".join(self._written(replace(_as(self._above, text), stamp=_NOTHING.stamp)) for text in texts)

    def say(self, peeled: Peeled) -> bytes:
        """What stands inside all layers."""
        peeled = _as(peeled, without_ansi(peeled.text))
        if self.gave_up:
            return self._written(peeled)
        for wrap in self._layers:
            if wrap.layout is not None and not self._knows(wrap.layout(peeled.text)):
                return self._written(peeled)
            inner = wrap.peel(peeled.text)
            if inner is None and wrap.continues(peeled.text):
                return self._go_on(peeled, wrap) if wrap.goes_on(self._above.text) else self._written(peeled)
            if inner is None and wrap.is_torn(peeled.text):
                return self._written(peeled, broken=True)
            if inner is not None:
                inner = self._joined(inner)
                if not inner.ends:
                    return b""
                self._indent = b" " * (len(peeled.text) - len(inner.text)) if peeled.text.endswith(inner.text) else b""
                peeled = peeled.around(_as(inner, without_ansi(inner.text)))
        self._above = peeled
        return self._written(peeled)

    def _knows(self, layout: bytes) -> bool:
        """Whether records with these fields are read; too many different ones are not."""
        if len(layout) > _SHORT:
            layout = blake2b(layout, digest_size=_SHORT).digest()
        if layout not in self._layouts:
            if len(self._layouts) >= MAX_LAYOUTS:
                self._beyond += 1
                return False
            self._layouts.add(layout)
        return True

    def as_it_stands(self, text: bytes) -> bytes:
        """Whole lines after it gave up, as ``unwrap`` has each of them."""
        if b"\r" in text:
            return b"".join(line + b"\n" for line in self.unwrap(text[:-1].split(b"\n")))
        lead = self._label(_NOTHING, broken=False)
        return lead + without_ansi(text[:-1]).replace(LABEL_MARK, b"").replace(b"\n", b"\n" + lead) + b"\n"

    def broken(self, text: bytes) -> bytes:
        """A line that nobody understands."""
        return self._written(Peeled(without_ansi(text)), broken=True)

    def _go_on(self, peeled: Peeled, wrap: Wrap) -> bytes:
        """A line that goes on with what the record above it said, or one of an object that is printed below it."""
        text = peeled.text.removeprefix(self._indent)
        if wrap.record is None or not (self._object or text == b"{"):
            return self._written(replace(_as(self._above, text), stamp=peeled.stamp))
        self._object.append(text)
        if text != b"}":
            return b""
        whole, self._object = b"\n".join(self._object), []
        inner = wrap.record(whole)
        return self._written(self._above.around(inner) if inner else _as(self._above, whole))

    def _joined(self, part: Peeled) -> Peeled:
        """The part with those of its stream before it."""
        before = self._parts[part.stream] if self._parts else b""
        if part.ends and not before:
            return part
        self._parts[part.stream] = b"" if part.ends else (before + part.text)[:_MAX_JOINED]
        return _as(part, before + part.text) if part.ends else part

    def _written(self, peeled: Peeled, *, broken: bool = False) -> bytes:
        """A line out: stamp and label before each line of the text."""
        lead = self._label(peeled, broken=broken) + peeled.tags
        lead = peeled.stamp.text + b" " + lead if peeled.stamp.text else lead
        text = peeled.text.replace(LABEL_MARK, b"")
        if b"\n" not in text and b"\r" not in text:
            return lead + text
        pieces = [piece for line in text.split(b"\n") for piece in line.rstrip(b"\r").split(b"\r") if piece or not line]
        if len(pieces) > _MAX_PIECES:
            pieces = pieces[: _MAX_PIECES // 2] + pieces[-_MAX_PIECES // 2 :]
        return b"\r".join(lead + piece for piece in pieces)

    def _label(self, peeled: Peeled, *, broken: bool) -> bytes:
        fields = (peeled.nodes, peeled.rank, peeled.local_rank, peeled.unit, broken)
        label = self._labels.get(fields)
        if label is None:
            if len(self._labels) >= _MAX_LABELS:
                self._labels.clear()
            label = self._labels[fields] = write_label(Label(*fields))
        return label


def _as(peeled: Peeled, text: bytes) -> Peeled:
    """The same speaker at the same time, with another text."""
    return peeled if peeled.text == text else replace(peeled, text=text)
