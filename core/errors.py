"""Everything that can go wrong and be told to a person.

FirstfaultError            exit code 2
├── BadJobId               the id could not be a job's name
├── JobNotFound            no such job below the jobs folder
├── NoLogs                 the job is there, its logs are not
├── SourceUnavailable      the jobs folder or bucket does not answer
├── UnreadableLog          one log file cannot be read (collected as a problem, never fatal by itself)
├── BadSettings            an option or environment variable makes no sense
├── UnreadableFlows        a file is no flow records, or broken
└── BadTopology            a topology cannot be read

A foreign error is translated once, in the adapter that met it, with ``raise ... from``.
"""


class FirstfaultError(Exception):
    """What happened to what (message), and what to try (hint)."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadJobId(FirstfaultError):
    """The id holds characters that no job id has; it never reaches a path."""


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
