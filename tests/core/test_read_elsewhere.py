"""Files read by somebody else: what goes there, what comes back, and where it is put together."""

import io
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

import pytest

from core.job import LogFile
from core.logs import scan
from core.logs.array_store import Heap
from core.logs.file_rows import FileRows
from core.logs.log_files import read_files
from core.logs.scan import scan_blocks

TEXT = "".join(f"2026-11-21 03:00:{n % 60:02d} INFO iteration {n} of rank {n % 3}\n" for n in range(300))


class Postman(Executor):
    """Runs everything at once, and weighs what is sent there and back."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.returned: list[bytes] = []

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent.append(pickle.dumps(partial(task, *args, **kwargs)))
        self.returned.append(pickle.dumps(pickle.loads(self.sent[-1])()))
        done: Future[Any] = Future()
        done.set_result(pickle.loads(self.returned[-1]))
        return done


def log(name: str, text: str) -> LogFile:
    return LogFile(name, len(text), "", partial(io.BytesIO, text.encode()))


def read(files: list[LogFile], workers: int | Executor, heap: Heap) -> list[FileRows]:
    return read_files(files, (), 2026, workers=workers, engine=scan_blocks, heap=heap)


def rows(file: FileRows) -> tuple[object, ...]:
    parts = [
        [column[:].tolist() for column in (part.line, part.offset, part.time, part.prefix, part.message, part.marks)]
        for part in file.parts
    ]
    return file.name, file.size, file.lines, file.prefixes, file.texts, parts, file.tally.heads.tolist()


@pytest.mark.parametrize("memory", [None, 0], ids=["in memory", "on disk"])
def test_spans_travel_once(monkeypatch: pytest.MonkeyPatch, memory: int | None) -> None:
    """What was scanned elsewhere is put together here: only tasks are sent, one a span, and the rows are the same."""
    monkeypatch.setattr(scan, "SPAN_BYTES", 2_000)
    files = [log("large.log", TEXT), log("small.log", TEXT[:1_000])]
    postman = Postman()

    found = read(files, postman, Heap(memory))

    assert len(postman.sent) == len(scan.spans(files[0])) + 1 > 8
    without_log = pickle.dumps(log("large.log", ""))
    assert max(len(sent) for sent in postman.sent) < len(TEXT) + len(without_log) + 1_000
    assert [rows(file) for file in found] == [rows(file) for file in read(files, 2, Heap(memory))]


class GoneAway(Postman):
    """Runs the first task, and is in the middle of all others for ever."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.sent:
            return super().submit(task, *args, **kwargs)
        endless: Future[Any] = Future()
        endless.set_running_or_notify_cancel()
        return endless


def test_what_a_cluster_that_went_away_never_ends_is_not_waited_for() -> None:
    """The reading ends with the error of whoever asked how far it is."""
    files, errors = [log("a.log", TEXT), log("b.log", TEXT[:900])], list[RuntimeError]()

    def lost(_: FileRows) -> None:
        raise RuntimeError("it went away")

    def reading() -> None:
        try:
            read_files(files, (), 2026, workers=GoneAway(), engine=scan_blocks, heap=Heap(None), progress=lost)
        except RuntimeError as error:
            errors.append(error)

    reader = threading.Thread(target=reading, daemon=True)
    reader.start()
    reader.join(timeout=30)

    assert [str(error) for error in errors] == ["it went away"]
