"""A program that drafts, approves and edits for ever and prints what was acknowledged; made to be killed."""

import sys
from itertools import count
from pathlib import Path

from tests.support.libraries import opened, say
from tests.support.library_entries import pattern


def main(folder: Path, name: str) -> None:
    with opened(folder) as library:
        for number in count():
            fault = f"{name}-{number}"
            library.draft(pattern(fault), who="ada", job=f"job-{fault}")
            say(fault, "draft")
            library.approve(fault, who="bob", revision=1)
            say(fault, "approve")
            library.edit(fault, pattern(fault, cause="Dust. " * 600), who="eve", revision=2)
            say(fault, "edit")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
