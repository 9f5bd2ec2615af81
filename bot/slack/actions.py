"""What buttons and forms carry: stable names, and ids that are checked when they come back; never text.

The ids say what was clicked; what is true of it is read from the state again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import Audience, FirstfaultError

COMMAND = "/diagnose"
DIAGNOSE_MESSAGE = "diagnose_message"  # the shortcut on a message

# Buttons and menus; the value of each is `draft_value`, of LINES and MORE_LINES it is `lines_value`.
CANCEL = "ff_cancel"
APPROVE = "ff_approve"
JOIN = "ff_join"  # add the job to a pattern; the value is `join_value`
APPROVE_NEW = "ff_approve_new"  # a pattern of its own, although there is one that is nearly the same
EDIT = "ff_edit"
REJECT = "ff_reject"
UNDO = "ff_undo"
AGAIN = "ff_again"
LINES = "ff_lines"
MORE_LINES = "ff_more_lines"
USEFUL = "ff_useful"  # the two thumbs; the values are `useful_value`
DIAGNOSE = "ff_diagnose"  # of a job in a list; the value is the job's id, to be checked like a typed one
FITS = "ff_fits"  # whether a known fault was it; the values are `fault_value`
ANYWAY = "ff_anyway"  # diagnose a job that has not failed; the value as that of DIAGNOSE
WATCH = "ff_watch"  # a job that runs; the value as that of DIAGNOSE
UNWATCH = "ff_unwatch"  # of a watch in the app's home; the value is its id
OPEN = "ff_open"  # opens the address that it carries; nothing is done
EXPLAIN = "ff_explain"  # how an approved note was confirmed

# Forms; private_metadata is `draft_value`, of LINES_FORM it is `lines_value`.
EDIT_FORM = "ff_edit_form"
REJECT_FORM = "ff_reject_form"
EXPLAIN_FORM = "ff_explain_form"
LINES_FORM = "ff_lines_form"

_RUN = r"(?P<run>r-[a-z0-9]{1,32})"
_ABOUT = re.compile(rf"{_RUN}:(?P<revision>[0-9]{{1,9}})", re.ASCII)
_LINES = re.compile(rf"{_RUN}:(?P<evidence>[ENI][1-9][0-9]{{0,3}})", re.ASCII)
_JOINING = re.compile(rf"{_RUN}:(?P<revision>[0-9]{{1,9}}):(?P<pattern>[a-z0-9-]{{1,64}})", re.ASCII)
_FITS = re.compile(rf"{_RUN}:(?P<pattern>[a-z0-9-]{{1,64}}):(?P<fits>yes|no|back)", re.ASCII)
_USEFUL = re.compile(rf"{_RUN}:(?P<useful>yes|no)", re.ASCII)


class BadButton(FirstfaultError):
    """A button or form whose ids are not of this program: of another version, or made up."""

    audience = Audience.ASKER


@dataclass(frozen=True, slots=True)
class DraftClick:
    """The run and the revision that somebody saw when clicking."""

    run: str
    revision: int


@dataclass(frozen=True, slots=True)
class JoinClick:
    """The note that somebody saw, and the fault pattern that its job shall be added to."""

    draft: DraftClick
    pattern: str


@dataclass(frozen=True, slots=True)
class LinesClick:
    """The evidence whose raw lines are wanted."""

    run: str
    evidence: str


@dataclass(frozen=True, slots=True)
class FaultClick:
    """What somebody says of a known fault that was shown; right: None takes back what was said before."""

    run: str
    pattern: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class UsefulClick:
    """Whether somebody found the answer useful."""

    run: str
    useful: bool


def draft_value(run: str, revision: int) -> str:
    """The value of a button about a run."""
    return f"{run}:{revision}"


def join_value(run: str, revision: int, pattern: str) -> str:
    """The value of a button that adds the job to a pattern."""
    return f"{run}:{revision}:{pattern}"


def lines_value(run: str, evidence: str) -> str:
    """The value of a button that opens raw lines."""
    return f"{run}:{evidence}"


def fault_value(run: str, pattern: str, *, right: bool | None) -> str:
    """The value of a choice beside a known fault."""
    return f"{run}:{pattern}:{'back' if right is None else 'yes' if right else 'no'}"


def useful_value(run: str, *, useful: bool) -> str:
    """The value of a thumb."""
    return f"{run}:{'yes' if useful else 'no'}"


def read_draft(value: object) -> DraftClick:
    """The run and revision of a button; raises BadButton."""
    found = _match(_ABOUT, value)
    return DraftClick(found["run"], int(found["revision"]))


def read_join(value: object) -> JoinClick:
    """The note and the pattern of a button; raises BadButton."""
    found = _match(_JOINING, value)
    return JoinClick(DraftClick(found["run"], int(found["revision"])), found["pattern"])


def read_lines(value: object) -> LinesClick:
    """The evidence of a button; raises BadButton."""
    found = _match(_LINES, value)
    return LinesClick(found["run"], found["evidence"])


def read_fault(value: object) -> FaultClick:
    """What a choice beside a known fault says; raises BadButton."""
    found = _match(_FITS, value)
    return FaultClick(found["run"], found["pattern"], {"yes": True, "no": False}.get(found["fits"]))


def read_useful(value: object) -> UsefulClick:
    """What a thumb says; raises BadButton."""
    found = _match(_USEFUL, value)
    return UsefulClick(found["run"], found["useful"] == "yes")


def value_of(action: Mapping[str, object]) -> object:
    """What a clicked element carries: the value of a button, or of the option that was chosen in a menu."""
    chosen = action.get("selected_option")
    return chosen.get("value") if isinstance(chosen, Mapping) else action.get("value")


def _match(pattern: re.Pattern[str], value: object) -> re.Match[str]:
    found = pattern.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise BadButton("This button is not one that I know.", "Ask for the diagnosis again; then the buttons are new.")
    return found
