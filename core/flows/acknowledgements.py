"""Acknowledgements that go on after their data has passed a switch: what they answer has arrived only then."""

import numpy as np

from core.flows.table import Ints

SOON_US = 1_000  # microseconds after data, in which its acknowledgement begins
ALONE_US = (
    40_000  # microseconds that a lone acknowledgement waits at most for data to go with (TCP_DELACK_MIN of Linux)
)
TRAIN = 3  # acknowledgements in a row: one or two tell that a program has read, which may be late (docs/LOG.md)


def trains(start: Ints, end: Ints, last: Ints, following: Ints) -> Ints:
    """Of each data record the end of the acknowledgements that still come one by one before the next data; else 0.

    A slow link lets pieces through with silences between them that end a record, so each is acknowledged in a record
    of its own.
    """
    if not len(start):
        return np.zeros(len(last), np.int64)
    apart = np.append(start[1:] - end[:-1] > ALONE_US, True)
    stop = np.flatnonzero(apart)  # the last ones of each train
    one = np.searchsorted(start, last, "right")
    behind = np.minimum(np.searchsorted(start, following), stop[np.searchsorted(stop, np.minimum(one, stop[-1]))] + 1)
    near = start[np.minimum(one, len(start) - 1)] - last <= ALONE_US
    long = near & (behind - one >= TRAIN)
    ends: Ints = np.where(long, end[np.maximum(behind - 1, 0)], 0)
    return ends
