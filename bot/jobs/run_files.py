"""The files of runs: a folder each, with what people may open, and a temporary one while its child works."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.state.errors import StateUnavailable

TEMPORARY = ".temporary"


class RunFiles:
    """All of them below one folder that only the bot's user can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def home(self, run_id: str) -> Path:
        """Where report and plot of a run are."""
        return self._folder / run_id

    @contextmanager
    def temporary(self, run_id: str) -> Iterator[Path]:
        """An empty folder for one child; a child that died with its worker may have left one behind."""
        home = self.home(run_id)
        temporary = home / TEMPORARY
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            for folder in (self._folder, home, temporary):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise StateUnavailable(
                f"The folder {home} cannot be used: {reason}.", "Let the bot's user write there, and free some space."
            ) from error
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            if home.is_dir() and not any(home.iterdir()):
                shutil.rmtree(home, ignore_errors=True)

    @property
    def spare(self) -> Path:
        """The temporary folder of a child that waits for its order; an order brings one of its own."""
        return self._folder / ".spare"

    def remove(self, run_ids: Iterable[str]) -> None:
        """Drop the files of runs that the state has forgotten."""
        for run_id in run_ids:
            shutil.rmtree(self.home(run_id), ignore_errors=True)
