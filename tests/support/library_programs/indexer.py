"""A program that owns the Chroma index and adds vectors for ever, flushing often; made to be killed.

It prints how many vectors the index holds after each addition, or why it searches exactly.
"""

import sys
from itertools import count
from pathlib import Path

from faultlib.chroma_thread import ChromaIndex
from tests.support.libraries import say
from tests.support.vectors import snapshot

STEP = 30


def main(folder: Path) -> None:
    index = ChromaIndex(folder, sync_after=20)
    for rounds in count(1):
        index.load(snapshot(rounds * STEP))
        assert index.settle(60)
        say(index.state)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
