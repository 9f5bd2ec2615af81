"""Everything that can go wrong in the fault library and be told to a person.

FirstfaultError            exit code 2
├── LibraryUnavailable     the library cannot be opened, read or written
├── PatternNotFound        no pattern of that id
├── StaleRevision          somebody was faster: what was seen is no longer what is there
├── WrongStep              a pattern in that status cannot take that step
├── IndexUnavailable       Chroma does not work here; exact search answers, so nobody is stopped by it
└── EmbeddingUnavailable   the embedding model cannot be loaded (embedding.py)
"""

from core.errors import FirstfaultError


class LibraryUnavailable(FirstfaultError):
    """The library is locked, damaged, full, read-only, from a newer version, or no library."""


class PatternNotFound(FirstfaultError):
    """No pattern of that id is in the library."""


class StaleRevision(FirstfaultError):
    """The pattern changed after the person looked at it, or an import is older than what is here."""


class WrongStep(FirstfaultError):
    """The pattern's status does not allow that step."""


class IndexUnavailable(FirstfaultError):
    """Chroma is not installed, or its index is damaged."""
