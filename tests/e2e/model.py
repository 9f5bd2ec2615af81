"""A model endpoint that answers when the test says so: with it a diagnosis takes as long as a test wants."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from core.model import Diagnosis
from tests.bot.chat.endpoint import Endpoint, Visitor, playing, says


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


def draft_of(diagnosis: Diagnosis) -> str:
    """A draft that says what the evidence does, as a careful model would."""

    def said(text: str, *cites: str) -> dict[str, object]:
        return {"text": text, "cites": list(cites)}

    event = diagnosis.events[0]
    return json.dumps(
        {
            "headline": said(diagnosis.headline, "D1"),
            "cause": said(event.because, event.id),
            "happened": [said(event.because, event.id)],
            "check_first": [],
            "fix": [],
            "category": "unknown",
            "open_questions": [],
        }
    )
