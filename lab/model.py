"""A planned job, a kind of fault, and the site that a fault may touch."""

import json
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.cluster import Cluster, Node, command, environment, free_port, kill, parent
from lab.errors import LabError
from lab.settings import MEGALITE, SETTINGS, SLURM, Settings

FAILED, COMPLETED, CANCELLED = "FAILED", "COMPLETED", "CANCELLED"
NETNS, MEMORY, CPU, COMPILER = "netns", "memory", "cpu", "compiler"  # what a kind may need
ENDLESS = 4000  # iterations of a job that is ended from outside
MASTER_PORT = 29500  # torch's own default (torch.distributed.run)
PATIENT_S, COLLECTIVE_S = 1800, 12  # time-outs of collectives: none that matters, and one that ends a hang


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

    @property
    def number(self) -> int:
        """The number that Slurm gives the job."""
        return 1000 + self.seed % 900_000

    @property
    def log(self) -> str:
        """The file of the struck rank, below logs/."""
        return self.settings.layout.path(self.job_id, self.number, self.node, self.rank)


@dataclass(frozen=True, slots=True)
class Trace:
    """Lines that are a direct trace of the fault; NODE and MASTER stand for the struck and the first node."""

    reason: str
    pattern: str
    anywhere: bool = False  # else in the faulty node's files, or naming the faulty node


def always(_: Settings) -> bool:
    """In every group."""
    return True


def never(_: Settings) -> bool:
    """In no group."""
    return False


@dataclass(frozen=True, slots=True)
class Outside:
    """The job does not end by itself: somebody stops it (scancel, a time limit, SIGTERM to every process)."""

    after: float = 0.0  # seconds
    since: str = "progress"  # the last new iteration (of a hang), strike, or start
    limit: int = 0  # minutes: Slurm's own time limit is to end it, in every job of the kind


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
    shows: Callable[[Settings], bool] = always  # whether one of the traces must be in the logs
    placed: Callable[[Settings], bool] = always  # whether the logs tell the node; else the scope is unknown
    ends: str = FAILED
    outside: Outside | None = None
    patient: Callable[[Settings], bool] = never  # no collective times out, as in jobs that are ended from outside
    needs: frozenset[str] = frozenset()
    suits: Callable[[Settings], bool] = always
    prepare: Callable[["Site"], None] | None = None  # before the start
    strike: Callable[["Site"], None] | None = None  # at the planned iteration, from outside
    code: tuple[tuple[str, str], ...] = ()  # (anchor, lines) put into the program
    everywhere: bool = False  # code on all nodes
    resume: bool = False  # needs a checkpoint to start from
    sign: Callable[[Path, PlannedJob], bool] | None = None  # whether it took effect, when no trace can show it
    guilty_rank: bool = False  # the fault is one rank's
    in_command: str = ""  # also in the arguments that a program prints: neither right nor wrong to show
    dated: bool = True  # the last iteration is the one at which it failed
    onset: bool = False  # the iteration is the first one after the strike: the job goes on, slowly
    where: str = "any"  # which node may be struck: any, first, later


@dataclass
class Site:
    """A job that is being prepared or running."""

    plan: PlannedJob
    fault: Fault
    cluster: Cluster
    work: Path
    logs: Path
    python: Path
    args: dict[str, list[str]] = field(default_factory=dict)  # node -> further program arguments
    env: dict[str, dict[str, str]] = field(default_factory=dict)  # node -> for its ranks
    launcher: dict[str, dict[str, Any]] = field(default_factory=dict)  # node -> nnodes, world, master, restarts
    lost: set[str] = field(default_factory=set)  # nodes that are dark: nobody hears how their processes ended
    notes: list[str] = field(default_factory=list)  # why the fault was not made
    port: int = 0

    def __post_init__(self) -> None:
        self.port = MASTER_PORT if self.cluster.netns else free_port()

    @property
    def settings(self) -> Settings:
        """The group of settings."""
        return self.plan.settings

    @property
    def iterations(self) -> int:
        """How many the job is to make."""
        return ENDLESS if self.fault.outside else self.settings.iterations

    @property
    def patience(self) -> int:
        """Time-out of collectives in seconds."""
        return PATIENT_S if self.fault.outside or self.fault.patient(self.settings) else COLLECTIVE_S

    @property
    def minutes(self) -> int:
        """The time limit that Slurm is given; 0: none. A hang is ended by it in every other job."""
        outside = self.fault.outside
        if outside is None or self.settings.launcher != SLURM:
            return 0
        return outside.limit or (2 if outside.after and self.plan.seed % 2 else 0)

    @property
    def node(self) -> Node:
        """Where the fault strikes."""
        return self.at(self.plan.node)

    def at(self, name: str) -> Node:
        """A node by its name."""
        return next(node for node in self.cluster.nodes if node.name == name)

    def home(self, node: str = "") -> Path:
        """The node's own folder: code, data, and a link to the shared checkpoints."""
        return self.work / (node or self.plan.node)

    @property
    def checkpoints(self) -> Path:
        """The folder that all nodes share."""
        return self.work / "shared" / "ckpt"

    def checkpoint_file(self, iteration: int) -> Path:
        """What the struck rank writes at an iteration."""
        rank = self.plan.rank
        if self.settings.program is MEGALITE:
            return self.checkpoints / f"iter_{iteration:07d}" / f"mp_rank_{rank:02d}" / "model_optim_rng.pt"
        return self.checkpoints / f"step-{iteration}" / f"rank{rank}.pt"

    def log(self, node: str, rank: int = 0) -> Path:
        """The file of a node or rank; its folder is made."""
        path = self.logs / self.settings.layout.path(self.plan.job_id, self.plan.number, node, rank)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

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
        return min(pid for pid in self.cluster.pids(self.node) if _is_python(pid) and _is_torchrun(pid))

    def _programs(self) -> list[int]:
        """Processes that run the training program, torchrun and shells left out."""
        script = self.settings.program.script.encode()
        found = [pid for pid in self.cluster.pids() if script in command(pid).split(b"\0")]
        return [pid for pid in found if _is_python(pid) and not _is_torchrun(pid)]

    def signal_rank(self, rank: int, signum: signal.Signals) -> None:
        """Send a signal to a rank's process."""
        kill(self.rank_pid(rank), signum)

    def freeze(self) -> None:
        """The struck rank stops; under Slurm, whose scancel wakes what is stopped, as if it waited for the kernel."""
        pid = self.rank_pid(self.plan.rank)
        if self.settings.launcher == SLURM and self.node.group:
            self.node.group.freeze(pid)
        else:
            kill(pid, signal.SIGSTOP)

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


def _is_torchrun(pid: int) -> bool:
    return b"torch.distributed.run" in command(pid)


def _is_python(pid: int) -> bool:
    return b"python" in os.path.basename(command(pid).split(b"\0")[0])  # noqa: PTH119 - bytes


def stop_all(pids: list[int], signum: int = signal.SIGKILL) -> None:
    """Send a signal to processes that may be gone."""
    for pid in pids:
        if pid != os.getpid():
            kill(pid, signum)
