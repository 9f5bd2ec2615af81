"""Opens an index in a process of its own, so that a damaged one can neither crash nor hang the bot.

``python -m faultlib.probe FOLDER COUNT DIMENSIONS`` ends with 0 when the index holds that many vectors and answers.
"""

import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import numpy as np

from faultlib.chroma import Collection
from faultlib.errors import IndexUnavailable

SECONDS = 30.0  # opening 10,000 vectors takes 2 s, nearly all of it loading chromadb; a loaded machine is slower
_LOOK_AGAIN = 0.05  # seconds until it is asked again whether we are told to stop


def answers(folder: Path, count: int, dimensions: int, *, stop: Event, lock: int, seconds: float = SECONDS) -> bool:
    """Whether the index opens and answers in time; the probe holds the lock too, in case it outlives us."""
    command = [sys.executable, "-m", "faultlib.probe", str(folder), str(count), str(dimensions)]
    process = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
    )
    end = time.monotonic() + seconds
    try:
        while not stop.is_set() and time.monotonic() < end:
            try:
                return process.wait(_LOOK_AGAIN) == 0
            except subprocess.TimeoutExpired:
                continue
        return False
    finally:
        process.kill()
        process.wait()


def main(folder: Path, count: int, dimensions: int) -> int:
    """0 when the index holds ``count`` vectors and finds some; else 1."""
    try:
        collection = Collection(folder)
        found = collection.nearest(np.full(dimensions, dimensions**-0.5, np.float32), 1)
        return 0 if collection.count() == count and bool(found) == bool(count) else 1
    except IndexUnavailable:
        return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
