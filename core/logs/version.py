"""What kept results of reading logs depend on besides the logs: the code that reads them."""

from functools import cache
from hashlib import blake2b
from pathlib import Path


@cache
def reader_version() -> str:
    """Changes with every change of this package."""
    here = Path(__file__).parent
    sources = [path.read_bytes() for path in sorted(here.rglob("*.py"))]
    return blake2b(b"\0".join(sources), digest_size=16).hexdigest()
