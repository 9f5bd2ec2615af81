"""Reports and plots that are still to be drawn: a queue of its own, so that nobody waits for pictures."""

from dataclasses import dataclass
from datetime import timedelta

from bot.state import leases
from bot.state.database import Database
from bot.state.small_values import Clock, Status, Table, new_id, value_of

SCHEMA = f"""
CREATE TABLE drawings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE, {leases.COLUMNS},
    begun INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX drawings_by_status ON drawings (status, lease_until);
CREATE INDEX drawings_to_tell ON drawings (told, lease_until);
"""
_ANSWERED = "EXISTS (SELECT 1 FROM runs WHERE runs.id = this.run AND runs.told = 1)"  # the words come first


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn for a run, and how often a child died over it."""

    id: str
    run: str
    attempts: int


class Drawings(Table):
    """All drawings; ``leases`` is for those who draw."""

    def __init__(self, database: Database, clock: Clock, *, lease: timedelta = leases.LEASE) -> None:
        super().__init__(database, clock)
        self.leases = leases.Leases(database, clock, table="drawings", condition=_ANSWERED, lease=lease)

    def add(self, run: str) -> None:
        """Draw the answer of this run, once somebody has been told of it; done twice it is added once."""
        self._database.insert("drawings", "ON CONFLICT (run) DO NOTHING", id=new_id("d"), run=run, status=Status.QUEUED)

    def get(self, drawing_id: str) -> Drawing | None:
        """The drawing with this id."""
        rows = self._database.query("SELECT * FROM drawings WHERE id = ?", drawing_id)
        return value_of(Drawing, rows[0]) if rows else None
