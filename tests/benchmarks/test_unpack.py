"""The labelled jobs are unpacked by every Python that is supported, and without git."""

import io
import sys
import tarfile
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import _commit
from benchmarks.unpack import unpack


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(True, marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="has filters for sure")),
        False,
    ],
    ids=["3.11.2", "now"],
)
def test_an_archive_is_unpacked(old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's own Python 3.11.2 knows no filters."""
    if old:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("jobs/f01/log")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"hello"))
    packed.seek(0)

    with tarfile.open(fileobj=packed) as archive:
        unpack(archive, tmp_path)

    assert (tmp_path / "jobs" / "f01" / "log").read_bytes() == b"hello"


def test_where_no_git_is_the_commit_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that was unpacked has no git beside it."""
    monkeypatch.setenv("PATH", "")

    assert _commit() == "unknown"
