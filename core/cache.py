"""What ``core`` asks of a store for things that it has computed: bytes under a key, and it may always forget."""

from pathlib import Path
from typing import Protocol


class ByteCache(Protocol):
    """Bytes under a key of hexadecimal digits; forgetting is allowed, wrong bytes are not."""

    @property
    def folder(self) -> Path | None:
        """Where files may be made that ``keep`` then only gives a name; None where there is no such folder."""

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under this key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes if that is possible; never fails."""

    def open(self, key: str) -> int | None:
        """Open the file that was kept under this key: its descriptor, or None."""

    def keep(self, key: str, descriptor: int) -> None:
        """Keep an open file as it is if that is possible; never fails."""
