"""Logs that are one JSON document, on one line or on many: its records in order, each where it stands.

Only a record is held at a time. What stands between records is passed over token by token, so that nothing inside a
string is taken for a record.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from core.logs.wraps.json_objects import DECODER
from core.logs.wraps.peeled import Peeled

MAX_RECORD = 1 << 22  # characters of a record that are waited for; a line of a log has some hundred
_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")(?P<key>\s*:)?|(?P<sign>[\[\]{},:])|(?P<word>[^\s\[\]{},:"]+))')
_LINE_OF = re.compile(r'"(?:message|msg|event|line|MESSAGE|textPayload|log)"\s*:')


@dataclass(frozen=True, slots=True)
class Document:
    """A kind of document.

    looks: what its beginning holds. arrays: keys of the arrays whose elements are records; the empty one for the top
    level. read: what a record says, given what stood under ``context`` last.
    """

    name: str
    looks: re.Pattern[str]
    arrays: tuple[str, ...]
    read: Callable[[Any, Any], Peeled | None]
    context: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    r"""Some of a document, as it is stored.

    record: what a record in it says; None where there is none. place: newlines of ``raw`` before the line that says it.
    broken: this is none of the records that the document is made of, or no part of any document.
    """

    raw: bytes
    record: Peeled | None = None
    place: int = 0
    broken: bool = False


def read_parts(blocks: Iterable[bytes], kind: Document) -> Iterator[DocumentPart]:
    """All of a document, part by part."""
    text = _Text(blocks)
    reader = _Reader(text, kind)
    while (part := reader.next_part()) is not None:
        yield part
    while len(text) or text.more():
        yield DocumentPart(_bytes(text.take(len(text))), broken=True)


class _Text:
    """The characters of a document from the first one that is not done; what is done is forgotten block by block."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._blocks = iter(blocks)
        self.held, self.at = "", 0

    def __len__(self) -> int:
        return len(self.held) - self.at

    def more(self) -> bool:
        """Hold some more; False at the end."""
        block = next(self._blocks, None)
        if block is not None:
            self.held, self.at = self.held[self.at :] + self._decoder.decode(block), 0
        return block is not None

    def take(self, size: int) -> str:
        """The next characters, which are done with it."""
        self.at += size
        return self.held[self.at - size : self.at]


class _Reader:
    """Walks through the document's structure."""

    def __init__(self, text: _Text, kind: Document) -> None:
        self._text, self._kind = text, kind
        self._open: list[str] = []  # keys of the arrays and objects around
        self._key = ""
        self._context: Any = None

    def next_part(self) -> DocumentPart | None:
        """What stands up to the next record, and the record; None at the end, or where it is no JSON."""
        size = 0
        while size < MAX_RECORD and (match := self._token(size)) is not None:
            begins, size = match.start("sign") - self._text.at, match.end() - self._text.at
            sign = match["sign"]
            if sign and sign in "[{" and (self._is_record(sign) or self._is_context(sign)):
                value, size = self._decoded(begins)
                if size < 0:
                    return self._structure(begins)
                if self._is_record(sign):
                    return self._record(value, begins, size)
                self._context = value
            elif sign and sign in "[{":
                self._open.append(self._key)
            elif sign and sign in "]}":
                self._open[-1:] = []
            self._key = json.loads(match["text"], strict=False) if match["key"] else ""
        return self._structure(size if self._text.held[self._text.at + size :].strip() else len(self._text))

    def _token(self, size: int) -> re.Match[str] | None:
        """The token behind so many characters; of one that ends where the text does there may be more to come."""
        while True:
            match = _TOKEN.match(self._text.held, self._text.at + size)
            if (match and match.end() < len(self._text.held)) or len(self._text) > MAX_RECORD or not self._text.more():
                return match

    def _decoded(self, size: int) -> tuple[Any, int]:
        """The value behind so many characters, and where it ends; -1 when there is none."""
        while True:
            try:
                value, end = DECODER.raw_decode(self._text.held, self._text.at + size)
            except RecursionError:
                return None, -1
            except ValueError:
                if len(self._text) > MAX_RECORD or not self._text.more():
                    return None, -1
            else:
                return value, end - self._text.at

    def _is_record(self, sign: str) -> bool:
        if self._key:
            return False  # a member of an object
        if "" in self._kind.arrays:
            return sign == "{" and (not self._open or self._open == [""])
        return bool(self._open) and self._open[-1] in self._kind.arrays

    def _is_context(self, sign: str) -> bool:
        return sign == "{" and self._key != "" and self._key == self._kind.context

    def _record(self, value: Any, begins: int, end: int) -> DocumentPart:
        written = self._text.take(end)
        line = _LINE_OF.search(written, begins)
        peeled = self._kind.read(value, self._context)
        place = written.count("\n", 0, line.start() if line else begins)
        return DocumentPart(_bytes(written), peeled, place, broken=peeled is None)

    def _structure(self, size: int) -> DocumentPart | None:
        return DocumentPart(_bytes(self._text.take(size))) if size else None


def _bytes(written: str) -> bytes:
    return written.encode("utf-8", "surrogateescape")
