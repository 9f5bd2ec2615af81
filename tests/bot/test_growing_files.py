"""Files that grow: each byte is handed on once, whatever becomes of the file."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.jobs import growing_files
from bot.jobs.growing_files import GrowingFiles, Growth
from sources.jobs import open_path, open_source


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "j" / "logs"
    folder.mkdir(parents=True)
    (folder / "a.log").write_bytes(b"one\n")
    return folder


@pytest.fixture
def look(logs: Path) -> Callable[[], Growth]:
    follower = GrowingFiles()
    return lambda: follower.look(open_path(str(logs.parent)).logs)


def test_only_what_is_new_is_handed_on(logs: Path, look: Callable[[], Growth]) -> None:
    """The first look brings what is there, the next what was added, down to half a line."""
    first = look()
    with (logs / "a.log").open("ab") as file:
        file.write(b"two\nthr")

    second, third = look(), look()

    assert first.added == {"logs/a.log": b"one\n"}
    assert second.added == {"logs/a.log": b"two\nthr"}
    assert third.added == {}


def test_a_file_that_appears_is_read_from_its_beginning(logs: Path, look: Callable[[], Growth]) -> None:
    """Ranks open their logs when they start."""
    look()
    (logs / "b.log").write_bytes(b"hello\n")

    assert look().added == {"logs/b.log": b"hello\n"}


def test_a_truncated_file_begins_again(logs: Path, look: Callable[[], Growth]) -> None:
    """`> a.log` while the job writes on."""
    (logs / "a.log").write_bytes(b"one\n" * 1_000)
    look()
    (logs / "a.log").write_bytes(b"one\nnew\n")

    news = look()

    assert news.added == {"logs/a.log": b"one\nnew\n"}
    assert news.begun_again == ("logs/a.log",)


def test_a_replaced_file_begins_again_though_it_is_longer(logs: Path, look: Callable[[], Growth]) -> None:
    """Another attempt writes to the same name: its first bytes tell."""
    look()
    (logs / "a.log").write_bytes(b"another attempt\n")

    news = look()

    assert (news.added, news.begun_again) == ({"logs/a.log": b"another attempt\n"}, ("logs/a.log",))


def test_a_rotated_file_loses_and_repeats_nothing(logs: Path, look: Callable[[], Growth]) -> None:
    """logrotate: the last lines of the old file come under its new name, then the new file from its beginning."""
    look()
    with (logs / "a.log").open("ab") as file:
        file.write(b"last words\n")
    (logs / "a.log").rename(logs / "a.log.1")
    (logs / "a.log").write_bytes(b"fresh\n")

    news = look()

    assert news.added == {"logs/a.log.1": b"last words\n", "logs/a.log": b"fresh\n"}


def test_a_second_rotation_repeats_nothing(logs: Path, look: Callable[[], Growth]) -> None:
    """a.log.1 becomes a.log.2, a.log becomes a.log.1."""
    look()
    (logs / "a.log").rename(logs / "a.log.1")
    (logs / "a.log").write_bytes(b"fresh\n")
    look()
    (logs / "a.log.1").rename(logs / "a.log.2")
    (logs / "a.log").rename(logs / "a.log.1")
    (logs / "a.log").write_bytes(b"newest\n")

    assert look().added == {"logs/a.log": b"newest\n"}


def test_files_of_ranks_that_begin_alike_are_not_taken_for_rotated_ones(logs: Path, look: Callable[[], Growth]) -> None:
    """train.log.0 and train.log.1 print the same banner."""
    (logs / "train.log.0").write_bytes(b"banner\n" * 50)
    look()
    (logs / "train.log.0").write_bytes(b"banner\n" * 51)
    (logs / "train.log.1").write_bytes(b"banner\n" * 50)

    assert look().added == {"logs/train.log.0": b"banner\n", "logs/train.log.1": b"banner\n" * 50}


def test_a_file_that_is_packed_is_not_read_twice(logs: Path, look: Callable[[], Growth]) -> None:
    """x.log becomes x.log.gz when its rank is done."""
    look()
    (logs / "a.log").unlink()
    (logs / "a.log.gz").write_bytes(gzip.compress(b"one\ntwo\n"))

    assert look().added == {"logs/a.log.gz": b"two\n"}


def test_a_packed_file_that_is_still_written_comes_when_it_is_whole(logs: Path, look: Callable[[], Growth]) -> None:
    """A gzip stream without its end is no error."""
    look()
    packed = gzip.compress(b"".join(b"%d\n" % n for n in range(2_000)))
    (logs / "b.log.gz").write_bytes(packed[:60])
    early = look()
    (logs / "b.log.gz").write_bytes(packed)

    late = look()

    content = early.added.get("logs/b.log.gz", b"") + late.added.get("logs/b.log.gz", b"")
    assert content == b"".join(b"%d\n" % n for n in range(2_000))


def test_of_a_long_past_only_the_end_is_read(
    logs: Path, look: Callable[[], Growth], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that has logged gigabytes is under watch within seconds: whole lines from the end, and it is said so."""
    for name in ("MIN_BACKLOG", "MAX_BACKLOG"):
        monkeypatch.setattr(growing_files, name, 1_000)
    (logs / "a.log").write_bytes(b"".join(b"line %05d\n" % n for n in range(10_000)))
    (logs / "b.log.gz").write_bytes(gzip.compress((logs / "a.log").read_bytes()))

    news = look()

    assert news.cut == ("logs/a.log", "logs/b.log.gz")
    for data in news.added.values():
        assert data.startswith(b"line 09")
        assert data.endswith(b"line 09999\n")
        assert 900 < len(data) <= 1_000


def test_a_flood_comes_in_parts(logs: Path, look: Callable[[], Growth], monkeypatch: pytest.MonkeyPatch) -> None:
    """One look takes a bounded time; nothing is lost."""
    look()
    monkeypatch.setattr(growing_files, "MAX_READ", 1_000)
    flood = b"".join(b"%d\n" % n for n in range(1_000))
    with (logs / "a.log").open("ab") as file:
        file.write(flood)

    parts = [look().added.get("logs/a.log", b"") for _ in range(5)]

    assert b"".join(parts) == flood
    assert max(map(len, parts)) <= 1_000


def test_a_file_that_vanishes_is_no_trouble(logs: Path, look: Callable[[], Growth]) -> None:
    """Old logs are cleaned up while a job runs."""
    (logs / "b.log").write_bytes(b"x\n")
    look()
    (logs / "b.log").unlink()

    assert look().added == {}


def test_a_bucket_is_followed_like_a_folder() -> None:
    """Any fsspec address will do; this one is memory."""
    import fsspec  # noqa: PLC0415

    store = fsspec.filesystem("memory")
    store.pipe("/watched/j/logs/a.log", b"one\n")
    follower = GrowingFiles()
    first = follower.look(open_source("memory://watched").job("j").logs)
    store.pipe("/watched/j/logs/a.log", b"one\ntwo\n")

    second = follower.look(open_source("memory://watched").job("j").logs)

    assert (first.added, second.added) == ({"logs/a.log": b"one\n"}, {"logs/a.log": b"two\n"})
