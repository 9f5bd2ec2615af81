"""What a job wears: the files of its folder, and where each of their lines stood in the undressed job."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.quality.labels import Place

Folder = Mapping[str, bytes]  # path below a job's folder: what is stored there
Piece = tuple[bytes, Place | None]  # one line or several, and the undressed line that they hold; None: a wrapper's own
MANIFEST = "job.json"


@dataclass(frozen=True)
class Outfit:
    """A dressed job. places: undressed place of each dressed line that has one. rename: of the nodes."""

    files: Folder
    places: Mapping[Place, Place]
    rename: Callable[[str], str] = field(default=str)


def outfit(kept: Folder, pieces: Mapping[str, Iterable[Piece]]) -> Outfit:
    """Some files as they are, others made of pieces, each of which gets the newline that ends it."""
    files, places = dict[str, bytes](), dict[Place, Place]()
    for name, content in kept.items():
        files[name] = content
        places |= {(name, number): (name, number) for number in range(1, content.count(b"\n") + 2)}
    for name, own in pieces.items():
        texts, line = list[bytes](), 1
        for text, place in own:
            for _ in range(text.count(b"\n") + 1):
                if place is not None:
                    places[name, line] = place
                line += 1
            texts.append(text + b"\n")
        files[name] = b"".join(texts)
    return Outfit(files, places)
