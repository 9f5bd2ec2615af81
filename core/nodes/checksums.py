"""Who alone has another checksum than all others, in what each tells once more before the job gives up.

Replicas hold the same weights; a program that compares their checksums tells each, and raises on all ranks alike.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from core.course.pace import SECOND
from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.events.table import rows_by
from core.judge.candidates import Candidate
from core.model import Role
from core.nodes.agreement import ODD_ONE
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

LAST_LINES = 48  # of each speaker before the failure: a report that all print, and what stands behind it
MAX_READ = 1 << 14  # lines of all speakers
TOGETHER = 10 * SECOND  # microseconds: they tell it in one step
_CHECKSUM = re.compile(r"(?<![\w.:-])(?:0x)?(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{8,64}(?![\w.-])", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def checksum_signs(parsed: Parsed, candidates: Sequence[Candidate], peers: Sequence[str]) -> list[Sign]:
    """A sign for the one node of which a speaker has another checksum than all others of the job.

    None unless the job then failed alike on most nodes: else checksums are told of what differs.

    Args:
        peers: nodes that do the same work.
    """
    roots = [item for item in candidates if item.role is Role.ROOT and len(set(item.nodes)) > len(peers) * MAJORITY]
    if len(peers) < MIN_RANKS or not roots:
        return []
    until = min(int(parsed.table.time[item.rows].min()) for item in roots)
    for shape, told in sorted(_told(parsed, until, frozenset(peers)).items()):
        if (sign := _odd_one(parsed, shape, told, peers)) is not None:
            return [replace(sign, event=roots[0].event)]  # what all raised is about it
    return []


def _told(parsed: Parsed, until: int, peers: frozenset[str]) -> Mapping[str, list[tuple[int, str, str]]]:
    """Row, node and checksum of each line with one that speakers told last before a time, by the shape of the line."""
    table = parsed.table
    voices = [voice for voice, origin in enumerate(table.origins) if origin.node in peers]
    rows = table.rows_of_voices(voices)
    rows = rows[table.head[rows] & (table.time[rows] <= until)]
    each = min(LAST_LINES, MAX_READ // max(1, len(voices)))
    last = [
        rows[own[len(own) - min(each, len(own)) :]].tolist()
        for _, own in rows_by(table.voice[rows], np.arange(len(rows)))
    ]
    chosen = np.sort(np.array(list(chain.from_iterable(last)), np.intp))
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for row, text in read_rows(parsed.files, table, chosen).items():
        said = unlabelled(table, row, text)
        checksums = _CHECKSUM.findall(said)
        if len(checksums) == 1:
            node = table.nodes[table.node[row]]
            found[_NUMBER.sub("0", _CHECKSUM.sub("#", said)).strip()].append((row, node, checksums[0]))
    return found


def _odd_one(parsed: Parsed, shape: str, told: Sequence[tuple[int, str, str]], peers: Sequence[str]) -> Sign | None:
    """The sign for who has another one in the last round, if all nodes told it as often."""
    table = parsed.table
    end = max(int(table.time[row]) for row, _, _ in told)
    told = [item for item in told if int(table.time[item[0]]) >= end - TOGETHER]
    each = Counter(node for _, node, _ in told)
    usual, count = Counter(checksum for _, _, checksum in told).most_common(1)[0]
    odd = [item for item in told if item[2] != usual]
    nodes = {node for _, node, _ in odd}
    if set(each) != set(peers) or len(set(each.values())) > 1 or len(nodes) != 1:
        return None
    if count < MIN_RANKS or len(odd) > few_of(len(told)):
        return None
    row, node, own = odd[0]
    rank = int(table.rank[row])
    return Sign(
        node,
        "agreement",
        ODD_ONE,
        f"{table.called([rank], node) if rank >= 0 else node} told {own}, {count} of {len(told)} told {usual}: "
        f"\u201c{short(shape)}\u201d.",
        says=f"its checksum is {own} there, {usual} on all others",
        check=f"Compare {node} with another node: memory errors (ECC); run a step twice and compare bit by bit.",
        ranks=(rank,) if rank >= 0 else (),
        rows=(row,),
    )
