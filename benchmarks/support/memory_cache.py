"""A store of computed things that lives as long as the process, for tests and measurements."""

from pathlib import Path


class MemoryCache:
    """A ``core.cache.ByteCache`` that keeps everything until it is dropped, but no files."""

    folder: Path | None = None

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under this key, or None."""
        return self._kept.get(key)

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes."""
        self._kept[key] = bytes(value)

    def open(self, key: str) -> int | None:  # noqa: ARG002 as the protocol has it
        """Nothing is kept: None."""
        return None

    def keep(self, key: str, descriptor: int) -> None:
        """Forget it at once."""
