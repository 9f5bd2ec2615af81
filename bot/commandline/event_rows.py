"""Every line of a job with its event, for ``firstfault events``; text is built in blocks, for a million rows."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from bot.text.harmless import harmless, storable
from bot.text.wording import SECOND, iso
from core.diagnose import EventRow

_BLOCK = 8_192  # rows that are written at once


def as_jsonl(rows: Iterable[EventRow]) -> Iterator[str]:
    """One JSON object a row, in blocks of text: file, line, event, node, rank, time (ISO 8601 UTC or null), stage."""

    @cache
    def quoted(text: str) -> str:
        return json.dumps(storable(text))

    @cache
    def second(number: int) -> str:
        return (iso(number * SECOND) or "")[:19]

    def write(row: EventRow) -> str:
        node = "null" if row.node is None else quoted(row.node)
        rank = "null" if row.rank is None else row.rank
        time = "null" if row.time is None else f'"{second(row.time // SECOND)}.{row.time % SECOND:06d}Z"'
        return (
            f'{{"file": {quoted(row.file)}, "line": {row.line}, "event": "{row.event}", "node": {node}, '
            f'"rank": {rank}, "time": {time}, "stage": "{row.stage}"}}\n'
        )

    return _blocks(map(write, rows))


def as_table(
    rows: Iterable[EventRow], files: Iterable[str], nodes: Iterable[str], *, width: int | None
) -> Iterator[str]:
    """A line a row for people: place, event, node, rank, stage, template; ``width`` cuts it for a terminal."""
    place_width = min(64, max((len(name) for name in files), default=20) + 7)
    node_width = min(24, max((len(node) for node in nodes), default=4))
    clean = cache(harmless)  # few distinct names and templates stand in many rows

    def write(row: EventRow) -> str:
        place = f"{clean(row.file)}:{row.line}"
        rank = "-" if row.rank is None else row.rank
        line = (
            f"{place:<{place_width}}  {row.event}  {clean(row.node or '-'):<{node_width}}  {rank:>5}  "
            f"{row.stage:<18}  {clean(row.template)}"
        ).rstrip()
        return line[:width] + "\n"

    return _blocks(map(write, rows))


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    while block := "".join(islice(lines, _BLOCK)):
        yield block
