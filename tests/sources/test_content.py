"""What a file given by its path is: text is read whatever it is called, and what is no text is told by what it is."""

import gzip
import io
import pickle
import random
import sqlite3
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableLog
from sources.content import HEAD_BYTES, no_log
from sources.jobs import open_path, open_source

TEXT = "2026-11-21 03:55:34 rank 3: Verbindung verloren, 网络 ✗\n"
LINES = TEXT * 300


def opened(place: Path, content: bytes, name: str) -> bytes:
    """What the log of a file of that name and content gives."""
    (place / name).write_bytes(content)
    with open_path(str(place / name)).logs[0].open() as stream:
        return b"".join(iter(lambda: stream.read(4097), b""))


def refusal(place: Path, content: bytes, name: str) -> tuple[str, str]:
    """Message and hint of the error that a file of that name and content is."""
    (place / name).write_bytes(content)
    with pytest.raises(UnreadableLog) as caught:
        open_path(str(place / name))
    return caught.value.message, caught.value.hint


def zip_of(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, b"\x80\x02.")
    return packed.getvalue()


def database(place: Path) -> bytes:
    with sqlite3.connect(place / "made.db") as made:
        made.execute("create table loss (step, value)")
    made.close()
    return (place / "made.db").read_bytes()


NOISE = random.Random(1).randbytes(20_000)
ELF = b"\x7fELF\x02\x01\x01" + bytes(9)
BINARIES = {
    "core.8841": (ELF + b"\x04\x00\x3e\x00" + bytes(999), "is a core dump, not a log", "py-spy dump --core"),
    "train": (Path(sys.executable).read_bytes()[:50_000], "is a program, not a log", "name a log file"),
    "old.pt": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." + NOISE, "is a PyTorch checkpoint, not a log", "name a log"),
    "new.pt": (zip_of("new/data.pkl", "new/version", "new/data/0"), "is a PyTorch checkpoint, not a log", "name a log"),
    "trace.pkl": (pickle.dumps({"pg_config": {}}), "is a Python pickle, not a log", "dumps/ of a job folder"),
    "a.whl": (zip_of("a/__init__.py", "a-1.0.dist-info/WHEEL"), "is a Python package (wheel), not a log", "name a log"),
    "a.jar": (zip_of("META-INF/MANIFEST.MF", "A.class"), "is a Java archive, not a log", "name a log"),
    "a.docx": (zip_of("[Content_Types].xml", "word/document.xml"), "is an office document, not a log", "name a log"),
    "w.safetensors": (
        b"\x40" + bytes(7) + b'{"a":{"dtype":"F32"' + b" " * 9000,
        "holds the weights of a model",
        "name",
    ),
    "a.npy": (b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'}" + bytes(99), "holds an array or a table, no log", "name a log"),
    "loss.png": (b"\x89PNG\r\n\x1a\n" + NOISE, "is a picture, not a log", "name a log"),
    "loss.jpg": (b"\xff\xd8\xff\xe0" + NOISE, "is a picture, not a log", "name a log"),
    "paper.pdf": (b"%PDF-1.7\n" + TEXT.encode(), "is a PDF document, not a log", "name a log"),
    "system.journal": (b"LPKSHHRH" + bytes(99), "is a journal of systemd in its own format", "journalctl --file"),
    "a.log.bz2": (b"BZh91AY&SY" + NOISE, "is packed with bzip2, which is not read", "Unpack it first"),
    "a.7z": (b"7z\xbc\xaf\x27\x1c" + NOISE, "is packed in a way that is not read", "Unpack it first"),
    "a.lz4": (b"\x04\x22\x4d\x18" + NOISE, "is packed in a way that is not read", "Unpack it first"),
    "noise.log": (NOISE, "holds bytes that are no text", "name a log file"),
    "noise.log.gz": (gzip.compress(NOISE), "holds bytes that are no text", "name a log file"),
    "no-mark.log": (
        LINES.encode("utf-16-le"),
        "is UTF-16 text, packed or without a mark at its start",
        "iconv -f UTF-16",
    ),
    "a.log.gz": (gzip.compress(LINES.encode("utf-16")), "is UTF-16 text, packed or without a mark", "iconv -f UTF-16"),
}


@pytest.mark.parametrize("name", BINARIES)
def test_what_is_no_text_is_refused_by_what_it_is(tmp_path: Path, name: str) -> None:
    """The content decides, whatever the name is; the hint says what to do instead."""
    content, says, hint = BINARIES[name]

    for called in (name, "train.log", "without"):
        message, told = refusal(tmp_path, content, called)
        assert message.startswith(f"{called} {says}")
        assert hint in told


def test_a_database_is_refused(tmp_path: Path) -> None:
    """A real one."""
    assert refusal(tmp_path, database(tmp_path), "runs.db")[0] == "runs.db is an SQLite database, not a log."


@pytest.mark.parametrize("name", ["train.log", "model.pt", "core", "a.png", "a.zip", "job-77"])
@pytest.mark.parametrize(
    "content",
    [
        LINES.encode(),
        LINES.encode("utf-8-sig"),
        LINES.replace("✗", "x").encode("gb18030"),
        b"Gr\xfc\xdfe aus M\xfcnchen\n" * 99,
        b"\x1b[31mERROR\x1b[0m 3%|\x08\x08\x08#  |\r 6%|##|\r\x1b(B\x0f done\x07\n" * 99,
        b'{"loss": 1.0}\n',
        b"PK is no archive, %PDF is no document, BZh is a name\n",
        b"x",
    ],
    ids=["utf-8", "mark", "gb18030", "latin-1", "terminal", "json", "words", "short"],
)
def test_text_is_read_whatever_it_is_called(tmp_path: Path, content: bytes, name: str) -> None:
    """Whoever names a file wants it read: colours, bars and other alphabets are text."""
    assert opened(tmp_path, content, name) == content


@pytest.mark.parametrize(
    "content",
    [
        bytes(HEAD_BYTES * 2) + LINES.encode(),
        bytes(3000) + LINES.encode(),
        (LINES[:900].encode() + bytes(777)) * 30,
        LINES.encode() + bytes(5000),
        LINES.encode() + b"\x01\x02 a few bytes of a crash \x00\x03\n" + LINES.encode(),
    ],
    ids=["emptied while written", "cut at its beginning", "written by many", "lost with the power", "odd"],
)
def test_text_with_some_odd_bytes_is_read_unless_its_name_is_that_of_something_else(
    tmp_path: Path, content: bytes
) -> None:
    """Rows of NULs are what a disk or a network leaves in logs: only then the name is asked."""
    assert opened(tmp_path, content, "train.log") == content
    assert opened(tmp_path, content, "without-suffix") == content
    if b"\0" in content[:HEAD_BYTES]:
        assert refusal(tmp_path, content, "model.pt")[0] == "model.pt holds bytes that are no text."


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_read_as_text(tmp_path: Path, encoding: str) -> None:
    """As a shell of Windows redirects: every letter comes out once, also one of four bytes on the edge of a block."""
    text = "x" + "".join(f"{n} 🔥 {TEXT}" for n in range(9000))
    content = "\ufeff".encode(encoding) + text.encode(encoding)

    assert opened(tmp_path, content, "train.log") == text.encode()
    assert opened(tmp_path, content[:-1], "train.log") == text[:-1].encode() + "�".encode()
    assert (
        opened(tmp_path, b"\xff\xfe\x00 start\n" + TEXT.encode(), "train.log")
        == b"\xff\xfe\x00 start\n" + TEXT.encode()
    )


def test_utf_16_is_read_in_job_folders_too(tmp_path: Path) -> None:
    """Line numbers count the lines that a person sees."""
    (tmp_path / "j" / "logs").mkdir(parents=True)
    (tmp_path / "j" / "logs" / "a.log").write_bytes(LINES.encode("utf-16"))

    with open_source(str(tmp_path)).job("j").logs[0].open() as stream:
        assert not stream.seekable()
        assert stream.read(1 << 20) == LINES.encode()


def test_an_empty_file_is_a_log(tmp_path: Path) -> None:
    """A rank that wrote nothing."""
    assert opened(tmp_path, b"", "rank_0.log") == b""


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1))
def test_no_printed_text_is_taken_for_something_else(text: str) -> None:
    """Of whatever alphabet it is."""
    assert no_log(text.encode(), "train.log") is None
