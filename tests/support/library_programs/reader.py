"""A program for which file modes count even as root: reads a library, tries to write, and prints what came of it."""

import ctypes
import os
import sys
from pathlib import Path

from faultlib.errors import LibraryUnavailable
from tests.support.libraries import opened, say
from tests.support.library_entries import pattern

_DROP_CAPABILITY, _OVERRIDE_MODES = 24, 1  # prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE): holds after the next exec


def main(folder: Path) -> None:
    if os.access(folder, os.W_OK):
        say("modes do not count here")
        return
    try:
        library = opened(folder)
    except LibraryUnavailable as error:
        say("unavailable:", error.message)
        return
    with library:
        say(*(entry.id for entry in library.entries()))
        say(*(name for name, _ in library.nearest("loose cable", 1)))
        try:
            library.draft(pattern("new"), who="ada", job="j")
        except LibraryUnavailable as error:
            say(library.read_only, error.message)


if __name__ == "__main__":
    if len(sys.argv) == 2 and os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _OVERRIDE_MODES, 0, 0, 0)
        os.execv(sys.executable, [sys.executable, "-m", "tests.support.library_programs.reader", sys.argv[1], "again"])
    main(Path(sys.argv[1]))
