"""Standard output, whose reader may leave at any time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

READER_LEFT = 141  # the exit code of a program that died of SIGPIPE


class Reader:
    """Whether the one who reads standard output is still there."""

    exit_code = 0


@contextmanager
def patient_reader() -> Iterator[Reader]:
    """Write to standard output; a reader that leaves early (``| head``) is no error."""
    reader = Reader()
    try:
        yield reader
        sys.stdout.flush()
    except BrokenPipeError:
        reader.exit_code = READER_LEFT
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer goes nowhere
