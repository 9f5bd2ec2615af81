"""Nodes on one machine: network namespaces behind a bridge as root, else processes on the loopback device.

Everything that a cluster made is removed by ``close``; ``sweep`` removes what a lab left behind that was killed.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.cgroups import ControlGroup, leftovers, open_group
from lab.errors import LabError

OWN_MOUNTS = "unshare --mount --uts --propagation private"
MARK = "LAB_NODE"  # in the environment of every process of a node
NAME = re.compile(r"lab(\d+)x\d+-\w+")  # of a namespace: the lab's process, the job's number


@dataclass
class Node:
    """A node, and what belongs to it on this machine."""

    name: str
    address: str
    namespace: str = ""
    port: str = ""
    group: ControlGroup | None = None
    mounts: list[str] = field(default_factory=list)  # shell commands, run in its own mount namespace


class Cluster:
    """The nodes of one job; ``netns`` says which of the two kinds it is."""

    def __init__(self, names: tuple[str, ...], number: int, *, netns: bool) -> None:
        self.netns = netns
        self.token = f"lab{os.getpid()}x{number}"
        self.bridge = f"b{os.getpid() % 100000}x{number}" if netns else ""
        self.switch = f"{self.token}-sw"
        self.scheduler = ("10.77.0.1", 7070) if netns else ("127.0.0.1", free_port())
        self.nodes = tuple(self._node(index, name) for index, name in enumerate(names))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open = False

    def _node(self, index: int, name: str) -> Node:
        if not self.netns:
            return Node(name, "127.0.0.1")
        return Node(name, f"10.77.0.{11 + index}", f"{self.token}-n{index}", f"port{index}")

    def open(self) -> None:
        """Make bridge, namespaces and control groups."""
        self._open = True
        if not self.netns:
            return
        ip(f"netns add {self.switch}")
        ip(f"-n {self.switch} link set lo up")
        ip(f"-n {self.switch} link add {self.bridge} type bridge")
        ip(f"-n {self.switch} addr add 10.77.0.1/24 dev {self.bridge}")
        ip(f"-n {self.switch} link set {self.bridge} up")
        for node in self.nodes:
            ip(f"netns add {node.namespace}")
            ip(f"-n {node.namespace} link set lo up")
            ip(f"-n {self.switch} link add {node.port} type veth peer name eth0 netns {node.namespace}")
            ip(f"-n {self.switch} link set {node.port} master {self.bridge} up")
            ip(f"-n {node.namespace} addr add {node.address}/24 dev eth0")
            ip(f"-n {node.namespace} link set eth0 up")
            node.group = open_group(f"{self.token}-{node.name}")

    def spawn(self, node: Node | None, argv: list[str], env: dict[str, str], output: Path) -> subprocess.Popen[bytes]:
        """Start a process on a node, or on the switch (none)."""
        command = shlex.join(argv)
        if self.netns and node is None:
            command = f"ip netns exec {self.switch} {command}"
        elif self.netns and node is not None:
            inner = "\n".join(["set -e", *node.mounts, f"hostname {node.name}", f"exec {command}"])
            command = f"ip netns exec {node.namespace} {OWN_MOUNTS} bash -c {shlex.quote(inner)}"
            if node.group is not None:
                command = f"{node.group.entry()}; exec {command}"
        mark = f"{self.token}/{node.name if node else 'switch'}"
        with output.open("ab") as file:
            process = subprocess.Popen(  # noqa: S603 - our own command
                ["bash", "-c", f"exec nice -n 5 bash -c {shlex.quote(command)}"],  # noqa: S607
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**os.environ, **env, MARK: mark},
                start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def pids(self, node: Node | None = None) -> list[int]:
        """Processes of a node, or of all of the cluster."""
        mark = f"{MARK}={self.token}/{node.name if node else ''}".encode()
        return [pid for pid in processes() if mark in environment(pid) and pid != os.getpid()]

    def link(self, node: Node, *, up: bool) -> None:
        """Pull the node's cable, or put it in again."""
        ip(f"-n {self.switch} link set {node.port} {'up' if up else 'down'}")

    def isolate(self, node: Node) -> None:
        """The cable stays in, but no frame gets through the switch any more."""
        ip(f"-n {self.switch} link set {node.port} nomaster")

    def narrow(self, node: Node, kilobits: int) -> None:
        """A slow link, both ways."""
        rate = f"root tbf rate {kilobits}kbit burst 8kb latency 400ms"
        for namespace, device in ((node.namespace, "eth0"), (self.switch, node.port)):
            words = f"tc -n {namespace} qdisc replace dev {device} {rate}".split()
            subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - our own command

    def close(self) -> None:
        """End every process and remove everything that was made; safe to call twice."""
        if not self._open:
            return
        for _ in range(50):
            left = self.pids()
            for pid in left:
                kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.1)
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
        for node in self.nodes:
            if node.group is not None:
                node.group.close()
        if self.netns:
            for namespace in (*(node.namespace for node in self.nodes), self.switch):
                with contextlib.suppress(LabError):
                    ip(f"netns del {namespace}")
        self._open = False


def processes() -> list[int]:
    """All processes of the machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def environment(pid: int) -> bytes:
    """Environment of a process, as it was started; empty when it is gone or a stranger's."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def kill(pid: int, signum: int) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def free_port() -> int:
    """A port of the loopback device that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def may_use_namespaces() -> bool:
    """Whether this machine lets us make network namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
        return False
    probe = f"lab{os.getpid()}x0-probe"
    try:
        ip(f"netns add {probe}")
        ip(f"netns del {probe}")
    except LabError:
        return False
    return True


def sweep() -> None:
    """Remove namespaces of labs that are no longer running."""
    if may_use_namespaces():
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout  # noqa: S607
        for found in NAME.finditer(listed):
            if not Path(f"/proc/{found[1]}").exists():
                ip(f"netns del {found[0]}")
        for folder in leftovers():
            owner = re.match(r"lab(\d+)", folder.name)
            if owner and not Path(f"/proc/{owner[1]}").exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def ip(arguments: str) -> None:
    """Run the program ip with these arguments."""
    done = subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise LabError(f"ip {arguments}: {done.stderr.strip()}", "Network namespaces need root and iproute2.")
