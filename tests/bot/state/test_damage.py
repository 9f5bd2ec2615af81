"""Damaged bytes of a state are told as that, whatever holds them; nothing else ever comes out."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from threading import Timer

import pytest

from benchmarks.support.damage import Damage, blank, cut, flip, garbage, scatter
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from bot.state.drafts import Verdict
from bot.state.errors import StateUnavailable
from bot.state.followed import FollowStatus
from bot.state.inbox import Envelope
from bot.state.small_values import Status
from bot.state.state import MIGRATIONS, State, open_state
from bot.state.watches import WatchFinding
from tests.support import diagnoses
from tests.support.places import ROOT
from tests.support.states import asking, votes

SEEDS = 15  # ways of damage by chance, for each kind
RUNS = 3  # one that was approved, and two that were rejected: each is used at each of 700 openings


def fill(state: State) -> None:
    """Something in every table."""
    answer = SavedAnswer("f07", diagnoses.node_fault())
    for number in range(RUNS):
        run = state.runs.ask(asking(f"job-{number}")).run
        state.posts.posted(run.id, state.posts.intend(run.id, "parent").kind, f"1.{number}")
        state.posts.intend(run.id, "report")
        state.threads.own("T1", "C1", f"1.{number}", run.id)
        state.threads.add("T1", "C1", f"1.{number}", ts=f"2.{number}", user="U1", text="which node?")
        state.runs.leases.claim("w1")
        state.runs.save_answer(run.id, "w1", answer)
        state.drafts.save(run.id, {"title": "t", "cause": "c"}, by="U1", seen=0)
        state.drafts.decide(run.id, Verdict.APPROVED if number % 2 else Verdict.REJECTED, by="U1", seen=1)
        state.feedback.give(run.id, "U1", useful=True)
        state.audit.add("T1", "U1", what="approved", target=run.id, details={"job": run.job})
        if number % 2:
            state.runs.leases.conclude(run.id, "w1", Status.FAILED, Failure("no", "try", "NoLogs", "e-1"))
        watch, _ = state.watches.add(asking(f"watched-{number}"), limit=9)
        assert watch is not None
        state.watches.note(WatchFinding(0, watch.id, "silent", "rank 3", "it is silent"))
        state.watch_posts.intend(watch.id, "begun")
        state.drawings.add(run.id)
        follow, _ = state.follows.add("T1", f"C{number}", "U1")
        state.follow_posts.intend(follow.id, "begun")
        state.followed.add(f"ended-{number}", "lineage", FollowStatus.WAITS, follow.id)
    state.watches.keep("k1")
    state.writable()
    state.inbox.put([Envelope(f"k{number}", "command", {"text": "f07"}) for number in range(4)])
    for received in state.inbox.claim("i1", 2, ["command"]):
        state.inbox.once(received)("ask", lambda: ["r-1", True])


def use(state: State) -> None:
    """Read everything, and do what a bot does."""
    list(state.audit.entries())
    for run in (*state.runs.active("T1"), *state.runs.recent("T1")):
        state.runs.answer(run.id)
        state.runs.place(run.id)
        state.drafts.revisions(run.id)
        state.drafts.decision(run.id)
        votes(state, run)
        state.posts.intend(run.id, "parent")
        state.posts.intend(run.id, "report")
    for number in range(RUNS):
        state.threads.run_of("T1", "C1", f"1.{number}")
        state.threads.conversation("T1", "C1", f"1.{number}")
    state.watches.open()
    state.watches.untold()
    state.watches.keep("k1")
    for follow in state.follows.all():
        state.follow_posts.intend(follow.id, "begun")
        for job in state.followed.waiting(follow.id):
            state.followed.asked(job.job, "r-1", follow.id)
    state.followed.diagnosed()
    for leases in (state.runs.leases, state.threads.leases, state.drawings.leases):
        while leases.claim("w2"):
            pass
        while leases.claim_telling("w2"):
            pass
    for received in state.inbox.claim("i2", 4, ["command"]):
        state.inbox.once(received)("ask", lambda: ["r-1", True])
        state.inbox.done(received.seq)
    state.drafts.pending(state.clock())
    state.runs.ask(asking("one more"))


# --- ways of damage ---


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state that is well, as a bot leaves it that was killed: with a write-ahead log."""
    place, copy = tmp_path_factory.mktemp("live"), tmp_path_factory.mktemp("sound")
    state = open_state(place / "state.db")
    fill(state)
    state.database.query("PRAGMA wal_checkpoint(TRUNCATE)")  # most is in the file, the rest in the log
    state.runs.ask(asking("late"))
    for file in place.iterdir():
        shutil.copy(file, copy)
    state.close()
    return copy


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "state")
    return tmp_path / "state" / "state.db"


def opened_and_used(path: Path) -> str:
    """What became of it: "", or what was told."""
    try:
        state = open_state(path, busy_seconds=0.2)
    except StateUnavailable as trouble:
        return trouble.message + trouble.hint
    try:
        use(state)
    except StateUnavailable as trouble:
        return trouble.message + trouble.hint
    finally:
        state.close()
    return ""


@pytest.mark.parametrize("damage", [flip, scatter, cut, blank, garbage])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_damage_is_told_as_damage(sound: Path, tmp_path: Path, damage: Damage, suffix: str) -> None:
    """Of each file, by chance: either all of it still works, or a person reads that it is damaged and what to do."""
    found = set()
    for seed in range(SEEDS):
        place = tmp_path / str(seed)
        shutil.copytree(sound, place)
        damage(place / f"state.db{suffix}", random.Random(seed))
        found.add(opened_and_used(place / "state.db"))

    assert all("it is damaged" in words and "Restore a backup" in words for words in found - {""}), found
    if suffix == "" and damage is not flip:
        assert found - {""}


# Bytes that are no text, no bytes, words, a number beyond every bound, nothing; a fraction is one more number.
VALUES = ("x'fffe80'", "x''", "'nonsense'", "-4611686018427387904", "NULL")


def tables() -> dict[str, list[str]]:
    """Every table with its columns."""
    empty = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        empty.executescript(script)
    rows = empty.execute(
        "SELECT m.name, p.name FROM sqlite_master AS m, pragma_table_info(m.name) AS p"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"
    ).fetchall()
    empty.close()
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


def test_every_table_is_damaged(copied: Path) -> None:
    """A table that stands empty here would never be met damaged: four of twenty were."""
    with closing(sqlite3.connect(copied)) as state:
        assert [table for table in tables() if not state.execute(f"SELECT 1 FROM {table}").fetchall()] == []


@pytest.mark.slow
@pytest.mark.parametrize("table", tables())
def test_damage_in_a_value_is_told_as_damage(sound: Path, tmp_path: Path, table: str) -> None:
    """A value that nobody of ours wrote, in each column: it does no harm, or it is told."""
    sentences = []
    for column in tables()[table]:
        for number, value in enumerate(VALUES):
            place = tmp_path / f"{column}-{number}"
            shutil.copytree(sound, place)
            other = sqlite3.connect(place / "state.db")
            other.execute("DROP TRIGGER audit_is_not_changed")
            with suppress(sqlite3.IntegrityError):  # SQLite itself does not let it in
                other.execute(f"UPDATE {table} SET {column} = {value}")
                other.commit()
                sentences.append(opened_and_used(place / "state.db"))
            other.close()

    assert all("it is damaged" in sentence for sentence in sentences if sentence), sentences


@pytest.mark.parametrize("side", [True, False])
def test_an_emptied_file_is_no_new_one(copied: Path, *, side: bool) -> None:
    """To begin anew would be to forget every run and decision without a word; with its side files or without."""
    copied.write_bytes(b"")
    if not side:
        for suffix in ("-wal", "-shm"):
            Path(f"{copied}{suffix}").unlink()

    told = opened_and_used(copied)

    assert "it is damaged" in told
    assert "Restore a backup" in told
    assert copied.read_bytes() == b""


def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    """Between its name and its first page lie milliseconds."""
    place, made = tmp_path / "state.db", tmp_path / "made.db"
    open_state(made).close()
    place.touch()
    other = Timer(0.3, lambda: shutil.copy(made, place))
    other.start()
    try:
        open_state(place, busy_seconds=60).close()
    finally:
        other.join()


def test_a_place_that_is_no_file_is_told_at_once(tmp_path: Path) -> None:
    """A pipe would keep the bot waiting."""
    os.mkfifo(tmp_path / "state.db")
    with pytest.raises(StateUnavailable, match="no plain file"):
        open_state(tmp_path / "state.db")


@pytest.mark.slow
def test_a_program_ends_with_2(copied: Path) -> None:
    """No traceback at the terminal: what it is, and what to do."""
    other = sqlite3.connect(copied)
    other.execute("DROP TRIGGER audit_is_not_changed")
    other.execute("UPDATE audit SET who = CAST(x'fffe80' AS BLOB)")
    other.commit()
    other.close()

    run = subprocess.run(
        [sys.executable, "-m", "bot", "audit"],
        cwd=ROOT,
        env={**os.environ, "FIRSTFAULT_STATE": str(copied.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines()[0].endswith("cannot be used: it is damaged.")
    assert "Restore a backup" in run.stderr.splitlines()[1]
