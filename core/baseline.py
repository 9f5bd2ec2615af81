"""What successful jobs with the same settings say: the baseline (L4, section 4.2).

Differs: L4 drops events that are "frequently present" in successful jobs. Here counts stay, by place in the job
(cohort) and speaker, because 16 % of the indicating events occur in good jobs too: what matters is how often, and who
says it (docs/explain/method.md, "Cross-job"). Failed attempts of restarted jobs are left out.
"""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import astuple, dataclass

from core.cache import ByteCache
from core.course.markers import find_markers
from core.course.pace import Pace, course_of, drawn_course, slowest
from core.events.template import Template, template
from core.job import Job, Manifest, Status
from core.logs.origins import Origin
from core.parsing.parse import JobReading, Progress, read_job, reading_key

MAX_MARKERS = 20_000  # lines of a good job that are read for its pace: half a second
OTHER_WORDS = 32  # messages above the first iteration that make it another version of the program: what a setting or a
# fault changed is at most 12 of them in the sets other, AS and AT, another version's list of arguments 70 (docs/LOG.md)
MAX_BASELINE = 8  # three good jobs settle what is normal on the lab jobs (docs/LOG.md); more only cost time


@dataclass(frozen=True, slots=True)
class Count:
    """How often speakers of one cohort say a message: how many speakers, in all, and the one who says it most."""

    speakers: int
    total: int
    most: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What one successful job says, by cohort and message text, how fast it trained, and if it counted iterations."""

    job_id: str
    speakers: Mapping[str, int]
    counts: Mapping[tuple[str, str], Count]
    ranks: int
    lines: int
    pace: Pace | None = None
    counted: bool = False

    def texts(self) -> dict[str, int]:
        """How often each message occurs in the job."""
        totals: dict[str, int] = {}
        for (_, text), count in self.counts.items():
            totals[text] = totals.get(text, 0) + count.total
        return totals


@dataclass(frozen=True, slots=True)
class Normal:
    """What is normal, over all profiles, by event: the most that a speaker of a cohort said it in a good job.

    What a good job never leaves out, and how fast it trains, counts only of those that run the same program.
    """

    most: Mapping[tuple[str, str], int]  # (cohort, template id)
    anywhere: Mapping[str, int]  # template id: the most that any speaker said it
    always: Mapping[str, frozenset[str]]  # cohort: template ids that every speaker said in every good job
    jobs: int
    others: int  # of them run another program, or another version of it
    pace: Pace | None = None  # of the slowest, if any
    counted: bool = False  # iterations, by any


def choose_baseline(manifest: Manifest, others: Iterable[Manifest]) -> tuple[str, ...]:
    """Ids of the successful jobs to compare with, the most alike first, at most MAX_BASELINE.

    ``settings_id`` decides when there is one; else model, framework and software must be equal (json.md).
    """
    alike = [
        other
        for other in others
        if other.status is Status.COMPLETED and other.job_id != manifest.job_id and _same_settings(manifest, other)
    ]
    alike.sort(key=lambda other: (other.world_size != manifest.world_size, other.job_id))
    return tuple(other.job_id for other in alike[:MAX_BASELINE])


def profile_job(
    job: Job, *, cache: ByteCache | None, workers: int | Executor, memory: int | None = None, progress: Progress | None
) -> Profile:
    """The profile of a successful job, from the cache when its files have not changed since."""
    key = reading_key(job)
    cached = cache.get(key) if cache else None
    if cached is not None and (profile := _decode(cached)) is not None:
        return profile
    profile = _profile(read_job(job, workers=workers, memory=memory, progress=progress))
    if cache:
        cache.put(key, _encode(profile))
    return profile


def normal(
    profiles: Sequence[Profile],
    templates: Mapping[str, Template],
    marks: Collection[str] = (),
    opening: Collection[str] = (),
) -> Normal:
    """Join profiles into what is normal.

    Args:
        templates: of every text of the profiles.
        marks: ids of the templates with which the job in question counts its iterations. A good job that prints none
            of them runs another program, whatever model and framework its manifest names. None when there are none.
        opening: ids of those that it says above its first iteration. A good job that lacks many of them runs another
            version of the program: how fast that trains, and what it always says, is no measure.
    """
    most: dict[tuple[str, str], int] = defaultdict(int)
    anywhere: dict[str, int] = defaultdict(int)
    always: dict[str, list[frozenset[str]]] = defaultdict(list)
    paces: list[Pace | None] = []
    others = 0
    for profile in profiles:
        said = {templates[text].id for _, text in profile.counts}
        same_program = not (marks and said.isdisjoint(marks)) and len(set(opening) - said) < OTHER_WORDS
        others += not same_program
        per_cohort: dict[str, Counter[str]] = defaultdict(Counter)
        here: Counter[tuple[str, str]] = Counter()
        for (cohort, text), count in profile.counts.items():
            event = templates[text].id
            here[cohort, event] += count.most
            per_cohort[cohort][event] = max(per_cohort[cohort][event], count.speakers)
        for (cohort, event), times in here.items():
            most[cohort, event] = max(most[cohort, event], times)
            anywhere[event] = max(anywhere[event], times)
        paces.append(profile.pace if same_program else None)
        for cohort, events in per_cohort.items() if same_program else ():
            always[cohort].append(
                frozenset(event for event, speakers in events.items() if speakers >= profile.speakers[cohort])
            )
    common = {cohort: frozenset.intersection(*sets) for cohort, sets in always.items()}
    pace = slowest([pace for pace in paces if pace is not None])
    counted = any(profile.counted for profile in profiles)
    return Normal(dict(most), dict(anywhere), common, len(profiles), others, pace, counted)


def speaker(origin: Origin, file: str) -> str:
    """Whose count it is: a rank, a node, or a file that belongs to neither."""
    return f"rank {origin.rank}" if origin.rank is not None else origin.node or file


def _same_settings(one: Manifest, other: Manifest) -> bool:
    if one.settings_id is not None:
        return one.settings_id == other.settings_id
    known = (one.model, one.framework)
    return (
        other.settings_id is None
        and any(known)
        and known == (other.model, other.framework)
        and one.extra.get("software") == other.extra.get("software")
    )


def _profile(reading: JobReading) -> Profile:
    last_attempt = max((origin.attempt for origin in reading.origins.values()), default=0)
    by_speaker: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for scan in reading.scans:
        origins = [reading.origins[scan.name, prefix] for prefix in scan.prefixes]
        columns = (scan.tally.prefix.tolist(), scan.tally.message.tolist(), scan.tally.heads.tolist())
        for voice, text, count in zip(*columns, strict=True):
            origin = origins[voice]
            if origin.attempt == last_attempt or "attempt_" not in scan.name:
                by_speaker[origin.cohort, speaker(origin, scan.name)][scan.texts[text]] += count
    pace, counted = _pace(reading)
    totals: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (cohort, _), who in by_speaker.items():
        for text, count in who.items():
            totals[cohort, text].append(count)
    return Profile(
        job_id=reading.job.id,
        speakers=dict(Counter(cohort for cohort, _ in by_speaker)),
        counts={key: Count(len(counts), sum(counts), max(counts)) for key, counts in totals.items()},
        ranks=len({origin.rank for origin in reading.origins.values() if origin.rank is not None}),
        lines=sum(scan.lines for scan in reading.scans),
        pace=pace,
        counted=counted,
    )


def _pace(reading: JobReading) -> tuple[Pace | None, bool]:
    """How fast the job trained, as far as its last lines tell, and whether it counted iterations.

    Every message is a template of its own for that.
    """
    table = reading.table({text: template(text, sample=text) for text in reading.texts.all})
    files = {file.name: file for file in reading.job.logs}
    marked, clocked = find_markers(table, files, reading.job.manifest.total_iterations, most=MAX_MARKERS)
    return course_of(clocked).pace() or drawn_course(clocked).pace(), bool(len(marked.numbers))


def _encode(profile: Profile) -> bytes:
    texts = sorted({text for _, text in profile.counts})
    place = {text: number for number, text in enumerate(texts)}
    counts = [
        [cohort, place[text], c.speakers, c.total, c.most] for (cohort, text), c in sorted(profile.counts.items())
    ]
    document = {
        "job": profile.job_id,
        "speakers": profile.speakers,
        "texts": texts,
        "counts": counts,
        "ranks": profile.ranks,
        "lines": profile.lines,
        "pace": astuple(profile.pace) if profile.pace else None,
        "counted": profile.counted,
    }
    return zlib.compress(json.dumps(document).encode(), 3)


def _decode(data: bytes) -> Profile | None:
    try:
        document = json.loads(zlib.decompress(data))
        texts = document["texts"]
        counts = {(cohort, texts[place]): Count(*numbers) for cohort, place, *numbers in document["counts"]}
        pace = Pace(*document["pace"]) if document["pace"] else None
        head = (document["job"], document["speakers"], counts, document["ranks"], document["lines"])
        return Profile(*head, pace, document["counted"])
    except (zlib.error, ValueError, KeyError, TypeError, IndexError):
        return None
