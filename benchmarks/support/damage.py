"""Ways in which a file is damaged by chance."""

import os
import random
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path, random.Random], None]


def flip(path: Path, chance: random.Random) -> None:
    """One byte is another."""
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def scatter(path: Path, chance: random.Random) -> None:
    """Many bytes are others."""
    content = bytearray(path.read_bytes())
    for _ in range(200):
        content[chance.randrange(100, len(content))] = chance.randrange(256)
    path.write_bytes(content)


def cut(path: Path, chance: random.Random) -> None:
    """The end is missing, as after a full disk."""
    os.truncate(path, chance.randrange(path.stat().st_size))


def blank(path: Path, chance: random.Random) -> None:
    """A page of zeros, as a disk gives that forgot."""
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content) // 4096 + 1) * 4096
    content[place : place + 4096] = bytes(len(content[place : place + 4096]))
    path.write_bytes(content)


def garbage(path: Path, chance: random.Random) -> None:
    """Something else altogether."""
    path.write_bytes(chance.randbytes(9000))
