"""Links that came up again, and servers that answered again: who still has none is told, and not who had one back."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.roles.row_queries import Rows, without
from core.model import Role
from core.parsed import Parsed

SEVERAL = 2  # nodes: of one alone nobody else has lost a link
STOOD = 60_000_000  # microseconds without progress before a link was lost: no step that goes on takes so long by chance
MAX_READ = 4096  # lines of links: a switch that flaps says thousands
# As systemd-networkd (252) and Linux' drivers of network cards (6.6) say it: what stands before the colon is the link
_DOWN = re.compile(r"(?P<link>[A-Za-z][\w.]{1,31}): (?:Lost carrier|(?:NIC )?Link (?:is )?down)\b", re.IGNORECASE)
_UP = re.compile(r"(?P<link>[A-Za-z][\w.]{1,31}): (?:Gained carrier|(?:NIC )?Link (?:is )?up)\b", re.IGNORECASE)
# As Linux' NFS client (fs/nfs, net/sunrpc/clnt.c, 6.6) says it
_SERVER_WORDS = re.compile(r"nfs: server .{1,64} not responding, (?:still trying|timed out)", re.IGNORECASE)
_SILENT = re.compile(r"nfs: server (?P<link>[\w.:-]{1,64}) not responding", re.IGNORECASE)
_ANSWERS = re.compile(r"nfs: server (?P<link>[\w.:-]{1,64}) OK\b", re.IGNORECASE)
_ANSWERS_WORDS = re.compile(r"nfs: server .{1,64} OK\b", re.IGNORECASE)
_UP_WORDS = re.compile(r"gained carrier|link (?:is )?up\b", re.IGNORECASE)


def clear_recovered_links(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; lost links that came up again only where no other node has one that did not.

    Nor where the job had stood still before: what came then, and passed, is no reason for it.
    """
    lost = [
        candidate
        for candidate in candidates
        if candidate.role is Role.ROOT and candidate.fact.kind == Kind.NETWORK_LINK
    ]
    if not lost:
        return candidates
    up = _came_up(parsed)
    down: dict[int, tuple[int, str]] = {}
    rows = np.unique(np.concatenate([candidate.rows for candidate in lost]))[:MAX_READ]
    for row, text in read_rows(parsed.files, parsed.table, rows).items():
        match = _DOWN.search(unlabelled(parsed.table, row, text))
        if match is not None:
            down[row] = (int(parsed.table.node[row]), match["link"])
    back = {row for row, link in down.items() if up.get(link, -1) > int(parsed.table.time[row])}
    several = len({node for candidate in lost for node in candidate.nodes}) >= SEVERAL
    if not several or len(back) == len(down):
        ended = parsed.iterations.ended
        back = {row for row in back if 0 <= ended < int(parsed.table.time[row]) - STOOD}
    if not back:
        return candidates

    def came_back(of: Rows) -> NDArray[np.bool_]:
        return np.isin(of, sorted(back))

    why = "the link came up again"
    return [
        without(parsed.table, candidate, came_back, why) if candidate in lost else candidate for candidate in candidates
    ]


def clear_answered_servers(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without file servers that answered again, a minute at least before the logs end."""
    lost = [
        candidate for candidate in candidates if candidate.role is Role.ROOT and _SERVER_WORDS.search(candidate.text)
    ]
    if not lost:
        return candidates
    again = _came_up(parsed, _ANSWERS_WORDS, _ANSWERS)
    end = int(parsed.table.spoke.last.max()) - STOOD
    rows = np.unique(np.concatenate([candidate.rows for candidate in lost]))[:MAX_READ]
    back = set()
    for row, text in read_rows(parsed.files, parsed.table, rows).items():
        match = _SILENT.search(unlabelled(parsed.table, row, text))
        answered = again.get((int(parsed.table.node[row]), match["link"]), -1) if match is not None else -1
        if int(parsed.table.time[row]) <= answered <= end:
            back.add(row)

    def answers(of: Rows) -> NDArray[np.bool_]:
        return np.isin(of, sorted(back))

    why = "the server answered again, and the job went on"
    return [
        without(parsed.table, candidate, answers, why) if candidate in lost else candidate for candidate in candidates
    ]


def _came_up(
    parsed: Parsed, words: re.Pattern[str] = _UP_WORDS, up: re.Pattern[str] = _UP
) -> dict[tuple[int, str], int]:
    """When each link of each node last came up."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if words.search(template.sample)]
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(events).values()]))[-MAX_READ:]
    last_up: dict[tuple[int, str], int] = {}
    for row, text in read_rows(parsed.files, table, rows).items():
        match = up.search(unlabelled(table, row, text))
        if match is not None:
            link = int(table.node[row]), match["link"]
            last_up[link] = max(last_up.get(link, -1), int(table.time[row]))
    return last_up
