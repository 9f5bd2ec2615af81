"""A job whose processes the lab starts itself: a rank each, a torchrun or a supervisord a node.

Nothing is written about them. When one fails, the others are ended as launchers do it: SIGTERM after a while, SIGKILL
after a period of grace.
"""

import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab import journal
from lab.cluster import Node, kill
from lab.framing import FRAMERS, pump
from lab.launch import environment, rank_command, rank_environment, supervisord, torchrun
from lab.model import CANCELLED, COMPLETED, FAILED, Site
from lab.settings import DIRECT, SUPERVISORD, TORCHRUN

KILL_WAIT_S = 8.0  # from the first failure until the others are told to end
GRACE_S = {DIRECT: 10.0, TORCHRUN: 45.0, SUPERVISORD: 25.0}  # torchrun itself gives its workers 30
LOOK_S = 1.0  # between looks into journals
EXITED = re.compile(r"(?:exited|stopped): train \((?:exit status (\d+)|terminated by (SIG\w+))")


@dataclass
class Task:
    """A process that the lab started."""

    node: Node
    rank: int  # -1: a launcher
    process: subprocess.Popen[bytes]
    log: Path | None = None  # supervisord's log: it outlives its program
    threads: tuple[threading.Thread, ...] = field(default=())

    @property
    def code(self) -> int | None:
        """Exit code, negative for a signal; none while it runs."""
        found = EXITED.search(self.log.read_text(encoding="utf-8")) if self.log and self.log.exists() else None
        if found:
            return int(found[1]) if found[1] else -signal.Signals[found[2]]
        return self.process.poll()


class Processes:
    """All processes of a job."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._tasks: list[Task] = []
        self._failed = 0.0
        self._stopped = 0.0
        self._told = False  # by somebody outside
        self._looked = 0.0

    def start(self) -> None:
        """Start every node's part."""
        for node in self._site.cluster.nodes:
            self._tasks += self._start_node(node)

    def _start_node(self, node: Node) -> list[Task]:
        site = self._site
        if site.settings.layout.frame == "journal":
            journal.start(site, node)
        if site.settings.launcher == DIRECT:
            ranks = enumerate(site.settings.ranks(node.name))
            return [
                self._spawn(node, rank_command(site, node.name), rank_environment(site, node.name, local), rank)
                for local, rank in ranks
            ]
        if site.settings.launcher == SUPERVISORD:
            task = self._spawn(node, supervisord(site, node.name), rank_environment(site, node.name, 0), -1)
            task.log = site.log(node.name).parent / "supervisord.log"
            return [task]
        return [self._spawn(node, torchrun(site, node.name), environment(site, node.name), -1)]

    def _spawn(self, node: Node, argv: list[str], env: dict[str, str], rank: int) -> Task:
        site, cwd = self._site, self._site.home(node.name) / "code"
        path, frame = site.log(node.name, max(rank, 0)), site.settings.layout.frame
        if frame in FRAMERS:
            pipe = subprocess.PIPE
            process = site.cluster.spawn(node, argv, env, out=pipe, err=pipe, cwd=cwd)
            streams = {"stdout": process.stdout, "stderr": process.stderr}
            carried = pump({name: stream for name, stream in streams.items() if stream}, path, FRAMERS[frame])
            return Task(node, rank, process, threads=carried)
        if frame == "journal":
            argv, path = journal.wrapped(argv), site.work / "journal.out"
        elif site.settings.launcher == SUPERVISORD:
            path = site.work / "supervisord.out"  # says what its log says
        with path.open("ab") as file:
            return Task(node, rank, site.cluster.spawn(node, argv, env, out=file, cwd=cwd))

    def over(self) -> bool:
        """Look at the processes, and end those that should end."""
        now = time.monotonic()
        if now - self._looked > LOOK_S:
            self._looked = now
            self.collect()
        self._end_others(now)
        over = all(task.code is not None for task in self._tasks)
        if over:
            self._finish()
        return over

    def _end_others(self, now: float) -> None:
        """What launchers do when a part of the job has failed, as far as somebody hears of it."""
        if not self._failed and any(task.code for task in self._tasks if task.node.name not in self._site.lost):
            self._failed = now
        if self._failed and not self._stopped and now - self._failed > KILL_WAIT_S:
            self._end(signal.SIGTERM)
        if self._stopped and now - self._stopped > GRACE_S[self._site.settings.launcher]:
            self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Somebody ends the job."""
        self._told = True
        self._end(signal.SIGTERM)

    def _end(self, signum: signal.Signals) -> None:
        self._stopped = self._stopped or time.monotonic()
        for task in self._tasks:
            inside = self._site.cluster.inside(task.process) if task.code is None else 0
            if inside:
                kill(inside, signum)
            if signum == signal.SIGKILL:
                kill(task.process.pid, signal.SIGCONT)  # it stopped with a program that was stopped

    def _finish(self) -> None:
        """supervisord ends after its program; what is on the way to a file arrives."""
        for task in self._tasks:
            if task.process.poll() is None:
                kill(self._site.cluster.inside(task.process), signal.SIGTERM)
        for thread in (thread for task in self._tasks for thread in task.threads):
            thread.join(5)

    @property
    def status(self) -> str:
        """How the job ended."""
        if self._told:
            return CANCELLED
        return FAILED if any(task.code != 0 for task in self._tasks) else COMPLETED

    @property
    def exit_codes(self) -> dict[str, dict[str, int | None]]:
        """Exit codes for job.json: of the ranks, or of the nodes' launchers."""
        lost = self._site.lost
        codes = {
            str(task.rank) if task.rank >= 0 else task.node.name: None if task.node.name in lost else task.code
            for task in self._tasks
        }
        return {"rank_exit_codes" if self._site.settings.launcher == DIRECT else "exit_codes": codes}

    def collect(self) -> None:
        """Print journals, as far as they are; everything else is where it belongs."""
        if self._site.settings.layout.frame == "journal":
            for node in self._site.cluster.nodes:
                journal.collect(self._site, node)
