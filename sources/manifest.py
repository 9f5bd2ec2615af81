"""job.json as people and schedulers really write it: what is usable is kept, what is not costs one sentence."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from core.job import Manifest, Status

T = TypeVar("T")

_HIGHEST_EXIT = 255  # of a process on Linux; a signal's number is lower
_DIGITS = 7  # of a rank
_MOST_RANKS = 1_000_000  # ten times the largest training job known; a lying number must not fill the memory
# Of nodes, and of what is told node by node: twice the nodes of the largest training job known (100,000 accelerators,
# eight a node). A million names took minutes of comparing nodes that logged nothing.
MOST_NODES = 1 << 15
_LONGEST_NAME = 253  # of a machine (RFC 1035); each sentence and picture of an answer would hold the name again
_MOST_NAMED_RANKS = 8 * MOST_NODES


def parse_manifest(job_id: str, content: bytes) -> tuple[Manifest, tuple[str, ...]]:
    """Read the content of a job.json; the id is that of the folder, whatever the file says."""
    try:
        fields = json.loads(content.decode("utf-8-sig", "replace"))
    except ValueError as error:
        return Manifest(job_id), (f"job.json is not valid JSON ({error}) and was left out.",)
    except RecursionError:
        return Manifest(job_id), ("job.json is nested too deeply and was left out.",)
    if not isinstance(fields, dict):
        return Manifest(job_id), ("job.json is not a JSON object and was left out.",)
    return _Fields(job_id, fields).manifest()


# Other words of schedulers for these states: sacct(1) of Slurm, JOB STATE CODES; kubernetes.io, Pod lifecycle, Phase.
_SAME_STATE = {
    "SUCCEEDED": "COMPLETED",
    "TIMEOUT": "CANCELLED", "DEADLINE": "CANCELLED", "PREEMPTED": "CANCELLED", "REVOKED": "CANCELLED",
    "NODE_FAIL": "FAILED", "OUT_OF_MEMORY": "FAILED", "BOOT_FAIL": "FAILED",
}  # fmt: skip


class _Fields:
    """The fields of one job.json, and what was found wrong with them."""

    def __init__(self, job_id: str, fields: Mapping[str, Any]) -> None:
        self._job_id = job_id
        self._fields = fields
        self._problems: list[str] = []

    def manifest(self) -> tuple[Manifest, tuple[str, ...]]:
        if (text := self._take("job_id", _text)) not in (None, self._job_id):
            self._problem(f"calls the job {text!r}, its folder {self._job_id!r}: the folder's name is used")
        ranks = self._node_ranks()
        result = Manifest(
            job_id=self._job_id,
            status=self._status(),
            start=self._take("start", _text),
            end=self._take("end", _text),
            model=self._take("model", _text),
            framework=self._take("framework", _text),
            settings_id=self._take("settings_id", _text),
            nodes=self._nodes(ranks),
            world_size=self._world_size(ranks),
            node_ranks=ranks,
            node_addresses=self._by_node("node_addresses", _texts),
            total_iterations=self._take("total_iterations", _count),
            exit_codes=self._by_node("exit_codes", _exit_code),
            rank_exit_codes={
                int(rank): code
                for rank, code in self._by_node("rank_exit_codes", _exit_code).items()
                if rank.isdecimal() and len(rank) <= _DIGITS
            },
            extra=dict(self._fields),
            run=self._take("run", _text),
            attempt=self._take("attempt", _count),
            code=self._take("code", _text),
            arguments=self._take("arguments", _arguments) or {},
            parallel=self._take("parallel", _flat) or {},
            checkpoint_every=self._take("checkpoint_every", _count) or None,
            spares=self._take("spares", _count),
            checked=self._take("checked", _yes_or_no),
        )
        return result, tuple(self._problems)

    def _problem(self, sentence: str) -> None:
        self._problems.append(f"job.json {sentence}.")

    def _take(self, name: str, read: Callable[[Any], T]) -> T | None:
        value = self._fields.get(name)
        if value is None:
            return None
        try:
            return read(value)
        except ValueError as error:
            self._problem(f"has a {name} that {error}: it was left out")
            return None

    def _status(self) -> Status:
        text = self._take("status", _text)
        if not text:
            return Status.UNKNOWN
        word = text.split()[0].upper() if text.split() else ""  # Slurm: "CANCELLED by 1000"
        word = _SAME_STATE.get(word, word)
        if word in set(Status):
            return Status(word)
        self._problem(f"has the status {text!r}, which is none of {', '.join(Status)}: it is taken as UNKNOWN")
        return Status.UNKNOWN

    def _nodes(self, ranks: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
        named = self._take("nodes", self._first_names) or ()
        known = set(named)
        if len(known) < len(named):
            self._problem("names a node twice in nodes: it is counted once")
        unnamed = [node for node in ranks if node not in known]
        if named and unnamed:
            self._problem(f"has nodes in node_ranks that are not in nodes: {_some(unnamed)} were added")
        nodes = tuple(dict.fromkeys([*named, *unnamed]))
        return nodes[:MOST_NODES]

    def _first_names(self, value: Any) -> tuple[str, ...]:
        names = _texts(self._first("nodes", value) if isinstance(value, list) else value)
        short = tuple(name for name in names if len(name) <= _LONGEST_NAME)
        if len(short) < len(names):
            self._problem(f"has nodes with names of more than {_LONGEST_NAME} characters: they were left out")
        return short

    def _first(self, name: str, values: list[T]) -> list[T]:
        """As many of them as a job can have."""
        if len(values) > MOST_NODES:
            self._problem(f"has {len(values):,} {name}: the first {MOST_NODES:,} were read")
        return values[:MOST_NODES]

    def _node_ranks(self) -> dict[str, tuple[int, ...]]:
        """Ranks of each node. A rank that two nodes claim is nobody's: better unknown than wrong."""
        claimed, room = {}, _MOST_NAMED_RANKS
        for node, ranks in self._by_node("node_ranks", _ranks).items():
            claimed[node] = tuple(sorted(set(ranks)))[:room]
            room -= len(claimed[node])
        if room <= 0:
            self._problem(f"has more than {_MOST_NAMED_RANKS:,} ranks in node_ranks: the first ones were read")
        claims = Counter(rank for ranks in claimed.values() for rank in ranks)
        disputed = sorted(rank for rank, nodes in claims.items() if nodes > 1)
        if disputed:
            self._problem(f"gives the same ranks to several nodes: {_some(disputed)} were taken from all of them")
        return {node: tuple(rank for rank in ranks if claims[rank] == 1) for node, ranks in claimed.items()}

    def _world_size(self, ranks: Mapping[str, tuple[int, ...]]) -> int | None:
        world_size = self._take("world_size", _positive)
        needed = max((rank for of_node in ranks.values() for rank in of_node), default=-1) + 1
        if world_size is None or world_size >= needed:
            return world_size
        self._problem(f"has world_size {world_size}, but node_ranks has rank {needed - 1}: {needed} is used")
        return needed

    def _by_node(self, name: str, read: Callable[[Any], T]) -> dict[str, T]:
        values = self._take(name, _mapping) or {}
        read_values: dict[str, T] = {}
        bad: list[str] = []
        for node, value in self._first(name, list(values.items())):
            try:
                if len(node) > _LONGEST_NAME:
                    raise ValueError("is no name")
                read_values[_printable(node)] = read(value)
            except ValueError:
                bad.append(node[:_LONGEST_NAME])
        if bad:
            self._problem(f"has {name} that make no sense for {_some(bad)}: they were left out")
        return read_values


def _some(values: list[Any], most: int = 5) -> str:
    listed = ", ".join(str(value) for value in values[:most])
    return listed if len(values) <= most else f"{listed} and {len(values) - most} more"


def _printable(text: str) -> str:
    # half a surrogate pair is legal in JSON and cannot be printed
    return text.encode("utf-8", "replace").decode()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is no text")


def _count(value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError("is no count")


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("is neither true nor false")


_MOST_ARGUMENTS = 4_096  # a launcher is given some hundreds


def _arguments(value: Any) -> dict[str, str]:
    """By name: of a flat mapping, or of a command line as a text or a list; what has no name is called by its place."""
    if isinstance(value, dict):
        return _flat(value)
    try:
        words = shlex.split(value) if isinstance(value, str) else list(map(_text, value))
    except (ValueError, TypeError):
        raise ValueError("is no mapping and no command line") from None
    return _named_words(words[:_MOST_ARGUMENTS])


def _flat(value: Any) -> dict[str, str]:
    """A mapping of names to texts and numbers, as texts."""
    entries = _mapping(value)
    if not all(entry is None or isinstance(entry, str | int | float) for entry in entries.values()):
        raise ValueError("is no flat mapping")
    return {_printable(name): _printable(str(entry)) for name, entry in list(entries.items())[:_MOST_ARGUMENTS]}


def _named_words(words: list[str]) -> dict[str, str]:
    """Options with what follows them: ``--lr 1e-4``, ``--lr=1e-4`` and ``lr=1e-4`` are the same."""
    named: dict[str, str] = {}
    name = ""
    for place, word in enumerate(words):
        option = word.startswith("-") and not word.lstrip("-").replace(".", "").isdecimal()
        if option or ("=" in word and not name):
            name, has_value, text = word.lstrip("-").partition("=")
            named[name] = text
            name = "" if has_value else name
        else:
            known = named.get(name, "") if name else ""
            named[name or f"word {place}"] = f"{known} {word}".strip()
    return named


def _exit_code(value: Any) -> int | None:
    """An exit code, negative for a signal; null where a node never told one."""
    if value is None:
        return None
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal() and len(value) < 6:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _HIGHEST_EXIT:
        return value
    raise ValueError("is no exit code")


def _positive(value: Any) -> int:
    count = _count(value)
    if not 0 < count <= _MOST_RANKS:
        raise ValueError(f"is not between 1 and {_MOST_RANKS:,}")
    return count


def _rank(value: Any) -> int:
    rank = _count(value)
    if rank >= _MOST_RANKS:
        raise ValueError("is no rank")
    return rank


def _ranks(value: Any) -> tuple[int, ...]:
    return tuple(_rank(rank) for rank in (value[: _MOST_NAMED_RANKS + 1] if isinstance(value, list) else [value]))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(text) for text in (value if isinstance(value, list) else [value]))


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError("is no object")
