"""The SQLite file below the state: connections, transactions, versions, and foreign errors translated once.

Write-ahead log, so that readers never wait for a writer; every write is a ``BEGIN IMMEDIATE`` transaction, so that two
processes never both believe to have read the newest row. One connection a thread. The file must be on a local disk: the
write-ahead log needs shared memory.
"""

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from bot.state.errors import RunForgotten, StateUnavailable

Row = dict[str, Any]
T = TypeVar("T")

BUSY_SECONDS = 5.0  # a write takes about a millisecond: whoever waits this long waits for something that hangs
_AGAIN_SECONDS = 0.02  # an opening takes about that long
_ASK_SECONDS = 0.005  # a write takes about a millisecond, and five on a slow disk
APPLICATION = 0x46464C54  # "FFLT", so that another program's file is not taken for ours
_HINTS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space; nothing that was stored before is lost."),
    sqlite3.SQLITE_BUSY: ("another process holds it locked", "Is it on a local disk, and is no backup holding it?"),
    sqlite3.SQLITE_LOCKED: ("another process holds it locked", "Is it on a local disk, and is no backup holding it?"),
    sqlite3.SQLITE_READONLY: ("it is read-only", "Let the bot's user write to the file and to its folder."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Let the bot's user write to the file and to its folder."),
    sqlite3.SQLITE_PERM: ("it is forbidden", "Let the bot's user write to the file and to its folder."),
    sqlite3.SQLITE_IOERR: ("the disk does not answer", "Look at the disk; the kernel log may tell more."),
}
_RESTORE = (
    "Restore a backup (docs/how-to/operate.md), or move the file aside with its -wal and -shm: runs and threads start"
    " anew, the fault library is kept elsewhere."
)
_DAMAGED = ("it is damaged", _RESTORE)
_DAMAGES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_SAID = ("no such table", "no such column", "Could not decode")  # damage for which SQLite has no code of its own
_WHOLE_CHECK = 32_000_000  # bytes up to which an opening checks indexes too: 60 ms; beyond, pages alone
_TYPES = {"TEXT": str, "INTEGER": int}


class Database:
    """One file; ``migrations[n]`` brings it from version n to n + 1."""

    def __init__(self, path: Path, migrations: tuple[str, ...], *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._connections: dict[threading.Thread, sqlite3.Connection] = {}
        self._opening = threading.Lock()
        self._door, self._writing = threading.Lock(), threading.Lock()
        self._writer: threading.Thread | None = None  # whose transaction is under way
        self._declared: dict[str, tuple[type, bool]] = {}  # of each column: what it holds, and whether always
        with ExitStack() as failed, self._translated():
            failed.callback(self.close)
            if not _created(path, time.monotonic() + busy_seconds):
                raise self._unavailable(*_DAMAGED)
            self._prepare(migrations)
            self._declared = self._declarations()
            failed.pop_all()

    def query(self, sql: str, *values: object) -> list[Row]:
        """All rows of a SELECT."""
        with self._translated():
            return self._connection().execute(sql, _bound(values)).fetchall()

    def read(self, make: Callable[[Row], T], sql: str, *values: object) -> Iterator[T]:
        """What ``make`` makes of each row of a SELECT; bytes of which it can make nothing are damage."""
        for row in self.query(sql, *values):
            try:
                made = make(row)
            except (ValueError, TypeError, KeyError, RecursionError) as error:  # all that json and pydantic raise, too
                raise self._unavailable(*_DAMAGED) from error
            yield made

    def execute(self, sql: str, *values: object) -> int:
        """Change something, in the running transaction or in one of its own; the number of changed rows."""
        with self.transaction(), self._translated():
            return self._connection().execute(sql, _bound(values)).rowcount

    def insert(self, table: str, conflict: str = "", **columns: object) -> int:
        """A new row; conflict: what is done where it is there already, in SQL. The number of changed rows."""
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks}) {conflict}"  # noqa: S608 names of ours
        return self.execute(sql, *columns.values())

    @contextmanager
    def transaction(self, patience: float | None = None) -> Iterator[None]:
        """All or nothing; a transaction within a transaction is a part of it.

        Args:
            patience: seconds to wait for other writers, when they are fewer than the file's own.
        """
        if self._writer is threading.current_thread():
            yield
            return
        end = time.monotonic() + (self._busy_seconds if patience is None else min(patience, self._busy_seconds))
        self._take_turn(end, hurried=patience is not None)
        try:
            self._writer = threading.current_thread()
            yield from self._outermost(end)
        finally:
            self._writer = None
            self._writing.release()

    def _take_turn(self, end: float, *, hurried: bool) -> None:
        """Of the threads of this process one writes.

        Those in no hurry queue up before the door, so that whoever is in a hurry meets one of them at most.
        """
        at_door = hurried or self._door.acquire(timeout=max(0.0, end - time.monotonic()))
        try:
            if not (at_door and self._writing.acquire(timeout=max(0.0, end - time.monotonic()))):
                raise self._unavailable(*_HINTS[sqlite3.SQLITE_BUSY])
        finally:
            if at_door and not hurried:
                self._door.release()

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._opening:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _outermost(self, end: float) -> Iterator[None]:
        with self._translated():
            connection = self._connection()
            self._begin(connection, end)
        try:
            yield
            with self._translated():
                connection.execute("COMMIT")
        finally:
            if connection.in_transaction:  # after a full disk SQLite has rolled back already
                connection.execute("ROLLBACK")

    def _begin(self, connection: sqlite3.Connection, end: float) -> None:
        """Wait for writers of other processes by asking often.

        SQLite's own way is to pause, for up to 0.1 s between two tries: of two bots under a crowd one found the file
        locked for two seconds.
        """
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                        raise
                    time.sleep(_ASK_SECONDS)
                else:
                    return
        finally:
            connection.execute(f"PRAGMA busy_timeout = {self._busy_seconds * 1000:.0f}")

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread; those of threads that ended are closed on the way."""
        me = threading.current_thread()
        found = self._connections.get(me)
        if found is not None:
            return found
        with self._opening:
            for thread in [thread for thread in self._connections if not thread.is_alive()]:
                self._connections.pop(thread).close()
            self._connections[me] = opened = self._open()
        return opened

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as failed:
            failed.callback(connection.close)  # a damaged file is met by the first statement
            connection.row_factory = self._row
            connection.execute("PRAGMA synchronous = FULL")  # an approval that was answered survives a power cut
            connection.execute("PRAGMA foreign_keys = ON")
            failed.pop_all()
        return connection

    def _prepare(self, migrations: tuple[str, ...]) -> None:
        """Check and migrate; while another process does the same, SQLite says "locked" without waiting.

        Measured with six processes on 150 new files: 17 of 900 openings failed without this, none with it.
        """
        end = time.monotonic() + self._busy_seconds
        while True:
            try:
                self._check()
                self._migrate(migrations)
                return
            except StateUnavailable as trouble:
                code = getattr(trouble.__cause__, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
            time.sleep(_AGAIN_SECONDS)

    def _check(self) -> None:
        """Refuse what is damaged or not ours before anything is written."""
        check = "integrity_check" if self.path.stat().st_size < _WHOLE_CHECK else "quick_check"
        if [row[check] for row in self.query(f"PRAGMA {check}(1)")] != ["ok"]:
            raise self._unavailable(*_DAMAGED)
        row = self.query(  # in one statement: another process may be making the tables right now
            "SELECT application_id, (SELECT count(*) FROM sqlite_master) AS tables FROM pragma_application_id"
        )[0]
        if row["application_id"] != APPLICATION and row["tables"]:
            raise self._unavailable("it is a database of another program", "Choose another file.")

    def _migrate(self, migrations: tuple[str, ...]) -> None:
        if self.query("PRAGMA journal_mode")[0]["journal_mode"] != "wal":
            self.query("PRAGMA journal_mode = WAL")
        with self.transaction():
            version = self.query("PRAGMA user_version")[0]["user_version"]
            if version > len(migrations):
                raise self._unavailable(
                    f"it has version {version}, and this Firstfault knows {len(migrations)}",
                    "A newer Firstfault has used it: upgrade this one, or choose another file.",
                )
            for script in migrations[version:]:
                for statement in _statements(script):
                    self.execute(statement)
            if version < len(migrations):
                self.execute(f"PRAGMA user_version = {len(migrations)}")
                self.execute(f"PRAGMA application_id = {APPLICATION}")

    def _declarations(self) -> dict[str, tuple[type, bool]]:
        """What columns hold, by name; those that hold one thing here and another there are left out."""
        found: dict[str, set[tuple[type, bool]]] = {}
        for row in self.query(
            'SELECT p.name AS name, p.type AS type, p."notnull" AS always'
            " FROM sqlite_master AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table'"
        ):
            if row["type"] in _TYPES:
                found.setdefault(row["name"], set()).add((_TYPES[row["type"]], bool(row["always"])))
        return {name: next(iter(declared)) for name, declared in found.items() if len(declared) == 1}

    def _row(self, cursor: sqlite3.Cursor, values: tuple[object, ...]) -> Row:
        """A row by the names of its columns.

        SQLite itself believes any type in any column, so that one damaged byte turns a number into text.
        """
        row = {}
        for column, value in zip(cursor.description, values, strict=True):
            name, shown = column[0], value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
            kind, always = self._declared.get(name, (object, False))
            if not isinstance(shown, kind) and (always or shown is not None):
                raise ValueError(f"{name} is no {kind.__name__}")
            row[name] = shown
        return row

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:  # all of ours lead to runs
                raise RunForgotten from error
            raise  # a mistake of ours, no trouble with the file
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            primary = code & 0xFF if code is not None else None  # the upper bits tell the kind of I/O error
            if primary in _DAMAGES:
                raise self._unavailable(*_DAMAGED) from error
            if primary in _HINTS:
                raise self._unavailable(*_HINTS[primary]) from error
            if str(error).startswith(_NOT_SAID):
                raise self._unavailable(*_DAMAGED) from error
            raise
        except ValueError as error:  # of ``_row``, UnicodeDecodeError among them
            raise self._unavailable(*_DAMAGED) from error
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise self._unavailable(reason, "Let the bot's user write to the file and to its folder.") from error

    def _unavailable(self, reason: str, hint: str) -> StateUnavailable:
        return StateUnavailable(f"The state file {self.path} cannot be used: {reason}.", hint)


def _created(path: Path, end: float) -> bool:
    """Make the file when it is not there; false: it is there, and empty, which only damage makes of a state.

    Only the bot's user may read what people wrote; SQLite gives its side files the mode of the file.

    Args:
        end: monotonic seconds; until then another process may be making it, which takes milliseconds.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is no plain file")
    with suppress(FileExistsError):  # never opened when it is there: closing it would drop SQLite's locks
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        return True
    while not path.stat().st_size:
        if time.monotonic() > end:
            return False
        time.sleep(_AGAIN_SECONDS)
    return True


def _statements(script: str) -> Iterator[str]:
    """Single statements: ``executescript`` would commit our transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _bound(values: tuple[object, ...]) -> list[object]:
    return [_stored(value) for value in values]


def _stored(value: object) -> object:
    """As SQLite takes it; text with lone surrogates, which is no UTF-8, as the bytes that Python would make of it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")  # of one length, and all UTC: sorts like time
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
        return str(value)
    return value
