"""What can go wrong in the fault library; drawn with all others in ``core.errors``."""

from core.errors import Audience, FirstfaultError


class LibraryUnavailable(FirstfaultError):
    """The library is locked, damaged, full, read-only, from a newer version, or no library."""


class PatternNotFound(FirstfaultError):
    """No pattern of that id is in the library."""


class StaleRevision(FirstfaultError):
    """The pattern changed after the person looked at it, or an import is older than what is here."""

    audience = Audience.ASKER


class WrongStep(FirstfaultError):
    """The pattern's status does not allow that step."""

    audience = Audience.ASKER


class IndexUnavailable(FirstfaultError):
    """Chroma is not installed, or its index is damaged."""
