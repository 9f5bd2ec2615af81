"""The library's SQLite file: made whole or not at all, written in one piece, readable where nothing can be written.

A connection belongs to the thread and the process that opened it. Writers queue for a lock; a write that was
acknowledged is on disk.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faultlib.errors import LibraryUnavailable
from faultlib.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, STATEMENTS

FILE = "library.db"
BUSY_SECONDS = 5.0  # a write takes milliseconds; who waits longer meets a program that hangs
_QUICK_CHECK_BYTES = 32_000_000  # 36 MB (10,000 patterns) take 0.04 s, 80 patterns 0.2 ms

Value = str | int | bytes
Row = tuple[Any, ...]


class Database:
    """One connection. Reads see one state of the library, writes are all or nothing."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """All rows of a SELECT."""
        with _translated(self.path):
            return self._connection.execute(statement, values).fetchall()

    def run(self, statement: str, values: Sequence[Value] = ()) -> int:
        """Change something; the number of rows that changed."""
        with _translated(self.path):
            return self._connection.execute(statement, values).rowcount

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several SELECTs that see the same state; within a write, that of the write."""
        if self._connection.in_transaction:
            yield
            return
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All of it or nothing; other writers wait. Within another one it is a part of that."""
        if not self.writable:
            raise LibraryUnavailable(
                f"The fault library {self.path} can only be read.",
                "Nothing was changed. Work as a user who may write there, or name another folder.",
            )
        if self._connection.in_transaction:
            yield
            return
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    def state(self) -> tuple[int, int]:
        """Differs when anything was written since, by this connection or by another."""
        return self.rows("PRAGMA data_version")[0][0], self._connection.total_changes

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with _translated(self.path):
            self._connection.execute(begin)
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:  # something failed, the COMMIT itself maybe
                    self._connection.execute("ROLLBACK")


def open_database(folder: Path) -> Database:
    """Open the library in the folder, and make it first where it is missing."""
    path = folder / FILE
    with _translated(path):
        writable = _make(path)
        database = Database(_connect(path) if writable else _connect_for_reading(path), path, writable=writable)
        try:
            _check(database)
            _migrate(database)
        except BaseException:  # whatever ends this, also Ctrl-C: the file must not stay open
            database.close()
            raise
    return database


def _make(path: Path) -> bool:
    """Make the library where there is none; False when it is there and can only be read.

    It gets its name when it is complete, so a kill leaves either none or a whole one. The lock is needed because
    processes that change a new database to WAL at the same time are told "locked" without any wait (SQLite 3.40).
    """
    if path.exists():
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock"), wait=True):
        if not path.exists():
            new = path.with_suffix(".new")
            for leftover in (new, Path(f"{new}-wal"), Path(f"{new}-shm")):
                leftover.unlink(missing_ok=True)
            new.touch(mode=0o600)
            _fill(new)
            new.replace(path)
    return True


def _fill(path: Path) -> None:
    connection = _connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in STATEMENTS:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()


def _connect(path: Path, mode: str = "mode=rw") -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("SELECT count(*) FROM sqlite_master")  # the first look at the file
    except BaseException:  # as above
        connection.close()
        raise
    return connection


def _connect_for_reading(path: Path) -> sqlite3.Connection:
    """Read only; "immutable" where SQLite could not even make its shared memory, if no write waits in the WAL."""
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError:
        wal = Path(f"{path}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        return _connect(path, "mode=ro&immutable=1")


def _check(database: Database) -> None:
    path = database.path
    if not path.stat().st_size:  # it gets its name when it is complete
        raise _damaged(path)
    [(application,)] = database.rows("PRAGMA application_id")
    version = _version(database)
    if application != APPLICATION_ID or version < 1:
        raise LibraryUnavailable(f"{path} is a database, but no fault library.", "Name another folder.")
    if version > SCHEMA_VERSION:
        raise LibraryUnavailable(
            f"The fault library {path} was written by a newer Firstfault (schema {version}, known up to"
            f" {SCHEMA_VERSION}).",
            "Update Firstfault here, or name another folder.",
        )
    if path.stat().st_size <= _QUICK_CHECK_BYTES and database.rows("PRAGMA quick_check(1)") != [("ok",)]:
        raise _damaged(path)


def _migrate(database: Database) -> None:
    """Bring a library of an older version up to this one, in one transaction; what can only be read stays as it is."""
    if not database.writable or _version(database) == SCHEMA_VERSION:
        return
    with database.writing():
        for version in range(_version(database) + 1, SCHEMA_VERSION + 1):  # asked again: another one may have done it
            for statement in MIGRATIONS[version]:
                database.run(statement)
        database.run(f"PRAGMA user_version={SCHEMA_VERSION}")


def _version(database: Database) -> int:
    [(version,)] = database.rows("PRAGMA user_version")
    return int(version)


def encodable(text: str) -> str:
    """Without the lone surrogates that stand for undecodable bytes of a command line; SQLite knows UTF-8 only."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[int | None]:
    """Hold a lock between processes, that ends with the process; None when another one holds it and we do not wait."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield handle
    finally:
        os.close(handle)


def _damaged(path: Path) -> LibraryUnavailable:
    return LibraryUnavailable(
        f"The fault library {path} is damaged.",
        "The file was left as it is. Put a backup in its place, or move it away and import your last export.",
    )


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's and the system's errors become ours, with what to try."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake of ours: a closed library, another thread
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise _damaged(path) from error
        reason, hint = _REASONS.get(code, (f"failed: {error}", "Is the disk healthy? firstfault check tells more."))
        raise LibraryUnavailable(f"The fault library {path} {reason}.", hint) from error
    except UnicodeDecodeError as error:  # of a text that is no UTF-8, or of SQLite's words about a damaged table
        raise _damaged(path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LibraryUnavailable(
            f"The fault library {path} cannot be used: {reason}.", "Name a folder that you may write to."
        ) from error


_REASONS = {
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Nothing was changed. Make room and try again."),
    sqlite3.SQLITE_BUSY: ("is locked by another program", "Nothing was changed. Try again in some seconds."),
    sqlite3.SQLITE_READONLY: ("can only be read", "Nothing was changed. Is the disk mounted read-only?"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "May you read and write there? Is the disk mounted?"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Is the disk healthy and not full?"),
}
