"""Which Firstfault this is."""

from importlib import metadata


def version() -> str:
    """As it was installed."""
    try:
        return metadata.version("firstfault")
    except metadata.PackageNotFoundError:
        return "(not installed)"
