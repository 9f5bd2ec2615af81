"""The cache folder may always forget and never lie."""

import os
import stat
from pathlib import Path

import pytest

from benchmarks.support.memory_cache import MemoryCache
from bot.fetch.cache import FolderCache
from core.cache import ByteCache

KEY, OTHER = "0a" * 20, "0b" * 20


@pytest.fixture(params=["folder", "memory"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> ByteCache:
    """The real cache and the shipped fake keep the same promises."""
    return FolderCache(tmp_path / "cache") if request.param == "folder" else MemoryCache()


def test_what_was_put_is_got(cache: ByteCache) -> None:
    """Bytes come back as they were; the last ones count."""
    assert cache.get(KEY) is None
    cache.put(KEY, b"old")
    cache.put(KEY, b"")
    cache.put(OTHER, b"\x00\xff")
    assert (cache.get(KEY), cache.get(OTHER)) == (b"", b"\x00\xff")


@pytest.mark.parametrize("damage", [b"", b"firstfault-cache-1\n", b"garbage" * 100])
def test_a_damaged_file_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    """A half-written or changed file costs time, nothing else."""
    FolderCache(tmp_path).put(KEY, b"value")
    (tmp_path / KEY[:2] / KEY).write_bytes(damage)
    assert FolderCache(tmp_path).get(KEY) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """A file where the folder should be, a full or a read-only disk: the diagnosis goes on."""
    (tmp_path / "file").write_text("in the way")
    cache = FolderCache(tmp_path / "file" / "cache")
    cache.put(KEY, b"value")
    assert cache.get(KEY) is None


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """Logs hold secrets: nobody else sees what was kept of them, and nothing is made before it is needed."""
    cache = FolderCache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    cache.put(KEY, b"value")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "cache").rglob("*") if path.is_dir()}
    assert modes == {0o700}
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_the_folder_does_not_grow_for_ever(tmp_path: Path) -> None:
    """What was not used for longest goes first."""
    filler = FolderCache(tmp_path)
    keys = [f"{number:040x}" for number in range(10)]
    for age, key in enumerate(keys):
        filler.put(key, b"x" * 1_000)
        os.utime(tmp_path / key[:2] / key, (1_000_000 + age, 1_000_000 + age))
    filler.get(keys[0])
    FolderCache(tmp_path, max_bytes=5_000).put(OTHER, b"new")
    fresh = FolderCache(tmp_path)
    assert fresh.get(keys[1]) is None
    assert (fresh.get(keys[0]), fresh.get(OTHER)) == (b"x" * 1_000, b"new")


def test_a_key_is_no_path(tmp_path: Path) -> None:
    """Nothing outside the folder can be named."""
    with pytest.raises(ValueError, match="hexadecimal"):
        FolderCache(tmp_path).get("../../etc/passwd")
