"""Where a dress is put on: around the lines of each file on its own, or around all that the training printed at once.

Put around all, the lines of every file of a node become one stream, as torchrun's ``--tee`` makes them one; what
daemons and schedulers wrote stays as it is. A file that a launcher wrote for all nodes has no node of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.quality.dresses.outfit import Outfit, Piece, outfit
from benchmarks.quality.dresses.wearer import COLLECTOR, Spoken, Stream, Wearer, labelled

Shim = Callable[["WrappedLine"], Iterable[bytes]]  # the dressed line; none where the wrapper swallows it


@dataclass(frozen=True, slots=True)
class WrappedLine:
    """A line on its way through a wrapper. node: who spoke, or who collects what a launcher wrote for all nodes."""

    text: bytes
    spoken: Spoken
    stream: Stream
    node: str

    @property
    def time(self) -> int:
        """Microseconds since 1970."""
        return self.spoken.time


def in_place(wearer: Wearer, shim: Shim) -> Outfit:
    """Each file under its own name."""
    pieces = {
        stream.name: _pieces(
            (WrappedLine(line.text, line, stream, stream.node or COLLECTOR) for line in stream.lines), shim
        )
        for stream in wearer.streams
    }
    return outfit(_beside(wearer, wearer.streams), pieces)


def together(wearer: Wearer, name: str, shim: Shim, *, by_time: bool = True) -> Outfit:
    """All that the training printed in one file: as it came, or node after node."""
    lines = [line for node in (*wearer.by_node, COLLECTOR) for line in of_node(wearer, node)]
    if by_time:
        lines.sort(key=lambda line: line.time)
    return outfit(_beside(wearer, _trained(wearer)), {name: _pieces(lines, shim)})


def by_node(wearer: Wearer, name: str, shim: Shim) -> Outfit:
    """A file for each node, which has the node in its name."""
    pieces = {
        name.format(node): _pieces(lines, shim)
        for node in (*wearer.by_node, COLLECTOR)
        if (lines := list(of_node(wearer, node)))
    }
    return outfit(_beside(wearer, _trained(wearer)), pieces)


def of_node(wearer: Wearer, node: str) -> Iterator[WrappedLine]:
    """What the training printed on a node, in the order of time; of the collector what was printed for all."""
    streams = wearer.shared if node == COLLECTOR else wearer.by_node[node]
    lines = [
        WrappedLine(labelled(stream, line.text), line, stream, node) for stream in streams for line in stream.lines
    ]
    return iter(sorted(lines, key=lambda line: line.time))


def _trained(wearer: Wearer) -> list[Stream]:
    return [stream for stream in wearer.streams if stream.trains]


def _pieces(lines: Iterable[WrappedLine], shim: Shim) -> list[Piece]:
    return [(text, line.spoken.place) for line in lines for text in shim(line)]


def _beside(wearer: Wearer, dressed: Iterable[Stream]) -> dict[str, bytes]:
    """The files that are not dressed."""
    names = {stream.name for stream in dressed}
    return {name: content for name, content in wearer.files.items() if name not in names}
