"""From a job's files to messages and who said them: scan, group, name the speakers (L4, section 4.2, first half)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import NoLogs, UnreadableLog
from core.job import Job
from core.logs.messages import Messages, group
from core.logs.origins import Origin, Voice, find_origins
from core.logs.scan import FileScan, choose_engine, scan_files
from core.table import EventTable, build
from core.templates import Template

Progress = Callable[[str, int, int], None]

_YEAR = re.compile(rb"\b(20[0-9]{2})[-/][01][0-9][-/][0-3][0-9]")
_NO_YEAR = 1970
_YEAR_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A job that was read: a scan and its messages for each file, and the origin of each voice."""

    job: Job
    scans: tuple[FileScan, ...]
    messages: tuple[Messages, ...]
    origins: Mapping[tuple[str, bytes], Origin]

    def counts(self) -> dict[str, int]:
        """How often each distinct message occurs."""
        counts: dict[str, int] = {}
        for said in self.messages:
            for text, count in zip(
                said.texts, np.bincount(said.message[said.head], minlength=len(said.texts)).tolist(), strict=True
            ):
                counts[text] = counts.get(text, 0) + count
        return counts

    def table(self, templates: Mapping[str, Template]) -> EventTable:
        """The job's event table, given the templates of its messages."""
        return build(self.scans, self.messages, self.origins, templates)


def read_job(job: Job, *, workers: int = 1, progress: Progress | None = None) -> Reading:
    """Read all log files of a job."""
    if not job.logs and not job.dumps:
        raise NoLogs(f"Job {job.id} has no log files.", "Log files belong into its folder logs/, in any tree.")
    done = 0

    def tell(_: FileScan) -> None:
        nonlocal done
        done += 1
        if progress:
            progress(f"reading {job.id}", done, len(job.logs))

    engine = choose_engine(sum(file.size for file in job.logs))
    hosts, year = _known_hosts(job), find_year(job)
    scans = tuple(scan_files(job.logs, hosts, year, workers=max(1, workers), engine=engine, progress=tell))
    messages = tuple(group(scan.columns.body, scan.columns.prefix, scan.columns.bodies) for scan in scans)
    return Reading(job, scans, messages, _origins(job, scans))


def find_year(job: Job) -> int:
    """Year for clocks that have none: of the job's start, else of the first date in its logs."""
    if job.manifest.start and (match := re.match(r"(20\d{2})-", job.manifest.start)):
        return int(match[1])
    for file in job.logs[:50]:
        try:
            with file.open() as stream:
                sample = _YEAR.search(stream.read(_YEAR_SAMPLE))
        except UnreadableLog:
            continue
        if sample:
            return int(sample[1])
    return _NO_YEAR


def _known_hosts(job: Job) -> Sequence[bytes]:
    addresses = [address for names in job.manifest.node_addresses.values() for address in names]
    return [name.encode() for name in (*job.manifest.nodes, *addresses)]


def _origins(job: Job, scans: Sequence[FileScan]) -> dict[tuple[str, bytes], Origin]:
    voices = [Voice(scan.name, prefix) for scan in scans for prefix in scan.columns.prefixes]
    origins = find_origins(voices, job.manifest)
    return {(voice.file, voice.prefix): origin for voice, origin in zip(voices, origins, strict=True)}
