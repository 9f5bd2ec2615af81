"""Files that a person names: read whole, up to a bound, and without waiting for a pipe that nobody writes to."""

import errno
import os
from pathlib import Path

MAX_BYTES = 256 << 20  # a point a second for two months are 150 MB


def read_given(path: Path, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file, or of a pipe that somebody writes to. Raises OSError, also where they are too many."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        os.set_blocking(descriptor, True)
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"It is larger than {most:,} bytes", str(path))
    return data


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """What is wrong with such a file, in words for a person: no number of an error, no descriptor of ours."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror or type(error).__name__).lower()
