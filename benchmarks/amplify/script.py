"""A log as a script: constant text, and slots for all that depends on who speaks it, and when.

What is renamed: nodes, addresses, global ranks, sizes of the job, process ids, ports, run ids, addresses in memory,
clocks, and measurements by a little. What is not: every other character.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from benchmarks.amplify.cast import FIRST, Cast, Original

_SECOND = 1_000_000_000
_MIN_PORT, _PORTS = 1024, 64_000
_PAGES = 1 << 28  # a terabyte: libraries stay where a process may have them
_SLOT = re.compile(
    r"(?P<clock>(?<=[T ])\d\d:\d\d:\d\d[.,]\d{3,9})"
    r"|(?<![\w-])node-(?P<node>\d+)(?!\d)"
    r"|\[(?P<peer>10\.77\.0\.\d+)\]:(?P<peer_port>\d+)"
    r"|(?<![\d.])10\.77\.0\.(?P<address>\d+)(?![\d.]*\d)"
    r"|\[(?P<ipv6>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7})\]:(?P<port6>\d+)"
    r"|0x(?P<memory>[0-9a-f]{9,})"
    r"|\[[Rr]ank ?(?P<rank1>\d+)\]|\b[Rr]ank (?P<rank2>\d+)(?:/(?P<world1>\d+))?"
    r"|(?:\brank +: |mp_rank_|fr_rank|slowest rank: |Process rank: )(?P<rank3>\d+)"
    r"|(?:RuntimeError: \[|cpu//0/|--node-rank )(?P<rank4>\d+)"
    r"|(?:train|valid)_(?P<shard>\d{5})"
    r"|(?:world size: |data-parallel size: |world_size \.+ |--nnodes )(?P<world2>\d+)"
    r"|port (?P<bridge>\d+)\(swp(?P<switch>\d+)\)"
    r"|(?<=_)(?P<pid>\d{4,7})(?=_)"
    r"|(?P<number>\b\d{4,7}\b)"
)
_FLOAT = re.compile(r"(?<= )\d+\.\d+\b")
_COUNTER = re.compile(r"(?<=etrans=)\d+")
_PIDS = re.compile(r"noded\[(\d+)\]|pid:? (\d+)|node-\d+_(\d+)_|^[IWEF]\d{4} [\d:.]+ +(\d+) ", re.MULTILINE)
NOISE = 0.03  # of a measurement: healthy nodes of the lab differ by this and more
COUNTER_NOISE = 0.25  # of the counters of a node: of good jobs they differ by up to two times


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks a script: a node of the grown job, and the local rank (None for its launcher and its daemon)."""

    cast: Cast
    place: int
    local_rank: int | None

    @property
    def source(self) -> int:
        """The node of the small job that spoke these lines."""
        return self.cast.plays[self.place]


Part = Callable[[Speaker], str]


@dataclass(frozen=True, slots=True)
class Script:
    """Lines of a log, each made of constant text and slots."""

    lines: tuple[tuple[str | Part, ...], ...]

    def speak(self, speaker: Speaker) -> list[str]:
        """The lines as one speaker says them."""
        return ["".join([part if isinstance(part, str) else part(speaker) for part in line]) for line in self.lines]


def pids_of(texts: Sequence[str]) -> frozenset[str]:
    """Process ids that the logs of one node tell."""
    return frozenset(pid for text in texts for match in _PIDS.findall(text) for pid in match if pid)


def write_script(text: str, original: Original, pids: frozenset[str]) -> Script:
    """Find the slots of a log."""
    return Script(tuple(tuple(_parts(line, original, pids)) for line in text.split("\n")))


def _parts(line: str, original: Original, pids: frozenset[str]) -> Iterator[str | Part]:
    pieces: list[str | Part] = [line]
    if "timers (ms):" in line:
        pieces = list(_split(line, _FLOAT, lambda match: [(match.span(), _noisy(match[0]))]))
    elif "INFO stats:" in line:
        pieces = list(_split(line, _COUNTER, lambda match: [(match.span(), _counter(match[0]))]))
    yield from _again(pieces, _SLOT, lambda match: _slots(match, original, pids))


Found = Callable[[re.Match[str]], Sequence[tuple[tuple[int, int], Part]]]


def _again(pieces: Sequence[str | Part], pattern: re.Pattern[str], found: Found) -> Iterator[str | Part]:
    for piece in pieces:
        if isinstance(piece, str):
            yield from _split(piece, pattern, found)
        else:
            yield piece


def _split(text: str, pattern: re.Pattern[str], found: Found) -> Iterator[str | Part]:
    at = 0
    for match in pattern.finditer(text):
        for (start, end), part in found(match):
            yield text[at:start]
            yield part
            at = end
    yield text[at:]


def _slots(match: re.Match[str], original: Original, pids: frozenset[str]) -> list[tuple[tuple[int, int], Part]]:
    """Slots of one match, in the order of their places."""
    makers: dict[str, Callable[[str], Part | None]] = {
        "clock": _clock,
        "node": lambda text: _node(int(text), original),
        "peer": lambda _: _peer(),
        "peer_port": _peer_port,
        "address": lambda text: _address(int(text), original),
        "ipv6": _hexadecimal,
        "port6": _port,
        "memory": _memory,
        "rank1": lambda text: _rank(text, original),
        "rank2": lambda text: _rank(text, original),
        "rank3": lambda text: _rank(text, original),
        "rank4": lambda text: _rank(text, original),
        "world1": lambda text: _size(int(text), original),
        "world2": lambda text: _size(int(text), original),
        "shard": lambda text: _shard(text, original),
        "bridge": lambda text: _switch(int(text), original, first=1),
        "switch": lambda text: _switch(int(text), original, first=0),
        "pid": _pid,
        "number": lambda text: _pid(text) if text in pids else None,
    }
    found = []
    for name, text in match.groupdict().items():
        part = makers[name](text) if text is not None else None
        if part is not None:
            start, end = match.span(name)
            found.append(((start - len("node-"), end) if name == "node" else (start, end), part))
    return sorted(found, key=lambda slot: slot[0])


# --- who ------------------------------------------------------------------------------------------------------------


def heard(speaker: Speaker, played: int) -> int:
    """Whom a speaker means by a node of the small job: itself, or the one that has its part now."""
    return speaker.place if played == speaker.source else speaker.cast.heirs[played]


def _node(number: int, original: Original) -> Part | None:
    """A name that no node bears (a typing error that is the fault) stays as it is."""
    if number >= len(original.nodes):
        return None
    return lambda speaker: speaker.cast.name(heard(speaker, number))


def _address(host: int, original: Original) -> Part | None:
    played = next((p for p, name in enumerate(original.nodes) if _host(original, name) == host), None)
    return None if played is None else (lambda speaker: speaker.cast.address(heard(speaker, played)))


def _host(original: Original, name: str) -> int:
    return int(str(original.manifest["node_addresses"][name]).rpartition(".")[2])


def _rank(text: str, original: Original) -> Part | None:
    per_node, width = original.ranks_per_node, len(text)
    played, local = divmod(int(text), per_node)
    if played >= len(original.nodes):
        return None
    return lambda speaker: f"{speaker.cast.ranks(heard(speaker, played))[local]:0{width}}"


def _shard(text: str, original: Original) -> Part:
    """Rank r reads the shards r, r + world, r + 2 * world, ..."""
    turn, rank = divmod(int(text), len(original.nodes) * original.ranks_per_node)
    played, local = divmod(rank, original.ranks_per_node)

    def part(speaker: Speaker) -> str:
        return f"{turn * speaker.cast.world + speaker.cast.ranks(heard(speaker, played))[local]:05}"

    return part


def _size(number: int, original: Original) -> Part | None:
    """The number of ranks, or of nodes, or of nodes and one that is not there."""
    nodes = len(original.nodes)
    if original.ranks_per_node > 1 and number == nodes * original.ranks_per_node:
        return lambda speaker: str(speaker.cast.world)
    if number in {nodes, nodes + 1}:
        return lambda speaker: str(speaker.cast.size + number - nodes)
    return None


def _switch(port: int, original: Original, first: int) -> Part | None:
    """Ports of the switch are numbered as the nodes are."""
    played = port - first
    return None if played >= len(original.nodes) else (lambda speaker: str(heard(speaker, played) + first))


# --- who is named as the lost peer ----------------------------------------------------------------------------------


def lost_peer(speaker: Speaker) -> int:
    """The node that a rank names when it loses a connection.

    Ranks talk to the next and the last one of the ring, so the loss runs along the ring and each names the neighbour
    on the side of the fault. In jobs where others than neighbours name somebody (a barrier, a broadcast) those do that
    are a power of two away from the fault, as collectives of that kind connect them.
    """
    cast = speaker.cast
    world, per_node = cast.world, cast.original.ranks_per_node
    rank = cast.ranks(speaker.place)[speaker.local_rank or 0]
    others = [faulty for faulty in cast.faulty_ranks if faulty != rank] or [FIRST]
    if cast.original.names_far:
        reached = [faulty for faulty in others if _connected((rank - faulty) % world, world)]
        if reached:
            return reached[0] // per_node
    nearest = min(others, key=lambda faulty: (min((rank - faulty) % world, (faulty - rank) % world), faulty))
    step = 1 if (nearest - rank) % world <= (rank - nearest) % world else -1
    return (rank + step) % world // per_node


def _connected(distance: int, world: int) -> bool:
    return any(way & (way - 1) == 0 for way in (distance, world - distance))


def _peer() -> Part:
    return lambda speaker: speaker.cast.address(lost_peer(speaker))


def _peer_port(text: str) -> Part:
    return lambda speaker: str(_MIN_PORT + _number(speaker.cast.seed, lost_peer(speaker), text) % _PORTS)


# --- numbers of a node, its clock and its measurements --------------------------------------------------------------


def _number(*about: object) -> int:
    """A number for one purpose: the same every time, and spread over 32 bits."""
    return crc32(" ".join(map(str, about)).encode())


def _port(text: str) -> Part:
    return lambda speaker: str(_MIN_PORT + _number(speaker.cast.seed, speaker.place, text) % _PORTS)


def _pid(text: str) -> Part:
    return lambda speaker: str(int(text) + _number(speaker.cast.seed, speaker.place, "pid") % 20_000)


def _memory(text: str) -> Part:
    """Libraries lie elsewhere in each process, by whole pages."""
    return lambda speaker: (
        f"{int(text, 16) + (_number(speaker.cast.seed, speaker.place, speaker.local_rank) % _PAGES << 12):x}"
    )


def _hexadecimal(text: str) -> Part:
    """What torch prints as an IPv6 address is memory that it did not fill: other digits for each process."""

    def part(speaker: Speaker) -> str:
        draw = random.Random(_number(speaker.cast.seed, speaker.place, speaker.local_rank, text))  # noqa: S311
        return "".join(draw.choice("123456789abcdef") if digit not in ":0" else digit for digit in text)

    return part


def _clock(text: str) -> Part:
    hours, minutes, seconds, fraction = int(text[:2]), int(text[3:5]), int(text[6:8]), text[9:]
    digits = len(fraction)
    since = ((hours * 60 + minutes) * 60 + seconds) * _SECOND + int(fraction) * 10 ** (9 - digits)

    def part(speaker: Speaker) -> str:
        delay = speaker.cast.delays[speaker.place]
        if not delay:
            return text
        whole, rest = divmod(since + delay, _SECOND)
        return (
            f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{text[8]}{rest // 10 ** (9 - digits):0{digits}}"
        )

    return part


def _noisy(text: str) -> Part:
    value, digits = float(text), len(text.partition(".")[2])

    def part(speaker: Speaker) -> str:
        if not speaker.cast.delays[speaker.place]:
            return text
        share = _number(speaker.cast.seed, speaker.place, speaker.local_rank, text) / 2**31 - 1
        return f"{value * (1 + NOISE * share):.{digits}f}"

    return part


def _counter(text: str) -> Part:
    """Counters of one node by the same share, so that they never fall."""

    def part(speaker: Speaker) -> str:
        if not speaker.cast.delays[speaker.place]:
            return text
        share = _number(speaker.cast.seed, speaker.place, "counter") / 2**31 - 1
        return str(round(int(text) * (1 + COUNTER_NOISE * share)))

    return part
