"""A program that waits for a word and then approves the drafts d-0, d-1, ... and prints what it was told of each."""

import sys
from pathlib import Path

from tests.support.libraries import opened, say


def main(folder: Path, who: str, drafts: int) -> None:
    with opened(folder) as library:
        say("ready")
        sys.stdin.readline()
        for number in range(drafts):
            entry, changed = library.approve(f"d-{number}", who=who, revision=1)
            assert entry.confirmed is not None
            say(entry.id, int(changed), entry.confirmed.who)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
