"""Where a job's lines go, and what stands in front of each: file a rank, pods, journals, one file for all.

A layout is read both ways: ``path`` names the file that a run writes, ``speaker`` and ``unwrap`` tell who spoke.
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256

FRAMES = {
    "plain": re.compile(r""),
    "cri": re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z std(?:out|err) [PF] "),
    "journal": re.compile(r"\w{3} \d\d [\d:.]+ \S+ [\w.-]+\[\d+\]: "),
    "label": re.compile(r" *(?P<rank>\d+): "),  # srun --label
    "docker": re.compile(r""),
}
FIELDS = {"job": r"[\w.-]+", "number": r"\d+", "rank": r"(?P<rank>\d+)", "uid": r"[0-9a-f-]+", "container": r"\w+"}
WORKER = re.compile(r"attempt_\d+/(\d+)/")  # a folder of torchrun --log-dir


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to lay out a job's logs; ``frame`` is what a container runtime, journald or srun puts around a line."""

    form: str  # of the path below logs/; {node}, {rank}, {job}, {number}, {uid}, {container}
    frame: str = "plain"

    @property
    def by_rank(self) -> bool:
        """Whether every rank has a file of its own."""
        return "{rank}" in self.form

    def path(self, job: str, number: int, node: str = "", rank: int = 0) -> str:
        """The file of a node or rank."""
        digest = sha256(f"{job}/{node}/{rank}".encode()).hexdigest()
        uid = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"
        return self.form.format(job=job, number=number, node=node, rank=rank, uid=uid, container=digest)

    def speaker(self, file: str, nodes: tuple[str, ...]) -> tuple[str, int | None]:
        """Node (or empty) and global rank (or none) that a file's name tells."""
        known = "|".join(re.escape(node) for node in nodes)
        parts = re.split(r"\{(\w+)\}", self.form)
        fields = FIELDS | {"node": f"(?P<node>{known})"}
        text = "".join(fields[part] if index % 2 else re.escape(part) for index, part in enumerate(parts))
        found = re.fullmatch(text, file)
        named = found.groupdict() if found else {}
        folder = re.match(rf"({known})[/.]", file)
        return named.get("node") or (folder[1] if folder else ""), int(named["rank"]) if named.get("rank") else None

    def unwrap(self, raw: str) -> tuple[str, int | None]:
        """A line without what is in front of it, and the rank that stood there."""
        if self.frame == "docker":
            return _docker(raw), None
        found = FRAMES[self.frame].match(raw)
        if not found:
            return raw, None
        rank = found.groupdict().get("rank")
        return raw[found.end() :], int(rank) if rank else None


def _docker(raw: str) -> str:
    try:
        return str(json.loads(raw)["log"]).removesuffix("\n")
    except (ValueError, KeyError, TypeError):
        return raw


LAYOUTS = {
    "ranks": Layout("ranks/{node}-{rank}.log"),
    "node ranks": Layout("{node}/rank{rank}.log"),
    "nodes": Layout("{node}.log"),
    "folders": Layout("{node}/torchrun.log"),
    "pods": Layout("ml_{job}-{node}_{uid}/trainer/0.log", "cri"),
    "docker": Layout("{node}/{container}-json.log", "docker"),
    "journal": Layout("{node}/journal.txt", "journal"),
    "output": Layout("slurm-{number}.out", "label"),
    "tasks": Layout("{number}_{rank}_log.err"),
    "supervisord": Layout("{node}/train.log"),
}
