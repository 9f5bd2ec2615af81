"""Which switch holds what passes it, by its links to others: the same bytes are seen later at their far ends."""

import numpy as np

from core.flows.answer import FlowSeries, Subject
from core.flows.attribution import Attribution, always
from core.flows.connections import Bools, Connections
from core.flows.hidden_work import LINK_SAVED
from core.flows.signs import FlowSign, moved, rises
from core.flows.stretches import SHORTEST, find_level

LINK_US = 250  # microseconds of a queue: healthy links moved by 9 at most, slow ones by 815 at least (docs/LOG.md);
LINK_TIMES = 5.0  # and times that of a healthy link
# The same where both levels are clear by themselves: in 41 jobs without a slow switch links moved by 15 at most, in
# those of five slow ones by 130 at least (docs/LOG.md)
SURE_US = 100
NOISE = 3.0  # robust deviations of a healthy step's value, that a rise comes to


def slow_switch(
    connections: Connections, links: FlowSign, inside: Bools, outside: Bools, least: float = LINK_US
) -> Attribution | None:
    """The switch of which most links hold what passes them, in some steps and not in the others; None for none.

    A queue moves the middles of records either way: what came at once before it comes evenly behind it.

    Args:
        links: how much later the same bytes were seen behind each (core/flows/signs.py).
        least: microseconds that a link has to hold them.
    """
    apart = moved(links, outside)
    rise, before, noise = rises(apart, inside, outside)
    slow = {link for link, value in zip(links.things, rise.tolist(), strict=True) if value > least}
    healthy = max([0.0, *(value for link, value in zip(links.things, rise.tolist(), strict=True) if link not in slow)])
    if not slow or rise.max() < LINK_TIMES * healthy:
        return None
    share = {}
    for switch in sorted({end for link in slow for end in link}):
        own = [link for link in links.things if switch in link]
        share[switch] = sum(link in slow for link in own) / len(own), -len(own)
    worst = connections.switches[max(sorted(share), key=lambda switch: share[switch])]
    highest = int(np.argmax(rise))
    later = rises(links, inside, outside)[0][highest] > 0
    how = "later" if later else "otherwise spread in time"
    says = f"on the links of {worst} the same bytes were seen {how} at the far end"
    if rise[highest] < NOISE * noise[highest]:
        return None
    if not always(apart.values[:, highest], inside, outside, before[highest] + rise[highest] / 2):
        return None
    names = tuple(" to ".join(connections.switches[end] for end in link) for link in links.things)
    series = FlowSeries(names, links.values, tuple(map(links.things.index, sorted(slow))))
    return Attribution(
        "slow_switch", Subject(switch=worst), float(rise[highest]), float(before[highest]), healthy, says, series
    )


def switch_stretch(links: FlowSign) -> tuple[int, int] | None:
    """The steps in which a link held what passed it, by the clearest of all; None where none did, or from the start."""
    held = np.log(np.maximum(np.where(np.isfinite(links.values), np.abs(links.values), 0.0), SURE_US / 2))
    best, most = None, LINK_SAVED
    for column in held.T:
        if len(column) < 2 * SHORTEST or column.max() <= np.log(SURE_US):
            continue
        steps, saved = find_level(column)
        if steps is not None and saved > most and steps[0] >= SHORTEST:
            best, most = steps, saved
    return best
