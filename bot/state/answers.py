"""The answer of a run as it is kept and as it crosses from one process to another: plain JSON, no pickle."""

import json
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from bot.note.note import Note
from bot.state.small_values import to_text
from bot.text.known_fault import KnownFault
from core.model import Diagnosis


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A line of a history: what it is about, and what is to be said."""

    about: str
    says: str


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """What a run found, without the open log files behind it: enough for follow-ups and buttons after a restart.

    diagnosis: None while only the known faults are found, whose events are all in the job; never in a final answer of a
    job. history: of a run of training in its place, the first one its headline.
    note: None while it is not drafted. report, sheets, plot: paths of files in the run's folder, empty when not made.
    plot_text: what the plot shows, in words.
    """

    job: str
    diagnosis: Diagnosis | None
    known: tuple[KnownFault, ...] = ()
    note: Note | None = None
    report: str = ""
    sheets: str = ""
    plot: str = ""
    plot_text: str = ""
    history: tuple[ToldFact, ...] = ()


def answer_text(answer: SavedAnswer) -> str:
    """The answer as one line of ASCII.

    Not pydantic's own JSON: that refuses lone surrogates, and raw log lines hold them.
    """
    return to_text(_adapter().dump_python(answer))


def answer_of(text: str) -> SavedAnswer:
    """The answer again; raises pydantic's ValidationError for anything else."""
    return _adapter().validate_python(json.loads(text))


@cache
def _adapter() -> TypeAdapter[SavedAnswer]:
    return TypeAdapter(SavedAnswer)
