"""A job as a dress finds it: its lines in order, each with who said it and when, as far as the undressed job tells."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from benchmarks.quality.case import Case
from benchmarks.quality.dresses.outfit import Folder
from benchmarks.quality.labels import Place
from core.job import Manifest
from core.logs.voices import Origin, Program
from core.parsed import Parsed

COLLECTOR = "login1"  # a machine that is no node of any job: who collects what a launcher wrote for all of them
_ENVELOPE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (?:std(?:out|err) F )?")  # CRI, kubectl --timestamps
_ATTEMPT = re.compile(r"attempt_\d+/(\d+)/")  # torchrun's folder of a local rank


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line.

    text: as its program printed it. time: microseconds, its own clock or the one before it in its file; never earlier
    than the line above. envelope: what a container runtime has put before the text.
    """

    text: bytes
    place: Place
    time: int
    envelope: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """A file of the job: one process, or all that a launcher wrote for everybody (``node`` is None).

    local_rank: of a file of torchrun's, which holds the output of one rank.
    """

    name: str
    lines: tuple[Spoken, ...]
    ends: bool  # with a newline
    node: str | None
    rank: int | None
    local_rank: int | None
    program: Program

    @property
    def trains(self) -> bool:
        """Whether it is what the training printed, not what a daemon or a scheduler says of it."""
        return self.program in (Program.RANK, Program.LAUNCHER)

    @property
    def stdout(self) -> bool:
        """Whether it is standard output; where both are one, it counts as error."""
        return "stdout" in self.name or self.name.endswith(".out")


@dataclass(frozen=True, eq=False)
class Wearer:
    """A job that was read, and the files in its folder."""

    case: Case
    files: Folder

    @property
    def parsed(self) -> Parsed:
        """The job as it was read."""
        return self.case.parsed

    @property
    def manifest(self) -> Manifest:
        """What job.json says."""
        return self.parsed.job.manifest

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """All files, by name."""
        return tuple(_streams(self.parsed, self.files))

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, in the order of their ranks."""
        return self.parsed.nodes

    @cached_property
    def by_node(self) -> Mapping[str, tuple[Stream, ...]]:
        """What the training printed, node by node; empty where one file holds all of it."""
        found: dict[str, list[Stream]] = {node: [] for node in self.nodes}
        for stream in self.streams:
            if stream.trains and stream.node in found:
                found[stream.node].append(stream)
        return {node: tuple(streams) for node, streams in found.items() if streams}

    @property
    def shared(self) -> tuple[Stream, ...]:
        """Files that hold what several nodes printed."""
        return tuple(stream for stream in self.streams if stream.node is None and stream.trains)

    @property
    def others(self) -> tuple[Stream, ...]:
        """What daemons and schedulers wrote."""
        return tuple(stream for stream in self.streams if not stream.trains)

    @cached_property
    def end(self) -> int:
        """When the last line was said."""
        return max(line.time for stream in self.streams for line in stream.lines)


def labelled(stream: Stream, text: bytes) -> bytes:
    """The line as ``torchrun --tee 3`` prints it, where a node has several ranks that went to files of their own."""
    return b"[default%d]:%s" % (stream.local_rank, text) if stream.local_rank is not None else text


def _streams(parsed: Parsed, files: Folder) -> Iterator[Stream]:
    table = parsed.table
    start = _micros(parsed.job.manifest.start) or 0
    rows = defaultdict(list)
    columns = (table.file[:], table.line[:], table.time[:], table.timed[:], table.voice[:])
    for file, line, time, timed, voice in zip(*(np.asarray(column).tolist() for column in columns), strict=True):
        rows[table.files[file]].append((line, time if timed and time >= 0 else None, voice))
    siblings = defaultdict(set)  # local ranks of each run of torchrun
    for name in rows:
        if attempt := _ATTEMPT.search(name):
            siblings[_run(name)].add(attempt[1])
    for file in parsed.job.logs:
        own = rows[file.name]
        origins = [table.origins[voice] for voice in dict.fromkeys(voice for *_, voice in own)]
        clocks: dict[int, int] = {}
        for line, time, _ in own:
            if time is not None:
                clocks.setdefault(line, time)
        raw = files[file.name]
        lines = tuple(_spoken(file.name, raw.removesuffix(b"\n").split(b"\n") if raw else [], clocks, start))
        yield _stream(file.name, lines, origins, ends=raw.endswith(b"\n"), several=len(siblings[_run(file.name)]) > 1)


def _run(name: str) -> str:
    return name.partition("/attempt_")[0]


def _spoken(name: str, texts: list[bytes], clocks: Mapping[int, int], start: int) -> Iterator[Spoken]:
    time = min(clocks.values(), default=start)
    for number, text in enumerate(texts, start=1):
        time = max(time, clocks.get(number, time))
        match = _ENVELOPE.match(text)
        envelope = match[0] if match else b""
        yield Spoken(text[len(envelope) :], (name, number), time, envelope)


def _stream(name: str, lines: tuple[Spoken, ...], origins: list[Origin], *, ends: bool, several: bool) -> Stream:
    nodes = {origin.node for origin in origins if origin.node}
    ranks = {origin.rank for origin in origins if origin.rank is not None}
    attempt = _ATTEMPT.search(name)
    programs = {origin.program for origin in origins}
    trains = programs & {Program.RANK, Program.LAUNCHER}
    return Stream(
        name,
        lines,
        ends,
        next(iter(nodes)) if len(nodes) == 1 else None,
        next(iter(ranks)) if len(ranks) == 1 else None,
        int(attempt[1]) if attempt and several else None,
        Program.RANK if Program.RANK in trains else next(iter(sorted(trains or programs)), Program.RANK),
    )


def _micros(text: str | None) -> int | None:
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000) if text else None
