"""Files that a person lets us write, perhaps in the folder of a hostile job."""

import os
import select
import threading
from pathlib import Path

import pytest

from bot.commandline.output import check_writable, put, write
from core.errors import BadSettings


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of the user's own, outside of the job's folder."""
    path = tmp_path / "own"
    path.write_text("mine")
    (tmp_path / "job").mkdir()
    return path


def test_a_link_in_the_folder_does_not_lead_to_another_file(own: Path) -> None:
    """A job folder with report.html -> ~/.bashrc: refused before the work, and once more by the writing itself."""
    report = own.parent / "job" / "report.html"
    report.symlink_to(own)
    with pytest.raises(BadSettings, match="is a link"):
        check_writable(report)
    with pytest.raises(BadSettings, match="Cannot write the report"):
        write(report, "theirs")
    assert own.read_text() == "mine"


def test_a_link_to_a_file_that_is_not_there_makes_none(own: Path) -> None:
    """As one to ~/.config/autostart/x would."""
    report = own.parent / "job" / "report.html"
    report.symlink_to(own.parent / "new")
    with pytest.raises(BadSettings, match="is a link"):
        check_writable(report)
    with pytest.raises(OSError, match="link"):
        put(report, b"theirs")
    assert not (own.parent / "new").exists()


def test_a_pipe_that_nobody_reads_is_told_at_once(tmp_path: Path) -> None:
    """It kept the command waiting for ever."""
    os.mkfifo(tmp_path / "report.html")
    with pytest.raises(BadSettings, match="Cannot write the report"):
        write(tmp_path / "report.html", "x")


def test_a_pipe_with_a_slow_reader_is_written_whole(tmp_path: Path) -> None:
    """More than a pipe holds at a time."""
    pipe, content = tmp_path / "pipe", os.urandom(1 << 20)
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(reading, "rb") as file:
        writer = threading.Thread(target=put, args=(pipe, content))
        writer.start()
        assert select.select([reading], [], [], 30)[0]
        os.set_blocking(reading, True)
        assert file.read() == content
        writer.join()


def test_names_of_the_system_lead_where_the_shell_let_them(tmp_path: Path) -> None:
    """`--html /dev/stdout > page.html`, and `--html >(less)`, which is /dev/fd/63."""
    with (tmp_path / "page.html").open("wb") as file:
        name = Path(f"/dev/fd/{file.fileno()}")
        check_writable(name)
        write(name, "page")
    assert (tmp_path / "page.html").read_text() == "page"


def test_a_file_that_is_there_is_written_anew(tmp_path: Path) -> None:
    """Shorter than before, and with the mode that it had."""
    report = tmp_path / "report.html"
    report.write_text("longer")
    report.chmod(0o640)
    write(report, "new")
    assert (report.read_text(), report.stat().st_mode & 0o777) == ("new", 0o640)
