"""What several speakers said, one after the other in one file: logs that YARN aggregated, files that ``tail`` shows.

``yarn logs`` (hadoop LogToolUtils.java, AggregatedLogFormat.java, 3.3): ``Container: ID on HOST_PORT``, then of each
log of it a head that ends with ``LogContents:``, the log, and ``End of LogType:NAME``. ``tail`` (GNU coreutils, tail.c,
write_header): ``==> NAME <==`` wherever another file goes on.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from core.logs.wraps.documents import MAX_RECORD, DocumentPart
from core.logs.wraps.peeled import Peeled

YARN = re.compile(rb"(?m)^Container: container_\w{1,80} on \S{1,255}\n(?:LogAggregationType: \w{1,40}\n)?={10,200}$")
TAIL = re.compile(rb"(?m)^==> [^\n]{1,1000} <==$")
_CONTAINER = re.compile(rb"Container: (?P<id>container_\w{1,80}) on (?P<host>[\w.-]{1,253}?)(?:[_:]\d{1,5})?$")
_CONTENTS = re.compile(rb"Log ?Contents:$")
_END = b"End of LogType:"
_HEAD = re.compile(rb"==> (?P<folders>(?:[^\n/]{0,255}/){0,32})(?P<stem>[^\n/]{1,255}?)(?:\.(?:log|out|err|txt))? <==$")
_OF_RANK = re.compile(rb"(?:^|[^a-z])rank[_.-]?(?P<rank>\d{1,6})(?!\d)", re.IGNORECASE)


def read_yarn(blocks: Iterable[bytes]) -> Iterator[DocumentPart]:
    """All lines of the logs, each said by the machine of its container; heads and ends are of nobody."""
    speaker, is_said = Peeled(b""), True  # what stands before the first container was said by who collected them
    for line in _lines(blocks):
        text = line.rstrip(b"\r\n")
        if container := _CONTAINER.match(text):
            speaker, is_said = Peeled(b"", nodes=(container["host"],), unit=container["id"]), False
        elif is_said and not text.startswith(_END):
            yield DocumentPart(line, Peeled(text, nodes=speaker.nodes, unit=speaker.unit))
            continue
        else:
            is_said = _CONTENTS.match(text) is not None
        yield DocumentPart(line)


def read_tail(blocks: Iterable[bytes]) -> Iterator[DocumentPart]:
    """All lines of the files, each said by who is in the name of its file: a rank, else a machine that it is called."""
    speaker = Peeled(b"")
    for line in _lines(blocks):
        text = line.rstrip(b"\r\n")
        if head := _HEAD.match(text):
            rank = _OF_RANK.search(head["stem"])
            nodes = () if rank else (head["stem"],)
            speaker = Peeled(b"", nodes=nodes, rank=int(rank["rank"]) if rank else None)
            yield DocumentPart(line)
        else:
            yield DocumentPart(line, Peeled(text, nodes=speaker.nodes, rank=speaker.rank))


@dataclass(frozen=True, slots=True)
class Sections:
    """A kind of such a file: what its beginning holds, and what reads it."""

    looks: re.Pattern[bytes]
    read: Callable[[Iterable[bytes]], Iterator[DocumentPart]]
    least: int  # heads in its beginning


SECTIONS = (Sections(YARN, read_yarn, least=1), Sections(TAIL, read_tail, least=2))


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends; one that is too long to be held comes in pieces."""
    pending = b""
    for block in blocks:
        *whole, pending = (pending + block).split(b"\n")
        yield from (line + b"\n" for line in whole)
        if len(pending) > MAX_RECORD:
            yield pending
            pending = b""
    if pending:
        yield pending
