"""A model endpoint that answers when the test says so: with it a diagnosis takes as long as a test wants."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from core.model import Diagnosis
from tests.support.model_endpoint import Endpoint, Visitor, playing, says
from tests.support.notes.plans import answer, step

GUESSED = "The cable may be broken."


class Gate:
    """Closed, every request waits; the endpoint's end opens it."""

    def __init__(self) -> None:
        self.answer = "{}"
        self._opened = threading.Event()

    def open(self) -> None:
        self._opened.set()

    def __call__(self, visitor: Visitor) -> None:
        while not self._opened.wait(0.1):
            if visitor.server.closing.is_set():
                visitor.close_connection = True
                return
        says(self.answer)(visitor)


@contextmanager
def gated() -> Iterator[tuple[Gate, Endpoint]]:
    gate = Gate()
    with playing(gate) as endpoint:
        yield gate, endpoint


def plan_of(diagnosis: Diagnosis) -> str:
    """A plan of a note, as a careful model would make it, and a guess of its own."""
    return answer(["D1.look"], [step(f"{diagnosis.events[0].id}.said")], [], [], [GUESSED])
