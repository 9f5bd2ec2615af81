"""What a program said at once: a line, or a block of lines that is one thing (``core.logs.blocks``).

A message's text depends on nothing but the message itself, so it is the same in every job and any order of files.
Blocks are found within one voice (a file and a prefix), because ranks interleave in shared files.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.logs.blocks import BLOCK_MARK, Said, find_blocks, may_open
from core.logs.refine import refine

NO_TEXT = "<BINARY>"
MAX_ODD = 0.3  # share of bytes that are no text; of random ones three in five


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Rows of a file grouped into messages.

    message: uint32 a row, place in ``texts``. head: bool a row, True where a message starts.
    key: bool a row, True on the rows that say what happened (the line itself, or the verdict lines of a block).
    """

    message: NDArray[np.uint32]
    head: NDArray[np.bool_]
    key: NDArray[np.bool_]
    texts: tuple[str, ...]


def group(body: NDArray[np.uint32], prefix: NDArray[np.uint32], bodies: Sequence[bytes]) -> Messages:
    """Group the rows of one file into messages.

    Args:
        body: uint32 a row, place in ``bodies``.
        prefix: uint32 a row; rows of one prefix are one voice.
        bodies: the distinct masked bodies of the file.
    """
    raw = [_readable(text) for text in bodies]
    texts: dict[str, int] = {}
    of_body = np.array([texts.setdefault(refine(text), len(texts)) for text in raw], dtype=np.uint32)
    message = of_body[body] if len(body) else np.zeros(0, np.uint32)
    head, key = np.ones(len(body), np.bool_), np.ones(len(body), np.bool_)
    opens = np.array([may_open(text) for text in raw], dtype=np.bool_)
    headless: list[NDArray[np.intp]] = []
    for voice in _voices(prefix, opens[body] if len(body) else np.zeros(0, np.bool_)):
        said = Said([raw[at] for at in body[voice]], voice)
        for found in find_blocks(said, np.flatnonzero(opens[body[voice]]).tolist()):
            rows = voice[found.start : found.end]
            if found.text is None:
                headless.append(rows)
            else:
                message[rows] = texts.setdefault(found.text, len(texts))
                head[rows[1:]] = False
            key[rows] = False
            key[voice[list(found.keys)]] = True
    for rows in sorted(headless, key=lambda rows: int(rows[0])):  # when it is known what the row above belongs to
        message[rows], head[rows] = message[int(rows[0]) - 1], False
    return Messages(message=message, head=head, key=key, texts=tuple(texts))


def is_block(text: str) -> bool:
    """Whether a message's text stands for a block."""
    return text.startswith(BLOCK_MARK)


def plain(text: str) -> str:
    """A message's text without the mark of a block."""
    return text.removeprefix(BLOCK_MARK)


def _readable(body: bytes) -> str:
    """The body as text; what is none (a core dump, a checkpoint called .log) is one event, not a million."""
    text = body.decode("utf-8", "replace")
    if text.isprintable() and "\ufffd" not in text:
        return text
    odd = sum(character == "\ufffd" or not (character.isprintable() or character.isspace()) for character in text)
    return NO_TEXT if odd > len(text) * MAX_ODD else text


def _voices(prefix: NDArray[np.uint32], opens: NDArray[np.bool_]) -> Iterable[NDArray[np.intp]]:
    """Rows of each prefix that holds a block, in file order."""
    order = np.argsort(prefix, kind="stable")
    bounds = np.flatnonzero(np.diff(prefix[order])) + 1
    return [rows for rows in np.split(order, bounds) if opens[rows].any()]
