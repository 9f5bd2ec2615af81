"""Who keeps the others waiting, by the flight recorders of all ranks: host stalls, device stalls, mismatches, absence.

A collective ends on no rank before all have entered it. So who never entered what its group waits in, while it waits
for nobody itself, stalls on the host; who entered what others completed, and did not complete it, stalls on the
device. Where all ranks of a group stand at the same number nobody is named. Groups with sends and receives share their
numbers with them and are left out; but who waits to receive waits too.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.dumps.recorder import GroupProgress, Operation, Recording
from core.naming import called
from core.shares import MAJORITY

MIN_DUMPS = 2  # of one rank alone nothing follows about the others


class StallKind(StrEnum):
    """How a rank keeps the others waiting."""

    DEVICE = "device stall"  # entered, and did not complete what others completed
    MISMATCH = "mismatch"  # entered another collective, or other sizes, than the rest of its group
    HOST = "host stall"  # never entered
    ABSENT = "no dump"  # left no dump while all others wait in the same collective


@dataclass(frozen=True, slots=True)
class Stall:
    """A rank that the others wait for. waiting: ranks that do; group: all ranks that work together here."""

    rank: int
    kind: StallKind
    because: str
    waiting: tuple[int, ...] = ()
    group_name: str = ""
    group: tuple[int, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class _Team:
    """One process group with the progress of each rank that left a dump."""

    name: str
    ranks: tuple[int, ...]
    progress: Mapping[int, GroupProgress]

    def operation(self, number: int) -> Operation | None:
        """The operation of a number, as any rank remembers it."""
        return next(
            (progress.operations[number] for progress in self.progress.values() if number in progress.operations), None
        )

    def called(self, number: int) -> str:
        """The operation in words: "all_reduce 84,925 of TENSOR_MODEL_PARALLEL_GROUP (ranks 0-3)"."""
        operation = self.operation(number)
        return f"{operation.name if operation else 'collective'} {number:,} of {self.name} ({called(self.ranks)})"


# Completing these needs no word from all the others: the sender may be done while receivers are not.
_ROOTED = re.compile(r"_?(?:broadcast|reduce|gather|scatter)(?:_oop)?$|.*coalesced")
# Sizes of these may differ between ranks.
_UNEVEN = re.compile(
    r"(?:all_to_?all|alltoall|all_gather$|all_gather_v|reduce_scatter$|gather|scatter|barrier)|.*coalesced"
)


def find_stalls(recordings: Sequence[Recording]) -> tuple[Stall, ...]:
    """Ranks that the others wait for, by rank; nobody when all agree."""
    by_rank = {
        recording.rank: recording
        for recording in sorted(recordings, key=lambda recording: recording.file)
        if recording.rank is not None
    }
    if len(by_rank) < MIN_DUMPS:
        return ()
    teams = _teams(by_rank)
    found: dict[int, list[Stall]] = defaultdict(list)
    for team in teams:
        for stall in (*_device(team), *_mismatched(team)):
            found[stall.rank].append(stall)
    for stall in _host(teams, by_rank, frozenset(found)):
        found[stall.rank].append(stall)
    if not found:
        for stall in _absent(teams, by_rank):
            found[stall.rank].append(stall)
    if len(found) > len(by_rank) * MAJORITY:
        return ()  # most of the job: nobody is special
    return tuple(_most_telling(found[rank], by_rank) for rank in sorted(found))


def groups_of(recordings: Sequence[Recording]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """All process groups of the dumps with what the program calls them."""
    pairs = {
        (group.kind or group.group, group.ranks)
        for recording in recordings
        for group in recording.groups
        if group.ranks
    }
    return tuple(sorted(pairs))


def _teams(by_rank: Mapping[int, Recording]) -> list[_Team]:
    """Process groups of collectives, with at least two ranks that left dumps."""
    members: dict[tuple[str, tuple[int, ...]], dict[int, GroupProgress]] = defaultdict(dict)
    for rank, recording in sorted(by_rank.items()):
        for progress in recording.groups:
            members[progress.group, progress.ranks][rank] = progress
    teams = []
    for (name, ranks), own in sorted(members.items()):
        if len(own) >= MIN_DUMPS and not any(item.point_to_point for item in own.values()):
            kind = next((item.kind for item in own.values() if item.kind), name)
            teams.append(_Team(kind or "the group", ranks or tuple(sorted(own)), own))
    return teams


def _device(team: _Team) -> list[Stall]:
    """Ranks in which a collective is pending that others of the group completed."""
    stalls = []
    for rank, own in team.progress.items():
        first = next((n for n in own.pending if not _ROOTED.match(own.operations[n].name)), None)
        if first is None:
            continue
        past = [other for other, progress in team.progress.items() if progress.completed >= first]
        if past:
            done = max(team.progress[other].completed for other in past)
            because = (
                f"rank {rank} entered {team.called(first)} and did not complete it, which {called(past)} did "
                f"(up to {done:,}): its device stalls, not its program."
            )
            stalls.append(Stall(rank, StallKind.DEVICE, because, tuple(past), team.name, team.ranks))
    return stalls


def _mismatched(team: _Team) -> list[Stall]:
    """Ranks that entered another collective under a number than most of their group."""
    pending = sorted({number for progress in team.progress.values() for number in progress.pending})
    for number in pending:
        entered = {
            rank: progress.operations[number]
            for rank, progress in team.progress.items()
            if number in progress.operations
        }
        shapes: dict[tuple[str, str], list[int]] = defaultdict(list)
        for rank, operation in entered.items():
            uneven = bool(_UNEVEN.match(operation.name))
            shapes[operation.name, "" if uneven else operation.shape].append(rank)
        usual = max(shapes, key=lambda shape: (len(shapes[shape]), shape))
        if len(shapes) > 1 and len(shapes[usual]) > len(entered) * MAJORITY:
            return [
                Stall(
                    rank,
                    StallKind.MISMATCH,
                    _differs(team, number, rank, entered[rank], shapes[usual], usual),
                    (),
                    team.name,
                    team.ranks,
                )
                for shape, ranks in sorted(shapes.items())
                if shape != usual
                for rank in ranks
            ]
        if len(shapes) > 1:
            return []  # two halves disagree: nobody is special
    return []


def _differs(team: _Team, number: int, rank: int, own: Operation, others: Sequence[int], usual: tuple[str, str]) -> str:
    if own.name != usual[0]:
        what = f"entered {own.name} as number {number:,}, where {called(others)} entered {usual[0]}"
    else:
        what = f"entered {own.name} {number:,} with other sizes or types than {called(others)}"
    return f"rank {rank} {what}, in {team.name} ({called(team.ranks)})."


def _host(teams: Sequence[_Team], by_rank: Mapping[int, Recording], known: frozenset[int]) -> list[Stall]:
    """Ranks that never entered what others wait in, and that wait for nobody themselves."""
    stalls = []
    for team in teams:
        most = max(progress.enqueued for progress in team.progress.values())
        pending = {rank: numbers for rank, progress in team.progress.items() if (numbers := progress.pending)}
        behind = [
            rank for rank, progress in team.progress.items() if any(n[-1] > progress.enqueued for n in pending.values())
        ]
        for rank in behind:
            if by_rank[rank].waits and rank not in known:
                continue
            own = team.progress[rank]
            waiting = {
                other: next(number for number in numbers if number > own.enqueued)
                for other, numbers in pending.items()
                if numbers[-1] > own.enqueued
            }
            first = min(waiting.values())
            last = f"its last was {own.enqueued:,}" if own.enqueued >= 0 else "it recorded none"
            idle = "" if rank in known else " and it waits for nobody: its program stalls, not its device"
            because = (
                f"rank {rank} never entered {team.called(first)}, in which {called(list(waiting))} "
                f"wait{'s' * (len(waiting) == 1)}; {last}, the others' {most:,}{idle}."
            )
            stalls.append(Stall(rank, StallKind.HOST, because, tuple(waiting), team.name, team.ranks))
    return stalls


def _absent(teams: Sequence[_Team], by_rank: Mapping[int, Recording]) -> list[Stall]:
    """Ranks without a dump, when all others of their group wait at the same number."""
    everyone = {rank for team in teams for rank in team.ranks}
    if len(everyone - set(by_rank)) >= len(everyone) * MAJORITY:
        return []
    stalls = []
    for team in teams:
        fronts = {progress.pending[0] if progress.pending else None for progress in team.progress.values()}
        front = next(iter(fronts))
        missing = sorted(set(team.ranks) - set(team.progress))
        if len(fronts) != 1 or front is None or not missing or len(missing) >= len(team.ranks) * MAJORITY:
            continue
        waiting = tuple(team.progress)
        stalls += [
            Stall(
                rank,
                StallKind.ABSENT,
                f"rank {rank} left no flight recorder dump; {called(waiting)} did, and wait in {team.called(front)}.",
                waiting,
                team.name,
                team.ranks,
            )
            for rank in missing
        ]
    return stalls


_ORDER = tuple(StallKind)


def _most_telling(stalls: Sequence[Stall], by_rank: Mapping[int, Recording]) -> Stall:
    """Of all that is said of one rank: the surest kind, in the group where most wait, and where it is dumped."""
    first = min(stalls, key=lambda stall: (_ORDER.index(stall.kind), -len(stall.waiting), stall.because))
    groups = len({(stall.group_name, stall.group) for stall in stalls if stall.kind is first.kind})
    more = f" The same in {groups} of its groups." if groups > 1 else ""
    file = by_rank[first.rank].file if first.rank in by_rank else ""
    place = f" ({file})" if file else ""
    because = f"{first.because.removesuffix('.')}{place}.{more}"
    return Stall(first.rank, first.kind, because, first.waiting, first.group_name, first.group, file)
