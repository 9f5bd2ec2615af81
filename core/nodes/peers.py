"""Which nodes do the same work: a server, a scheduler or a client among workers is compared with nobody."""

from collections import Counter

from core.facts import complains
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

MIN_COMMON = 3  # messages that most nodes say: of fewer, the work cannot be told from a greeting
MIN_OFTEN = 5  # times that such a node says what no other does: it works, and did not fail at once
AGAIN = 2  # times of a message that belongs to its work


def other_work(parsed: Parsed) -> frozenset[str]:
    """The few nodes that say little of what most nodes say, and mostly what no other does, some of it again.

    Messages that point to a failure are left out: who fails says what no other does, too.
    """
    table = parsed.table
    by_node: dict[str, Counter[int]] = {}
    for event, voice, heads in zip(
        table.counts.event.tolist(), table.counts.voice.tolist(), table.counts.heads.tolist(), strict=True
    ):
        node, template = table.origins[voice].node, table.templates[event]
        if node and event not in parsed.telling and not template.block and not complains(template.sample):
            by_node.setdefault(node, Counter())[event] += heads
    if len(by_node) < MIN_RANKS:
        return frozenset()
    speakers = Counter(event for own in by_node.values() for event in own)
    common = {event for event, nodes in speakers.items() if nodes > len(by_node) * MAJORITY}
    if len(common) < MIN_COMMON:
        return frozenset()
    found = {
        node
        for node, own in by_node.items()
        if len(common & own.keys()) < len(common) * MAJORITY
        and sum(speakers[event] == 1 for event in own) > len(own) * MAJORITY
        and sum(heads for event, heads in own.items() if heads >= AGAIN and speakers[event] == 1) >= MIN_OFTEN
    }
    return frozenset(found) if len(found) <= few_of(len(by_node)) else frozenset()
