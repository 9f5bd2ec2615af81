"""Loading a library that obeys files of the working directory, which may be a hostile job's folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def elsewhere() -> Iterator[None]:
    """Work in the root folder meanwhile; the process has one working directory, so only where no thread opens files.

    matplotlib obeys a ``matplotlibrc`` (which can start LaTeX), chromadb a ``.env`` (which names classes to import).
    """
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)
