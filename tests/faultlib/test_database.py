"""The library's file: whole, private, readable where it cannot be written, and never lost."""

import shutil
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from faultlib import database
from faultlib.answers import Answers, Verdict
from faultlib.database import FILE, open_database
from faultlib.errors import LibraryUnavailable
from tests.support.libraries import opened, program, said
from tests.support.library_entries import pattern


def filled(folder: Path, count: int = 3) -> Path:
    with opened(folder) as library:
        for number in range(count):
            library.draft(pattern(f"d-{number}", cause="Dust. " * 500), who="ada", job="j1")
            library.approve(f"d-{number}", who="bob", revision=1)
            library.answer(f"d-{number}", "j2", Verdict.RIGHT, who="cleo")
    return folder / FILE


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """Patterns hold log lines: folder 0700, every file in it 0600, while it is used too."""
    with opened(tmp_path / "lib") as library:
        library.draft(pattern("nic"), who="ada", job="j1")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "lib").iterdir()}
    assert stat.S_IMODE((tmp_path / "lib").stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert FILE in modes


def test_each_write_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was approved survives a power cut: SQLite's FULL, which other tests do without."""
    monkeypatch.setattr(sqlite3, "connect", sqlite3.dbapi2.connect)

    connection = database._connect(filled(tmp_path))

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


def test_a_write_is_all_or_nothing(tmp_path: Path) -> None:
    """What fails half-way leaves no trace, and the next write works."""
    store = open_database(tmp_path)

    def half() -> None:
        with store.writing():
            store.run("INSERT INTO meta VALUES ('a', 'b')")
            raise KeyError("in between")

    with pytest.raises(KeyError):
        half()
    assert store.rows("SELECT * FROM meta") == []
    with store.writing():
        store.run("INSERT INTO meta VALUES ('a', 'b')")
    assert store.rows("SELECT * FROM meta") == [("a", "b")]
    store.close()


@pytest.mark.parametrize("table", ["patterns", "versions", "history", "sightings", "answers"])
def test_nothing_is_deleted(tmp_path: Path, table: str) -> None:
    """Not even by a program of ours with a mistake in it."""
    path = filled(tmp_path)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match=f"nothing of {table} is deleted"):
        connection.execute(f"DELETE FROM {table}")
    connection.close()


@pytest.mark.parametrize(("table", "column"), [("versions", "body"), ("history", "who"), ("sightings", "job")])
def test_what_was_said_and_done_is_not_changed(tmp_path: Path, table: str, column: str) -> None:
    """Words of a version, steps and sightings are only ever added."""
    connection = sqlite3.connect(filled(tmp_path))
    with pytest.raises(sqlite3.IntegrityError, match=f"nothing of {table} is changed"):
        connection.execute(f"UPDATE {table} SET {column} = 'x'")
    connection.close()


def test_a_newer_library_is_not_touched(tmp_path: Path) -> None:
    """An old Firstfault says that it is old."""
    connection = sqlite3.connect(filled(tmp_path))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LibraryUnavailable, match="newer Firstfault") as refused:
        open_database(tmp_path)
    assert "Update" in refused.value.hint


def test_a_database_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    """A file that happens to have our name is no library, and stays as it is."""
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(LibraryUnavailable, match="no fault library"):
        open_database(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize("damage", ["half", "garbage", "page", "text", "words", "nothing"])
def test_a_damaged_library_is_told_and_kept(tmp_path: Path, damage: str) -> None:
    """Truncated or overwritten: a clear error that says what to do, and not a byte of it is changed."""
    path = filled(tmp_path, 20)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "half": whole[:middle],
            "garbage": b"\x5a" * len(whole),
            "page": whole[:middle] + b"\x5a" * 4_096 + whole[middle + 4_096 :],
            "text": b"not a database",
            "words": whole.replace(b"CREATE TABLE ", b"CREATE T\xb3BLE ", 1),  # which SQLite repeats, and is no UTF-8
            "nothing": b"",
        }[damage]
    )
    before = path.read_bytes()
    with pytest.raises(LibraryUnavailable, match="is damaged") as told:
        open_database(tmp_path)
    assert "backup" in told.value.hint
    assert path.read_bytes() == before


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """The write that does not fit is refused as a whole; what was there is there, and smaller writes go on."""
    filled(tmp_path)
    library = opened(tmp_path)
    before = library.entries()
    [(pages,)] = library._database.rows("PRAGMA page_count")
    library._database.rows(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(LibraryUnavailable, match="disk is full") as refused:
        library.draft(pattern("big", evidence="x" * 8_000, sources=("y" * 4_000,) * 9), who="ada", job="j1")
    assert "Make room" in refused.value.hint
    assert library.entries() == before
    assert library.sighted("d-0", "j2")
    library.close()


def test_a_locked_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that holds the lock for ever does not hang us; reading goes on."""
    filled(tmp_path)
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with opened(tmp_path) as library:
        with pytest.raises(LibraryUnavailable, match="locked by another program"):
            library.sighted("d-0", "j2")
        assert len(library.entries()) == 3
    other.close()


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    """The library's folder cannot be made: no trace of a foreign error."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LibraryUnavailable, match="cannot be used"):
        open_database(tmp_path / "file" / "lib")


def test_what_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    """A library on a read-only disk answers; whoever writes is told that nothing was changed."""
    filled(tmp_path)
    (tmp_path / FILE).chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with program("reader", tmp_path) as process:
            first = said(process)
            if "do not count" in first:
                pytest.skip(first)
            assert first == "d-0 d-1 d-2"
            assert said(process) == "d-0"
            assert said(process).startswith(f"True The fault library {tmp_path / FILE} can only be read")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_copy_with_unfinished_writes_is_not_read_half(tmp_path: Path) -> None:
    """Writes that still wait in the WAL would be missing: better a clear error than an old library."""
    live, copy = tmp_path / "live", tmp_path / "copy"
    copy.mkdir()
    library = opened(live)
    library.draft(pattern("nic"), who="ada", job="j1")
    for name in (FILE, f"{FILE}-wal"):
        shutil.copy(live / name, copy / name)
        (copy / name).chmod(0o400)
    library.close()
    copy.chmod(0o500)
    try:
        with program("reader", copy) as process:
            first = said(process)
            if "do not count" in first:
                pytest.skip(first)
            assert first == f"unavailable: The fault library {copy / FILE} cannot be opened."
    finally:
        copy.chmod(0o700)
    with opened(copy) as whole:
        assert [entry.id for entry in whole.entries()] == ["nic"]


def test_many_open_a_new_library_at_once(tmp_path: Path) -> None:
    """The first second of a new installation: everybody gets the library, and there is one."""
    together = Barrier(6)

    def open_and_write(folder: Path, number: int) -> None:
        together.wait()
        store = open_database(folder)
        with store.writing():
            store.run("INSERT INTO meta VALUES (?, '')", (str(number),))
        store.close()

    for attempt in range(10):
        folder = tmp_path / str(attempt)
        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(open_and_write, folder, number) for number in range(6)]:
                done.result()
        store = open_database(folder)
        assert len(store.rows("SELECT * FROM meta")) == 6
        store.close()


def test_a_library_of_the_first_schema_loses_nothing(tmp_path: Path) -> None:
    """Opened by this version it keeps every pattern, step and job, and takes answers from then on."""
    path = filled(tmp_path)
    with opened(tmp_path) as library:
        before = library.entries()
    connection = sqlite3.connect(path)
    connection.executescript("DROP TABLE answers; PRAGMA user_version = 1;")  # schema 2 only adds this
    connection.close()

    with opened(tmp_path) as library:
        after, none = library.entries(), library.answers()
        library.answer("d-0", "j9", Verdict.WRONG, who="ada")
        now = library.answers()

    assert after == before
    assert none == {}
    assert now == {"d-0": Answers(right=0, wrong=1)}
