"""A call to another machine that ends in time, whatever is answered there: a byte now and then is an answer, too."""

import threading
from collections.abc import Callable
from http.client import HTTPException
from queue import Empty, Queue
from typing import TypeVar, cast

CALL = "a call to another machine"  # name of each thread
MOST = 8  # calls at a time, those included that nobody waits for any more
_FREE = threading.BoundedSemaphore(MOST)

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call gives; time-outs of sockets hold for each read alone, so it is made in a thread of its own.

    Raises:
        TimeoutError: it took longer, or too many do.
        OSError, HTTPException, ValueError: as the call.
    """
    if not _FREE.acquire(blocking=False):
        raise TimeoutError(f"{MOST} calls are waited for already")
    came: Queue[tuple[T | None, Exception | None]] = Queue(1)

    def run() -> None:
        try:
            came.put((call(), None))
        except (OSError, HTTPException, ValueError) as error:
            came.put((None, error))
        finally:
            _FREE.release()

    threading.Thread(target=run, name=CALL, daemon=True).start()
    try:
        answer, error = came.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no whole answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return cast("T", answer)
