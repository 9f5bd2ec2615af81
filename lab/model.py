"""A planned job, a kind of fault, and the site that a fault may touch."""

import json
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.cluster import Cluster, Node, environment, kill
from lab.errors import LabError
from lab.settings import MEGALITE, SETTINGS, Settings

FAILED, COMPLETED, CANCELLED = "FAILED", "COMPLETED", "CANCELLED"
NETNS, MOUNT, MEMORY, CPU, COMPILER = "netns", "mount", "memory", "cpu", "compiler"  # what a kind may need


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """What shall happen, decided by the seed alone."""

    job_id: str
    kind: str
    settings_id: str
    seed: int
    node: str  # where the fault strikes, if it strikes a node
    rank: int
    iteration: int
    noise: tuple[str, ...]
    resume: bool = False

    @property
    def settings(self) -> Settings:
        """The group of settings."""
        return SETTINGS[self.settings_id]


@dataclass(frozen=True, slots=True)
class Trace:
    """Lines that are a direct trace of the fault: a pattern, or an event of scheduler or daemon."""

    reason: str
    pattern: str = ""
    event: str = ""
    anywhere: bool = False  # else in the faulty node's files, or naming the faulty node
    again: bool = False  # only from its second time on


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: how it is made, what it leaves behind, and who is to blame."""

    kind: str
    summary: str
    category: str | None
    subtype: str | None
    scope: str  # node, job, none
    stage: str | None
    traces: tuple[Trace, ...] = ()
    ends: str = FAILED
    needs: frozenset[str] = frozenset()
    suits: Callable[[Settings], bool] = lambda _: True
    prepare: Callable[["Site"], None] | None = None  # before the start
    strike: Callable[["Site"], None] | None = None  # at the planned iteration, from outside
    code: tuple[tuple[str, str], ...] = ()  # (anchor, lines) put into the program
    everywhere: bool = False  # code on all nodes
    resume: bool = False  # needs a checkpoint to start from
    sign: Callable[[Path, PlannedJob], bool] | None = None  # whether it took effect, when no trace can show it
    guilty_rank: bool = False  # the fault is one rank's
    in_command: str = ""  # also in the command line that daemons write down: neither right nor wrong to show
    wall: float = 120.0  # the job's time limit in seconds: what hangs for good is ended by the scheduler
    dated: bool = True  # the last iteration is the one at which it failed
    where: str = "any"  # which node may be struck: any, first, later


@dataclass
class Site:
    """A job that is being prepared or running."""

    plan: PlannedJob
    cluster: Cluster
    work: Path
    logs: Path
    args: dict[str, list[str]] = field(default_factory=dict)  # node -> further program arguments
    env: dict[str, dict[str, str]] = field(default_factory=dict)  # node -> for the daemon and all that it starts
    launcher: dict[str, dict[str, Any]] = field(default_factory=dict)  # node -> nnodes, master, restarts
    notes: list[str] = field(default_factory=list)  # what the injector did

    @property
    def settings(self) -> Settings:
        """The group of settings."""
        return self.plan.settings

    @property
    def node(self) -> Node:
        """Where the fault strikes."""
        return self.at(self.plan.node)

    def at(self, name: str) -> Node:
        """A node by its name."""
        return next(node for node in self.cluster.nodes if node.name == name)

    def home(self, node: str = "") -> Path:
        """The node's own folder: code, data, dev, and a link to the shared checkpoints."""
        return self.work / (node or self.plan.node)

    @property
    def checkpoints(self) -> Path:
        """The folder that all nodes share."""
        return self.work / "shared" / "ckpt"

    def rank_pid(self, rank: int) -> int:
        """The process of a rank, without its data loader workers."""
        found = [pid for pid in self._programs() if f"\0RANK={rank}\0".encode() in b"\0" + environment(pid)]
        ranks = [pid for pid in found if parent(pid) not in found]
        if not ranks:
            raise LabError(f"rank {rank} has no process")
        return ranks[0]

    def workers(self, rank: int) -> list[int]:
        """Data loader workers of a rank."""
        main = self.rank_pid(rank)
        return [pid for pid in self._programs() if parent(pid) == main]

    def launcher_pid(self) -> int:
        """The torchrun of the struck node."""
        found = [pid for pid in self.cluster.pids(self.node) if b"torch.distributed.run" in command(pid)]
        found = [pid for pid in found if b"lab.daemon" not in command(pid) and b"bash" not in command(pid)]
        return min(found)

    def _programs(self) -> list[int]:
        script = self.settings.program.script.encode()
        return [
            pid
            for pid in self.cluster.pids()
            if script in command(pid) and b"torch.distributed.run" not in command(pid)
        ]

    def signal_rank(self, rank: int, signum: signal.Signals) -> None:
        """Send a signal to a rank's process."""
        kill(self.rank_pid(rank), signum)

    def insert(self, node: str, anchor: str, lines: str) -> None:
        """Put code where a program has ``# <anchor>``."""
        done = 0
        for path in sorted((self.home(node) / "code").rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            found = re.search(rf"^( *)# <{anchor}>\n", text, re.MULTILINE)
            if found:
                body = "".join(f"{found[1]}{line}\n" for line in lines.splitlines())
                path.write_text(text.replace(found[0], body), encoding="utf-8")
                done += 1
        if not done:
            raise LabError(f"no anchor <{anchor}> in the program of {self.settings.name}")

    def replace(self, node: str, old: str, new: str) -> None:
        """Another version of the code on a node; the text has to be there."""
        for path in sorted((self.home(node) / "code").rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if old in text:
                path.write_text(text.replace(old, new), encoding="utf-8")
                return
        raise LabError(f"{old!r} is not in the program of {self.settings.name}")

    def configure(self, node: str, **keys: object) -> None:
        """Change the configuration file of a node."""
        path = self.home(node) / "code" / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        config.get("model", config).update(keys)
        path.write_text(json.dumps(config, indent=1), encoding="utf-8")

    def shards(self, split: str = "train") -> list[Path]:
        """The struck rank's shards, in the struck node's copy of the data."""
        data = self.home() / "data"
        names = json.loads((data / "manifest.json").read_text(encoding="utf-8"))[split]
        apart = 2 if self.settings.program is MEGALITE and self.settings.per_node == 2 else 1
        return [data / name for name in names[self.plan.rank // apart :: self.settings.world // apart]]

    def argue(self, *words: str) -> None:
        """Give the program further arguments, on all nodes."""
        for node in self.settings.nodes:
            self.args.setdefault(node, []).extend(words)

    def note(self, text: str) -> None:
        """Remember what was done."""
        self.notes.append(text)


def own_loop(settings: Settings) -> bool:
    """Programs whose training loop is ours to change."""
    return settings.program.own_loop


def command(pid: int) -> bytes:
    """Command line of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def parent(pid: int) -> int:
    """Parent of a process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def stop_all(pids: list[int], signum: int = signal.SIGKILL) -> None:
    """Send a signal to processes that may be gone."""
    for pid in pids:
        if pid != os.getpid():
            kill(pid, signum)
