"""A seal on an index folder: which vectors it holds, and a digest of every file; any write breaks it.

Chroma opens a folder with truncated or overwritten graph files and answers from them without a word: 8 of 18 damages
that were tried (length.bin, link_lists.bin, half of data_level0.bin). Another 2 crashed the process. So what is not
exactly what was sealed is built anew from the database.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

FILE = "seal.json"
_FORMAT = "firstfault.index/1"


@dataclass(frozen=True, slots=True)
class Seal:
    """What was sealed: the folder's name, Chroma's version, and the key of each vector by its pattern's id."""

    folder: str
    made_by: str
    keys: Mapping[str, str]


def write_seal(parent: Path, seal: Seal) -> None:
    """Seal ``parent/seal.folder`` as it is now."""
    content = {
        "format": _FORMAT,
        "folder": seal.folder,
        "made_by": seal.made_by,
        "held": dict(seal.keys),
        "files": _digests(parent / seal.folder),
    }
    new = parent / f"{FILE}.new"
    new.write_text(json.dumps(content), encoding="utf-8")
    new.replace(parent / FILE)


def read_seal(parent: Path, *, made_by: str) -> Seal | None:
    """The seal, if it is whole, of this version, and every file is as it was sealed."""
    try:
        content = json.loads((parent / FILE).read_text(encoding="utf-8"))
        seal = Seal(content["folder"], content["made_by"], content["held"])
        intact = (
            content["format"] == _FORMAT
            and seal.made_by == made_by
            and Path(seal.folder).name == seal.folder
            and isinstance(seal.keys, dict)
            and _digests(parent / seal.folder) == content["files"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return seal if intact else None


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in files}
