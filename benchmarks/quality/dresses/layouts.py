"""Logs laid out anew at random: a file of all, one a machine or one a rank, called and labelled as somebody might.

A dress puts known wrappers around a job; nobody's wrapper is put on here. Names of machines, names of files, labels
before lines and the line with which a process begins are drawn from what people write, and all choices follow from a
seed. What is tried is not the answer alone but who wrote each line, which the undressed job tells.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from json import dumps, loads
from random import Random

from benchmarks.quality.dresses.outfit import MANIFEST, Outfit, Piece, outfit
from benchmarks.quality.dresses.stamps import made_up
from benchmarks.quality.dresses.wearer import Spoken, Stream, Wearer
from benchmarks.quality.labels import Place
from benchmarks.quality.variations import Rename, renaming

MIN_RANKS, MIN_NODES = 4, 2  # of fewer nobody can be taken for another
ONE_FILE, BY_MACHINE, BY_RANK = "one file", "a file a machine", "a file a rank"

# Formats have these fields: h host, r rank, l local rank, n ranks, m machines, i place of the machine, c container,
# u allocation.
_HOSTS = (
    "gpu-{number:02d}", "cn-r{rack}u{number:02d}", "ip-10-0-{rack}-{number}", "n{number:03d}", "{word}",
    "node{number}", "dgx{number:02d}.cluster.local", "h{number}-{rack}", "rack{rack}-{number}", "10.12.{rack}.{number}",
    "{word}-{number}",
)  # fmt: skip
_WORDS = "amsel", "dohle", "fink", "meise", "sperber", "star", "zeisig", "kiebitz"
_RANKS = (
    "{r}", "{r:02d}", "{r:>2}", "r{r}", "r{r:02d}", "rank{r}", "rank {r}", "rank={r}", "p{r}", "w{r}", "#{r}",
    "worker {r}", "proc {r}", "{r}/{n}", "rank {r}/{n}",
)  # fmt: skip
_LOCAL_RANKS = "{l}", "gpu{l}", "g{l}", "cuda:{l}", "local {l}", "dev {l}"
_AROUND = "[{}] ", "({}) ", "<{}> ", "{}: ", "{}| ", "{} | ", "{}> ", "[{}]: "
_TOGETHER = "{}, {}", "{} {}", "{} | {}"  # in one pair of brackets
_AS_ONE_WORD = "{}/{}", "{}:{}", "{}#{}"
_APART = "{} [{}] ", "[{}] [{}] ", "{} | {} | ", "{} {}: ", "[{}] {}: "
_BY_MACHINE_NAMES = (
    "{h}.log", "train-{h}.log", "{u}/stdout", "nodes/{h}/console.txt", "{c}.log", "{h}/out.txt", "{i}/train.log",
    "log.{i}", "{c}/{c}-json.log.txt",
)  # fmt: skip
_BY_RANK_NAMES = (
    "{h}/{l}.log", "{h}.{l}.log", "{c}.log", "rank{r:02d}.log", "out.{r}", "worker-{r}/stderr.txt",
    "2026-05-01/{h}/gpu{l}.txt", "{u}/stdout", "{h}-{r}.txt", "logs.{r}.{h}",
)  # fmt: skip
_MACHINE_BEGINS = "entrypoint: node={h} of {m}", "host {h} up", "起動 親機={h}", "+ hostname={h}"
_RANK_BEGINS = (
    "trainer up: host={h} rank={r}/{n} dev={l}", "Rang {r} von {n} auf {h}, Gerät {l}",
    "process {r} of {n} started on {h} (local {l})", "进程 {r}/{n} 主机 {h} 设备 {l}",
    "hello from {h}, I am {r} of {n}", "init: world={n} rank={r} local_rank={l} node={h}",
)  # fmt: skip
_LAUNCHER = "launcher.{h}.log"
_OF_HOST = "{h}: "  # before a launcher's lines in a file of all: pdsh's label


@dataclass(frozen=True, slots=True)
class Layout:
    """How a job's logs are laid out: each part is a format, empty where there is none.

    host: the name of a machine. file: of the lines of ranks, label: before each of them. begins: the line with which a
    file, or a rank, begins. launcher: the file of the lines that no rank wrote, else they stand beside those of ranks.
    """

    kind: str
    host: str
    file: str
    label: str = ""
    begins: str = ""
    launcher: str = ""

    def __str__(self) -> str:
        """What tells it from others, for people."""
        parts = (self.host, self.file, self.label, self.begins, self.launcher)
        return f"{self.kind}: {' · '.join(f'`{part}`' for part in parts if part)}"


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a line: names of the machine, rank, and which of the machine's ranks it is, of how many."""

    names: frozenset[str]
    rank: int
    local_rank: int
    beside: int


@dataclass(frozen=True)
class LaidOut:
    """A job that was laid out anew: its outfit, who wrote each line of a rank, and the undressed node of each name."""

    outfit: Outfit
    writers: Mapping[Place, Writer]
    nodes: Mapping[str, str]


def draw(random: Random) -> Layout:
    """Any layout in which people could tell who wrote each line."""
    kind, host = random.choice((ONE_FILE, BY_MACHINE, BY_RANK)), random.choice(_HOSTS)
    if kind == ONE_FILE:
        return Layout(kind, host, "train.log", _label_of_both(random))
    launcher = random.choice((_LAUNCHER, "")) if kind == BY_MACHINE else _LAUNCHER
    file = random.choice(_BY_MACHINE_NAMES if kind == BY_MACHINE else _BY_RANK_NAMES)
    names_machine = any(field in file for field in ("{h}", "{c}", "{u}"))
    if kind == BY_MACHINE:
        begins = "" if "{h}" in file else random.choice((*_MACHINE_BEGINS, "") if names_machine else _MACHINE_BEGINS)
        of_job = begins or "{h}" in file
        label = random.choice(_AROUND).format(random.choice((*_RANKS, *_LOCAL_RANKS) if of_job else _RANKS))
        return Layout(kind, host, file, label, begins, launcher)
    tells_both = "{h}" in file and ("{r" in file or "{l" in file)
    return Layout(kind, host, file, "", random.choice((*_RANK_BEGINS, "")[: None if tells_both else -1]), launcher)


def _label_of_both(random: Random) -> str:
    """A machine and a rank, in one pair of brackets or in two, in either order."""
    parts = ["{h}", random.choice((*_RANKS, *_LOCAL_RANKS))]
    if random.random() < 1 / 8:
        return f"{parts[1]}@{{h}} | "  # nobody writes machine@rank
    random.shuffle(parts)
    if random.random() < 1 / 2:
        return random.choice(_APART).format(*parts)
    is_plain = not any(sign in parts[0] + parts[1] for sign in " /=#:>")
    return random.choice(_AROUND).format(random.choice(_AS_ONE_WORD if is_plain else _TOGETHER).format(*parts))


def lay_out(layout: Layout, wearer: Wearer) -> LaidOut | None:
    """A job in this layout; None where it has too few ranks, or files that several ranks wrote."""
    job = _Job(layout, wearer)
    return None if wearer.shared or not job.can_be_told_apart else job.laid_out()


@dataclass(frozen=True)
class _Job:
    """A job on its way into a layout."""

    layout: Layout
    wearer: Wearer

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The new name of each machine."""
        return {
            node: self.layout.host.format(number=7 + 3 * place, rack=1 + place % 2, word=_WORDS[place % len(_WORDS)])
            for place, node in enumerate(self.wearer.by_node)
        }

    @cached_property
    def ranks(self) -> Mapping[str, list[int]]:
        """The ranks of each machine, in order."""
        return {
            node: sorted({stream.rank for stream in streams if stream.rank is not None})
            for node, streams in self.wearer.by_node.items()
        }

    @property
    def can_be_told_apart(self) -> bool:
        """Whether there are enough machines and ranks: each machine has some, and each rank is on one."""
        ranks = [rank for own in self.ranks.values() for rank in own]
        apart = len(set(self.names.values())) == len(self.names) >= MIN_NODES and all(self.ranks.values())
        return apart and len(set(ranks)) == len(ranks) >= MIN_RANKS

    def laid_out(self) -> LaidOut:
        """All its lines in the order of time, each in its new file behind its new label."""
        pieces: dict[str, list[Piece]] = defaultdict(list)
        writers: dict[Place, Writer] = {}
        nodes = {name: node for node, name in self.names.items()}
        begun = set[tuple[str, str]]()
        rename = self._renaming()
        for node, stream, line in self._lines():
            file = f"logs/{self._fill(self._file(stream), node, stream)}"
            label = self._fill(self._label(stream), node, stream)
            if stream.rank is not None:
                writer = self._writer(node, stream)
                nodes |= dict.fromkeys(writer.names, node)
                begins = (file, stream.name if self.layout.kind == BY_RANK else "")
                if self.layout.begins and begins not in begun:
                    begun.add(begins)
                    pieces[file].append(((label + self._fill(self.layout.begins, node, stream)).encode(), None))
                writers[file, len(pieces[file]) + 1] = writer
            text = rename(line.text.decode("utf-8", "surrogateescape"))
            pieces[file].append(((label + text).encode("utf-8", "surrogateescape"), line.place))
        worn = outfit(self._beside(), pieces)
        return LaidOut(replace(worn, rename=rename), writers, nodes)

    def _lines(self) -> Iterator[tuple[str, Stream, Spoken]]:
        """What ranks and launchers wrote, as one would have seen it."""
        every = (
            (line.time, line.place[1], node, place, stream, line)
            for node, streams in self.wearer.by_node.items()
            for place, stream in enumerate(filter(_is_printed, streams))
            for line in stream.lines
        )
        return ((node, stream, line) for *_, node, _, stream, line in sorted(every, key=lambda item: item[:4]))

    def _file(self, stream: Stream) -> str:
        return self.layout.launcher if stream.rank is None and self.layout.launcher else self.layout.file

    def _label(self, stream: Stream) -> str:
        if stream.rank is not None:
            return self.layout.label
        return _OF_HOST if self.layout.kind == ONE_FILE else ""

    def _fill(self, form: str, node: str, stream: Stream) -> str:
        rank = stream.rank or 0
        whose = f"{self.wearer.manifest.job_id} {node}" + f" {rank}" * (self.layout.kind == BY_RANK)
        ids = made_up(whose, 32)
        own = self.ranks[node]
        return form.format(
            h=self.names[node],
            r=rank,
            l=own.index(rank) if rank in own else 0,
            n=sum(map(len, self.ranks.values())),
            m=len(self.names),
            i=list(self.names).index(node),
            c=ids[:12],
            u="-".join((ids[:8], ids[8:12], ids[12:16], ids[16:20], ids[20:])),
        )

    def _writer(self, node: str, stream: Stream) -> Writer:
        """Where nothing tells a machine's name, the name of the file is the only one that there is."""
        own, rank = self.ranks[node], stream.rank or 0
        names = {self.names[node]}
        if not any("{h}" in part for part in (self.layout.file, self.layout.begins, self.layout.label)):
            names.add(self._fill("{c}" if "{c}" in self.layout.file else "{u}", node, stream))
        return Writer(frozenset(names), rank, own.index(rank), len(own))

    def _renaming(self) -> Rename:
        addresses = self.wearer.manifest.node_addresses.items()
        of_addresses = {its: self.names[node] for node, own in addresses if node in self.names for its in own}
        return renaming({**self.names, **of_addresses})

    def _beside(self) -> dict[str, bytes]:
        """What daemons and schedulers wrote, tables, and job.json without any word of machines."""
        laid = {stream.name for streams in self.wearer.by_node.values() for stream in filter(_is_printed, streams)}
        rename = self._renaming()
        kept = {
            rename(name): rename(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            for name, content in self.wearer.files.items()
            if name not in laid
        }
        told = loads(self.wearer.files.get(MANIFEST, b"{}"))
        kept[MANIFEST] = dumps({key: told[key] for key in _TOLD if key in told}).encode()
        return kept


def _is_printed(stream: Stream) -> bool:
    """Whether a rank or a launcher printed it; a table of measurements stays a file of its own."""
    return stream.rank is not None or not stream.name.endswith((".csv", ".tsv", ".json", ".jsonl"))


_TOLD = "job_id", "model", "framework", "settings_id", "status", "exit_code", "start", "end"
