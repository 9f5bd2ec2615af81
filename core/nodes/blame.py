"""Whom messages point to: names in raw lines become edges from the reporter to the blamed."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from core.events.table import EventTable
from core.facts import Blame
from core.failure_kinds import Kind
from core.job import Manifest
from core.judge.candidates import Candidate
from core.judge.speaker import OWN_HEAD, find_leaders, is_of_leader
from core.logs.voices import is_actor, stands_in
from core.model import Role
from core.nodes.aliases import ALIAS, Alias
from core.parsing.identities import is_address
from core.processes import process_of

_WORD = re.compile(r"[\w.-]+")
_RANK = re.compile(r"\brank(?:[ =:#]{0,2}|\[)(\d{1,6})\b", re.IGNORECASE)
# ranks, not by [3]; ranks 20,21
_RANKS = re.compile(
    r"\branks?\b(?:[^\n\[\]]{0,24}\[(?P<closed>\d{1,6}(?:, ?\d{1,6}){0,15})\]"
    r"|[ =:]{1,2}(?P<open>\d{1,6}(?:, ?\d{1,6}){1,15})\b)",
    re.IGNORECASE,
)
_OWN_RANK = re.compile(r"\[Rank (\d{1,6})\]: |\bRank (\d{1,6}) successfully reached ")  # ProcessGroupGloo.cpp (2.4)
_PID = re.compile(r"\bpid[=:] ?(\d+)", re.IGNORECASE)  # Ray's "(pid=9140, ip=", "pid: 9140" and "Worker PID: 9140"
_PROCESSES = ("rank", "process", "task")
_PART = re.compile(r"[A-Za-z0-9-]+")  # of a word: of a file's name
_CONNECTS = re.compile(r"\bssh: connect to host ([\w.-]{1,253}) port \d")  # OpenSSH, sshconnect.c (9.6)
# kubernetes/kubectl pkg/cmd/events/event_printer.go (1.29) prints what an event is about as kind/name
_OBJECT = re.compile(r"(?<![\w./])pod/([a-z0-9][a-z0-9.-]{0,251}[a-z0-9])(?![\w/-])", re.IGNORECASE)
_POD_END = re.compile(r"(?<=\d-)[bcdfghjklmnpqrstvwxz2456789]{5}$")  # apimachinery/pkg/util/rand/rand.go (1.29)
_NUMBERED_POD = re.compile(r"-(\d{1,5})-[bcdfghjklmnpqrstvwxz2456789]{5}$")
_HOSTLIKE = re.compile(
    r"(?=.*[A-Za-z])(?=.*\d)[\w.-]{2,64}|\d{1,3}(?:\.\d{1,3}){3}"
)  # n042, gpu-a100-7.cluster, 10.0.0.7


@dataclass(frozen=True, slots=True)
class Edge:
    """One node says something of another; event: place in the table's templates."""

    reporter: str
    blamed: str
    event: int


class Names:
    """Nodes by every name that lines use for them: the name itself, its short form, addresses, ranks."""

    def __init__(self, table: EventTable, manifest: Manifest) -> None:
        nodes = tuple(dict.fromkeys((*manifest.nodes, *table.nodes)))
        self._nodes = {node: node for node in nodes} | {
            node.split(".", 1)[0]: node for node in nodes if not is_address(node)
        }
        within = _within_shared(table.nodes)
        self._nodes = within | self._nodes
        self._nodes |= {address: node for node, addresses in manifest.node_addresses.items() for address in addresses}
        self._pids = {node.rpartition("=")[2]: node for node in table.nodes if is_actor(node)}
        self._all_are_known = bool(manifest.nodes)
        self._shapes = {_shape(node) for node in (*table.nodes, *within) if not stands_in(node)}
        self._ranks = manifest.node_of_rank
        self._pods = _numbered_pods(nodes)
        self._aliases: dict[Alias, str] = {}
        for origin in table.origins:
            if origin.rank is not None and origin.node and not table.ranks_are_nodes:
                self._ranks.setdefault(origin.rank, origin.node)

    def learn(self, addresses: Mapping[str, str], ranks: Mapping[int, str], aliases: Mapping[Alias, str]) -> None:
        """Take in address -> node, rank -> node and "worker 2" -> node pairs that the logs themselves tell."""
        self._nodes = dict(addresses) | self._nodes
        self._ranks = dict(ranks) | self._ranks
        self._aliases = dict(aliases)

    def node(self, name: str) -> str | None:
        """The node that goes by a name or address."""
        return self._nodes.get(name) or self._nodes.get(name.split(".", 1)[0] if not is_address(name) else name)

    def started(self, name: str) -> str | None:
        """The machine that somebody tried to start a part of the job on, however it is called."""
        return self.node(name) or (name if not self._all_are_known else None)

    def unheard(self, name: str, *, reported: bool = False) -> str | None:
        """A node that wrote no log, by its own name.

        Only where no manifest tells which nodes there are, and a name like those of the others, if any was heard: what
        schedulers say may be about another job.

        Args:
            reported: a launcher reports how a process there ended, so that it is a node, however it is called.
        """
        name = name.rstrip(".-")
        name = name if is_address(name) or _shape(name) in self._shapes else name.split(".", 1)[0]
        may_belong = not self._all_are_known and (not self._shapes or _shape(name) in self._shapes)
        is_node = (reported and not self._nodes) or _HOSTLIKE.fullmatch(name)
        return name if name and may_belong and is_node else None

    def of_rank(self, rank: int) -> str | None:
        """The node of a global rank; of a process by its number, where nodes tell those of their own."""
        return self._ranks.get(rank) or self._called(rank)

    def of_process(self, number: int) -> str | None:
        """The node of a process by its number, where nodes tell those of their own; else of that rank.

        JAX counts processes, of which each may have several devices that job.json counts as ranks.
        """
        return self._called(number) or self._ranks.get(number) or self._pods.get(number)

    def _called(self, number: int) -> str | None:
        called = (self._aliases.get((word, number)) for word in _PROCESSES)
        return next((node for node in called if node is not None), None)

    def mentioned(self, text: str) -> str | None:
        """The first node whose name stands in a text as a word; one before the first colon only if no other does.

        Of Ray's processes, which stand for nodes, the number.
        """
        for match in _PID.finditer(text) if self._pids else ():
            if match[1] in self._pids:
                return self._pids[match[1]]
        words = ((match.start(), self._of_word(match[0])) for match in _WORD.finditer(text))
        found = [(start, node) for start, node in words if node is not None]
        spoken = text.find(": ")
        return next((node for at, node in found if at > spoken), found[0][1] if found else None)

    def _of_word(self, word: str) -> str | None:
        """The node that a word names; also with the number of a process behind it, as honcho calls its processes."""
        name, _, number = word.rpartition(".")
        return self._nodes.get(word) or (self._nodes.get(name) if number.isdecimal() else None)

    def standing_in(self, text: str) -> set[str]:
        """All nodes that a text names, also within a word (``r9.node11.npy``), or by what they call themselves."""
        parts = {self._nodes[part] for part in _PART.findall(text) if part in self._nodes}
        return self.others(text, "") | parts | self.called_in(text)

    def others(self, text: str, speaker: str) -> set[str]:
        """All nodes but the speaker's that a text names, by a name or by ``rank 3``."""
        named = {self._nodes[match[0]] for match in _WORD.finditer(text) if match[0] in self._nodes}
        lists = [match["closed"] or match["open"] for match in _RANKS.finditer(text)]
        listed = [number for numbers in lists for number in numbers.split(",")]
        numbers = [int(number) for number in (*(match[1] for match in _RANK.finditer(text)), *listed)]
        return (named | {self._ranks.get(number, speaker) for number in numbers}) - {speaker}

    def called_in(self, text: str) -> set[str]:
        """All nodes that a text names as they call themselves: ``worker 2``."""
        called = {self._aliases.get((word.lower(), int(number))) for word, number in ALIAS.findall(text)}
        return {node for node in called if node is not None}


def blame_edges(
    table: EventTable, candidates: Sequence[Candidate], texts: Mapping[int, str], names: Names
) -> tuple[Edge, ...]:
    """Who names whom in messages that blame somebody."""
    edges = set()
    shared, leaders = _shared_files(table), find_leaders(table)
    for candidate in candidates:
        if is_of_leader(candidate, leaders):
            continue
        rows = [row for row in candidate.rows.tolist() if row in texts]
        for row, voice in zip(rows, table.voice[rows].tolist(), strict=True):
            reporter = table.origins[voice].node or _speaker(texts[row], names) or ""
            if candidate.fact.kind == Kind.LAST_WORDS:
                others = names.others(texts[row], reporter) if reporter else set()
                blamed = others.pop() if len(others) == 1 else None  # of several it is a list
            else:
                blamed = _not_started(texts[row], names) or _blamed(candidate, texts[row], names)
                blamed = blamed or _waited_for(candidate, texts[row], names)
            is_told = candidate.role is Role.ROOT and candidate.fact.blame is Blame.NAMED
            if is_told and blamed == reporter and int(table.file_of_voice[voice]) in shared:
                reporter = ""  # whoever reached for it: pdsh puts the name of a machine before what ssh says of it
            if blamed and blamed != reporter:
                edges.add(Edge(reporter, blamed, candidate.event))
    return tuple(sorted(edges, key=lambda edge: (edge.event, edge.reporter, edge.blamed)))


def _shared_files(table: EventTable) -> set[int]:
    """Files in which several nodes speak: their names were put before their lines."""
    nodes: dict[int, set[int]] = defaultdict(set)
    for file, node in zip(table.file_of_voice.tolist(), table.node_of_voice.tolist(), strict=True):
        if node >= 0:
            nodes[file].add(node)
    return {file for file, own in nodes.items() if len(own) > 1}


def _speaker(text: str, names: Names) -> str | None:
    """The node that a line of UCX's names as its own, or that of the rank that one of c10d's does."""
    if head := OWN_HEAD.match(text):
        return names.node(head["node"])
    match = _OWN_RANK.search(text)
    return names.of_rank(int(match[1] or match[2])) if match is not None else None


def _blamed(candidate: Candidate, text: str, names: Names) -> str | None:
    match = candidate.fact.named.search(text) if candidate.fact.named else None
    if match is None:
        told = names.mentioned(text) or _of_event(text, names) or _reported(text, names)
        return told if candidate.fact.role is Role.ROOT else None
    group, value = next(((group, value) for group, value in match.groupdict().items() if value is not None), ("", ""))
    if group == "ranks":
        homes = {names.of_rank(int(rank)) for rank in value.split(", ")}
        return homes.pop() if len(homes) == 1 else None
    if group.startswith(("rank", "task")):
        return names.of_rank(int(value)) if group.startswith("rank") else names.of_process(int(value))
    if group in ("", "device"):
        return None
    if candidate.role is not Role.ROOT:
        return names.node(value) or (None if is_address(value) else names.unheard(value))
    return (
        names.node(value)
        or names.unheard(value)
        or _reported(text, names)
        or (names.mentioned(text) if candidate.fact.blame is Blame.SELF else None)
    )


def _of_event(text: str, names: Names) -> str | None:
    """The pod that an event of Kubernetes is about, of which no log may be there: it never started."""
    match = _OBJECT.search(text)
    return names.unheard(match[1]) if match is not None else None


def _not_started(text: str, names: Names) -> str | None:
    """The machine that ssh could not reach."""
    match = _CONNECTS.search(text)
    return names.started(match[1]) if match is not None else None


def _waited_for(candidate: Candidate, text: str, names: Names) -> str | None:
    """For whom somebody waited in vain, by what that node calls itself: the address beside it may be anybody's."""
    called = names.called_in(text) if candidate.fact.kind == Kind.PEER_SILENT else set()
    return called.pop() if len(called) == 1 else None


def _reported(text: str, names: Names) -> str | None:
    """The node on which a process ended, as a launcher reports it, by its name or by the rank that it had."""
    process = process_of(text)
    if process is None or not process.ended:
        return None
    unheard = names.unheard(process.node, reported=True) if process.node else None
    return unheard or (names.of_rank(process.rank) if process.rank is not None else None)


def sinks(edges: Sequence[Edge]) -> dict[str, int]:
    """Nodes that are blamed and blame nobody, with how many blame them."""
    blamed: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        blamed[edge.blamed].add(edge.reporter)
    reporters = {edge.reporter for edge in edges}
    return {node: len(by) for node, by in sorted(blamed.items()) if node not in reporters}


def end_of_chains(edges: Sequence[Edge]) -> dict[str, int]:
    """Nodes that blame nobody, with how many are led to them when each goes on to whom it blames itself."""
    blames: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        blames[edge.reporter].add(edge.blamed)
    led: dict[str, set[str]] = defaultdict(set)
    for reporter in blames:
        seen, ahead = {reporter}, [reporter]
        while ahead:
            onward = blames.get(ahead.pop(), set()) - seen
            seen |= onward
            ahead += sorted(onward)
        for node in seen - set(blames):
            led[node].add(reporter)
    return {node: len(by) for node, by in sorted(led.items())}


def _within_shared(nodes: Sequence[str]) -> dict[str, str]:
    """The node of each name that files of all nodes have something before or behind.

    nid002177 of ``tt-nid002177.log``; trainer-0 of ``research_trainer-0_pytorch.log``: a pod with its namespace and its
    container, of which neither holds an underscore.
    """
    found = dict[str, str]()
    for signs in ("_", "-_."):
        before, behind = _shared_start(nodes, signs), _shared_start([node[::-1] for node in nodes], signs)[::-1]
        found |= {node.removeprefix(before).removesuffix(behind): node for node in nodes}
    return {name: node for name, node in found.items() if name != node and _HOSTLIKE.fullmatch(name)}


def _shared_start(names: Sequence[str], signs: str) -> str:
    """How all names begin, up to the last sign that parts words."""
    pairs = zip(min(names, default=""), max(names, default=""), strict=False)
    shared = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared[: max(shared.rfind(sign) for sign in signs) + 1]


def _numbered_pods(nodes: Sequence[str]) -> dict[int, str]:
    """The pod of each process of a job whose pods are numbered from 0 on: a JobSet's, before their random end."""
    found = {int(match[1]): node for node in nodes if (match := _NUMBERED_POD.search(node))}
    return found if sorted(found) == list(range(len(found))) else {}


def _shape(name: str) -> str:
    return re.sub(r"\d+", "#", _POD_END.sub("", name))
