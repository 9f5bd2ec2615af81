"""A network of leaves and a spine in namespaces, with or without switches of pods between them.

Bridges are in one namespace, a server in each of the others, real TCP in between.
"""

import shlex
import subprocess
from dataclasses import dataclass
from typing import Any

STORAGE = "10.88.0.250"
ALONE = {"arp_ignore": 1, "arp_announce": 2}
BURST, QUEUE_MS = "256kb", 400  # of a rate limiter: whole segments of 64 kB fit, and nothing is dropped


def run(command: str) -> str:
    """A command's output.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    return subprocess.run(shlex.split(command), check=True, capture_output=True, text=True).stdout  # noqa: S603


@dataclass(frozen=True)
class Fabric:
    """Servers on leaves, and one spine; ``name`` begins the names of all namespaces.

    Attributes:
        servers: how many; server n has the addresses 10.88.RAIL.(10 + n).
        rails: NICs of a server.
        leaves: switches that the servers are spread over in blocks.
        pods: switches between the leaves and the spine, which the leaves are spread over in blocks; 0 for none.
    """

    name: str
    servers: int
    rails: int
    leaves: int
    pods: int = 0

    @property
    def switch(self) -> str:
        """The namespace of all switches."""
        return f"{self.name}sw"

    def server(self, number: int) -> str:
        """The namespace of a server."""
        return f"{self.name}s{number}"

    def leaf(self, number: int) -> int:
        """The leaf of a server."""
        return number * self.leaves // self.servers

    def above(self, leaf: int) -> str:
        """The bridge that a leaf is attached to."""
        return f"pod{leaf * self.pods // self.leaves}" if self.pods else "spine"

    def exporter(self, port: str) -> str:
        """The switch that a port belongs to, by its name in the topology."""
        kind, number = port.rstrip("0123456789"), port[len(port.rstrip("0123456789")) :]
        if kind == "up":
            return f"leaf-{number}"
        if kind == "down":
            bridge = self.above(int(number))
            return "spine-0" if bridge == "spine" else f"pod-{bridge[3:]}"
        if kind == "podup":
            return f"pod-{number}"
        if kind == "poddown":
            return "spine-0"
        server = int(port[1:].partition("n")[0])
        return f"leaf-{self.leaf(server) if server < self.servers else 0}"

    def up(self) -> None:
        """Make it."""
        inside = f"ip -n {self.switch}"
        run(f"ip netns add {self.switch}")
        pods, leaves = range(self.pods), range(self.leaves)
        for bridge in ["spine", *(f"pod{pod}" for pod in pods), *(f"leaf{leaf}" for leaf in leaves)]:
            run(f"{inside} link add {bridge} type bridge")
            run(f"{inside} link set {bridge} up")
        trunks = [(f"podup{pod}", f"pod{pod}", f"poddown{pod}", "spine") for pod in pods]
        trunks += [(f"up{leaf}", f"leaf{leaf}", f"down{leaf}", self.above(leaf)) for leaf in leaves]
        for up, bridge, down, higher in trunks:
            run(f"{inside} link add {up} type veth peer name {down}")
            run(f"{inside} link set {up} master {bridge} up")
            run(f"{inside} link set {down} master {higher} up")
        for number in range(self.servers):
            self._attach(self.server(number), number, [f"10.88.{rail}.{10 + number}" for rail in range(self.rails)])
        self._attach(f"{self.name}st", 99, [STORAGE])

    def _attach(self, space: str, number: int, addresses: list[str]) -> None:
        run(f"ip netns add {space}")
        run(f"ip -n {space} link set lo up")
        for key, value in ALONE.items():  # a NIC answers for its own address: else another rail takes its traffic
            run(f"ip netns exec {space} sysctl -q -w net.ipv4.conf.all.{key}={value}")
        leaf = self.leaf(number) if number < self.servers else 0
        for rail, address in enumerate(addresses):
            run(f"ip -n {self.switch} link add p{number}n{rail} type veth peer name eth{rail} netns {space}")
            run(f"ip -n {self.switch} link set p{number}n{rail} master leaf{leaf} up")
            run(f"ip -n {space} addr add {address}/24 dev eth{rail}")
            run(f"ip -n {space} link set eth{rail} up")

    def down(self) -> None:
        """Remove it; what is missing already is no error."""
        for space in [self.switch, f"{self.name}st", *map(self.server, range(self.servers))]:
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)  # noqa: S603, S607

    def limit(self, ports: list[str], rate: str) -> None:
        """Slow ports of the switches down, or of a server (``SERVER/eth0``); an empty rate lets them go."""
        for name in ports:
            server, _, port = name.rpartition("/")
            space = self.server(int(server)) if server else self.switch
            action = f"replace dev {port} root tbf rate {rate} burst {BURST} latency {QUEUE_MS}ms"
            run(f"tc -n {space} qdisc {action if rate else f'del dev {port} root'}")

    def topology(self) -> dict[str, Any]:
        """As ``--topology`` reads it."""
        nics = {number: [f"10.88.{rail}.{10 + number}" for rail in range(self.rails)] for number in range(self.servers)}
        links = [
            {"a": nic, "b": f"leaf-{self.leaf(number)}", "port": f"p{number}n{rail}"}
            for number, own in nics.items()
            for rail, nic in enumerate(own)
        ]
        trunks = [(f"up{leaf}", f"down{leaf}") for leaf in range(self.leaves)]
        trunks += [(f"podup{pod}", f"poddown{pod}") for pod in range(self.pods)]
        links += [{"a": self.exporter(up), "b": self.exporter(down), "port": up} for up, down in trunks]
        leaves = [{"name": f"leaf-{leaf}", "role": "leaf"} for leaf in range(self.leaves)]
        leaves += [{"name": f"pod-{pod}", "role": "spine"} for pod in range(self.pods)]
        return {
            "schema": "firstfault.topology/1",
            "servers": [{"name": f"server-{number:02}", "nics": own} for number, own in nics.items()],
            "switches": [*leaves, {"name": "spine-0", "role": "spine"}],
            "links": links,
            "infrastructure": [{"name": "storage", "addresses": [STORAGE], "role": "storage"}],
        }
