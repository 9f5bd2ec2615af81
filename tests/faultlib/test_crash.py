"""Programs that are killed at work: what was acknowledged is there, and nothing is half done."""

import random
import sqlite3
from pathlib import Path

import pytest

from faultlib.database import FILE
from faultlib.pattern import Status
from tests.support.libraries import opened, program, said
from tests.support.vectors import assert_like_exact, settled, snapshot

WRITER_KILLS, INDEXER_KILLS = 6, 2
_REACHED = {"draft": 1, "approve": 2, "edit": 3}  # the revision after each acknowledged write


def kill_after(name: str, acknowledged: int, *arguments: object) -> list[str]:
    """Run the program until it has acknowledged so much; SIGKILL while it does the next; all that it said."""
    with program(name, *arguments) as process:
        lines = [said(process) for _ in range(acknowledged)]
        process.kill()
        assert process.stdout is not None
        return [*lines, *process.stdout.read().split("\n")[:-1]]


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    """Killed again and again while it drafts, approves and edits: every acknowledged write is there, none is half."""
    schedule, told = random.Random(20261121), {}
    for number in range(WRITER_KILLS):
        for line in kill_after("writer", schedule.randint(1, 40), tmp_path, f"w{number}"):
            fault, action = line.split()
            told[fault] = _REACHED[action]
        with opened(tmp_path) as library:
            there = {entry.id: entry for entry in library.entries()}
            assert all(there[fault].revision >= revision for fault, revision in told.items())
            for entry in there.values():
                actions = ["draft", "approve", "edit"][: entry.revision]
                assert [step.action for step in entry.history] == actions
                assert len(library.versions(entry.id)) == entry.version == max(1, entry.revision - 1)
                assert entry.status is (Status.DRAFT if entry.revision == 1 else Status.APPROVED)
                assert [sighting.job for sighting in entry.sightings] == [f"job-{entry.id}"]
        connection = sqlite3.connect(tmp_path / FILE)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
    assert len(told) >= WRITER_KILLS


@pytest.mark.slow
def test_a_killed_indexer_costs_no_answer(tmp_path: Path) -> None:
    """Killed while Chroma flushes, with a flush at every 20 vectors: the index opens and answers like exact search."""
    schedule = random.Random(20261121)
    for _ in range(INDEXER_KILLS):
        said_last = kill_after("indexer", schedule.randint(1, 6), tmp_path / "index")[-1]
        assert said_last.startswith("Chroma, ")
        with settled(tmp_path / "index", snapshot(150)) as index:
            assert index.state == "Chroma, 150 vectors"
            assert_like_exact(index, snapshot(150))
