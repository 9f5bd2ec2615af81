"""What a job says, before anybody has judged it: each event with its messages and the nodes that say it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.events.table import rows_by
from core.logs.lines import Format, take_apart
from core.logs.messages import group, plain
from core.parsed import Parsed


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event as a job says it.

    event: template id. texts: its template, then every message of the job that the template stands for.
    nodes: who says it, sorted; empty for what belongs to no node. count: how often.
    """

    event: str
    texts: tuple[str, ...]
    nodes: tuple[str, ...]
    count: int


def find_occurrences(parsed: Parsed) -> tuple[Occurrence, ...]:
    """All events of a job, in the order of their template ids."""
    table = parsed.table
    texts: dict[str, set[str]] = {}
    for scan in parsed.reading.scans:
        for text in scan.texts:
            texts.setdefault(parsed.templates[text].id, set()).add(plain(text))
    found = []
    by_event = np.argsort(table.counts.event, kind="stable")
    for event, pairs in rows_by(table.counts.event, by_event):
        template = table.templates[event]
        nodes = {node for voice in table.counts.voice[pairs].tolist() if (node := table.origins[voice].node)}
        count = int(table.counts.heads[pairs].sum())
        messages = sorted(texts.get(template.id, set()) - {template.text})
        found.append(Occurrence(template.id, (template.text, *messages), tuple(sorted(nodes)), count))
    return tuple(sorted(found, key=lambda occurrence: occurrence.event))


def messages_of(text: str) -> Iterator[str]:
    """The messages of some lines that one process wrote, as they would be in a job."""
    parts = [take_apart(line.encode("utf-8", "replace"), Format()) for line in text.split("\n")]
    bodies = sorted({part.body for part in parts})
    body = np.array([bodies.index(part.body) for part in parts], np.uint32)
    messages = group(body, np.zeros(len(parts), np.uint32), bodies)
    for number in dict.fromkeys(messages.message[messages.head].tolist()):
        yield plain(messages.texts[number])
