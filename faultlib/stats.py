"""What a library holds, counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from faultlib.database import Database
from faultlib.pattern import Origin, Status
from faultlib.search import Search


@dataclass(frozen=True, slots=True)
class Stats:
    """What a library holds."""

    by_status: Mapping[Status, int]
    by_origin: Mapping[Origin, int]
    sightings: int
    steps: int
    vectors_by_model: Mapping[str, int]
    index: str
    index_state: str
    bytes: int
    writable: bool


def count(database: Database, search: Search) -> Stats:
    """Count it all at one moment."""
    with database.reading():
        rows = database.rows
        statuses = {Status(name): many for name, many in rows("SELECT status, count(*) FROM patterns GROUP BY status")}
        origins = {Origin(name): many for name, many in rows("SELECT origin, count(*) FROM patterns GROUP BY origin")}
        [(sightings,)] = rows("SELECT count(*) FROM sightings")
        [(steps,)] = rows("SELECT count(*) FROM history")
        [(pages, size)] = rows("SELECT page_count, page_size FROM pragma_page_count, pragma_page_size")
    return Stats(
        MappingProxyType(statuses),
        MappingProxyType(origins),
        sightings,
        steps,
        MappingProxyType(search.vectors_by_model()),
        search.index.kind,
        search.index.state,
        pages * size,
        database.writable,
    )
