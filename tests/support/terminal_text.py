"""A diagnosis as a terminal of a known width shows it, without colour."""

import io
from collections.abc import Sequence

from rich.console import Console

from bot.commandline.terminal import print_diagnosis
from bot.note.note import Note
from bot.text.known_fault import KnownFault
from core.model import Diagnosis


def plain_text(
    diagnosis: Diagnosis,
    *,
    known: Sequence[KnownFault] = (),
    note: Note | None = None,
    width: int = 80,
    version: str = "",
) -> str:
    """What is printed."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        print_diagnosis(diagnosis, console, known=known, note=note, version=version)
    return capture.get()
