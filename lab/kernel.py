"""The kernel's log as it grows."""

import os
import time
from collections.abc import Iterator


def kernel_lines() -> Iterator[tuple[float, str]]:
    """Seconds since boot and text of every new kernel message; none where the log may not be read."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    os.lseek(log, 0, os.SEEK_END)
    while True:
        try:
            record = os.read(log, 8192).decode("utf-8", "replace")
        except BlockingIOError:
            time.sleep(0.2)
            continue
        except OSError:  # the ring buffer went over us
            continue
        head, _, text = record.partition(";")
        yield int(head.split(",")[2]) / 1e6, text.split("\n", 1)[0]
