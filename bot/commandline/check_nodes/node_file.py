"""The file in which a person names nodes: a node a line, perhaps with its address, or one a fabric."""

from collections import Counter
from pathlib import Path

from bot.commandline.check_nodes.run import Node
from bot.text.harmless import harmless
from core.errors import BadSettings
from sources.named_files import read_given, why_unreadable

_MOST = 253  # characters of a name in the domain name system (RFC 1035)
_HINT = "A node a line, perhaps with its address, or with one a fabric: node-1 ethernet=10.0.0.1 ib=10.1.0.1."


def nodes_in(path: Path) -> tuple[Node, ...]:
    """The nodes of a file, each once. Raises BadSettings."""
    try:
        lines = read_given(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {why_unreadable(error)}.", _HINT) from error
    nodes = tuple(dict.fromkeys(_node(words) for line in lines if (words := line.partition("#")[0].split())))
    if not nodes or any(word.startswith("-") for node in nodes for word in _words(node)):
        raise BadSettings(f"{path} names no nodes, or one that begins with a minus.", _HINT)
    if long := next((word for node in nodes for word in _words(node) if len(word) > _MOST), ""):
        raise BadSettings(f"{path} has a name that is too long: {harmless(long, 60)}.", _HINT)
    name, times = Counter(node.name for node in nodes).most_common(1)[0]
    if times > 1:
        raise BadSettings(f"{path} has two addresses for {harmless(name, 60)}.", _HINT)
    return nodes


def fabrics_of(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """The names of all fabrics, in the order in which they come; one without a name where nobody names any."""
    return tuple(dict.fromkeys(name for node in nodes for name, _ in node.fabrics)) or ("",)


def on_fabric(nodes: list[Node], fabric: str) -> list[Node]:
    """The nodes that are on a fabric, by their addresses there."""
    if not fabric:
        return nodes
    return [Node(node.name, dict(node.fabrics)[fabric], node.fabrics) for node in nodes if fabric in dict(node.fabrics)]


def _node(words: list[str]) -> Node:
    name, *others = words
    fabrics = tuple((word.partition("=")[0], word.partition("=")[2]) for word in others if "=" in word.strip("="))
    plain = next((word for word in others if "=" not in word), fabrics[0][1] if fabrics else name)
    return Node(name, plain, fabrics)


def _words(node: Node) -> tuple[str, ...]:
    return node.name, node.address, *(address for _, address in node.fabrics)
