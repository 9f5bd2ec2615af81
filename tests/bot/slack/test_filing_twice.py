"""Two bots on one fault library file the note of one job at the same moment."""

import threading
from pathlib import Path

import pytest

from bot.library.filing import LibraryAction, file_note
from bot.library.session import open_fault_library
from bot.settings import Settings
from faultlib.library import Library
from faultlib.pattern import Origin
from tests.support.library_entries import pattern

WAIT = 0.5  # seconds in which another connection would have written, if it could


def test_a_job_has_one_pattern_whatever_words_its_note_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one looked for it before the first had written, and had another trait in its words."""
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")

    def file(words: str) -> None:
        action = LibraryAction("job-1", "run-1", "U1", "approved")
        file_note(lambda: open_fault_library(settings, embeds=False), action, pattern(words), edited=False)

    other = threading.Thread(target=file, args=("rank-killed-exitcode-9",))
    draft = Library.draft

    def meanwhile(library: Library, *args: object, **named: object) -> object:
        if not other.ident:
            other.start()
            other.join(WAIT)
        return draft(library, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Library, "draft", meanwhile)
    file("rank-killed")
    other.join()

    with open_fault_library(settings, embeds=False) as library:
        team = [entry.id for entry in library.entries() if entry.origin is Origin.TEAM]
    assert team == ["rank-killed"]
