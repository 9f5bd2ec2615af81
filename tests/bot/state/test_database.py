"""The file below the state: private, shared by processes, and plain about its troubles."""

import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.support.patience import PATIENCE
from bot.state.database import Database
from bot.state.errors import StateUnavailable
from bot.state.state import MIGRATIONS, State, open_state
from tests.support.places import ROOT
from tests.support.states import Hands, ask, asking, now

ANY_TEXT = st.text(st.characters(), max_size=20)  # with lone surrogates, control bytes and NUL


def test_only_the_bots_user_can_read_it(state: State) -> None:
    """What people wrote in Slack is in a folder 0700 and a file 0600, side files as well."""
    ask(state)

    folder = state.database.path.parent

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "state.db": 0o600,
        "state.db-wal": 0o600,
        "state.db-shm": 0o600,
    }


def test_each_write_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An approval that was answered survives a power cut: SQLite's FULL, which other tests do without."""
    monkeypatch.setattr(sqlite3, "connect", sqlite3.dbapi2.connect)
    state = open_state(tmp_path / "state.db")

    (row,) = state.database.query("PRAGMA synchronous")
    state.close()

    assert row["synchronous"] == 2


def test_what_was_stored_is_there_after_a_restart(state: State) -> None:
    """A second opening finds everything, and changes nothing."""
    run = ask(state)
    state.close()

    again = open_state(state.database.path, clock=state.clock)

    assert again.runs.get(run.id) == run
    again.close()


def test_all_or_nothing(state: State) -> None:
    """When something inside ``together`` fails, nothing of it is stored, and the next write works."""

    def halfway() -> None:
        with state.together():
            state.writable()
            ask(state)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        halfway()

    assert state.runs.active("T1") == ()
    assert state.database.query("SELECT * FROM seen") == []


def test_a_newer_state_is_refused(state: State) -> None:
    """An older Firstfault does not touch what a newer one wrote, and says so."""
    state.database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    state.close()

    with pytest.raises(
        StateUnavailable, match=f"version {len(MIGRATIONS) + 1}, and this Firstfault knows {len(MIGRATIONS)}"
    ) as refused:
        open_state(state.database.path)

    assert "upgrade" in refused.value.hint


def test_a_state_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """What people decided with the version before stays decided; an approval that it left half done is pending."""
    path = tmp_path / "state.db"
    old = Database(path, MIGRATIONS[:1])
    old.execute(
        "INSERT INTO runs (id, team, channel, job, asked_by, asked_at, asked_through, thread_ts, status)"
        " VALUES ('r-1', 'T1', 'C1', 'f07', 'U1', '2026-11-21T04:11:30+00:00', 'command', '', 'done')"
    )
    old.execute(
        "INSERT INTO decisions (run, revision, verdict, by, at, reason, archiving_until)"
        " VALUES ('r-1', 1, 'approved', 'U1', '2026-11-21T04:12:00+00:00', '', '2026-11-21T04:13:00+00:00')"
    )
    old.close()

    state = open_state(path)

    decision = state.drafts.decision("r-1")
    state.close()
    assert decision is not None
    assert decision.pending
    assert (decision.by, decision.joins) == ("U1", "")


def test_deaths_of_bots_that_were_counted_before_are_forgiven(tmp_path: Path) -> None:
    """Until the third version a bot that was restarted three times burned the runs that it held."""
    path = tmp_path / "state.db"
    old = Database(path, MIGRATIONS[:3])
    for status in ("queued", "running", "failed"):
        old.execute(
            "INSERT INTO runs (id, team, channel, job, asked_by, asked_at, asked_through, thread_ts, status, attempts)"
            " VALUES (?, 'T1', 'C1', ?, 'U1', '2026-11-21T04:11:30+00:00', 'command', '', ?, 3)",
            f"r-{status}", status, status,
        )  # fmt: skip
    old.close()

    state = open_state(path)

    found = {run.job: run.attempts for run in (*state.runs.active("T1"), *state.runs.recent("T1"))}
    state.close()
    assert found == {"queued": 0, "running": 0, "failed": 3}


def test_the_file_of_another_program_is_refused(tmp_path: Path) -> None:
    """A wrong path does not put our tables into somebody's database."""
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()

    with pytest.raises(StateUnavailable, match="another program"):
        open_state(path)

    after = sqlite3.connect(path)
    assert after.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    after.close()


@pytest.mark.parametrize("place", [0, 4096 * 3])
def test_a_damaged_file_is_told(state: State, place: int) -> None:
    """Damage in the header or in the middle is found at the start, with what to do."""
    for number in range(50):
        ask(state, f"job-{number}")
    state.close()
    with state.database.path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xa5" * 4096)

    with pytest.raises(StateUnavailable, match="damaged") as refused:
        open_state(state.database.path)

    assert "Restore a backup" in refused.value.hint


def test_a_full_disk_is_told_and_harms_nothing(state: State) -> None:
    """A write that does not fit is refused whole; when there is room again, all goes on."""
    run = ask(state)
    pages = state.database.query("PRAGMA page_count")[0]["page_count"]
    state.database.query(f"PRAGMA max_page_count = {pages}")

    def too_much() -> None:
        with state.together():
            for number in range(1000):
                ask(state, f"job-{number}-{'x' * 200}")

    with pytest.raises(StateUnavailable, match="disk is full") as refused:
        too_much()
    state.database.query("PRAGMA max_page_count = 100000")

    assert "space" in refused.value.hint
    assert state.runs.active("T1") == (run,)
    assert ask(state, "f42").status == "queued"


def test_a_file_that_is_locked_for_too_long_is_told(tmp_path: Path) -> None:
    """A backup that holds the file costs an error with a hint, and no hang; reading goes on."""
    state = open_state(tmp_path / "state.db", busy_seconds=0.05)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StateUnavailable, match="locked"):
        ask(state)

    assert state.runs.active("T1") == ()
    other.execute("ROLLBACK")
    other.close()
    assert ask(state).status == "queued"
    state.close()


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    """A wrong path is an error with a hint, not a trace."""
    (tmp_path / "file").write_text("", encoding="ascii")

    with pytest.raises(StateUnavailable, match="cannot be used"):
        open_state(tmp_path / "file" / "state.db")


def test_fifty_threads_share_it(state: State) -> None:
    """Fifty people who ask at once each get a run of their own, and those who ask the same get the same."""
    with ThreadPoolExecutor(50) as pool:
        runs = list(pool.map(lambda number: state.runs.ask(asking(f"job-{number % 25}")), range(50)))

    assert sum(asked.new for asked in runs) == 25
    assert len({asked.run.id for asked in runs}) == 25


def test_connections_of_ended_threads_are_closed(state: State) -> None:
    """A bot that runs for weeks does not collect open files."""
    for number in range(20):
        thread = Thread(target=ask, args=(state, f"job-{number}"))
        thread.start()
        thread.join()

    assert len(state.database._connections) <= 2


def test_a_file_that_cannot_be_opened_is_let_go(tmp_path: Path) -> None:
    """Its connection is closed at once, not when Python gets to it: Python 3.13 warns of that."""
    path = tmp_path / "state.db"
    path.write_bytes(b"no database " * 1000)

    with pytest.raises(StateUnavailable, match="it is damaged") as caught:
        open_state(path)

    still_open = [file for file in Path("/proc/self/fd").iterdir() if file.exists() and file.resolve() == path]
    assert still_open == []
    assert caught.value.__cause__ is not None  # whose frames would hold the connection


@pytest.mark.slow
def test_processes_may_open_it_at_once(tmp_path: Path) -> None:
    """Replicas that start together on a new file do not get into each other's way."""
    script = (
        "import sys; from pathlib import Path; from bot.state.state import open_state;"
        "from bot.state.runs import RunRequest, Trigger;"
        "s = open_state(Path(sys.argv[1]));"
        "[s.runs.ask(RunRequest(f'{sys.argv[2]}-{n}', 'T', 'C', 'U', Trigger.WATCH)) for n in range(20)]"
    )
    path = tmp_path / "state.db"
    starts = [
        subprocess.Popen([sys.executable, "-c", script, path, str(number)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    errors = [process.communicate(timeout=PATIENCE)[1] for process in starts]

    state = open_state(path)

    assert errors == [""] * 4
    assert len(state.runs.active("T")) == 80
    state.close()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(job=ANY_TEXT, user=ANY_TEXT)
def test_any_text_survives(state: State, job: str, user: str) -> None:
    """Control bytes, NUL and lone surrogates come back as they were, and are found again."""
    run = state.runs.ask(asking(job, user=user)).run

    assert now(state, run).job == job
    assert state.runs.ask(asking(job, user="another")).run.id == run.id


def test_times_are_utc_and_sort(state: State, clock: Hands) -> None:
    """A time at a full second sorts before one a microsecond later."""
    first = ask(state, "a")
    clock.forward(microseconds=1)
    second = ask(state, "b")

    rows = state.database.query("SELECT id FROM runs ORDER BY asked_at")

    assert [row["id"] for row in rows] == [first.id, second.id]
