"""What a container runtime puts around each line of a container; kubelet and dockerd themselves are not here.

CRI as containerd writes it (time, stream, P or F, text) and Docker's json-file: both cut a line after 16 KiB.
"""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import time_ns
from typing import IO

LONGEST = 16 * 1024  # bytes of a piece: containerd's and dockerd's buffer
Frame = Callable[[bytes, str, str], bytes]


def cri(piece: bytes, stream: str, moment: str) -> bytes:
    """A line of a pod's log."""
    tag = "F" if piece.endswith(b"\n") else "P"
    return f"{moment} {stream} {tag} ".encode() + piece.removesuffix(b"\n") + b"\n"


def docker(piece: bytes, stream: str, moment: str) -> bytes:
    """A line of Docker's json-file."""
    text = {"log": piece.decode("utf-8", "replace"), "stream": stream, "time": moment}
    line = json.dumps(text, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&":  # as Go's encoder does
        line = line.replace(character, f"\\u{ord(character):04x}")
    return line.encode() + b"\n"


FRAMERS: dict[str, Frame] = {"cri": cri, "docker": docker}


def pump(streams: dict[str, IO[bytes]], path: Path, frame: Frame) -> tuple[threading.Thread, ...]:
    """Carry a container's streams to its file, a thread each, until they end."""

    def carry(name: str, source: IO[bytes]) -> None:
        with path.open("ab", buffering=0) as target:
            for line in source:
                target.writelines(frame(piece, name, stamp(time_ns())) for piece in pieces(line))

    threads = tuple(threading.Thread(target=carry, args=item, daemon=True) for item in streams.items())
    for thread in threads:
        thread.start()
    return threads


def pieces(line: bytes) -> Iterator[bytes]:
    """A line in pieces of at most 16 KiB; only the last one ends with the line."""
    while len(line) > LONGEST and line[LONGEST:] != b"\n":
        yield line[:LONGEST]
        line = line[LONGEST:]
    yield line


def stamp(nanoseconds: int) -> str:
    """A moment in UTC with nine digits, as both runtimes write it."""
    moment = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds % 10**9:09d}Z"
