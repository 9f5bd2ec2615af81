"""The command of a check for the nodes that it is about: {node}, {peer} and the like are filled in."""

import re
from collections.abc import Mapping, Sequence

from bot.commandline.check_nodes.run import Node
from bot.text.harmless import harmless
from core.checks.catalogue import Check
from core.errors import BadSettings

_PLAIN = re.compile(
    r"[A-Za-z0-9_.:-]{1,253}"
)  # of a name that becomes part of a word, which a command may take for more
PLACEHOLDERS = ("node", "address", "peer", "peer_address", "nodes", "addresses", "count")


def filled(check: Check, node: Node, *, peer: Node | None = None, group: Sequence[Node] = ()) -> tuple[str, ...]:
    """The words of a command for a node, a pair, or a group that a node begins.

    Raises:
        BadSettings: a name is filled in that has other characters than names and addresses have.
    """
    known: dict[str, tuple[str, ...]] = {"node": (node.name,), "address": (node.address,)}
    if peer is not None:
        known |= {"peer": (peer.name,), "peer_address": (peer.address,)}
    if group:
        known |= {
            "nodes": tuple(item.name for item in group),
            "addresses": tuple(item.address for item in group),
            "count": (str(len(group)),),
        }
    return tuple(_word(word, known) for word in check.command)


def _word(word: str, known: Mapping[str, tuple[str, ...]]) -> str:
    for name in PLACEHOLDERS:
        if f"{{{name}}}" in word and name in known:
            if bad := next((value for value in known[name] if not _PLAIN.fullmatch(value)), None):
                raise BadSettings(f"{harmless(bad, 60)} is no name or address that a command can be given.")
            word = word.replace(f"{{{name}}}", ",".join(known[name]))
    return word
