"""Labelled jobs as the fault library meets them: the diagnosis, all events, and the pattern that they make."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from benchmarks.quality.__main__ import ROOT, set_of
from benchmarks.quality.labels import HEALTHY, parse_truth
from benchmarks.quality.recall_faults import Fault, fault_of
from core.baseline import choose_baseline
from core.cache import ByteCache
from core.diagnose import diagnose_parsed
from core.errors import FirstfaultError
from core.job import Job
from core.model import Diagnosis
from core.occurrences import Occurrence, find_occurrences
from core.parsed import parse_job
from core.parsing.parse import Progress
from faultlib.draft import pattern_of
from faultlib.pattern import Category, Entry, Origin, Pattern, Status
from sources.jobs import JobSource


@dataclass(frozen=True, slots=True)
class Seen:
    """What the core says of a job. nodes: all of them; none where nobody names a node."""

    diagnosis: Diagnosis
    occurrences: tuple[Occurrence, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallCase:
    """A labelled job. entry: its pattern as a person would have confirmed it, with its truth as the cause."""

    job_id: str
    set_name: str
    kind: str  # empty: it did not fail
    fault: Fault
    seen: Seen
    entry: Entry


_SEEN: TypeAdapter[Seen] = TypeAdapter(Seen)


def read_cases(
    source: JobSource, origin: str, truth: Path, cache: ByteCache, progress: Progress | None = None
) -> tuple[RecallCase, ...]:
    """All labelled jobs that can be read, by their ids; what was seen of them is kept between runs.

    Args:
        origin: tells these jobs from others with the same ids, in the cache.
    """
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(truth.glob("*.json"))]
    manifests = [source.manifest(job_id) for job_id in source.job_ids()]
    code = _code()
    cases = []
    for number, document in enumerate(documents, start=1):
        if progress:
            progress("diagnosing", number, len(documents))
        key = blake2b(f"{code} {origin} {document['job_id']}".encode(), digest_size=16).hexdigest()
        kept = cache.get(key)
        try:
            if kept is None:
                job = source.job(document["job_id"])
                baseline = [source.job(job_id) for job_id in choose_baseline(job.manifest, manifests)]
                kept = _SEEN.dump_json(_look(job, baseline, cache))
                cache.put(key, kept)
        except FirstfaultError:
            continue
        cases.append(case_of(document, _SEEN.validate_json(kept)))
    return tuple(cases)


def case_of(document: dict[str, Any], seen: Seen) -> RecallCase:
    """A job with its truth."""
    truth = parse_truth(document)
    failed = document["failed"] or document["kind"] not in HEALTHY
    return RecallCase(
        job_id=truth.job_id,
        set_name=set_of(truth),
        kind=document["kind"] if failed else "",
        fault=fault_of(truth),
        seen=seen,
        entry=_entry(_confirmed(document, seen.diagnosis), truth.job_id),
    )


def _confirmed(document: dict[str, Any], diagnosis: Diagnosis) -> Pattern:
    """The draft with a cause in one sentence, from category and subtype; the word of the kind is never told."""
    category, subtype = document["category"] or "unknown", document["subtype"] or ""
    return pattern_of(
        diagnosis,
        category=Category(category) if category in set(Category) else Category.UNKNOWN,
        subtype=subtype[:120],
        cause=f"{category} fault: {subtype or 'unknown'}.".capitalize(),
    )


def _entry(pattern: Pattern, job_id: str) -> Entry:
    renamed = pattern.model_copy(update={"id": job_id})
    return Entry(pattern=renamed, version=1, revision=1, status=Status.APPROVED, origin=Origin.TEAM)


def _look(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Seen:
    parsed = parse_job(job, baseline, cache=cache, workers=1, progress=None)
    diagnosis = diagnose_parsed(parsed)
    pictures = replace(diagnosis.pictures, series=())  # a loss of NaN, which JSON cannot hold; nothing here draws
    diagnosis = replace(diagnosis, pictures=pictures)
    return Seen(diagnosis, find_occurrences(parsed), parsed.nodes if parsed.unit == "node" else ())


def _code() -> str:
    """Changes with every file of the core: what was seen by another version is seen again."""
    total = blake2b(digest_size=16)
    for path in sorted((ROOT / "core").rglob("*")):
        if path.suffix in (".py", ".toml"):
            total.update(path.read_bytes())
    return total.hexdigest()
