"""What stands for the nodes of a job in its event table: machines by name, else ranks, where nobody names a machine."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.events.build import with_homes, with_ranks_as_nodes
from core.events.table import EventTable
from core.job import LogFile, Manifest
from core.logs.voices import Origin, Program, is_actor, rank_called
from core.parsing.file_names import nodes_by_likeness
from core.parsing.homes import (
    communicator_homes,
    find_homes,
    mapped_homes,
    names_only_tasks,
    rated_homes,
    reported_homes,
    told_homes,
)
from core.parsing.identities import find_names
from core.parsing.launched import NOBODY_LAUNCHED, Launched, find_launched
from core.parsing.rolls import find_roll, with_numbered_files
from core.parsing.second_names import with_one_name
from core.processes import MAX_NAMED, MAX_REPORTS
from core.shares import few_of

TOO_MANY_RANKS = (
    f"Lines that tell the machine of each rank name more than {MAX_REPORTS:,} ranks at once, or {MAX_NAMED:,} together:"
    " the first ones were read."
)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """An event table whose rows stand on nodes.

    manifest: with the nodes that only reports tell. unit: "node", or "rank" or "actor" where these stand for nodes.
    launched: what launchers report of ranks, where nobody names nodes. capped: sentences on lists that are too long.
    """

    table: EventTable
    manifest: Manifest
    unit: str
    launched: Launched
    capped: tuple[str, ...] = ()


def find_places(table: EventTable, files: Mapping[str, LogFile], manifest: Manifest) -> Places:
    """The table with the node of each rank where lines tell it, else with ranks as nodes if there are several."""
    are_listed = bool(manifest.nodes)
    placed = _where_ranks_ran(_Placed(table, manifest), files)
    placed, is_capped = _where_lists_tell(placed, files)
    placed, launched = _where_launched(placed, files)
    table, manifest = _by_one_name(placed, files, are_listed=are_listed)
    table = _with_ranks_of_nodes(table, manifest)
    if not (placed.by_rank or manifest.node_ranks) and (whole := _with_silent_ranks_of_nodes(table, manifest)):
        manifest = replace(manifest, node_ranks=whole)
    are_actors = table.nodes and all(map(is_actor, table.nodes))
    unit = "rank" if placed.by_rank else "actor" if are_actors else "node"
    return Places(table, manifest, unit, launched, (TOO_MANY_RANKS,) * is_capped)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """What is known so far. by_rank: nobody names a node, so that ranks stand for nodes."""

    table: EventTable
    manifest: Manifest
    by_rank: bool = False

    @property
    def homeless(self) -> bool:
        """Whether there are several ranks of which nobody knows the node."""
        table = self.table
        return len(table.ranks) > 1 and not (table.ranks_have_nodes or self.manifest.node_ranks)


def _where_ranks_ran(placed: _Placed, files: Mapping[str, LogFile]) -> _Placed:
    """The node of each rank or task, from what reports say of how it ended, or from what each says of itself."""
    table = placed.table
    if not (placed.homeless or names_only_tasks(table)):
        return placed
    homes = find_homes(table, files) or (told_homes(table, files) if placed.homeless else {})
    return _Placed(*_with_silent_tasks(with_homes(table, homes), homes, placed.manifest)) if homes else placed


def _where_lists_tell(placed: _Placed, files: Mapping[str, LogFile]) -> tuple[_Placed, bool]:
    """The node of each rank from a map, a communicator or a roll of all; and whether that was too long to be read."""
    table, manifest = placed.table, placed.manifest
    if not placed.homeless and (table.ranks or manifest.node_ranks):
        return placed, False
    ranks = manifest.world_size or len(table.ranks)
    hosts, is_capped = mapped_homes(table, files) or communicator_homes(table, files), False
    hosts = hosts or rated_homes(table, files, ranks)
    if not hosts:
        roll, is_capped = find_roll(table, files, manifest)
        if roll is not None:
            is_of_ranks = roll.counts(table.ranks) and not any(origin.local_rank for origin in table.origins)
            table, hosts = with_numbered_files(table, roll), dict(roll.homes) if is_of_ranks else {}
            table = with_homes(table, roll.speakers) if names_only_tasks(table) else table
    if hosts and set(hosts) <= set(manifest.nodes or hosts):
        table, manifest = _on_hosts(table, hosts, manifest)
    return _Placed(table, manifest), is_capped


def _where_launched(placed: _Placed, files: Mapping[str, LogFile]) -> tuple[_Placed, Launched]:
    """The node of each rank from what launchers report; where nobody names any, ranks stand for nodes."""
    table, manifest = placed.table, placed.manifest
    nameless, unnamed = placed.homeless and not manifest.nodes, not (table.nodes or manifest.nodes)
    if not (nameless or unnamed):
        return placed, NOBODY_LAUNCHED
    launched = find_launched(table, files)
    if hosts := launched.homes(table.ranks):
        return _Placed(*_on_hosts(table, hosts, manifest)), launched
    reported = reported_homes(table, files) if unnamed and not table.ranks else {}
    if reported:
        manifest = replace(manifest, nodes=_with_speakers(table, reported, manifest), node_ranks=reported)
        return _Placed(table, manifest, nameless), launched
    if nameless or launched.ranks:
        manifest = _with_silent_ranks(table, launched, manifest)
        return _Placed(with_ranks_as_nodes(table), manifest, by_rank=True), launched
    return placed, launched


def _by_one_name(placed: _Placed, files: Mapping[str, LogFile], *, are_listed: bool) -> tuple[EventTable, Manifest]:
    """What each node says by any of its names, and the nodes that no name but that of a file tells.

    Args:
        are_listed: by job.json, so that there are no others.
    """
    table, manifest = placed.table, placed.manifest
    table = with_homes(table, names) if (names := find_names(table, files)) else table
    table, node_of = with_one_name(table, files, manifest)
    manifest = _with_second_names(manifest, node_of)
    if are_listed:
        return table, manifest
    table, manifest = _with_files_alike(table, manifest)
    return table, _with_empty_files(table, files, manifest)


def _with_second_names(manifest: Manifest, node_of: Mapping[str, str]) -> Manifest:
    """The manifest in which each node goes by its other names, too: lines may name it by any of them."""
    names = dict(manifest.node_addresses)
    for other, node in sorted(node_of.items()):
        names[node] = tuple(dict.fromkeys((*names.get(node, ()), other)))
    return replace(manifest, node_addresses=names) if node_of else manifest


def _with_ranks_of_nodes(table: EventTable, manifest: Manifest) -> EventTable:
    """The table with the rank of each process that tells which of its machine it is: workerlog.1 of the second one.

    Also where its file has a number that looks like a rank (r04n2.1.txt), but all machines count from 0.
    """
    ranks = {node: sorted(own) for node, own in manifest.node_ranks.items()}
    are_local = _count_locally(table, ranks)
    if not ranks or (table.ranks and not are_local):
        return table

    def rank_of(origin: Origin) -> int | None:
        own, local = ranks.get(origin.node or "", []), origin.rank if are_local else origin.local_rank
        return own[local] if local is not None and local < len(own) else origin.rank

    return replace(table, origins=tuple(replace(origin, rank=rank_of(origin)) for origin in table.origins))


def _count_locally(table: EventTable, ranks: Mapping[str, Sequence[int]]) -> bool:
    """Whether what was taken for ranks counts the processes of each machine from 0, as job.json tells their ranks."""
    told: dict[str, set[int]] = {}
    for origin in table.origins:
        if origin.node is not None and origin.node in ranks and origin.rank is not None:
            told.setdefault(origin.node, set()).add(origin.rank)
    local = all(own <= set(range(len(ranks[node]))) for node, own in told.items())
    return local and sum(own.isdisjoint(ranks[node]) for node, own in told.items()) >= max(1, len(told) - 1)


def _with_files_alike(table: EventTable, manifest: Manifest) -> tuple[EventTable, Manifest]:
    """The table with the machine of files that are called as all others are after theirs: who hung said least."""
    own: dict[int, set[str | None]] = {}
    for origin, file in zip(table.origins, table.file_of_voice.tolist(), strict=True):
        own.setdefault(file, set()).add(origin.node)
    known = {file: node for file, nodes in own.items() if len(nodes - {None}) == 1 for node in nodes if node}
    silent = {file for file, nodes in own.items() if nodes == {None}}
    alike = nodes_by_likeness({file: table.files[file] for file in {*known, *silent}}, known)
    alike = {file: node for file, node in alike.items() if file in silent and node not in manifest.nodes}
    if not alike:
        return table, manifest
    origins = [
        replace(origin, node=alike.get(file, origin.node), program=Program.LAUNCHER) if file in alike else origin
        for origin, file in zip(table.origins, table.file_of_voice.tolist(), strict=True)
    ]
    nodes = (*manifest.nodes, *sorted(alike.values())) if manifest.nodes else ()
    return replace(table, origins=tuple(origins)), replace(manifest, nodes=nodes)


def _with_empty_files(table: EventTable, files: Mapping[str, LogFile], manifest: Manifest) -> Manifest:
    """The manifest with machines that have a log, called as those of all others, in which nothing stands."""
    homes: dict[int, set[str | None]] = {}
    for origin, file in zip(table.origins, table.file_of_voice.tolist(), strict=True):
        homes.setdefault(file, set()).add(origin.node)
    known = {file: node for file, nodes in homes.items() if len(nodes) == 1 and (node := next(iter(nodes))) is not None}
    empty = sorted(name for name, file in files.items() if file.size == 0)
    names = {file: table.files[file] for file in known} | {-1 - place: name for place, name in enumerate(empty)}
    silent = [node for file, node in nodes_by_likeness(names, known).items() if file < 0]
    nodes = manifest.nodes or table.nodes
    if not silent or not set(nodes).isdisjoint(silent) or len(silent) > few_of(len(nodes) + len(silent)):
        return manifest
    return replace(manifest, nodes=tuple(sorted({*nodes, *silent})))


def _on_hosts(
    table: EventTable, hosts: Mapping[str, tuple[int, ...]], manifest: Manifest
) -> tuple[EventTable, Manifest]:
    """The table with each rank on its machine, and the manifest with all of them."""
    home = {rank_called(rank): host for host, ranks in hosts.items() for rank in ranks}
    return with_homes(table, home), replace(manifest, nodes=_with_speakers(table, hosts, manifest), node_ranks=hosts)


def _with_speakers(table: EventTable, told: Collection[str], manifest: Manifest) -> tuple[str, ...]:
    """The nodes of job.json, else those that were told of, with others that spoke where there are so many."""
    everyone = {*told, *table.nodes}
    return manifest.nodes or tuple(sorted(everyone) if len(everyone) == manifest.extra.get("num_nodes") else told)


def _with_silent_tasks(table: EventTable, homes: Mapping[str, str], manifest: Manifest) -> tuple[EventTable, Manifest]:
    """The same, and of ranks that never spoke, but whose end was reported, the node: for those the others waited."""
    of_rank = {rank: homes[name] for rank in range(len(homes)) if (name := rank_called(rank)) in homes}
    if len(of_rank) != len(homes) or len(of_rank) <= len(table.ranks) or manifest.node_ranks:
        return table, manifest
    nodes = {node: tuple(rank for rank, home in of_rank.items() if home == node) for node in of_rank.values()}
    return table, replace(manifest, nodes=manifest.nodes or tuple(nodes), node_ranks=nodes)


def _with_silent_ranks(table: EventTable, launched: Launched, manifest: Manifest) -> Manifest:
    """The manifest with all ranks as nodes, where some of them never spoke: that launchers tell of, or that few lack.

    Ranks count from 0 on: where all but few from there to the last one spoke, those did not.
    """
    spoke, total = set(table.ranks), max(table.ranks, default=-1) + 1
    ranks = spoke | set(launched.ranks) | (set(range(total)) if total - len(spoke) <= few_of(total) else set())
    if ranks == spoke:
        return manifest
    homes = {rank_called(rank): (rank,) for rank in sorted(ranks)}
    return replace(manifest, nodes=tuple(homes), node_ranks=homes)


def _with_silent_ranks_of_nodes(table: EventTable, manifest: Manifest) -> dict[str, tuple[int, ...]]:
    """All ranks of each node, where launchers counted them machine by machine, and few of them never spoke; else none.

    torchrun and Slurm's block distribution count so: of machines with four each, rank 5 is the second of the second.
    """
    lines: dict[int, Counter[str]] = defaultdict(Counter)  # who writes between the lines of others is taken for them
    for voice, heads in zip(table.counts.voice.tolist(), table.counts.heads.tolist(), strict=True):
        if (origin := table.origins[voice]).node and origin.rank is not None:
            lines[origin.rank][origin.node] += heads
    homes = {rank: of.most_common(1)[0][0] for rank, of in sorted(lines.items())}
    counts = Counter(homes.values())
    each = max(counts.values(), default=0)
    total = each * len(counts)
    lacking = total - len(homes)
    blocks = {(rank // each, node) for rank, node in homes.items()}
    if (
        any(2 * of[homes[rank]] <= of.total() for rank, of in lines.items())
        or not 0 < lacking <= few_of(total)
        or not len(blocks) == len(counts) == len({block for block, _ in blocks}) > 1
        or (manifest.world_size or total) != total
    ):
        return {}
    return {node: tuple(range(block * each, (block + 1) * each)) for block, node in sorted(blocks)}
