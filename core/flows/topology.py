"""What is attached to what: servers, NICs, switches, and machines that are no accelerators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import BadTopology

_HINT = (
    'A topology is {"schema": "firstfault.topology/1", "servers": [{"name", "nics"}], "links": [...]}'
    " (docs/how-to/flows.md)."
)


@dataclass(frozen=True)
class Topology:
    """Servers, switches and links by name.

    Attributes:
        server: of each NIC's address; an address that is missing is a server of its own.
        leaf: the switch that each address is attached to.
        trunks: pairs of switches that are linked, each pair sorted.
        roles: of each address of the infrastructure ("storage", "monitoring", ...).
    """

    server: Mapping[str, str] = field(default_factory=dict)
    leaf: Mapping[str, str] = field(default_factory=dict)
    trunks: frozenset[tuple[str, str]] = frozenset()
    roles: Mapping[str, str] = field(default_factory=dict)

    def server_of(self, nic: str) -> str:
        """The server that a NIC is in."""
        return self.server.get(nic, nic)


def topology_from(document: Any) -> Topology:
    """Read a topology document (``firstfault.topology/1``).

    Raises:
        BadTopology: it is of another schema, or a part of it has another form.
    """
    if not isinstance(document, dict) or document.get("schema") != "firstfault.topology/1":
        raise BadTopology("The topology is not of the schema firstfault.topology/1", _HINT)
    try:
        server: dict[str, str] = {}
        for machine in document.get("servers", []):
            for nic in machine["nics"]:
                if server.setdefault(str(nic), str(machine["name"])) != machine["name"]:
                    raise BadTopology(f"The topology has {nic} in two servers", "An address belongs to one server.")
        switches = {str(switch["name"]) for switch in document.get("switches", [])}
        leaf, trunks = {}, set()
        for link in document.get("links", []):
            a, b = str(link["a"]), str(link["b"])
            if a in switches and b in switches:
                trunks.add((min(a, b), max(a, b)))
            elif b in switches or a in switches:
                leaf[a if b in switches else b] = b if b in switches else a
        roles = {
            str(address): str(machine.get("role", "other"))
            for machine in document.get("infrastructure", [])
            for address in machine["addresses"]
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise BadTopology(f"A part of the topology has another form than expected: {error!r}", _HINT) from error
    return Topology(server, leaf, frozenset(trunks), roles)
