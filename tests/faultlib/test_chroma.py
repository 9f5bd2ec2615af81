"""Chroma answers like exact search, has one owner, and what happens to its files costs time and never an answer."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from benchmarks.support.patience import PATIENCE
from faultlib import chroma, index_seal, probe
from faultlib.chroma_thread import ChromaIndex
from faultlib.errors import IndexUnavailable
from faultlib.index import NOTHING
from tests.support.libraries import opened, program, said
from tests.support.library_entries import pattern
from tests.support.vectors import assert_like_exact, settled, snapshot, unit


def folder_of(parent: Path) -> Path:
    folder: str = json.loads((parent / index_seal.FILE).read_text())["folder"]
    return parent / folder


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of 60 vectors that was closed in peace; copy it before use."""
    parent = tmp_path_factory.mktemp("index") / "index"
    with settled(parent, snapshot(60)) as index:
        assert index.state == "Chroma, 60 vectors"
    return parent


@pytest.mark.slow
def test_the_same_answers_as_exact_search(tmp_path: Path) -> None:
    """The same five of 2,000 random vectors, for each of 50 questions, with scores within 0.00001."""
    held = snapshot(2_000, dimensions=384)
    with settled(tmp_path / "index", held) as index:
        assert index.state == "Chroma, 2,000 vectors"
        assert_like_exact(index, held, queries=50)


def test_exact_search_answers_until_chroma_does(tmp_path: Path) -> None:
    """Nobody waits for Chroma: the first answer comes before it can have started; who closes it does not wait."""
    index = ChromaIndex(tmp_path / "index")
    index.load(snapshot(2_000))
    assert index.state.startswith("exact search: Chroma")
    assert_like_exact(index, snapshot(2_000), queries=1)
    index.close()
    assert not (tmp_path / "index" / index_seal.FILE).exists()


def test_it_follows_what_changes(tmp_path: Path) -> None:
    """More vectors, fewer, none, other ones, another length: what was loaded last is what is found."""
    changes = [snapshot(60), snapshot(75), snapshot(70), NOTHING, snapshot(5), snapshot(60, version=2), snapshot(9, 32)]
    with settled(tmp_path / "index", NOTHING) as index:
        for held in changes:
            index.load(held)
            assert index.settle(PATIENCE)
            assert index.state == f"Chroma, {len(held.ids)} vectors"
            assert_like_exact(index, held)
        assert len(list((tmp_path / "index").glob("chroma-*"))) == 1


@pytest.mark.slow
def test_it_takes_up_what_was_sealed(sealed: Path, tmp_path: Path) -> None:
    """A restart builds nothing anew, and what changed meanwhile is added to what is there."""
    shutil.copytree(sealed, tmp_path / "index")
    folder = folder_of(tmp_path / "index")
    with settled(tmp_path / "index", snapshot(70)) as index:
        assert_like_exact(index, snapshot(70))
    assert folder_of(tmp_path / "index") == folder


def test_who_leaves_early_loses_nothing(sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends in the middle of a probe ends at once, and leaves the index as it was."""
    shutil.copytree(sealed, tmp_path / "index")
    probing = Event()

    def slow(*_: object, stop: Event, **__: object) -> bool:
        probing.set()
        stop.wait(PATIENCE)
        return False

    monkeypatch.setattr(probe, "answers", slow)
    index = ChromaIndex(tmp_path / "index")
    index.load(snapshot(60))
    assert probing.wait(PATIENCE)
    index.close()
    assert index_seal.read_seal(tmp_path / "index", made_by=chroma.version()) is not None


@pytest.mark.parametrize("damage", ["half", "garbage", "gone"])
@pytest.mark.parametrize("number", range(6))
def test_a_damaged_file_costs_a_rebuild(sealed: Path, tmp_path: Path, number: int, damage: str) -> None:
    """Each file of the index, halved, overwritten or deleted: it is not trusted, and the answers are right."""
    shutil.copytree(sealed, tmp_path / "index")
    before = folder_of(tmp_path / "index")
    file = sorted(path for path in before.rglob("*") if path.is_file())[number]
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[: len(whole) // 2] if damage == "half" else b"\x5a" * len(whole))
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert index.state == "Chroma, 60 vectors"
        assert_like_exact(index, snapshot(60))
    assert folder_of(tmp_path / "index") != before


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff\xfe", b'{"folder": "../..", "made_by": "", "held": {}}'])
def test_a_damaged_seal_costs_a_rebuild(sealed: Path, tmp_path: Path, content: bytes) -> None:
    """Whatever the seal says: nothing outside the index folder is touched, and the answers are right."""
    shutil.copytree(sealed, tmp_path / "index")
    (tmp_path / "index" / index_seal.FILE).write_bytes(content)
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert_like_exact(index, snapshot(60))


def test_an_index_of_another_chroma_is_not_trusted(sealed: Path) -> None:
    """An update of Chroma builds the index anew."""
    assert index_seal.read_seal(sealed, made_by=chroma.version()) is not None
    assert index_seal.read_seal(sealed, made_by="0.1") is None


def test_a_seal_names_no_folder_elsewhere(tmp_path: Path) -> None:
    """A seal that fits files outside of the index folder is none."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "index").mkdir()
    index_seal.write_seal(tmp_path / "index", index_seal.Seal("../elsewhere", "1", {}))
    assert index_seal.read_seal(tmp_path / "index", made_by="1") is None


def test_what_crashes_chroma_crashes_a_probe_only(sealed: Path, tmp_path: Path) -> None:
    """A folder that kills the process that opens it, under a seal that fits: we go on, and build it anew."""
    shutil.copytree(sealed, tmp_path / "index")
    before = folder_of(tmp_path / "index")
    graph = next(before.rglob("data_level0.bin"))
    graph.write_bytes(b"\x5a" * graph.stat().st_size)
    held = dict(zip(snapshot(60).ids, snapshot(60).keys, strict=True))
    index_seal.write_seal(tmp_path / "index", index_seal.Seal(before.name, chroma.version(), held))
    command = [sys.executable, "-m", "faultlib.probe", str(before), "60", "64"]
    assert subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode < 0  # a signal
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert_like_exact(index, snapshot(60))
    assert folder_of(tmp_path / "index") != before


@pytest.mark.slow
def test_a_probe_counts(sealed: Path, tmp_path: Path) -> None:
    """An index that answers with fewer vectors than were sealed is not whole."""
    folder = shutil.copytree(folder_of(sealed), tmp_path / "copy")
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    whole = probe.answers(folder, 61, 64, stop=Event(), lock=lock)
    os.close(lock)
    assert not whole


def test_what_does_not_answer_in_time_is_built_anew(sealed: Path, tmp_path: Path) -> None:
    """A probe that hangs is ended."""
    shutil.copytree(sealed, tmp_path / "index")
    before = folder_of(tmp_path / "index")
    with settled(tmp_path / "index", snapshot(60), probe_seconds=0.01) as index:
        assert_like_exact(index, snapshot(60))
    assert folder_of(tmp_path / "index") != before


@pytest.mark.slow
def test_one_process_owns_the_index(tmp_path: Path) -> None:
    """The second one searches exactly and says why; after the first one died, even by a kill, it may own it."""
    with program("indexer", tmp_path / "index") as owner:
        assert said(owner) == "Chroma, 30 vectors"
        with program("indexer", tmp_path / "index") as second:
            assert said(second) == "exact search: another process owns the Chroma index"
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert index.state == "Chroma, 60 vectors"


def test_without_chroma_search_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is an option: where it is not installed, nothing but the state tells."""
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert index.state == "exact search: Chroma is not installed."
        assert_like_exact(index, snapshot(60))
        index.load(snapshot(61))
        assert index.settle(0)
        assert_like_exact(index, snapshot(61))


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """A file where the index should be: exact search, and the state says why."""
    (tmp_path / "index").write_text("in the way")
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert index.state.startswith(f"exact search: {tmp_path / 'index'} cannot be written")
        assert_like_exact(index, snapshot(60))


@pytest.mark.slow
def test_an_index_that_fails_later_is_left(sealed: Path, tmp_path: Path) -> None:
    """Chroma fails in the middle of the day: the same question is answered exactly."""
    shutil.copytree(sealed, tmp_path / "index")
    with settled(tmp_path / "index", snapshot(60)) as index:
        assert index._serving is not None
        index._serving._client.delete_collection(chroma.NAME)
        assert_like_exact(index, snapshot(60))
        assert index.state.startswith("exact search: Chroma failed")


def test_a_collection_raises_only_ours(tmp_path: Path) -> None:
    """Whatever Chroma raises is translated."""
    collection = chroma.Collection(tmp_path)
    collection.upsert(["a"], unit(1))
    with pytest.raises(IndexUnavailable, match="Chroma failed"):
        collection.upsert(["b"], unit(1, dimensions=3))
    collection.close()


def test_a_library_searches_with_chroma(tmp_path: Path) -> None:
    """From the library: approved, found; withdrawn, no longer found; its folder is private; stats tell the state."""
    with opened(tmp_path, "chroma") as library:
        library.put_seeds([pattern(f"s-{number}", cause=f"cause {number} " * number or "x") for number in range(30)])
        before = library.nearest("cause 7", 3)
        assert library.settle(PATIENCE)
        assert library.nearest("cause 7", 3) == before
        assert library.stats().index_state == "Chroma, 30 vectors"
        library.undo("s-7", who="ada", revision=1)
        assert "s-7" not in dict(library.nearest("cause 7", 30))
        assert library.settle(PATIENCE)
        assert "s-7" not in dict(library.nearest("cause 7", 30))
        assert library.stats().index_state == "Chroma, 29 vectors"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "index", folder_of(tmp_path / "index"))} == {
        0o700
    }
