"""Everything that can go wrong and be told to a person; the whole program has one tree, drawn here.

FirstfaultError            exit code 2; what is marked * is the asker's business, also in a chat
├── BadJobId *             the id could not be a job's name
├── JobNotFound            no such job below the jobs folder
├── NoLogs                 the job is there, its logs are not
├── SourceUnavailable      the jobs folder or bucket does not answer
├── UnreadableLog          one log file cannot be read (collected as a problem, never fatal by itself)
├── BadSettings            an option or environment variable makes no sense
├── UnreadableFlows        a file is no flow records, or broken
├── BadTopology            a topology cannot be read
├── NoSpace                the folder for what does not fit into memory is full
├── EmbeddingUnavailable   the embedding model is not there, or another one          faultlib/
├── LibraryUnavailable     the fault library cannot be opened, read or written
├── PatternNotFound        no pattern of that id
├── StaleRevision *        the pattern changed after somebody looked at it
├── WrongStep *            the pattern's status does not allow that step
├── IndexUnavailable       the vector index is broken, locked or behind
├── BadPattern             a text is no pattern
├── ModelUnavailable       the language model gave no usable answer                  bot/
├── NoTime                 no line of any attempt has a clock
├── NoLocalSlack           the local Slack did not start
├── ClusterFailed          the Dask cluster does not answer, or cannot read the logs
├── BadButton *            a button or form is not of this program
├── SlackUnavailable       Slack does not answer, or refuses the token
├── MayNotPost *           the bot may not write in that channel
├── BlocksRefused          the workspace has no blocks of this kind
├── PostPending *          a post must wait
├── NotDelivered           the webhook does not take a diagnosis now
├── StateUnavailable       the state file cannot be used
├── RunForgotten *         no such run, or no draft of it, any more
├── StaleRevision *        the draft changed after somebody looked at it
└── OutOfDate *            what was asked about is not there yet, or not any more

A foreign error is translated once, in the adapter that met it, with ``raise ... from``.
"""

from enum import StrEnum
from typing import ClassVar


class Audience(StrEnum):
    """Whose business an error is, where those who ask are not those who run the program: in a chat."""

    ASKER = "asker"  # what somebody typed or clicked: they read message and hint whole
    OPERATOR = "operator"  # they read the message without paths and hosts, and whom to ask; the log has the rest


class FirstfaultError(Exception):
    """What happened to what (message), and what to try (hint)."""

    exit_code = 2
    audience: ClassVar[Audience] = Audience.OPERATOR

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadJobId(FirstfaultError):
    """The id holds characters that no job id has; it never reaches a path."""

    audience = Audience.ASKER


class JobNotFound(FirstfaultError):
    """No folder of that name below the jobs folder."""


class NoLogs(FirstfaultError):
    """The job exists, but there is nothing to read."""


class SourceUnavailable(FirstfaultError):
    """The place where jobs live does not answer."""


class UnreadableLog(FirstfaultError):
    """A log file is truncated, corrupt, forbidden or suspiciously compressed."""


class BadSettings(FirstfaultError):
    """A setting that cannot work."""


class UnreadableFlows(FirstfaultError):
    """A file of network flows is missing, broken, or of a form that nobody reads."""


class BadTopology(FirstfaultError):
    """The file that tells what is attached to what makes no sense."""
