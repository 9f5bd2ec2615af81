"""PyTorch flight recorder dumps (TORCH_NCCL_DUMP, versions 2.0 to 2.10): what each rank enqueued, and how far it came.

Field names differ by version: ``seq_id`` became ``collective_seq_id``; ``pg_status`` and ``is_p2p`` came later; gloo
writes numbers as strings, and one group without a name.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.dumps.stacks import plain
from core.errors import UnreadableLog

MAX_ENTRIES = 200_000  # torch keeps 2,000 unless told


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective that a rank enqueued. shape: sizes and types, equal on all ranks for most collectives."""

    number: int
    name: str
    shape: str = ""
    pending: bool = True


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """One rank in one process group: its numbers, and the collectives that it still remembers.

    kind: what the program calls the group (TENSOR_MODEL_PARALLEL_GROUP). ranks: empty when the dump does not say.
    point_to_point: sends or receives were seen; they share the group's numbers, so these tell nothing of collectives.
    """

    group: str
    kind: str = ""
    ranks: tuple[int, ...] = ()
    enqueued: int = -1
    completed: int = -1
    operations: Mapping[int, Operation] = field(default_factory=dict)
    point_to_point: bool = False

    @property
    def pending(self) -> tuple[int, ...]:
        """Numbers of collectives that were enqueued and did not complete."""
        return tuple(sorted(number for number, operation in self.operations.items() if operation.pending))


@dataclass(frozen=True, slots=True)
class Recording:
    """The dump of one rank. waits_for: global ranks of which it waits to receive something."""

    file: str
    rank: int | None
    groups: tuple[GroupProgress, ...] = ()
    waits_for: tuple[int, ...] = ()

    @property
    def reached(self) -> int:
        """The highest number of a collective in any group."""
        return max((group.enqueued for group in self.groups), default=-1)

    @property
    def waits(self) -> bool:
        """Whether anything is pending that others must answer."""
        return bool(self.waits_for) or any(group.pending for group in self.groups)


def is_recording(value: Any) -> bool:
    """Whether a document is a flight recorder dump."""
    return isinstance(value, dict) and isinstance(value.get("entries"), list) and "version" in value


def read_recording(value: Mapping[str, Any], file: str, rank: int | None) -> Recording:
    """One rank's recording. rank: as the file's name has it; the groups that the rank is in must agree."""
    if len(value["entries"]) > MAX_ENTRIES:
        raise UnreadableLog(f"{file} was not read: it holds more than {MAX_ENTRIES:,} entries.")
    members, status = _members(value.get("pg_config")), _mapping(value.get("pg_status"))
    entries = [_entry(entry) for entry in value["entries"] if isinstance(entry, dict)]
    names = _names(tuple(members), tuple(status), entries)
    placed = [(names.get(entry.place, entry.group), entry) for entry in entries]
    numbers = {names[place]: _mapping(status[place]) for place in status if place in names}
    of_group: dict[str, list[_Entry]] = {name: [] for name in members}
    for group, entry in placed:
        of_group.setdefault(group, []).append(entry)
    groups = tuple(_progress(name, *members.get(name, ("", ())), own, numbers) for name, own in of_group.items())
    ranks_of = {group.group: group.ranks for group in groups}
    peers = {
        ranks_of[group][entry.peer]
        for group, entry in placed
        if entry.peer is not None and entry.pending and entry.peer < len(ranks_of[group])
    }
    return Recording(file, _rank(rank, members), groups, tuple(sorted(peers)))


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry as any version writes it. place: number of the group on this rank, under which its status stands."""

    place: str
    group: str
    kind: str
    number: int
    name: str
    shape: str
    state: str
    retired: bool
    point_to_point: bool
    peer: int | None = None  # of whom it receives, counted within the group

    @property
    def pending(self) -> bool:
        return not self.retired and self.state != "completed"


_PEER = re.compile(r"recv (\d{1,6})<-(\d{1,6})$")


def _entry(entry: Mapping[str, Any]) -> _Entry:
    group = entry.get("process_group")
    named = [plain(part) for part in group] if isinstance(group, list | tuple) else []
    name = plain(entry.get("profiling_name", "")).rpartition(":")[2]
    peer = _PEER.search(name)
    number = entry.get("collective_seq_id", entry.get("seq_id"))
    return _Entry(
        place=str(entry.get("pg_id", "")),
        group=named[0] if named else str(entry.get("pg_id", "")),
        kind=named[1] if len(named) > 1 else "",
        number=_number(number),
        name=name,
        shape=json.dumps([entry.get(key) for key in _SHAPE], default=str)
        if any(entry.get(key) for key in _SHAPE)
        else "",
        state=str(entry.get("state", "")),
        retired=entry.get("retired") is True,
        point_to_point=entry.get("is_p2p") is True or name.startswith(("send ", "recv ")),
        peer=int(peer[2]) if peer else None,
    )


_SHAPE = ("input_sizes", "input_dtypes", "output_sizes", "output_dtypes")


def _progress(
    name: str, kind: str, ranks: tuple[int, ...], entries: Sequence[_Entry], status: Mapping[str, Mapping[str, Any]]
) -> GroupProgress:
    own = [entry for entry in entries if not entry.point_to_point]
    numbers = status.get(name, {})
    done = _number(numbers.get("last_completed_collective"))
    operations = {
        entry.number: Operation(entry.number, entry.name, entry.shape, entry.pending and entry.number > done)
        for entry in own
    }
    ended = [number for number, operation in operations.items() if not operation.pending]
    return GroupProgress(
        group=name,
        kind=kind or next((entry.kind for entry in entries if entry.kind), ""),
        ranks=ranks,
        enqueued=max([_number(numbers.get("last_enqueued_collective")), *operations]),
        completed=max([done, *ended]),
        operations=operations,
        point_to_point=len(own) < len(entries),
    )


def _names(groups: Sequence[str], places: Sequence[str], entries: Sequence[_Entry]) -> dict[str, str]:
    """Group of each place: as the entries pair them; the others were made in the same order as the places.

    Groups are numbered as they are made, on all ranks alike, and places on each rank alone.
    """
    known = set(groups)
    paired = {entry.place: entry.group for entry in entries if entry.group in known}
    if len(groups) != len(places) or not all(name.isdigit() for name in (*places, *groups) if name):
        return paired
    ordered = dict(zip(sorted(places, key=_number), sorted(groups, key=_number), strict=True))
    return ordered if all(ordered.get(place) == name for place, name in paired.items()) else paired


def _members(config: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What the program calls each group, and its global ranks; they stand there as a list or as its text."""
    found = {}
    for name, about in _mapping(config).items():
        ranks = _mapping(about).get("ranks")
        if isinstance(ranks, str):
            ranks = [int(word) for word in re.findall(r"\d{1,7}", ranks)]
        known = [rank for rank in ranks if isinstance(rank, int)] if isinstance(ranks, list | tuple) else []
        found[name] = (plain(_mapping(about).get("desc", "")), tuple(known))
    return found


def _rank(named: int | None, members: Mapping[str, tuple[str, tuple[int, ...]]]) -> int | None:
    """The rank that is in all of the dump's groups: the one that its file is named after, or the only one."""
    known = [set(ranks) for _, ranks in members.values() if ranks]
    shared = set.intersection(*known) if known else set()
    if named is not None and (named in shared or not known):
        return named
    return next(iter(shared)) if len(shared) == 1 else None


def _mapping(value: Any) -> dict[str, Any]:
    return {plain(key): entry for key, entry in value.items()} if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    """A number, which gloo writes as a string; -1 for none."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
