"""Who plays whom: each node of a grown job speaks the lines of one node of the small one.

The first node stays the first (it logs for rank 0 and holds the store), the last stays the last (it logs for the last
rank), and all others speak as a healthy node from the middle, but those that are at fault.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

MAX_DELAY = 30_000_000  # nanoseconds; effects follow causes by more: a lost peer is seen after 100 ms or later
FIRST = 0
_LOST_PEER = re.compile(r"\[(\d+(?:\.\d+){3})\]:\d+")


class CannotGrow(ValueError):
    """A job that holds no node that could be multiplied, or a fault that belongs to one place only."""


@dataclass(frozen=True)
class Original:
    """A small job on disk, and what really happened to it."""

    home: Path
    manifest: Mapping[str, Any]
    truth: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The job's id."""
        return str(self.manifest["job_id"])

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of its nodes, in the order of their ranks."""
        return tuple(self.manifest["nodes"])

    @property
    def ranks_per_node(self) -> int:
        """Ranks on each node."""
        return int(self.manifest["ranks_per_node"])

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Where each node stands."""
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def faulty(self) -> int | None:
        """The place of the node at fault; None when nobody is to blame."""
        named = [self.place[name] for name in self.truth["faulty_nodes"]]
        return named[0] if named else None

    @cached_property
    def middle(self) -> tuple[int, ...]:
        """Healthy nodes that play no part of their own."""
        last = len(self.nodes) - 1
        return tuple(place for place in range(1, last) if place != self.faulty)

    @cached_property
    def names_far(self) -> bool:
        """Whether ranks name lost peers that are not their neighbours in the ring."""
        at = {str(address): self.place[name] for name, address in self.manifest["node_addresses"].items()}
        world = len(self.nodes) * self.ranks_per_node
        for log in self.home.rglob("stderr.log"):
            rank = self.place[log.parts[-6]] * self.ranks_per_node + int(log.parts[-2])  # NODE/torchrun/RUN/attempt_0/0
            near = {(rank + step) % world // self.ranks_per_node for step in (-1, 1)}
            text = log.read_text(encoding="utf-8", errors="replace")
            if any(at.get(address, rank) not in near for address in _LOST_PEER.findall(text) if address in at):
                return True
        return False


@dataclass(frozen=True)
class Cast:
    """The nodes of a grown job.

    plays: for each node the place of the small job's node whose lines it speaks.
    faulty: places of the nodes at fault, the one whose fault came first in front.
    delays: nanoseconds by which all that a node says comes later; none for the first node, the last, and the first at
        fault.
    """

    original: Original
    plays: tuple[int, ...]
    faulty: tuple[int, ...]
    delays: tuple[int, ...]
    seed: int
    heirs: Mapping[int, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.plays)

    @property
    def world(self) -> int:
        """Number of ranks."""
        return self.size * self.original.ranks_per_node

    def name(self, place: int) -> str:
        """Name of a node; never one of the small job, so that a name which nobody bears stays one."""
        return f"node-{place:04}"

    def address(self, place: int) -> str:
        """Address of a node, apart from that of the scheduler (10.77.0.1)."""
        return f"10.77.{1 + place // 250}.{1 + place % 250}"

    def ranks(self, place: int) -> range:
        """Global ranks of a node."""
        per_node = self.original.ranks_per_node
        return range(place * per_node, (place + 1) * per_node)

    @cached_property
    def faulty_ranks(self) -> tuple[int, ...]:
        """Global ranks at fault; all of a node where its launcher or the whole node is."""
        original = self.original
        own = [rank % original.ranks_per_node for rank in original.truth["faulty_ranks"]]
        local = own or range(original.ranks_per_node)
        return tuple(self.ranks(place)[rank] for place in self.faulty for rank in local)

    def draw(self, *about: object) -> random.Random:
        """Random numbers for one purpose: the same whatever else was drawn."""
        return random.Random(f"{self.seed} {self.size} {' '.join(map(str, about))}")  # noqa: S311  # not for secrets


def choose_cast(original: Original, nodes: int, faulty: int, seed: int) -> Cast:
    """Give every node a part; the seed decides where the faulty ones stand.

    Raises:
        CannotGrow: the job has no healthy node in its middle, or the fault is that of the first node.
    """
    draw = random.Random(f"{original.id} {nodes} {faulty} {seed}")  # noqa: S311  # not for secrets
    if not original.middle:
        raise CannotGrow(f"{original.id} has no healthy node between its first and its last one.")
    at_fault = _faulty_places(original, nodes, faulty, draw)
    last = nodes - 1
    plays = [draw.choice(original.middle) for _ in range(nodes)]
    plays[FIRST], plays[last] = FIRST, len(original.nodes) - 1
    for place in at_fault:
        plays[place] = original.faulty if original.faulty is not None else plays[place]
    still = {FIRST, last, *at_fault[:1]}
    delays = tuple(0 if place in still else draw.randrange(MAX_DELAY) for place in range(nodes))
    heirs = {played: place for place, played in reversed(list(enumerate(plays)))}
    if at_fault and original.faulty is not None:
        heirs[original.faulty] = at_fault[0]
    return Cast(original, tuple(plays), at_fault, delays, seed, heirs)


def _faulty_places(original: Original, nodes: int, faulty: int, draw: random.Random) -> tuple[int, ...]:
    """The node at fault keeps its part: as first or last it stays there, and copies of it stand in the middle."""
    if original.faulty is None:
        return ()
    middle: Sequence[int] = draw.sample(range(1, nodes - 1), faulty)
    if original.faulty == FIRST:
        if faulty > 1:
            raise CannotGrow(f"The fault of {original.id} is one of its first node; there is only one.")
        return (FIRST,)
    if original.faulty == len(original.nodes) - 1:
        return (nodes - 1, *middle[1:])
    return tuple(middle)
