"""What people in a chat are told of trouble: what happened, no place of the server, no hint for its command line.

Errors are written for whoever runs the program, and in Slack people read them who only ask. So both boundaries, that of
listeners and that of the worker, put the whole error into the bot's log and pass on what ``public_failure`` leaves of
it: the class of an error says by its ``audience`` whose business it is.
"""

import re
from dataclasses import dataclass, replace

from core.errors import Audience, FirstfaultError, JobNotFound, NoLogs

ASK = "Ask whoever runs the bot."
# For whoever mistyped, or asked too early, something can be tried.
_TRY = {
    JobNotFound.__name__: f"Is the id right? {ASK} They know where I look for jobs.",
    NoLogs.__name__: f"Were its logs copied yet? {ASK} They know where logs belong.",
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


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. ``kind`` is the class of the error, ``reference`` finds it in our log."""

    message: str
    hint: str = ""
    kind: str = ""
    reference: str = ""


def whole_failure(error: FirstfaultError) -> Failure:
    """The whole error as a value, for the log and for whom it concerns."""
    return Failure(error.message, error.hint, type(error).__name__)


def public_failure(failure: Failure, audience: Audience) -> Failure:
    """What people in the chat may read of it; all of it where it is their own business."""
    if audience is Audience.ASKER:
        return failure
    hint = failure.hint if failure.hint.startswith(_GUESS) else _TRY.get(failure.kind, ASK)
    return replace(failure, message=without_places(failure.message), hint=hint)


def without_places(text: str) -> str:
    """A sentence of an error without the paths, addresses and hosts that it names."""
    return _PLACE.sub("", text)
