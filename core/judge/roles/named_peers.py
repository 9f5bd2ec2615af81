"""Errors that name another one of the job: who raises or logs them tells of a peer.

Those that nobody knows, and what is known of services outside the job, when it is one of the job's own that is called.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from core.events.messages import keys_of, unlabelled
from core.events.row_text import read_rows
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.speaker import is_raised_again
from core.logs.origins import Origin
from core.model import Role
from core.parsed import Parsed
from core.shares import MIN_RANKS

MIN_REPORTERS = 2  # of one alone, it may be its own card
MAX_READ = 1024  # raw lines of an exception that are read
_WORD = re.compile(r"[\w.-]+")
_RANK = re.compile(r"\brank[ =:#]{0,2}(\d{1,6})\b", re.IGNORECASE)
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
    """The candidates; errors that each time name a node, a rank or an address that is not their speaker's."""
    nodes = frozenset(parsed.nodes)
    if len(nodes) < MIN_RANKS:
        return candidates
    ours = nodes | {address for own in parsed.job.manifest.node_addresses.values() for address in own}
    guessed = {candidate.event: candidate.rows[:MAX_READ].tolist() for candidate in candidates if _is_guess(candidate)}
    heads = [row for rows in guessed.values() for row in rows]
    keys = keys_of(parsed.table, heads)
    voices = dict(zip(heads, parsed.table.voice[np.asarray(heads, np.intp)].tolist(), strict=True))
    texts = read_rows(parsed.files, parsed.table, [row for own in keys.values() for row in own]) if heads else {}
    texts = {
        row: unlabelled(parsed.table, row, text) for row, text in texts.items()
    }  # Ray's name the speaker's address

    def clear(candidate: Candidate) -> Candidate:
        own = guessed.get(candidate.event)
        if not own:
            return candidate
        spoken = [
            (parsed.table.origins[voices[row]], " ".join(texts.get(line, "") for line in keys[row])) for row in own
        ]
        guess, logged = not candidate.fact.known, candidate.fact.kind == Kind.ERROR
        if not all(
            any(_names(text, speaker, ours, guess=guess)) or (logged and _other_ranks(text, speaker))
            for speaker, text in spoken
        ):
            return candidate
        return replace(candidate, fact=_TELLS_OF_A_PEER, role=Role.PROPAGATED, why="it names a peer")

    return [clear(candidate) for candidate in candidates]


def clear_one_sided_transfers(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; of transfers that several machines retried in vain, and some of the job did not, those tell.

    What is retried is not answered by the other side; where that is a machine of the job, it has nothing to say.
    """
    nodes = set(parsed.nodes)
    failing = {node for item in candidates if _is_transfer(item) for node in item.nodes} & nodes
    if len(failing) < MIN_REPORTERS or failing == nodes:
        return candidates
    why = "others of the job, which say nothing of it, may be the side that did not answer"
    return [
        replace(item, fact=replace(_TELLS_OF_A_PEER, says=item.fact.says), role=Role.PROPAGATED, why=why)
        if _is_transfer(item)
        else item
        for item in candidates
    ]


def _is_transfer(candidate: Candidate) -> bool:
    return candidate.role is Role.ROOT and candidate.fact.kind == Kind.RDMA_TRANSPORT and len(candidate.nodes) > 0


def _is_guess(candidate: Candidate) -> bool:
    guessed = not candidate.fact.known and candidate.fact.kind in (Kind.EXCEPTION, Kind.ERROR)
    calls = candidate.fact.kind == Kind.REMOTE_SERVICE
    tells = calls or (guessed and bool(candidate.nodes))
    return candidate.role is Role.ROOT and tells and not is_raised_again(candidate)


def _names(text: str, speaker: Origin, nodes: frozenset[str], *, guess: bool) -> Iterator[str]:
    """Other nodes and addresses that a text names; of its own machine an exception tells nothing new.

    Args:
        nodes: names and addresses of the job's nodes.
        guess: nobody knows the exception, and any address in it may be a peer's.
    """
    words = {word.rstrip(".:") for word in _WORD.findall(text)}
    if speaker.node not in words and (speaker.node is not None or not guess):
        yield from sorted(words & nodes)
        yield from (address for address in _ADDRESS.findall(text) if guess and _is_elsewhere(address))


def _other_ranks(text: str, speaker: Origin) -> set[int]:
    """Ranks that a line names beside its speaker's; not the first, with which others are compared."""
    return {int(rank) for rank in _RANK.findall(text)} - {0, speaker.rank} if speaker.rank is not None else set()


def _is_elsewhere(address: str) -> bool:
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return False
    return not (read.is_loopback or read.is_unspecified)
