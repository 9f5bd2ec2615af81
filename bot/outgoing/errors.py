"""What people in a chat are told of trouble: what happened, no place of the server, no hint for its command line.

Errors are written for whoever runs the program, and in Slack people read them who only ask. So both boundaries, that of
listeners and that of the worker, put the whole error into the bot's log and pass on what this module leaves of it.
"""

import re
from dataclasses import replace

from bot.note.note import Note
from bot.state.values import Failure
from core.errors import FirstfaultError
from core.model import Diagnosis

ASK = "Ask whoever runs the bot."
# By the class of the error: about what somebody asked or clicked, so the whole of it is for them. "" are our own words.
_THEIRS = frozenset(
    {
        "",
        "BadButton",
        "BadJobId",
        "Deadline",
        "FirstfaultError",
        "MayNotPost",
        "PostPending",
        "RunForgotten",
        "StaleRevision",
        "WrongStep",
    }
)
# For whoever mistyped, or asked too early, something can be tried.
_TRY = {
    "JobNotFound": f"Is the id right? {ASK} They know where I look for jobs.",
    "NoLogs": f"Were its logs copied yet? {ASK} They know where logs belong.",
}
_GUESS = "Did you mean "  # of JobNotFound: ids of other jobs
# An address, an absolute path or a host, with the quotes around it and the preposition before it.
_PLACE = re.compile(
    r"""(?: (?:\ (?:at|below|from|in|of|on|under))?\ ['"]? | (?<![\w.~/-])['"]? )
        (?: [a-z][a-z0-9+.-]*://[^\s'"]*[^\s'".,:;)]
        |   ~?/[^\s'"/](?:[^\s'"]*[^\s'".,:;)])?
        |   (?<=\ at\ )(?:[a-z][\w-]*(?:\.[\w-]+)*:\d{2,5}|[a-z][\w-]*(?:\.[\w-]+)+|\d+(?:\.\d+){3}(?::\d+)?)\b
        )['"]?""",
    re.VERBOSE | re.IGNORECASE,
)


def failure_of(error: FirstfaultError) -> Failure:
    """The whole error as a value."""
    return Failure(error.message, error.hint, type(error).__name__)


def is_theirs(failure: Failure) -> bool:
    """Whether people in the chat may read all of it."""
    return failure.kind in _THEIRS


def discreet(failure: Failure) -> Failure:
    """What people in the chat may read of it."""
    if is_theirs(failure):
        return failure
    hint = failure.hint if failure.hint.startswith(_GUESS) else _TRY.get(failure.kind, ASK)
    return replace(failure, message=without_places(failure.message), hint=hint)


def without_places(text: str) -> str:
    """A sentence of an error without the paths, addresses and hosts that it names."""
    return _PLACE.sub("", text)


def discreet_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    """The same, but for places in what tells why a step was skipped; log lines stay as they are."""
    skipped = tuple(replace(one, reason=without_places(one.reason)) for one in diagnosis.skipped)
    return replace(diagnosis, skipped=skipped)


def discreet_note(note: Note) -> Note:
    """The same, but for the address of a model that gave no answer."""
    return note.model_copy(update={"unavailable": without_places(note.unavailable)})
