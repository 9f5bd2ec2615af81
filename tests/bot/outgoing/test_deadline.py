"""Calls to other machines end in time, whoever answers there."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bot.outgoing.deadline import CALL, MOST, within
from bot.outgoing.door import post_signed


@contextmanager
def dripping() -> Iterator[str]:
    """The address of a server that answers a byte at a time, without end."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        client, _ = listener.accept()
        with client:
            client.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not over.wait(0.05):
                client.sendall(b"a")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        over.set()
        thread.join()
        listener.close()


def test_a_webhook_that_answers_a_byte_at_a_time_is_left() -> None:
    """Each byte came in time; the next reports had waited for the last of 65,536 of them."""
    with dripping() as address, pytest.raises(TimeoutError, match="no whole answer"):
        post_signed(address, "{}", {}, "a key", timeout=0.5)


def test_what_nobody_waits_for_any_more_does_not_grow() -> None:
    """Who never answers takes some threads, and not one more with each attempt."""
    over = threading.Event()
    for _ in range(MOST):
        with pytest.raises(TimeoutError, match="no whole answer"):
            within(0.01, over.wait)

    with pytest.raises(TimeoutError, match="are waited for already"):
        within(10, lambda: None)
    over.set()
    for thread in threading.enumerate():
        if thread.name == CALL:
            thread.join()  # lest the next test finds some of them


def test_what_a_call_gives_or_raises_comes_through() -> None:
    """The caller meets the same value, or the same error."""

    def refused() -> None:
        raise ConnectionRefusedError("nobody listens")

    assert within(10, lambda: 7) == 7
    with pytest.raises(ConnectionRefusedError):
        within(10, refused)
