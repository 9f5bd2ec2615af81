"""Who may speak: node, rank, attempt and kind of program behind a voice, which is a file and a prefix."""

import re
from dataclasses import dataclass
from enum import StrEnum


def rank_called(rank: int) -> str:
    """The name of a rank that stands for its node, which nobody names."""
    return f"rank {rank}"


def task_called(task: int) -> str:
    """The name of a task of srun's that stands for its node, which nobody names."""
    return f"task {task}"


def actor_called(actor: str, pid: int) -> str:
    """The name of a process of Ray's that stands for its node, which nobody names: as Ray labels what it says."""
    return f"{actor} pid={pid}"


def is_actor(name: str) -> bool:
    """Whether a node's name is that of a process of Ray's."""
    return _ACTOR.match(name) is not None


def stands_in(name: str) -> bool:
    """Whether a node's name is that of a rank, a task or a process, which stands for a machine that nobody names."""
    return is_actor(name) or _COUNTED.match(name) is not None


_COUNTED = re.compile(r"\A(?:rank|task) \d+\Z")
_ACTOR = re.compile(r"\A\w++ pid=\d++\Z")


NUMBERED_PROCESS = re.compile(r"(?:worker|trainer|process|proc|task|replica)[-_.]?\d{1,6}", re.IGNORECASE)  # no machine


class Program(StrEnum):
    """What kind of program a voice belongs to."""

    RANK = "rank"  # a training process
    LAUNCHER = "launcher"  # torchrun, deepspeed, mpirun: one a node
    DAEMON = "daemon"  # node daemon, kernel: one a node
    SCHEDULER = "scheduler"  # one a job


@dataclass(frozen=True, slots=True)
class Origin:
    """Who a voice is.

    cohort: equal for voices that should say the same, by their place in the tree instead of their name.
    """

    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    attempt: int = 0
    program: Program = Program.SCHEDULER
    cohort: str = ""


@dataclass(frozen=True, slots=True)
class Voice:
    """A file and one of its prefixes, as scanned."""

    file: str
    prefix: bytes


@dataclass(frozen=True, slots=True)
class FileSpeaker:
    """Who speaks in a file, as far as its lines, or the files beside it, tell."""

    node: str | None = None
    rank: int | None = None
