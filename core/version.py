"""What kept results depend on besides the job: the code that reads it, and the code and rules that look at it."""

from functools import cache
from hashlib import blake2b
from pathlib import Path

_CORE = Path(__file__).parent


@cache
def reader_version() -> str:
    """Changes with every change of the code that reads logs."""
    return _digest(_CORE / "logs")


@cache
def core_version() -> str:
    """Changes with every change of code or rules in ``core``."""
    return _digest(_CORE)


def _digest(folder: Path) -> str:
    sources = [path.read_bytes() for kind in ("*.py", "*.toml") for path in sorted(folder.rglob(kind))]
    return blake2b(b"\0".join(sources), digest_size=16).hexdigest()
