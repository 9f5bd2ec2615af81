"""Exceptions that nobody knows and that name another one of the job: who raises them tells of a peer."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.events.messages import keys_of
from core.events.text import read_rows
from core.facts import Blame, Fact
from core.judge.candidates import Candidate
from core.judge.speaker import is_raised_again
from core.kinds import Kind
from core.logs.origins import Origin
from core.model import Role
from core.parsed import Parsed
from core.shares import MIN_RANKS

MAX_READ = 1024  # raw lines of an exception that are read
_WORD = re.compile(r"[\w.-]+")
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_TELLS_OF_A_PEER = Fact(
    Role.PROPAGATED,
    Blame.NAMED,
    Kind.PEER_LOST,
    0.5,  # as of known words for a lost peer
    "it told of a peer",
    "Look at the peer that it names: its log, its processes, and the network between them.",
)


def clear_named_peers(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; exceptions that each time name a node, or an address, that is not their speaker's."""
    nodes = frozenset(parsed.nodes)
    if len(nodes) < MIN_RANKS:
        return candidates
    guessed = {one.event: one for one in candidates if _is_guess(one)}
    keys = {event: keys_of(parsed.table, one.rows[:MAX_READ].tolist()) for event, one in guessed.items()}
    rows = [row for own in keys.values() for lines in own.values() for row in lines]
    texts = read_rows(parsed.files, parsed.table, rows) if rows else {}

    def clear(one: Candidate) -> Candidate:
        own = keys.get(one.event)
        if not own:
            return one
        said = [(row, " ".join(texts.get(line, "") for line in lines)) for row, lines in own.items()]
        origins = [parsed.table.origins[parsed.table.voice[row]] for row, _ in said]
        if not all(any(_names(text, origin, nodes)) for (_, text), origin in zip(said, origins, strict=True)):
            return one
        return replace(one, fact=_TELLS_OF_A_PEER, role=Role.PROPAGATED, why="it names a peer")

    return [clear(one) for one in candidates]


def _is_guess(one: Candidate) -> bool:
    guessed = one.role is Role.ROOT and not one.fact.known and one.fact.kind == Kind.EXCEPTION
    return guessed and bool(one.nodes) and not is_raised_again(one)


def _names(text: str, speaker: Origin, nodes: frozenset[str]) -> Iterator[str]:
    """Other nodes and addresses that a text names; of its own machine an exception tells nothing new."""
    words = {word.rstrip(".:") for word in _WORD.findall(text)}
    if speaker.node is not None and speaker.node not in words:
        yield from sorted(words & nodes)
        yield from (address for address in _ADDRESS.findall(text) if _is_elsewhere(address))


def _is_elsewhere(address: str) -> bool:
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return False
    return not (read.is_loopback or read.is_unspecified)
