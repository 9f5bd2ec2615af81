"""What dumps say of nodes, as signs like those of the logs; and the stage in which the processes stand."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from core.course.stages import stage_of_frames
from core.dumps.aggregate import group_signs
from core.dumps.job_dumps import FOLDER, Dumps, read_dumps
from core.dumps.outliers import Outlier, bars, drawn, outliers, training, tree, wait_for_each_other
from core.dumps.printed_stacks import find_printed, traces
from core.dumps.rank_groups import RankGroup, parallel_groups, smallest_around
from core.dumps.recorder import Recording
from core.dumps.stack_rounds import Round, flagged_signs, node_of, rounds_of
from core.dumps.stacks import Process
from core.dumps.stalls import Stall, StallKind, find_stalls, groups_of
from core.job import Manifest
from core.judge.candidates import Candidate
from core.judge.rank_rows import ranks_of_nodes
from core.model import StackBar, Stage
from core.naming import called
from core.nodes.blame import Names
from core.nodes.sign import Sign
from core.nodes.spatial import SILENT
from core.parsed import Parsed

RECORDER = 0.8  # numbers of all ranks against each other: surer than most peers' word (0.65), not a trace of the cause
STACK = 0.7  # one look at one moment: less sure than numbers that stand still
STACK_WAITS = 0.35  # stands apart, but waits itself: perhaps for yet another
UNREAD = 0.6  # as sure as silence: a debugger also fails for want of rights, but then on all nodes
MIN_READ = 2  # others; of one alone nothing follows
FEW_UNREAD = 0.25  # of the processes (as in core.dumps.outliers)
TRAINS_FROM = 1000  # collectives in one group: start-up takes some tens (26 to 145 in the groups that only it uses)
MAX_LINES = 4  # cited places a node
MAX_STACK_LINES = 60  # of the merged tree: a screen; sixteen processes of BLOOM make 19


@dataclass(frozen=True, slots=True)
class DumpEvidence:
    """Signs of the channels "stack" and "recorder", the stage where most stand, and what could not be read.

    stacks, bars: the merged stacks as text, a frame a line, and as a picture. traces: stacks in the logs that stand
    apart, as events. dumped: how many processes were dumped on purpose, into files of their own. known: processes whose
    stacks were read, of files and logs. crossed: all of them wait, in different calls.
    """

    signs: tuple[Sign, ...] = ()
    stage: Stage | None = None
    stacks: tuple[str, ...] = ()
    bars: tuple[StackBar, ...] = ()
    problems: tuple[str, ...] = ()
    traces: tuple[Candidate, ...] = ()
    dumped: int = 0
    crossed: bool = False
    known: int = 0


def find_dump_evidence(parsed: Parsed) -> DumpEvidence:
    """Evidence of all dumps of a job, beside its logs and in them; nothing for a job without."""
    names = Names(parsed.table, parsed.job.manifest)

    def home(rank: int) -> str:
        return names.of_rank(rank) or f"rank {rank}"

    printed = find_printed(parsed, home)
    if not parsed.job.dumps:
        signs = outlier_signs(printed.outliers, (), home)
        return DumpEvidence(
            signs=tuple(signs),
            traces=traces(parsed, printed),
            stacks=_drawn(printed.processes),
            bars=_bars(printed.processes),
            crossed=wait_for_each_other(printed.processes),
            known=len(printed.processes),
        )
    rounds = rounds_of(parsed.job.dumps)
    earlier = {file.name for item in rounds[:-1] for file in item.files}
    now = [file for file in parsed.job.dumps if file.name not in earlier]  # of several looks the last one is shown
    dumps = read_dumps(now, parsed.job.manifest, folder=rounds[-1].folder if rounds else FOLDER)
    groups = _groups(parsed, dumps)
    return DumpEvidence(
        signs=(
            *stall_signs(find_stalls(dumps.recordings), groups, home),
            *_stack_signs(rounds, dumps, groups, names, home, parsed.job.manifest),
            *outlier_signs(printed.outliers, groups, home),
            *_unread_signs([_known(process, names) for process in dumps.processes], home),
        ),
        stage=_stage(dumps),
        stacks=_drawn(dumps.processes or printed.processes),
        bars=_bars(dumps.processes or printed.processes),
        problems=dumps.problems,
        traces=traces(parsed, printed),
        dumped=len(dumps.processes),
        crossed=wait_for_each_other(dumps.processes or printed.processes),
        known=len(dumps.processes or printed.processes),
    )


def _stack_signs(
    rounds: Sequence[Round],
    last: Dumps,
    groups: Sequence[RankGroup],
    names: Names,
    home: Callable[[int], str],
    manifest: Manifest,
) -> list[Sign]:
    """Of one look who stands apart; of several who is flagged in most of them."""
    found = outliers([_known(process, names) for process in last.processes])
    if not rounds:
        return outlier_signs(found, groups, home) or group_signs(last.processes, groups, home)
    before = [read_dumps(item.files, manifest, folder=item.folder).processes for item in rounds[:-1]]
    earlier = [outliers([_known(process, names) for process in processes]) for processes in before]
    return flagged_signs([*earlier, found], groups, home)


def _drawn(processes: Sequence[Process]) -> tuple[str, ...]:
    return tuple(islice(drawn(tree(processes)), MAX_STACK_LINES))


def _bars(processes: Sequence[Process]) -> tuple[StackBar, ...]:
    return tuple(islice(bars(tree(processes)), MAX_STACK_LINES))


def stall_signs(stalls: Sequence[Stall], groups: Sequence[RankGroup], home: Callable[[int], str]) -> list[Sign]:
    """A sign for each node with ranks that the others wait for, by their flight recorders."""
    by_node: dict[str, list[Stall]] = defaultdict(list)
    for stall in stalls:
        by_node[home(stall.rank)].append(stall)
    around = _isolation([stall.rank for stall in stalls], groups, home)
    signs = []
    for node, own in sorted(by_node.items()):
        first = own[0]
        more = f" The same holds for {called([item.rank for item in own[1:]])}." if own[1:] else ""
        weight = RECORDER if first.kind is not StallKind.ABSENT else SILENT
        signs.append(
            Sign(
                node,
                "recorder",
                weight if first.kind is not StallKind.ABSENT or len(by_node) == 1 else weight / 2,
                f"{first.because}{more}",
                says=_SAYS[first.kind],
                check=f"{_CHECKS[first.kind]}{around}",
                ranks=tuple(sorted(item.rank for item in own)),
            )
        )
    return signs


def outlier_signs(found: Sequence[Outlier], groups: Sequence[RankGroup], home: Callable[[int], str]) -> list[Sign]:
    """A sign for each node with processes that stand where few do."""
    by_node: dict[str, list[Outlier]] = defaultdict(list)
    for outlier in found:
        by_node[node_of(outlier, home)].append(outlier)
    ranks = [outlier.process.rank for outlier in found if outlier.process.rank is not None]
    around = _isolation(ranks, groups, home) if len(ranks) == len(found) else ""
    signs = []
    for node, own in sorted(by_node.items()):
        first = min(own, key=lambda outlier: outlier.waits)
        signs.append(
            Sign(
                node,
                "stack",
                STACK_WAITS if first.waits else STACK,
                first.because if len(own) == 1 else f"{first.because} So do {len(own) - 1} more on {node}.",
                says=f"a process there stands in {first.frame.where} while the others wait",
                check=f"See what {node} waits for in {first.frame.function}: its children, files and locks.{around}",
                ranks=tuple(sorted({outlier.process.rank for outlier in own if outlier.process.rank is not None})),
                lines=tuple(line for outlier in own[:MAX_LINES] for line in outlier.lines),
            )
        )
    return signs


def _unread_signs(processes: Sequence[Process], home: Callable[[int], str]) -> list[Sign]:
    """A sign for each node of the few processes whose stacks could not be read, while those of the others could."""
    unread = [process for process in processes if not process.threads]
    read = len(training(processes))
    if read < MIN_READ or len(unread) > max(1, len(processes) * FEW_UNREAD):
        return []
    signs = []
    for process in sorted(unread, key=lambda process: process.file):
        node = process.node or (home(process.rank) if process.rank is not None else "")
        who = called([process.rank]) if process.rank is not None else "a process"
        because = f"The stacks of {who} could not be read ({process.file}); those of {read} others could."
        says = "a process there is stopped or stuck in the kernel"
        check = f"Look at the process on {node}: its state (T or D in ps), the kernel's log, storage, device."
        ranks = () if process.rank is None else (process.rank,)
        signs += [Sign(node, "stack", UNREAD, because, says=says, check=check, ranks=ranks)] if node else []
    return signs


_SAYS = {
    StallKind.DEVICE: "the device there did not complete a collective that the others completed",
    StallKind.MISMATCH: "the program there entered another collective than the rest of its group",
    StallKind.HOST: "the program there never entered a collective that the others wait in",
    StallKind.ABSENT: "there is no flight recorder dump of it, and the others wait for it",
}
_CHECKS = {
    StallKind.DEVICE: (
        "Look for device errors (Xid, ECC, NVLink) in the kernel log there and run the device diagnostics."
    ),
    StallKind.MISMATCH: "Compare code, arguments and input shapes of this rank with those of its group.",
    StallKind.HOST: "Dump the stacks of this rank: its program is stuck, in a lock, a file or the data loader.",
    StallKind.ABSENT: "See whether the process there is alive or frozen, and whether its dump was only not copied.",
}


def _isolation(ranks: Collection[int], groups: Sequence[RankGroup], home: Callable[[int], str]) -> str:
    """What to take out if the suspects alone do not help, and what that costs (ByteRobust: the group, not the rank)."""
    group = smallest_around(ranks, groups) if ranks else None
    if group is None:
        return ""
    suspects, taken = {home(rank) for rank in ranks}, {home(rank) for rank in group.ranks}
    healthy = len(taken - suspects)
    if not healthy:
        return ""  # taking out the suspects takes out all of it
    unit = "rank" if all(node.startswith("rank ") for node in taken) else "node"
    cost = f"{healthy} healthy {unit}{'s' * (healthy != 1)}"
    return f" If it comes back, isolate all of {group.name} ({called(group.ranks)}): that costs {cost}."


def _groups(parsed: Parsed, dumps: Dumps) -> tuple[RankGroup, ...]:
    """Groups that can be taken out: nodes, process groups of the recordings, groups by rank arithmetic; never all."""
    nodes = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    recorded = tuple(RankGroup(name, ranks) for name, ranks in groups_of(dumps.recordings))
    known = (
        *(RankGroup(node, ranks) for node, ranks in nodes.items()),
        *recorded,
        *parallel_groups(parsed.job.manifest),
    )
    everyone = {rank for group in known for rank in group.ranks}
    return tuple(
        group for group in known if 1 < len(group.ranks) < max(len(everyone), parsed.job.manifest.world_size or 0)
    )


def _stage(dumps: Dumps) -> Stage | None:
    """Stage of most stacks; else training, once the recorders count as many collectives as only training makes."""
    votes: dict[Stage, int] = defaultdict(int)
    standing = training(dumps.processes)
    for process in standing:
        lines = [
            f'File "{frame.file}", line {frame.line}, in {frame.function}'
            for thread in process.threads
            for frame in thread.frames
        ]
        stage = stage_of_frames(lines)
        if stage is not None:
            votes[stage] += 1
    best = max(votes, key=lambda stage: (votes[stage], stage.value), default=None)
    if best is not None and votes[best] * 2 > len(standing):
        return best
    return Stage.TRAINING if _reached(dumps.recordings) >= TRAINS_FROM else None


def _reached(recordings: Sequence[Recording]) -> int:
    return max((recording.reached for recording in recordings), default=-1)


def _known(process: Process, names: Names) -> Process:
    """The process on its node as the job calls it: dumps may use its full name or its address."""
    return replace(process, node=names.node(process.node) or process.node) if process.node else process
