"""What buttons and forms carry: stable names, and ids that are checked when they come back; never text.

The ids say what was clicked; what is true of it is read from the state again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from core.errors import Audience, FirstfaultError

COMMAND = "/diagnose"
DIAGNOSE_MESSAGE = "diagnose_message"  # the shortcut on a message

# Buttons and menus; the value of each is a DraftClick, of LINES and MORE_LINES it is a LinesClick.
CANCEL = "ff_cancel"
APPROVE = "ff_approve"
JOIN = "ff_join"  # add the job to a pattern; the value is a JoinClick
APPROVE_NEW = "ff_approve_new"  # a pattern of its own, although there is one that is nearly the same
EDIT = "ff_edit"
REJECT = "ff_reject"
UNDO = "ff_undo"
AGAIN = "ff_again"
LINES = "ff_lines"
MORE_LINES = "ff_more_lines"
USEFUL = "ff_useful"  # the two thumbs; the values are a UsefulClick
DIAGNOSE = "ff_diagnose"  # of a job in a list; the value is the job's id, to be checked like a typed one
FITS = "ff_fits"  # whether a known fault was it; the values are a FaultClick
ANYWAY = "ff_anyway"  # diagnose a job that has not failed; the value as that of DIAGNOSE
WATCH = "ff_watch"  # a job that runs; the value as that of DIAGNOSE
UNWATCH = "ff_unwatch"  # of a watch in the app's home; the value is its id
OPEN = "ff_open"  # opens the address that it carries; nothing is done
EXPLAIN = "ff_explain"  # how an approved note was confirmed

# Forms; private_metadata is a DraftClick, of LINES_FORM it is a LinesClick.
EDIT_FORM = "ff_edit_form"
REJECT_FORM = "ff_reject_form"
EXPLAIN_FORM = "ff_explain_form"
LINES_FORM = "ff_lines_form"

# What each part of a value looks like, by the field that it fills.
_PARTS = {
    "run": re.compile("r-[a-z0-9]{1,32}"),
    "revision": re.compile("[0-9]{1,9}"),
    "evidence": re.compile("[ENI][1-9][0-9]{0,3}"),
    "pattern": re.compile("[a-z0-9-]{1,64}"),
    "answer": re.compile("yes|no|back"),
    "useful": re.compile("yes|no"),
}


class BadButton(FirstfaultError):
    """A button or form whose ids are not of this program: of another version, or made up."""

    audience = Audience.ASKER


def _is_part(name: str, text: str) -> bool:
    return _PARTS[name].fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Click:
    """What a button or form is about; as text (``str``) its fields in their order, with colons between them."""

    run: str

    def __str__(self) -> str:
        return ":".join(str(getattr(self, field.name)) for field in fields(self))

    @classmethod
    def read(cls, value: object) -> Self:
        """The click of such a text; raises BadButton for anything else."""
        names = [field.name for field in fields(cls)]
        texts = value.split(":") if isinstance(value, str) else []
        if len(texts) != len(names) or not all(map(_is_part, names, texts)):
            raise BadButton(
                "This button is not one that I know.", "Ask for the diagnosis again; then the buttons are new."
            )
        parts: list[Any] = [int(text) if name == "revision" else text for name, text in zip(names, texts, strict=True)]
        return cls(*parts)


@dataclass(frozen=True, slots=True)
class DraftClick(Click):
    """The run and the revision that somebody saw when clicking."""

    revision: int


@dataclass(frozen=True, slots=True)
class JoinClick(DraftClick):
    """The note that somebody saw, and the fault pattern that its job shall be added to."""

    pattern: str


@dataclass(frozen=True, slots=True)
class LinesClick(Click):
    """The evidence whose raw lines are wanted."""

    evidence: str


@dataclass(frozen=True, slots=True)
class FaultClick(Click):
    """What somebody says of a known fault that was shown: yes, no, or back for what was said before."""

    pattern: str
    answer: str


@dataclass(frozen=True, slots=True)
class UsefulClick(Click):
    """Whether somebody found the answer useful: yes or no."""

    useful: str


def value_of(action: Mapping[str, object]) -> object:
    """What a clicked element carries: the value of a button, or of the option that was chosen in a menu."""
    chosen = action.get("selected_option")
    return chosen.get("value") if isinstance(chosen, Mapping) else action.get("value")
