"""Stacks of all processes merged into one tree, and those that few share (ByteRobust, SOSP 2025: stack aggregation).

In a hang the healthy processes stand in communication, each kind of pipeline stage in its own, and the one that they
wait for stands elsewhere. So two questions, in this order: who is not in communication while most are; who stands
where few do while most stand in one place. File paths are cut and line numbers left out, so that versions may differ.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.dumps.stacks import Frame, Process, Thread
from core.model import Line, StackBar
from core.naming import folded
from core.shares import MAJORITY, few_of

MIN_PROCESSES = 3  # of two that differ, either may be the odd one
NEAR = 8  # innermost frames that tell what a thread does: a call into communication goes through five wrappers
PATH_PARTS = 3  # parts of a file's path that tell it; what is before them is where Python was installed

_IN_COMMUNICATION = re.compile(
    r"(?:^|/)(?:distributed_c10d|c10d_logger|_functional_collectives|p2p|p2p_communication)\.py$"
)
_LIBRARY = re.compile(r"nccl|rccl|hccl|gloo|mscclpp", re.IGNORECASE)  # in a function's name, or in a library's
# Collective operations by the names that all libraries give them (MPI 4.0, chapter 6), and receiving from a peer.
_COLLECTIVE = re.compile(
    r"_*i?(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|barrier|broadcast|bcast|recv|receive)(?:_\w+)?",
    re.IGNORECASE,
)
_WAITS_FOR_DEVICE = re.compile(r"_engine_run_backward|(?:cuda|npu)\w*(?:Stream|Device|Event)?Synchronize|synchronize")
_ON_HOST = re.compile(r"mpi4py|libmpi|openmpi|mpich", re.IGNORECASE)  # these return when the others have come
_WATCHERS = re.compile(r"watchdog|heartbeat|monitor|watchdg|flight|pt_nccl", re.IGNORECASE)
_NO_RANK = re.compile(r"^(?:_worker_loop|_invoke_run|launch_agent|_pin_memory_loop|_fork_server|_serve_one)$")
_NO_RANK_FILE = re.compile(r"distributed/(?:run|launch|launcher/api)\.py$|compile_worker|resource_tracker|forkserver")
_PLUMBING = re.compile(
    r"(?:^|/)(?:threading|queue|selectors|socket|ssl|subprocess|connection|popen_fork|synchronize)\.py$"
)


@dataclass(frozen=True, slots=True)
class StackPlace:
    """Processes that stand in one place; stack: innermost first."""

    stack: tuple[Frame, ...]
    processes: tuple[Process, ...]
    waits: bool
    threads: tuple[Thread, ...] = ()  # the one of each process that stands there


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of the merged tree: a frame, outermost first, with all processes below it."""

    frame: Frame
    processes: tuple[Process, ...]
    below: tuple["Branch", ...] = ()


@dataclass(frozen=True, slots=True)
class Outlier:
    """A process that stands where few do. waits: it is in communication itself, and so may wait for yet another."""

    process: Process
    at: int
    text: str
    because: str
    waits: bool
    frame: Frame

    @property
    def lines(self) -> tuple[Line, ...]:
        """Where it is said; nowhere in JSON."""
        return (Line(self.process.file, self.at, self.text),) if self.at else ()


def places(processes: Sequence[Process]) -> tuple[StackPlace, ...]:
    """Where the training processes stand, the place of most first; launchers and workers are left out."""
    found: dict[tuple[bool, tuple[tuple[str, str], ...]], list[tuple[Process, Thread]]] = defaultdict(list)
    for process in training(processes):
        thread, waits = _telling(process)
        key = tuple(map(_place, thread.frames))
        found[waits, key].append((process, thread))
    standing = tuple(
        StackPlace(
            members[0][1].frames, tuple(item for item, _ in members), waits, tuple(thread for _, thread in members)
        )
        for (waits, key), members in sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    )
    return tuple(replace(place, waits=_waits_for_others(place, standing)) for place in standing)


def _waits_for_others(place: StackPlace, standing: Sequence[StackPlace]) -> bool:
    """Whether it waits for others; who waits for its device does, unless the others wait on the host, as in MPI."""
    calls = [frame for other in standing if _communicates(frame := _wait_frame(other.stack))]
    on_host = bool(calls) and all(_ON_HOST.search(frame.file) for frame in calls)
    return place.waits and (_communicates(_wait_frame(place.stack)) or not on_host)


def training(processes: Sequence[Process]) -> tuple[Process, ...]:
    """Processes that train, one a rank, in a fixed order."""
    chosen: dict[object, Process] = {}
    ordered = sorted(
        processes,
        key=lambda process: (
            process.node or "",
            -1 if process.rank is None else process.rank,
            process.file,
            process.pid or 0,
        ),
    )
    for place, process in enumerate(ordered):
        # a trainer has threads of its own that feed it, such as the one that pins memory
        named = [thread for thread in process.threads if thread.name == "MainThread"]
        main = list(filter(_is_main, process.threads)) or named or process.threads
        frames = [frame for thread in main for frame in thread.frames]
        if frames and not any(map(_is_other, frames)):
            chosen.setdefault(process.rank if process.rank is not None else ("process", place), process)
    return tuple(chosen.values())


def outliers(processes: Sequence[Process]) -> tuple[Outlier, ...]:
    """Processes that stand where few do; nobody when all agree or when there is no majority."""
    standing = places(processes)
    total = sum(len(place.processes) for place in standing)
    if total < MIN_PROCESSES and sorted(place.waits for place in standing) != [False, True]:
        return ()  # of two, the one that waits waits for the other one
    waiting = [place for place in standing if place.waits]
    elsewhere = [place for place in standing if not place.waits]
    count = sum(len(place.processes) for place in waiting)
    if count > total * MAJORITY or (count and total < MIN_PROCESSES):
        usual = f"{count} of {total} processes wait for others or for the device ({_waits(waiting)})"
        return _as_outliers(elsewhere, usual)
    most = standing[0]
    # who waits in the call of all others waits as they do, though another part of the program led it there
    others = [
        place for place in standing[1:] if _place(telling_frame(place.stack)) != _place(telling_frame(most.stack))
    ]
    if (
        len(most.processes) <= total * MAJORITY
        or any(len(place.processes) > few_of(total) for place in others)
        or not others
    ):
        return ()
    usual = f"{len(most.processes)} of {total} processes stand in {telling_frame(most.stack).where}"
    return _as_outliers(others, usual)


def wait_for_each_other(processes: Sequence[Process]) -> bool:
    """Whether all wait, and not in the same call: then each waits for what the others are not going to do.

    Few that wait for their device while the others are in one call may be stuck in it.
    """
    standing = places(processes)
    calls = {_wait_frame(place.stack).function for place in standing}
    total = sum(len(place.processes) for place in standing)
    communicating = [place for place in standing if _communicates(_wait_frame(place.stack))]
    on_device = total - sum(len(place.processes) for place in communicating)
    one_call = len({_wait_frame(place.stack).function for place in communicating}) == 1
    if one_call and 0 < on_device <= few_of(total):
        return False
    return total >= MIN_PROCESSES and len(calls) > 1 and all(place.waits for place in standing)


def tree(processes: Sequence[Process]) -> tuple[Branch, ...]:
    """All telling stacks merged from the outside in."""
    stacks = [(process, tuple(reversed(place.stack))) for place in places(processes) for process in place.processes]
    return _branches(stacks, 0)


def drawn(branches: Sequence[Branch], depth: int = 0) -> Iterator[str]:
    """The tree as text, a frame a line with who stands below it; frames that all share their way are folded."""
    for bar in bars(branches, depth):
        yield f"{'  ' * bar.depth}{bar.frame}  [{bar.who}]"


def bars(branches: Sequence[Branch], depth: int = 0, start: int = 0) -> Iterator[StackBar]:
    """The same tree as a picture: the bars of what a frame calls lie below it, as wide as processes stand there."""
    for branch in branches:
        width = len(branch.processes)
        yield StackBar(depth, start, width, branch.frame.where, who(branch.processes))
        while len(branch.below) == 1 and len(branch.below[0].processes) == width and branch.below[0].below:
            branch = branch.below[0]  # noqa: PLW2901 - the fold goes down
        yield from bars(branch.below, depth + 1, start)
        start += width


def who(processes: Sequence[Process]) -> str:
    """Processes in few words: their ranks, else how many of each node."""
    ranks = [process.rank for process in processes if process.rank is not None]
    by_node: dict[str, int] = defaultdict(int)
    for process in processes:
        if process.rank is None:
            by_node[process.node or "an unknown node"] += 1
    sentences = [f"rank{'s' * (len(ranks) != 1)} {folded(ranks)}"] if ranks else []
    sentences += [f"{count} on {node}" for node, count in sorted(by_node.items())]
    return ", ".join(sentences)


def telling_frame(frames: Sequence[Frame]) -> Frame:
    """The innermost frame that is no plumbing of Python's own."""
    return next((frame for frame in frames if not _PLUMBING.search(frame.file) and frame.file != "?"), frames[0])


def _as_outliers(standing: Sequence[StackPlace], usual: str) -> tuple[Outlier, ...]:
    found = []
    for place in standing:
        frame = telling_frame(place.stack)
        for process, thread in zip(place.processes, place.threads, strict=True):
            alone = "alone" if len(place.processes) == 1 else f"with {len(place.processes) - 1} more"
            because = f"{_name(process)} stands {alone} in {frame.where}; {usual}."
            found.append(Outlier(process, thread.at, thread.text, because, place.waits, frame))
    return tuple(found)


def _name(process: Process) -> str:
    home = f" on {process.node}" if process.node else ""
    if process.rank is not None:
        return f"rank {process.rank}{home}"
    return (f"process {process.pid}" if process.pid is not None else "a process") + home


def _waits(waiting: Sequence[StackPlace]) -> str:
    names = dict.fromkeys(_wait_frame(place.stack).function for place in waiting)
    return ", ".join(list(names)[:3]) + (", \u2026" if len(names) > 3 else "")


def _wait_frame(frames: Sequence[Frame]) -> Frame:
    return next((frame for frame in frames[:NEAR] if _communicates(frame)), frames[0])


def _telling(process: Process) -> tuple[Thread, bool]:
    """The thread that tells where a process stands, and whether it waits: its main thread, unless another waits."""
    named = [thread for thread in process.threads if not _WATCHERS.search(thread.name)] or list(process.threads)
    main = next((thread for thread in named if thread.name == "MainThread"), named[0])
    main = main if _is_main(main) else next(filter(_is_main, named), main)
    if any(_communicates(frame) for frame in main.frames[:NEAR]):
        return main, True
    other = next((thread for thread in named if any(_communicates(frame) for frame in thread.frames[:NEAR])), None)
    if other is not None and any(_WAITS_FOR_DEVICE.fullmatch(frame.function) for frame in main.frames[:NEAR]):
        return other, True
    return main, any(_WAITS_FOR_DEVICE.fullmatch(frame.function) for frame in main.frames[:NEAR])


def _is_main(thread: Thread) -> bool:
    """Whether a thread is the main one, whatever its name: faulthandler begins with the one that asked for the dump."""
    return bool(thread.frames) and thread.frames[-1].function == "<module>"


def _communicates(frame: Frame) -> bool:
    library = "" if frame.file.endswith(".py") else frame.file.rpartition("/")[2]
    is_collective = _COLLECTIVE.fullmatch(frame.function) is not None
    return is_collective or bool(_IN_COMMUNICATION.search(frame.file) or _LIBRARY.search(f"{frame.function} {library}"))


def _is_other(frame: Frame) -> bool:
    return bool(_NO_RANK.match(frame.function) or _NO_RANK_FILE.search(frame.file))


def _place(frame: Frame) -> tuple[str, str]:
    """A frame in any version of a program: its function, and the end of its file's path."""
    return frame.function, _short(frame.file)


def _short(path: str) -> str:
    return "/".join(path.replace("\\", "/").split("/")[-PATH_PARTS:])


def _branches(stacks: Sequence[tuple[Process, tuple[Frame, ...]]], depth: int) -> tuple[Branch, ...]:
    below: dict[tuple[str, str], list[tuple[Process, tuple[Frame, ...]]]] = defaultdict(list)
    for process, frames in stacks:
        if depth < len(frames):
            below[frames[depth].function, _short(frames[depth].file)].append((process, frames))
    return tuple(
        Branch(members[0][1][depth], tuple(item for item, _ in members), _branches(members, depth + 1))
        for _, members in sorted(below.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    )
