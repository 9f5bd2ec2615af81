"""What the children of the campaign's bots do: a diagnosis, over which they die or whose files change as planned.

A plan is a file JOB.plan in the folder QUICK; that it was carried out tells a file JOB.struck beside it.
"""

import errno
import io
import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import sources.walk
from benchmarks.support import quick
from bot.jobs.messages import Diagnose
from bot.jobs.tasks import TaskOutput
from bot.state.answers import SavedAnswer

TASKS = quick.TASKS | {"diagnose": f"{__name__}:diagnose"}


@dataclass(frozen=True)
class CampaignPlan:
    """What happens to one job.

    dies_after: words of the child after which it is killed, once; 0: never. files: what happens to the file that is
    read, one of CHANGES, at the read of number ``at_read``. model: address of the language model; empty: none.
    """

    dies_after: int = 0
    files: str = ""
    at_read: int = 0
    model: str = ""

    def write(self, home: Path, job: str) -> None:
        """Where the child finds it."""
        (home / f"{job}.plan").write_text(json.dumps(asdict(self)), encoding="ascii")


def diagnose(order: Diagnose, voice: TaskOutput) -> SavedAnswer:
    """As planned, or undisturbed when there is no plan."""
    home = Path(os.environ["QUICK"])
    file = home / f"{order.job}.plan"
    plan = CampaignPlan(**json.loads(file.read_text(encoding="ascii"))) if file.exists() else CampaignPlan()
    struck = home / f"{order.job}.struck"
    if plan.model:
        os.environ |= {"FIRSTFAULT_MODEL": "small", "FIRSTFAULT_MODEL_KEY": "none", "FIRSTFAULT_MODEL_URL": plan.model}
    if plan.files and not struck.exists():
        _Changing.plan, _Changing.struck, _Changing.left = plan.files, struck, plan.at_read
        cast("Any", sources.walk).open_regular = _open
    if plan.dies_after and not struck.exists():
        voice = _Mortal(voice, plan.dies_after, struck)
    return quick.diagnose(order, voice)


class _Mortal:
    """A voice that ends the process after so many words."""

    def __init__(self, voice: TaskOutput, words: int, struck: Path) -> None:
        self._voice = voice
        self._left = words
        self._struck = struck

    def progress(self, step: str, done: int, total: int) -> None:
        self._voice.progress(step, done, total)
        self._count()

    def tell(self, answer: SavedAnswer) -> None:
        self._voice.tell(answer)
        self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._struck.touch()
            os.kill(os.getpid(), signal.SIGKILL)


# --- what happens to the files of a job while they are read ---


def _grows(file: Path) -> None:
    with file.open("ab") as log:
        log.write(b"one line more\nand the beginning of ano")


def _is_cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _is_emptied(file: Path) -> None:
    os.truncate(file, 0)


def _is_rotated(file: Path) -> None:
    file.rename(file.with_name(f"{file.name}.1"))
    file.write_bytes(b"the first line of a new file\n")


def _goes(file: Path) -> None:
    file.unlink()


def _goes_with_its_job(file: Path) -> None:
    home = next(folder for folder in file.parents if (folder / "job.json").exists())
    shutil.rmtree(home)


def _breaks(_file: Path) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


CHANGES: Mapping[str, Callable[[Path], None]] = {
    "grows": _grows,
    "is cut": _is_cut,
    "is emptied": _is_emptied,
    "is rotated": _is_rotated,
    "goes": _goes,
    "goes with its job": _goes_with_its_job,
    "breaks": _breaks,
}


class _Changing(io.FileIO):
    """A log that changes in the middle of a read; which one, the count of all reads says."""

    plan = ""
    struck = Path()
    left = 0

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "rb")
        self._path = path

    def readinto(self, buffer: Any) -> Any:
        self._count()
        return super().readinto(buffer)

    def read(self, size: int | None = -1) -> Any:
        self._count()
        return super().read(-1 if size is None else size)

    def readall(self) -> Any:
        self._count()
        return super().readall()

    def _count(self) -> None:
        _Changing.left -= 1
        if _Changing.left == 0:
            _Changing.struck.touch()
            CHANGES[_Changing.plan](self._path)


_open_regular = sources.walk.open_regular


def _open(path: Path) -> BinaryIO:
    """The same file, watched."""
    with _open_regular(path) as plain:
        return cast("BinaryIO", _Changing(os.dup(plain.fileno()), path))
