"""The attempts of one lineage: jobs of a run in their order, each read and diagnosed once."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

from core.baseline import choose_baseline
from core.cache import ByteCache
from core.diagnose import diagnose_parsed
from core.errors import BadJobId, JobNotFound, NoLogs, SourceUnavailable, UnreadableLog
from core.history.attempt import Attempt, decode, encode
from core.history.job_attempts import attempts_of
from core.job import Job, Manifest
from core.next.earlier_attempts import barren
from core.parsed import parse_job
from core.parsing.parse import reading_key
from core.version import core_version
from sources.jobs import JobSource, open_source

EARLIER = 5  # jobs of a run that are read for what to do next: three barren ones are hopeless, and one good one
IN_A_LOOP = 50  # that are read while none of them made a checkpoint (Meta saw one job requeued 35 times)
LOOP_BYTES = 64 << 20  # of logs in all beyond the first: a loop of jobs that ran for long is told as shorter than it is
Progress = Callable[[str, int, int], None]


def earlier_attempts(
    job: Job, jobs: str, cache: ByteCache | None, *, links: Sequence[Path] = ()
) -> tuple[Attempt, ...]:
    """The attempts of a job's run before it; none where job.json names no run.

    Of its last five jobs, and of more of them as long as none made a checkpoint: a crash loop is counted.
    """
    if not job.manifest.run:
        return ()
    try:
        source = open_source(jobs, links=links)
        manifests = manifests_of(source, None)
    except SourceUnavailable:
        return ()
    members = in_order([manifest for manifest in manifests if manifest.run == job.manifest.run])
    place = next((place for place, member in enumerate(members) if member.job_id == job.id), 0)
    found: list[Attempt] = []
    size = 0
    for count, manifest in enumerate(reversed(members[max(0, place - IN_A_LOOP) : place])):
        try:
            before = source.job(manifest.job_id)
            size += sum(log.size for log in before.logs) if count >= EARLIER else 0
            if count >= EARLIER and (size > LOOP_BYTES or not found or barren(found) < len(found)):
                break
            good = tuple(map(source.job, choose_baseline(manifest, manifests)))
            found = [*read_attempts(before, good, cache), *found]
        except (NoLogs, UnreadableLog, JobNotFound):
            continue  # what is gone tells nothing
    return tuple(found)


def manifests_of(source: JobSource, progress: Progress | None, wanted: str = "attempts") -> list[Manifest]:
    """What is known of every job of a place without its logs; wanted: what they are looked through for."""
    ids = source.job_ids()
    found = []
    for number, job_id in enumerate(ids, start=1):
        if progress:
            progress(f"looking for {wanted}", number, len(ids))
        try:
            found.append(source.manifest(job_id))
        except (JobNotFound, BadJobId, UnreadableLog):
            continue  # removed or broken meanwhile: another job's trouble
    return found


def in_order(members: Sequence[Manifest]) -> list[Manifest]:
    """Attempts by their numbers, else by their starts."""
    return sorted(
        members, key=lambda member: (member.attempt is None, member.attempt or 0, member.start or "", member.job_id)
    )


def read_attempts(job: Job, good: Sequence[Job], cache: ByteCache | None) -> tuple[Attempt, ...]:
    """The attempts in a job's logs: as they were kept, or read and diagnosed now."""
    text = "\n".join([core_version(), repr(job.manifest), *map(reading_key, (job, *good))])
    key = blake2b(f"attempts {text}".encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
    cached = cache.get(key) if cache else None
    if cached is not None and (kept := decode(cached)) is not None:
        return kept
    parsed = parse_job(job, good, cache=cache, workers=1, progress=None)
    found = attempts_of(parsed, diagnose_parsed(parsed))
    if cache:
        cache.put(key, encode(found))
    return found
