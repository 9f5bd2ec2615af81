"""Who was slow in some steps, and whether the measurements say so in nearly all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.answer import FlowSeries, NamedGroup, Subject
from core.flows.connections import Bools
from core.flows.jobs import Floats

# Of the slow steps, that are above the middle of both levels, and of the others, that are below: noise of a shared
# machine hits one after the other (docs/LOG.md).
ALWAYS = 0.75
# Or nearly all slow steps are above nearly all others: a slow link that some steps ask more of has two levels of its
# own, one of .035 and one of .17 s where it was .001 before (docs/LOG.md)
NEARLY_ALL, NEARLY_NONE = 0.1, 0.95
SEEN = 0.5  # of the steps, in which a thing was seen: of two halves the smaller one tells nothing


@dataclass(frozen=True)
class Attribution:
    """Who was slow.

    Attributes:
        kind: slow_switch, slow_nic, slow_compute or slow_group.
        rise, before, other: microseconds a step: how much its sign rose, from where, and the next highest rise.
        says: what rose.
        series: of what rose, and of all others beside it.
    """

    kind: str
    subject: Subject
    rise: float
    before: float
    other: float
    says: str
    series: FlowSeries


def always(values: Floats, inside: Bools, outside: Bools, middle: float) -> bool:
    """Whether a thing is at fault in nearly all slow steps, and in hardly any other; of those in which it was seen."""
    within, without = (values[which][np.isfinite(values[which])] for which in (inside, outside))
    if len(within) < SEEN * inside.sum() or len(without) < SEEN * outside.sum():
        return False
    if (within > middle).mean() >= ALWAYS and (without > middle).mean() <= 1 - ALWAYS:
        return True
    return bool(np.quantile(within, NEARLY_ALL) > np.quantile(without, NEARLY_NONE))


def subject_of(nics: Sequence[str], homes: Mapping[str, str], named: Sequence[NamedGroup]) -> Subject | None:
    """A NIC, or what all these NICs have in common; None where they have nothing, or where it is the whole job.

    Args:
        homes: the server of each NIC of the job.
        named: the groups of the job.
    """
    servers = {homes[nic] for nic in nics}
    groups = [of for of in named if of.kind in ("dp", "pp") and set(nics) <= set(of.nics)]
    if len(nics) == 1:
        return Subject(nics[0], servers.pop(), groups[0].id if groups else None)
    if len(servers) == 1:
        return Subject(server=servers.pop())
    most = [of for of in groups if len(nics) > len(of.nics) / 2 and set(of.nics) != set(homes)]
    return Subject(group=most[0].id) if most else None


def are_neighbours(homes: Mapping[str, str], named: Sequence[NamedGroup]) -> bool:
    """Whether some NICs are of two servers that are together in as many pipelines as either has of them.

    Args:
        homes: of these NICs.
        named: the groups of the job.
    """
    beside = [len({homes[nic] for nic in of.nics if nic in homes}) for of in named if of.kind == "pp"]
    return len(set(homes.values())) == 2 and 2 * beside.count(2) == len(homes)
