"""What ``core`` asks of a store for things that it has computed: bytes under a key, and it may always forget."""

from typing import Protocol


class ByteCache(Protocol):
    """Bytes under a key of hexadecimal digits; forgetting is allowed, wrong bytes are not."""

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under this key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes if that is possible; never fails."""


class MemoryCache:
    """The shipped fake: keeps everything until it is dropped."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under this key, or None."""
        return self._kept.get(key)

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes."""
        self._kept[key] = bytes(value)
