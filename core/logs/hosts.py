"""Names of machines as they are met in logs, as job.json spells them: case, domain and addresses differ."""

import re
from collections.abc import Iterable, Sequence

from core.job import Manifest

# A machine's name has letters and a digit, or is an address; what else is called and numbered so is a part of the run.
_PART = (
    r"(?:cuda|[gxnvt]pu|dev(?:ice)?|rank|stage|pp|tp|dp|ep|cp|sp|fsdp|group|slot|core|numa|lane|layer|expert|port|seed"
    r"|part)"
)
PART_NUMBER = re.compile(r"(?![gxn]pu-?\d{2,6}\Z)" + _PART + r"[-_:=]?\d{1,6}", re.IGNORECASE)  # no machine: pp3, gpu3
MACHINE_NAME = re.compile(
    r"(?<![\w./:@-])(?!" + _PART + r"[-_:=]?\d{1,6}\b)"
    r"(?P<host>(?:\d{1,3}\.){3}\d{1,3}|(?=[\w.-]{0,62}\d)[A-Za-z][A-Za-z0-9]*(?:[.-][A-Za-z0-9]+){0,8})(?![\w/-])",
    re.IGNORECASE,
)


class Hosts:
    """The nodes of a job, by all names that they are called by."""

    def __init__(self, manifest: Manifest) -> None:
        """Nodes and addresses of a job."""
        self._nodes = manifest.nodes
        self._names: dict[str, str] = {}
        for node in manifest.nodes:
            self._names[node.lower()] = node
        for node, addresses in manifest.node_addresses.items():
            for address in addresses:
                self._names.setdefault(address.lower(), node)
        self._short = _unambiguous((node.lower().partition(".")[0], node) for node in manifest.nodes)

    def called(self, name: str) -> str | None:
        """The node that has this name or address; None when job.json has none."""
        called = name.lower()
        if called in self._names:
            return self._names[called]
        return None if _ADDRESS.fullmatch(called) else self._short.get(called.partition(".")[0])

    def node(self, name: str) -> str | None:
        """The node that has this name, or that something with this name is called after: job-77-worker-2."""
        return self.called(name) or _node_in(name, self._nodes)

    def first(self, names: Sequence[str]) -> str | None:
        """The first of several names of a machine that job.json has, else the first one."""
        return next((node for name in names if (node := self.node(name))), names[0] if names else None)


def as_word(name: str) -> re.Pattern[bytes]:
    """What finds a name in a text where it is no part of another one; a domain may stand behind it."""
    return re.compile(rb"(?<![\w.-])" + re.escape(name.encode()) + rb"(?![\w-])")


def names_machine(text: bytes, node: str) -> bool:
    """Whether a text names this machine."""
    return as_word(node).search(text) is not None


_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f:]*:[0-9a-f:]*")


def _node_in(name: str, nodes: Sequence[str]) -> str | None:
    found = [node for node in nodes if re.search(rf"(?<![A-Za-z0-9]){re.escape(node)}(?![A-Za-z0-9])", name)]
    return max(found, key=lambda node: (len(node), node), default=None)


def _unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for short, node in pairs:
        found.setdefault(short, set()).add(node)
    return {short: next(iter(nodes)) for short, nodes in found.items() if len(nodes) == 1}
