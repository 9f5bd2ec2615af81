"""Which Firstfault this is."""

from importlib import metadata


def version() -> str:
    """The version of the installed package."""
    try:
        return metadata.version("firstfault")
    except metadata.PackageNotFoundError:
        return "(not installed)"
