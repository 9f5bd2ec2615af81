"""Who runs with another setting than all others, where the ranks do not do the same: what each printed when it began.

``config /srv/run.toml: {'model': {'hidden': 32}}`` stands in every log, 48 in one of them: nothing complains of it, and
whoever first gets a message of another size says so.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from core.events.row_text import read_rows
from core.facts import complains
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.model import Role
from core.nodes.sign import Sign, short
from core.nodes.votes import ODD, of_each
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

MOST = 2  # times that a rank prints its settings: once, and once more when it begins anew
MAX_EVENTS = 256  # messages that are looked at, of those that every rank says so seldom
MAX_NODES = 1024  # as many as are read in a tenth of a second
_DIFFER = frozenset({Kind.COLLECTIVE_MISMATCH, Kind.MODEL_MISMATCH})
# By which processes find each other: of PyTorch (WORLD_SIZE, --nnodes), Accelerate (num_processes), JAX (process_count)
_MEETING = re.compile(
    r"world_?size|nn?odes|num_(?:nodes|processes|machines)|process_count|nproc|master|coordinator|rdzv|backend",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"\b([A-Za-z_]\w{1,40})['\"]?\s?[=:]\s?['\"]?([\w.+/-]{1,60})(?![\w.+/-]|\s?[=:])"
)  # of "config: dim=48", dim


def setting_signs(parsed: Parsed, candidates: Sequence[Candidate], nodes: Sequence[str]) -> list[Sign]:
    """Signs for the only node with another value of a setting, of ranks that did not do the same or never met.

    Or of a few that an exception stopped, itself among them.

    Args:
        nodes: that do the same work.
    """
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    differ = [root.event for root in roots if root.fact.kind in _DIFFER]
    never_met = (
        not roots
        and parsed.iterations.last is None
        and any(candidate.role is Role.PROPAGATED for candidate in candidates)
    )
    raised = [root for root in roots if root.fact.kind == Kind.EXCEPTION and len(root.nodes) <= len(nodes) * MAJORITY]
    if not (differ or never_met or raised) or not MIN_RANKS <= len(nodes) <= MAX_NODES:
        return []
    odd: dict[str, list[tuple[str, str, str, int]]] = defaultdict(list)
    settings = {name: of for name, of in _settings(parsed, nodes).items() if differ or raised or _MEETING.search(name)}
    for name, of_node in sorted(settings.items()):
        (usual, count), *others = Counter(of_node.values()).most_common()
        if len(others) == 1 and others[0][1] == 1 and count > len(nodes) * MAJORITY:
            node = next(node for node, value in of_node.items() if value != usual)
            odd[node].append((name, of_node[node], usual, count))
    if len(odd) != 1:
        return []
    ((node, told),) = odd.items()
    if not (differ or never_met or any(node in root.nodes for root in raised)):
        return []  # the exception that stopped others is not of its setting
    name, own, usual, count = told[0]
    because = f"{node} runs with {name}={short(own, 40)}, {count} others with {name}={short(usual, 40)}."
    check = f"Compare the settings and the code on {node} with those of the others."
    event = next((root.event for root in raised if node in root.nodes), None) if not differ else differ[0]
    return [Sign(node, "votes", ODD, because, event, says="it runs with other settings", check=check)]


def _settings(parsed: Parsed, nodes: Sequence[str]) -> dict[str, dict[str, str]]:
    """By name the first value that each node gives it, in messages of most nodes that complain of nothing."""
    table = parsed.table
    enough = len(nodes) * MAJORITY
    ranks = max(len(nodes), len(table.ranks))
    events = [
        event
        for event, template in enumerate(table.templates)
        if enough < table.heads[event] <= ranks * MOST and not template.block and not complains(template.sample)
    ][:MAX_EVENTS]
    rows = [row for of_event in (table.rows_of(events) if events else {}).values() for row in of_event.tolist()]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row, text in sorted(read_rows(parsed.files, table, sorted(rows)).items()):
        node = table.origins[table.voice[row]].node
        for name, value in _SETTING.findall(text) if node in nodes else ():
            if not of_each(name):
                found[name].setdefault(node or "", value)
    return found
