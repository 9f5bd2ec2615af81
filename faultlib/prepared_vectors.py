"""Vectors of texts that are known before anybody asks, made when the program is set up (``make setup``).

Seeds of the fault library, and the labelled questions by which a question is understood: 1,700 texts, for which the
first diagnosis and the first question of everybody waited ten seconds of processor time. Whatever is wrong with the
file costs only that time.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from zipfile import BadZipFile

import numpy as np

from faultlib.embedding import Vectors

FILE = Path(__file__).parent / "__pycache__" / "vectors.npz"  # beside what else is compiled at setup


@cache
def prepared_vectors(file: Path = FILE) -> Mapping[str, Vectors]:
    """The vector of each key, as the model that was asked made it; none where there is no such file.

    A key says which model and which text: those of another model, and of texts that were changed, nobody asks for.
    """
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            keys, vectors = stored["keys"].tolist(), np.asarray(stored["vectors"], np.float32)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return MappingProxyType({})
    return MappingProxyType(dict(zip(keys, vectors, strict=False)))


def store_vectors(vectors: Mapping[str, Vectors], file: Path = FILE) -> None:
    """Write the file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    file.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=file.parent, prefix=".new-") as beside:
        new = Path(beside, file.name)
        np.savez(new, keys=np.array(list(vectors)), vectors=np.array(list(vectors.values()), np.float32))
        new.replace(file)
