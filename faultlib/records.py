"""Entries as rows: read from the tables, and the difference between two entries written to them."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from pydantic import ValidationError

from faultlib.database import Database, encodable
from faultlib.errors import LibraryUnavailable, PatternNotFound
from faultlib.pattern import Entry, Origin, Pattern, Sighting, Status, Step

_CURRENT = """
    SELECT p.id, p.version, p.revision, p.status, p.origin, p.superseded_by, v.body
    FROM patterns p LEFT JOIN versions v ON v.pattern = p.id AND v.version = p.version
"""
_STEP = "version, action, who, at, why"


def entries(database: Database, statuses: Sequence[Status]) -> tuple[Entry, ...]:
    """All entries of these statuses, by id."""
    chosen = "SELECT id FROM patterns WHERE status IN (SELECT value FROM json_each(?))"
    return _read(database, chosen, json.dumps(statuses))


def entries_of(database: Database, ids: Collection[str]) -> tuple[Entry, ...]:
    """The entries of these ids, by id."""
    return _read(database, "SELECT value FROM json_each(?)", json.dumps(sorted(ids)))


def find(database: Database, pattern_id: str) -> Entry | None:
    """The entry of that id, if there is one."""
    return next(iter(_read(database, "SELECT ?", encodable(pattern_id))), None)


def entry(database: Database, pattern_id: str) -> Entry:
    """The entry of that id."""
    found = find(database, pattern_id)
    if found is None:
        raise PatternNotFound(
            f"There is no fault pattern {pattern_id[:80]!r} in the library.",
            "firstfault library show lists those that are there.",
        )
    return found


def versions(database: Database, pattern_id: str) -> tuple[Pattern, ...]:
    """Every version of the pattern's words that is here, the oldest first."""
    rows = database.rows("SELECT body FROM versions WHERE pattern = ? ORDER BY version", (pattern_id,))
    return tuple(pattern_of(database, pattern_id, body) for (body,) in rows)


def history(database: Database) -> Iterator[tuple[str, Step]]:
    """Every step with its pattern's id, in the order in which they were written."""
    for pattern_id, *step in database.rows(f"SELECT pattern, {_STEP} FROM history ORDER BY number"):  # noqa: S608
        yield pattern_id, _as_step(step)


def pattern_of(database: Database, pattern_id: str, body: str | None) -> Pattern:
    """A pattern as it was stored."""
    try:
        return _validated(body or "")
    except ValidationError as error:
        raise LibraryUnavailable(
            f"The fault library {database.path} holds {pattern_id!r} in a form that this Firstfault cannot read.",
            "The file was left as it is. Was it written by a newer Firstfault? Put a backup in its place if not.",
        ) from error


# A diagnosis reads all patterns in use twice; of the seeds there are 171. It cannot be changed, so it is read once.
@lru_cache(maxsize=1 << 9)
def _validated(body: str) -> Pattern:
    return Pattern.model_validate_json(body)


def save(database: Database, before: Entry | None, after: Entry) -> None:
    """Write what ``after`` has beyond ``before``; inside a transaction, in which ``before`` was read."""
    if after is before:
        return
    known = () if before is None else (before.history, before.sightings)
    _save_pattern(database, before, after)
    for step in after.history[len(known[0]) if known else 0 :]:
        database.run(
            f"INSERT INTO history (pattern, {_STEP}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own columns
            (after.id, step.version, step.action, step.who, step.at, step.why),
        )
    for sighting in after.sightings[len(known[1]) if known else 0 :]:
        add_sighting(database, after.id, sighting)


def add_sighting(database: Database, pattern_id: str, sighting: Sighting) -> bool:
    """Note the job; False when it was noted before."""
    return bool(
        database.run(
            "INSERT INTO sightings (pattern, job, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (pattern_id, sighting.job, sighting.at),
        )
    )


def note(database: Database, name: str) -> str:
    """A remark of the library about itself; empty when there is none."""
    return next((value for (value,) in database.rows("SELECT value FROM meta WHERE name = ?", (name,))), "")


def set_note(database: Database, name: str, value: str) -> None:
    """Keep a remark of the library about itself."""
    database.run(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _save_pattern(database: Database, before: Entry | None, after: Entry) -> None:
    state = (after.version, after.revision, after.status, after.origin, after.superseded_by, after.id)
    if before is None:
        database.run(
            "INSERT INTO patterns (version, revision, status, origin, superseded_by, id) VALUES (?, ?, ?, ?, ?, ?)",
            state,
        )
    else:
        database.run(
            "UPDATE patterns SET version = ?, revision = ?, status = ?, origin = ?, superseded_by = ? WHERE id = ?",
            state,
        )
    if before is None or before.version != after.version:
        body = after.pattern.model_dump_json()
        database.run("INSERT INTO versions (pattern, version, body) VALUES (?, ?, ?)", (after.id, after.version, body))


def _read(database: Database, chosen: str, value: str) -> tuple[Entry, ...]:
    """The entries whose ids are chosen by a SELECT with one value."""
    steps: dict[str, list[Step]] = defaultdict(list)
    sightings: dict[str, list[Sighting]] = defaultdict(list)
    with database.reading():
        current = database.rows(f"{_CURRENT} WHERE p.id IN ({chosen}) ORDER BY p.id", (value,))
        for pattern_id, *step in database.rows(
            f"SELECT pattern, {_STEP} FROM history WHERE pattern IN ({chosen}) ORDER BY number",  # noqa: S608
            (value,),
        ):
            steps[pattern_id].append(_as_step(step))
        for pattern_id, job, at in database.rows(
            f"SELECT pattern, job, at FROM sightings WHERE pattern IN ({chosen}) ORDER BY number",  # noqa: S608
            (value,),
        ):
            sightings[pattern_id].append(Sighting(job=job, at=at))
    return tuple(
        Entry(
            pattern=pattern_of(database, pattern_id, body),
            version=version,
            revision=revision,
            status=Status(status),
            origin=Origin(origin),
            superseded_by=superseded_by,
            history=tuple(steps[pattern_id]),
            sightings=tuple(sightings[pattern_id]),
        )
        for pattern_id, version, revision, status, origin, superseded_by, body in current
    )


def _as_step(row: Sequence[str | int]) -> Step:
    return Step.model_validate(dict(zip(_STEP.split(", "), row, strict=True)))
