"""The project's own archives of labelled jobs, unpacked with any Python from 3.11 on."""

import tarfile
from collections.abc import Sequence
from pathlib import Path


def unpack(archive: tarfile.TarFile, folder: str | Path, members: Sequence[tarfile.TarInfo] | None = None) -> None:
    """Unpack an archive of ours, by the filter for data where this Python has it: 3.11.2, Debian 12's, does not."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, members, filter="data")
    else:
        archive.extractall(folder, members)  # noqa: S202 an archive that this repository holds
