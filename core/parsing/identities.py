"""Addresses and ranks of nodes, where lines tell who their speaker is (rules/identities.toml)."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from functools import cache

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile
from core.logs.voices import NUMBERED_PROCESS
from core.phrases import patterns_in

_ANY_ADDRESS = "10.0.0.1"  # stands in for a masked one
MAX_READ = 4096  # raw lines that are read: one a rank of the largest jobs


def told_identities(table: EventTable, files: Mapping[str, LogFile]) -> tuple[dict[str, str], dict[int, str]]:
    """Address -> node and rank -> node."""
    samples = [template.sample.replace("<IP>", _ANY_ADDRESS).replace("<NUM>", "0") for template in table.templates]
    telling = [place for place, sample in enumerate(samples) if own_address(sample) or own_rank(sample) is not None]
    addresses: dict[str, str] = {}
    ranks: dict[int, str] = {}
    if telling:
        rows = table.all_rows_of(telling)
        rows = rows[table.node[rows] >= 0][:MAX_READ]
        for row, text in read_rows(files, table, rows).items():
            node = table.nodes[table.node[row]]
            if (address := own_address(text)) is not None:
                addresses.setdefault(address, node)
            if (rank := own_rank(text)) is not None:
                ranks.setdefault(rank, node)
    return addresses, ranks


def find_names(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, str]:
    """Another name of each node that goes by two: the name for its address, as Ray's driver calls what workers print.

    A machine that has but the number of a process is better known by its address.
    """
    if behind := _behind_others(table.nodes):
        return behind
    called = {node for node in table.nodes if is_address(node)}
    if not called or called == set(table.nodes):
        return {}
    addresses, _ = told_identities(table, files)
    pairs = [(address, node) for address, node in addresses.items() if address in called and node not in called]
    return dict((node, address) if NUMBERED_PROCESS.fullmatch(node) else (address, node) for address, node in pairs)


def _behind_others(nodes: Sequence[str]) -> dict[str, str]:
    """The node of each name that only has something before it, as files have it: dmesg_10.88.0.6, beside 10.88.0.6."""
    known = set(nodes)
    found: dict[str, str] = {}
    for name in nodes:
        ends = [name[match.end() :] for match in re.finditer(r"[_@]|-(?=\D)", name)]
        if (node := next((end for end in ends if end in known), None)) is not None:
            found[name] = node
    return found


def is_address(name: str) -> bool:
    """Whether a name is an address."""
    if ":" not in name and not name[:1].isdigit():  # names by the ten thousand are asked for
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


MAX_DIGITS = 9  # a longer number is no rank


def own_address(text: str) -> str | None:
    """The address that a raw line says is the speaker's own."""
    return _read(text, "address")


def own_rank(text: str) -> int | None:
    """The global rank that a raw line says is the speaker's own."""
    rank = _read(text, "rank")
    return int(rank) if rank is not None and len(rank) <= MAX_DIGITS else None


def _read(text: str, group: str) -> str | None:
    for pattern in _patterns(group):
        if found := pattern.search(text):
            return found[group]
    return None


@cache
def _patterns(group: str) -> tuple[re.Pattern[str], ...]:
    patterns = patterns_in("identities.toml", "identity")
    return tuple(re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in patterns if f"(?P<{group}>" in pattern)
