"""Templates by streaming Drain, as L4 has it (section 4.2): every message is fed, in the order of files and lines.

Without guard and with drain3's own parameters (``--drain streaming``). A text may get another cluster when it comes
again, because clusters grow meanwhile; so an event belongs to a row, not to a text. Rows are read part by part.

Differs: the unit is a message, so that a traceback is fed as one; good jobs are not fed, as their rows are not kept:
what they say has the event that this job gave it last, else that of the cluster it is most similar to.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.events.template import Template, template
from core.logs.file_rows import HEAD, FileRows, Rows, Tally
from core.logs.messages import plain
from core.logs.narrow import Put, narrow
from core.parsing.drain import NO_CLUSTER, StreamingDrain


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """Files whose messages each have one template: a text that got several clusters is several messages.

    templates: of each file those of its messages. of_text: the template of every text, the last one of several.
    """

    scans: tuple[FileRows, ...]
    templates: tuple[tuple[Template, ...], ...]
    of_text: Mapping[str, Template]

    def events(self, table: EventTable) -> EventTable:
        """The table of these files, with the events that their rows got."""
        events: dict[Template, int] = {}
        pairs: dict[tuple[str, Template], int] = {}
        texts = tuple(
            np.array([pairs.setdefault(pair, len(pairs)) for pair in zip(scan.texts, own, strict=True)], np.uint32)
            for scan, own in zip(self.scans, self.templates, strict=True)
        )
        event_of = np.array([events.setdefault(item, len(events)) for _, item in pairs], np.uint32)
        return replace(table, templates=tuple(events), texts=texts, event_of=event_of)


def stream_templates(scans: Sequence[FileRows], good_texts: Collection[str], put: Put) -> Streamed:
    """Feed the messages of all files to Drain, in the order of files and lines.

    Args:
        good_texts: what good jobs say.
        put: where the columns of files go that have to be written anew.
    """
    stream = StreamingDrain()
    streamed = [_stream_file(scan, stream, put) for scan in scans]
    made = _templates_of_clusters(streamed, stream)
    of_text: dict[str, Template] = {}
    for texts in (*(scan.texts for scan in scans), good_texts):
        for text in texts:
            if text not in of_text:
                of_text[text] = made.get(stream.last(text)) or template(plain(text), sample=text)
    templates = tuple(
        tuple(made.get(cluster) or of_text[text] for text, cluster in zip(file.texts, clusters, strict=True))
        for file, clusters in streamed
    )
    return Streamed(tuple(file for file, _ in streamed), templates, of_text)


def _stream_file(scan: FileRows, stream: StreamingDrain, put: Put) -> tuple[FileRows, list[int]]:
    """The file with one message for each text and cluster, and the clusters of its messages."""
    numbers, parts = stream.number(scan.texts), list[Rows]()
    clusters = np.full(len(scan.texts), NO_CLUSTER, np.int32)
    moves = _Moves(len(scan.texts))
    for part in scan.parts:
        message, heads = part.message[:], part.marks[:] & HEAD != 0
        given = stream.feed(numbers[message], heads)
        new = np.flatnonzero(clusters[message] == NO_CLUSTER)[::-1]
        clusters[message[new]] = given[new]  # of the first row: the last value that is written stays
        moved = np.flatnonzero(clusters[message] != given)
        if len(moved):
            message[moved] = moves.add(message[moved], given[moved], part.prefix[moved], heads[moved])
            parts.append(replace(part, message=narrow(message, put)))
        else:
            parts.append(part)
    if not moves.pairs:
        return scan, clusters.tolist()
    texts = (*scan.texts, *(scan.texts[text] for text, _ in moves.pairs))
    file = replace(scan, texts=texts, parts=tuple(parts), tally=moves.tally(scan.tally))
    return file, [*clusters.tolist(), *(cluster for _, cluster in moves.pairs)]


class _Moves:
    """Rows whose text got another cluster than at first: they become messages of their own."""

    def __init__(self, texts: int) -> None:
        self.pairs: dict[tuple[int, int], int] = {}  # text and cluster: the message
        self._texts = texts
        self._heads: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def add(
        self, text: NDArray[np.int64], cluster: NDArray[np.int32], prefix: NDArray[np.int64], heads: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The messages of some rows that moved."""
        kinds, kind = np.unique(np.stack([text, cluster]), axis=1, return_inverse=True)
        pairs = zip(*kinds.tolist(), strict=True)
        numbers = np.array([self.pairs.setdefault(pair, self._texts + len(self.pairs)) for pair in pairs], np.int64)
        message: NDArray[np.int64] = numbers[kind.reshape(-1)]
        self._heads.append((prefix[heads], text[heads], message[heads]))
        return message

    def tally(self, before: Tally) -> Tally:
        """The tally of the file with the moves in it."""
        prefix, text, message = (np.concatenate(column) for column in zip(*self._heads, strict=True))
        prefixes = np.concatenate([before.prefix, prefix, prefix]).astype(np.int64)
        messages = np.concatenate([before.message, text, message]).astype(np.int64)
        times = np.concatenate([before.heads, np.full(len(text), -1), np.ones(len(text), np.int64)])
        width = self._texts + len(self.pairs)
        keys, place = np.unique(prefixes * width + messages, return_inverse=True)
        heads = np.bincount(place, times, minlength=len(keys)).astype(np.int64)
        keys, heads = keys[heads > 0], heads[heads > 0]
        said_by, event = np.divmod(keys, width)
        return replace(before, prefix=said_by.astype(np.uint32), message=event.astype(np.uint32), heads=heads)


def _templates_of_clusters(files: Sequence[tuple[FileRows, list[int]]], stream: StreamingDrain) -> dict[int, Template]:
    by_cluster: dict[int, Counter[str]] = defaultdict(Counter)
    for file, clusters in files:
        heads = np.bincount(file.tally.message, file.tally.heads, minlength=len(file.texts)).astype(np.int64)
        for text, cluster, count in zip(file.texts, clusters, heads.tolist(), strict=True):
            if count:
                by_cluster[cluster][text] += count
    return {
        cluster: template(plain(stream.template(cluster)), sample=min(texts, key=lambda text: (-texts[text], text)))
        for cluster, texts in by_cluster.items()
    }
