"""Nodes on one machine: namespaces behind a bridge as root, else processes on the loopback device.

As root a node has a network, a host name, mounts, processes and shared memory of its own; its first process holds
them, and when it is killed, everything on the node is gone. Everything that a cluster made is removed by ``close``;
``sweep`` removes what a lab left behind that was killed.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lab import cgroups
from lab.cgroups import ControlGroup, open_group
from lab.errors import LabError

MARK = "LAB_NODE"  # in the environment of every process of a node without namespaces
NAME = re.compile(r"lab(\d+)x\d+-\w+")  # of a namespace: the lab's process, the job's number
NAMESPACES = "unshare --mount --uts --pid --ipc --fork --kill-child --mount-proc --propagation private"
OPEN_S = 30.0  # until a node's mounts are made
CONTROLLER = "10.77.0.2"  # address of the scheduler's machine
SWITCH = "10.77.0.1"


@dataclass
class Node:
    """A node, and what belongs to it on this machine."""

    name: str
    address: str
    namespace: str = ""
    port: str = ""
    group: ControlGroup | None = None
    mounts: list[str] = field(default_factory=list)  # shell commands, run once when the node comes up
    shell: list[str] = field(default_factory=list)  # shell commands, run before each of its programs
    holder: int = 0  # its first process


class Cluster:
    """The nodes of one job; ``netns`` says which of the two kinds it is."""

    def __init__(self, names: tuple[str, ...], number: int, *, netns: bool, controller: str = "") -> None:
        self.netns = netns
        self.token = f"lab{os.getpid()}x{number}"
        self.bridge = f"b{os.getpid() % 100000}x{number}" if netns else ""
        self.switch = f"{self.token}-sw"
        self.gateway = SWITCH if netns else "127.0.0.1"
        self.nodes = tuple(self._node(index, name) for index, name in enumerate(names))
        self.controller = Node(controller, CONTROLLER, f"{self.token}-c", "portc") if controller else None
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open = False

    def _node(self, index: int, name: str) -> Node:
        if not self.netns:
            return Node(name, "127.0.0.1")
        return Node(name, f"10.77.0.{11 + index}", f"{self.token}-n{index}", f"port{index}")

    @property
    def machines(self) -> tuple[Node, ...]:
        """All nodes, the scheduler's included."""
        return (*self.nodes, self.controller) if self.controller else self.nodes

    def open(self, log: Path) -> None:
        """Make bridge, namespaces and control groups; ``log`` gets what their making says."""
        self._open = True
        if not self.netns:
            return
        ip(f"netns add {self.switch}")
        ip(f"-n {self.switch} link set lo up")
        ip(f"-n {self.switch} link add {self.bridge} type bridge")
        ip(f"-n {self.switch} addr add {SWITCH}/24 dev {self.bridge}")
        ip(f"-n {self.switch} link set {self.bridge} up")
        for node in self.machines:
            self._connect(node)
            node.group = open_group(f"{self.token}-{node.name}")
            self.hold(node, log)

    def _connect(self, node: Node) -> None:
        ip(f"netns add {node.namespace}")
        ip(f"-n {node.namespace} link set lo up")
        ip(f"-n {self.switch} link add {node.port} type veth peer name eth0 netns {node.namespace}")
        ip(f"-n {self.switch} link set {node.port} master {self.bridge} up")
        ip(f"-n {node.namespace} addr add {node.address}/24 dev eth0")
        ip(f"-n {node.namespace} link set eth0 up")

    def hold(self, node: Node, log: Path) -> None:
        """Start the node's first process and wait until its mounts are made."""
        inner = "\n".join(["set -e", f"hostname {node.name}", *node.mounts, "exec sleep infinity"])
        words = ["nsenter", f"--net=/run/netns/{node.namespace}", *NAMESPACES.split(), "bash", "-c", inner]
        with log.open("ab") as file:
            outer = self._popen(self._joined(node, words), {}, Path("/"), file, file)
        until = time.monotonic() + OPEN_S
        while time.monotonic() < until and outer.poll() is None:
            found = [pid for pid in children(outer.pid) if command(pid).startswith(b"sleep\0infinity")]
            if found:
                node.holder = found[0]
                return
            time.sleep(0.05)
        raise LabError(f"{node.name} did not come up: {log.read_text(encoding='utf-8', errors='replace')[-300:]}")

    def spawn(
        self, node: Node, argv: Sequence[str], env: Mapping[str, str], *,
        out: IO[bytes] | int, err: IO[bytes] | int = subprocess.STDOUT, cwd: Path = Path("/"),
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """Start a program on a node."""
        words = ["bash", "-c", "\n".join([*node.shell, f"exec {shlex.join(argv)}"])]
        if not self.netns:
            return self._popen(words, {**env, MARK: f"{self.token}/{node.name}"}, cwd, out, err)
        enter = ["nsenter", "-t", str(node.holder), "-m", "-u", "-n", "-p", "-i", f"--wdns={cwd}"]
        return self._popen(self._joined(node, [*enter, *words]), env, Path("/"), out, err)

    @staticmethod
    def _joined(node: Node, words: list[str]) -> list[str]:
        """The command, run as a member of the node's control group."""
        if node.group is None:
            return words
        return ["bash", "-c", f"{node.group.entry()}; exec {shlex.join(words)}"]

    def _popen(
        self, words: list[str], env: Mapping[str, str], cwd: Path, out: IO[bytes] | int, err: IO[bytes] | int
    ) -> subprocess.Popen[bytes]:
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # ours, not the job's
        process = subprocess.Popen(  # noqa: S603 - our own command
            ["nice", "-n", "5", *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,  # noqa: S607
            env={**own, **env}, start_new_session=True,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def run(self, node: Node, argv: Sequence[str], env: Mapping[str, str]) -> str:
        """What a short program on a node says."""
        return self.spawn(node, argv, env, out=subprocess.PIPE).communicate()[0].decode("utf-8", "replace")

    def inside(self, process: subprocess.Popen[bytes]) -> int:
        """The program itself: with namespaces what was started only waits for it. 0 when it is gone."""
        if not self.netns:
            return process.pid
        return next(iter(children(process.pid)), 0)

    def pids(self, node: Node | None = None) -> list[int]:
        """Processes of a node, or of all of the cluster."""
        if not self.netns:
            mark = f"{MARK}={self.token}/{node.name if node else ''}".encode()
            return [pid for pid in processes() if mark in environment(pid) and pid != os.getpid()]
        rooms = {_room(each.holder) for each in ([node] if node else self.machines) if each.holder} - {""}
        return [pid for pid in processes() if _room(pid) in rooms]

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
        groups = [node.group for node in self.machines if node.group is not None]
        for group in groups:
            group.thaw()
        self._kill_all()
        for process in self._processes:
            _reap(process)
        for group in groups:
            group.close()
        if self.netns:
            for namespace in (*(node.namespace for node in self.machines), self.switch):
                with contextlib.suppress(LabError):
                    ip(f"netns del {namespace}")
        self._open = False

    def _kill_all(self) -> None:
        for _ in range(50):
            left = self.pids()
            for pid in left:
                kill(pid, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.1)


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for what was started; one that waits for a stopped program has stopped with it."""
    kill(process.pid, signal.SIGCONT)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


def processes() -> list[int]:
    """All processes of the machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def environment(pid: int) -> bytes:
    """Environment of a process, as it was started; empty when it is gone or a stranger's."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def command(pid: int) -> bytes:
    """Command line of a process; empty when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def parent(pid: int) -> int:
    """Parent of a process; 0 when it is gone."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return 0


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    return [child for child in processes() if parent(child) == pid]


def _room(pid: int) -> str:
    """The process namespace of a process."""
    with contextlib.suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    return ""


def kill(pid: int, signum: int) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


def free_port() -> int:
    """A port of the loopback device that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def may_use_namespaces() -> bool:
    """Whether this machine lets us make namespaces."""
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("ip", "unshare", "nsenter")):
        return False
    probe = f"lab{os.getpid()}x0-probe"
    try:
        ip(f"netns add {probe}")
        ip(f"netns del {probe}")
    except LabError:
        return False
    return True


def sweep() -> None:
    """Remove processes, namespaces and control groups of labs that are no longer running."""
    if may_use_namespaces():
        for found in NAME.finditer(ip("netns list")):
            if not Path(f"/proc/{found[1]}").exists():
                for pid in ip(f"netns pids {found[0]}").split():
                    kill(int(pid), signal.SIGKILL)
                ip(f"netns del {found[0]}")
        cgroups.sweep(frozenset(str(pid) for pid in processes()))


def ip(arguments: str) -> str:
    """What the program ip says to these arguments."""
    done = subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise LabError(f"ip {arguments}: {done.stderr.strip()}", "Network namespaces need root and iproute2.")
    return done.stdout
