"""Who made steps slow: the one thing whose sign rose by more than that of all others, if it rose by enough.

The order is that of how far a sign can be trusted: what queues between two switches is between them; a receiver that
acknowledges late has a slow link; who thinks longer or comes late has a slow accelerator. Nobody is an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.answer import NamedGroup, Subject
from core.flows.connections import Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import Floats, JobFlows
from core.flows.signs import Sign, late_answers, late_entries, late_starts, link_delays, thinking
from core.flows.timeline import Timeline
from core.flows.topology import Topology

LINK_US, LINK_TIMES = 1_000, 5.0  # microseconds of a queue, and times that of a healthy link: those moved by .01 ms (d05)
ANSWER_SHARE = 0.1  # of what a step became slower by; a ring hides most of a late link behind its other transfers
OWN_SHARE = 0.3  # the same for time of its own: pipelines and rings wait for all of it
STANDS_OUT = 2.0  # times the rise of any other: neighbours in a ring rise too
PEERS = 0.5  # of the highest rise: who has that much is slow as well
NOISE = 3.0  # robust deviations of a healthy step's value, that a rise comes to


@dataclass(frozen=True)
class Blame:
    """Who was slow: the kind of a finding, its subject, and the sentence's numbers.

    Attributes:
        kind: slow_switch, slow_nic, slow_compute or slow_group.
        rise, before: microseconds a step.
        says: what rose.
    """

    kind: str
    subject: Subject
    rise: float
    before: float
    other: float
    says: str


@dataclass(frozen=True)
class Signs:
    """All signs of a job, made once."""

    links: Sign
    answers: Sign
    thinks: Sign
    enters: Sign
    starts: Sign


def read_signs(
    connections: Connections, topology: Topology, job: JobFlows, groups: Groups, timeline: Timeline
) -> Signs:
    """All signs of a job's steps."""
    return Signs(
        link_delays(connections, topology, job, timeline),
        late_answers(connections, topology, job, timeline),
        thinking(connections, groups, timeline),
        late_entries(connections, groups, timeline),
        late_starts(connections, groups, timeline),
    )


class Court:
    """Who was slow in some steps of a job."""

    def __init__(
        self, connections: Connections, topology: Topology, signs: Signs, named: Sequence[NamedGroup]
    ) -> None:
        self._names = connections.addresses
        self._switches = connections.switches
        self._topology = topology
        self._signs = signs
        self._groups = named

    def blame(self, inside: Bools, outside: Bools, more: float) -> Blame | None:
        """Who was slow in the steps ``inside``, compared with ``outside``; ``more`` microseconds a step have to be explained."""
        found = self._switch(inside, outside)
        if found is not None:
            return found
        shares = []
        for kind, least, says, sign in (
            ("slow_nic", ANSWER_SHARE, "acknowledged later", self._signs.answers),
            ("slow_compute", OWN_SHARE, "took longer between receiving and sending", self._signs.thinks),
            ("slow_compute", OWN_SHARE, "began to send later than its group", self._signs.enters),
            ("slow_compute", OWN_SHARE, "sent its first activation later than the others", self._signs.starts),
        ):
            blame = self._nic(kind, says, sign, inside, outside, least * more)
            if blame is not None:
                shares.append(blame)
        return max(shares, key=lambda blame: blame.rise, default=None)

    def _switch(self, inside: Bools, outside: Bools) -> Blame | None:
        sign = self._signs.links
        rise, before, _ = _rises(sign, inside, outside)
        if not len(rise):
            return None
        slow = {link for link, value in zip(sign.things, rise.tolist(), strict=True) if value > LINK_US}
        healthy = [value for link, value in zip(sign.things, rise.tolist(), strict=True) if link not in slow]
        highest = float(rise.max())
        if not slow or highest < LINK_TIMES * max([*healthy, 0.0]):
            return None
        share = {}
        for switch in sorted({end for link in slow for end in link}):
            own = [link for link in sign.things if switch in link]
            share[switch] = sum(link in slow for link in own) / len(own), -len(own)
        worst = max(sorted(share), key=lambda switch: share[switch])
        subject = Subject(switch=self._switches[worst])
        return Blame(
            "slow_switch", subject, highest, float(before[int(np.argmax(rise))]), max([*healthy, 0.0]),
            f"{self._switches[worst]} held the same bytes longer before the next switch saw them",
        )  # fmt: skip

    def _nic(
        self, kind: str, says: str, sign: Sign, inside: Bools, outside: Bools, least: float
    ) -> Blame | None:
        rise, before, noise = _rises(sign, inside, outside)
        if not len(rise):
            return None
        order = np.argsort(-rise, kind="stable")
        first = int(order[0])
        highest = float(rise[first])
        if highest < least or highest < NOISE * noise[first]:
            return None
        peers = [int(place) for place in order if rise[place] >= PEERS * highest]
        others = [float(rise[place]) for place in order if int(place) not in peers]
        if len(peers) == len(rise) or highest < STANDS_OUT * max([*others, 0.0]):
            return None
        nics = sorted(self._names[sign.things[place][0]] for place in peers)
        subject = self._subject(nics, [self._names[thing[0]] for thing in sign.things])
        if subject is None:
            return None
        kind = "slow_group" if subject.server is None else kind
        return Blame(kind, subject, highest, float(before[first]), max([*others, 0.0]), f"{_who(subject)} {says}")

    def _subject(self, nics: Sequence[str], seen: Sequence[str]) -> Subject | None:
        """A NIC, or what all these NICs have in common; None where they have nothing."""
        servers = {self._topology.server_of(nic) for nic in nics}
        group = [of.id for of in self._groups if of.kind in ("dp", "pp") and set(nics) <= set(of.nics)]
        if len(nics) == 1:
            return Subject(nics[0], servers.pop(), group[0] if group else None)
        if len(servers) == 1:
            return Subject(server=servers.pop())
        whole = [
            of.id
            for of in self._groups
            if of.kind in ("dp", "pp") and set(nics) <= set(of.nics) and len(nics) > len(set(of.nics) & set(seen)) / 2
        ]
        return Subject(group=whole[0]) if whole else None


def _who(subject: Subject) -> str:
    return subject.nic or subject.server or subject.group or ""


def _rises(sign: Sign, inside: Bools, outside: Bools) -> tuple[Floats, Floats, Floats]:
    """Of each thing the rise of its median, its median outside, and the robust deviation of that median."""
    if not sign.things:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    within, without = (np.where(np.isfinite(sign.values), sign.values, 0.0)[rows] for rows in (inside, outside))
    before = np.median(without, axis=0)
    spread = np.median(np.abs(without - before), axis=0) / np.sqrt(max(1, len(within)))
    return np.median(within, axis=0) - before, before, spread
