"""From a job's files to messages and who said them: scan, group, name the speakers (L4, section 4.2, first half)."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b

from core.cache import ByteCache
from core.errors import NoLogs, UnreadableLog
from core.events.build import build
from core.events.table import EventTable
from core.events.tallies import Texts, count_texts, number_texts
from core.events.template import Template
from core.job import Job
from core.logs.array_store import Heap, NoSpace
from core.logs.file_rows import FileRows
from core.logs.fold import JOB_CHARACTERS, JOB_TEXTS, fold_texts
from core.logs.lines import NO_TIME, first_time
from core.logs.log_files import read_files
from core.logs.origins import Origin, Voice, find_origins
from core.logs.read_cache import read_kept, write_kept
from core.logs.scan import KERNEL_BYTES, choose_engine
from core.logs.voices import NUMBERED_PROCESS, FileSpeaker
from core.parsing.speakers import find_speakers
from core.shares import MIN_RANKS
from core.version import reader_version

Progress = Callable[[str, int, int], None]

_DATE = re.compile(rb"\b20[0-9]{2}[-/][01][0-9][-/][0-3][0-9](?:[ T_-][0-9:.,]+(?:Z|[+-][0-9:]{4,5})?)?")
_US_DATE = re.compile(rb"(?<![0-9/])[01][0-9]/[0-3][0-9]/(20[0-9]{2}) [0-9]{2}:")
_CLOCK = re.compile(rb"(?:(?<![0-9:.])|(?<=>:))(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?![0-9:])")
_MONTH_DAY = re.compile(
    rb"(?<![0-9A-Za-z])(?:[DIWEF]?[01][0-9][0-3][0-9]|[01][0-9]-[0-3][0-9]"
    rb"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}[0-9]{1,2})"
    rb" (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?![0-9:])"
)
_NUMBER = re.compile(r"[prw]\d{1,6}")
_NO_YEAR = 1970  # stands for the year where nothing tells it; only differences of times count then
_YEAR_SAMPLE, _SAMPLES = 1 << 16, 50  # bytes of a file, and files
_DATED_LINES = 50  # of a file: a banner stands above the first line with a clock, seldom a longer one
_YEAR_2000 = 946_684_800_000_000  # microseconds: what is read as earlier had no year
TOO_MUCH_SAID = (
    f"All files together hold more than {JOB_TEXTS:,} different messages, or {JOB_CHARACTERS:,} characters of them:"
    " those that are alike were taken for one."
)
_ROWS = "00"  # keys of kept rows begin so; profiles have keys of their own


@dataclass(frozen=True, eq=False)
class JobReading:
    """A job that was read: its files and the origin of each voice.

    key: changes when what was read could change. capped: sentences on what was told less exactly, there being too much.
    """

    job: Job
    key: str
    scans: tuple[FileRows, ...]
    origins: Mapping[tuple[str, bytes], Origin]
    capped: tuple[str, ...] = ()

    @cached_property
    def texts(self) -> Texts:
        """The distinct messages of the job, numbered."""
        return number_texts(self.scans)

    @property
    def is_large(self) -> bool:
        """Whether reading it again would take long enough to keep what was found."""
        return _size(self.job) >= KERNEL_BYTES

    def counts(self) -> dict[str, int]:
        """How often each distinct message occurs."""
        return count_texts(self.scans, self.texts)

    def table(self, templates: Mapping[str, Template]) -> EventTable:
        """The job's event table, given the templates of its messages."""
        return build(self.scans, self.texts, self.origins, templates)


def read_job(
    job: Job,
    *,
    workers: int | Executor = 1,
    memory: int | None = None,
    cache: ByteCache | None = None,
    progress: Progress | None = None,
) -> JobReading:
    """Read all log files of a job, or find them read.

    Args:
        workers: number of threads, or whatever runs functions elsewhere.
        memory: bytes of rows that are held in memory; None for all. Beyond it they go to a temporary file.
        cache: keeps the rows of all but small jobs; then none of them is held in memory.
    """
    if not job.logs and not job.dumps:
        raise NoLogs(f"Job {job.id} has no log files.", "Log files belong into its folder logs/, in any tree.")
    key = reading_key(job)
    scans = None
    if cache is not None and cache.folder is not None and _size(job) >= KERNEL_BYTES:
        scans = _kept(job, key, cache, workers, progress)
    if scans is None:
        scans = tuple(_read(job, workers, Heap(memory), progress))
    texts = fold_texts([scan.texts for scan in scans])
    capped = [sentence for scan in scans for sentence in scan.capped]
    if any(scan.texts is not own for scan, own in zip(scans, texts, strict=True)):
        capped.append(TOO_MUCH_SAID)
        scans = tuple(replace(scan, texts=own) for scan, own in zip(scans, texts, strict=True))
    return JobReading(job, key, scans, _origins(job, scans), tuple(capped))


def reading_key(job: Job) -> str:
    """Key of what a job's logs say: their names, sizes and stamps, who may have spoken, and how they are read."""
    manifest = job.manifest
    parts = [reader_version(), job.id, repr(manifest.nodes), repr(manifest.world_size), repr(manifest.start)]
    parts += [repr(sorted(manifest.node_ranks.items())), repr(sorted(manifest.node_addresses.items()))]
    parts += [f"{file.name}\0{file.size}\0{file.stamp}" for file in job.logs]
    return blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def _kept(
    job: Job, key: str, cache: ByteCache, workers: int | Executor, progress: Progress | None
) -> tuple[FileRows, ...] | None:
    """The rows of before, or read now and kept; None when there is no room for them."""
    file = cache.open(_ROWS + key)
    if file is not None and (kept := read_kept(file)) is not None:
        return kept
    try:
        heap = Heap(0, cache.folder)
        scans = tuple(_read(job, workers, heap, progress))
        if not any(scan.problem for scan in scans):  # a network that is back tomorrow changes no stamp
            cache.keep(_ROWS + key, write_kept(scans, heap))
    except NoSpace:
        return None
    return scans


def _read(job: Job, workers: int | Executor, heap: Heap, progress: Progress | None) -> list[FileRows]:
    done = 0

    def tell(_: FileRows) -> None:
        nonlocal done
        done += 1
        if progress:
            progress(f"reading {job.id}", done, len(job.logs))

    engine = choose_engine(_size(job))
    samples = _Samples(job)
    hosts, year, start = _known_hosts(job), find_year(job, samples), _find_start(job, samples)
    return read_files(job.logs, hosts, year, workers=workers, engine=engine, heap=heap, start=start, progress=tell)


def _size(job: Job) -> int:
    return sum(file.size for file in job.logs)


def find_year(job: Job, samples: Iterable[bytes] | None = None) -> int:
    """Year for clocks that have none: of the job's start, else of the first date in its logs.

    Args:
        samples: the first bytes of its first files, where they are known.
    """
    samples = _Samples(job) if samples is None else samples
    if date := _first_date(job, samples):
        return int(date[:4])
    return next((int(match[1]) for sample in samples if (match := _US_DATE.search(sample))), _NO_YEAR)


def _find_start(job: Job, samples: Iterable[bytes]) -> int:
    """When the job began, in microseconds: as job.json says, else the first date in its logs, else the first clock.

    A date may lack its year, as those of c10d and syslog do, which stand beside programs' own clocks without a date. A
    clock alone is one of a day that nobody knows, the first of the year without a name; NO_TIME without any.
    """
    if date := _first_date(job, samples):
        return first_time(date if len(date) > len("2026-11-22") else date + b" 12:00:00", _NO_YEAR)
    day = next((match[0] for sample in samples if (match := _MONTH_DAY.search(sample))), None)
    if day is not None:
        return first_time(day, find_year(job, samples))
    clock = next((match[0] for sample in samples if (match := _CLOCK.search(sample))), None)
    return NO_TIME if clock is None else first_time(b"%d-01-02 " % _NO_YEAR + clock, _NO_YEAR)


def _first_date(job: Job, samples: Iterable[bytes]) -> bytes:
    """A text that begins with a date, and the clock behind it if there is one; empty when no date is found."""
    if job.manifest.start and re.match(r"20\d{2}-", job.manifest.start):
        return job.manifest.start.encode()
    written = next((match[0] for sample in samples if (match := _DATE.search(sample))), b"")
    return written or next((date for sample in samples if (date := _date_of_clocks(sample))), b"")


def _date_of_clocks(sample: bytes) -> bytes:
    """The date of the first clock in some lines that knows its year: of seconds since 1970, of another order."""
    times = (first_time(line, _NO_YEAR) for line in sample.split(b"\n")[:_DATED_LINES])
    known = next((time for time in times if time >= _YEAR_2000), None)
    return b"" if known is None else f"{datetime.fromtimestamp(known // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}".encode()


class _Samples:
    """The first bytes of the first files, each read when it is asked for, once: a wrapped one is unwrapped for it."""

    def __init__(self, job: Job) -> None:
        self._read: list[bytes] = []
        self._left = iter(job.logs[:_SAMPLES])

    def __iter__(self) -> Iterator[bytes]:
        yield from self._read
        for file in self._left:
            try:
                with file.open() as stream:
                    self._read.append(stream.read(_YEAR_SAMPLE))
            except UnreadableLog:
                continue
            yield self._read[-1]


def _is_machine(node: str | None) -> bool:
    """Whether it is more than the number of a process: of p2 or worker-2 its file may tell where that ran."""
    return bool(node) and not (_NUMBER.fullmatch(node or "") or NUMBERED_PROCESS.fullmatch(node or ""))


def _known_hosts(job: Job) -> Sequence[bytes]:
    addresses = [address for names in job.manifest.node_addresses.values() for address in names]
    return [name.encode() for name in (*job.manifest.nodes, *addresses)]


def _origins(job: Job, scans: Sequence[FileRows]) -> dict[tuple[str, bytes], Origin]:
    voices = [Voice(scan.name, prefix) for scan in scans for prefix in scan.prefixes]
    origins = find_origins(voices, job.manifest)
    names = {voice.file for voice in voices}
    machines = {(voice.file, origin.node) for voice, origin in zip(voices, origins, strict=True) if origin.node}
    shared = {file for file, several in Counter(file for file, _ in machines).items() if several > 1}  # of no one rank
    no_rank = names - {voice.file for voice, origin in zip(voices, origins, strict=True) if origin.rank is not None}
    no_node = names - {voice.file for voice, origin in zip(voices, origins, strict=True) if _is_machine(origin.node)}
    homes = {origin.rank: origin.node for origin in origins if origin.rank is not None and origin.node}
    homes |= job.manifest.node_of_rank
    several: dict[str, set[int]] = defaultdict(set)
    for voice, origin in zip(voices, origins, strict=True):
        if origin.rank is not None:
            several[voice.file].add(origin.rank)
    files, known = {file.name: file for file in job.logs}, {node for _, node in machines if _is_machine(node)}
    own = find_speakers(files, no_rank - shared, no_node, job.manifest, several, known)
    own |= {name: replace(own.get(name, FileSpeaker()), rank=rank) for name, rank in _of_a_rank_each(several).items()}
    own = (
        own
        if _are_ranks(own, dict(machines), homes)
        else {name: replace(speaker, rank=None) for name, speaker in own.items()}
    )
    if own:
        origins = find_origins(voices, job.manifest, own)
    return {(voice.file, voice.prefix): origin for voice, origin in zip(voices, origins, strict=True)}


def _of_a_rank_each(several: Mapping[str, Collection[int]]) -> dict[str, int]:
    """The rank of each file whose labels name one alone, where these files together have each rank once, from 0 on."""
    sole = {name: next(iter(ranks)) for name, ranks in sorted(several.items()) if len(ranks) == 1}
    return sole if len(sole) >= MIN_RANKS and sorted(sole.values()) == list(range(len(sole))) else {}


def _are_ranks(own: Mapping[str, FileSpeaker], machines: Mapping[str, str], homes: Mapping[int, str]) -> bool:
    """Whether most numbers that files tell are on the machines that these are of; else they count something else.

    Args:
        machines: of files, or of others that are called alike but for their ending.
        homes: the machine of each rank, as job.json or labels tell.
    """
    of_stem, known = {name.rpartition(".")[0]: machine for name, machine in machines.items()}, set(homes.values())
    told = {
        (speaker.rank, machine)
        for file, speaker in own.items()
        if speaker.rank is not None
        and speaker.rank in homes
        and (machine := machines.get(file) or of_stem.get(file.rpartition(".")[0])) in known
    }
    return 2 * sum(homes[rank] != machine for rank, machine in told) <= len(told)
