"""The samples, and what becomes of a log that is wrapped."""

import io
from functools import partial

from core.job import LogFile
from core.logs.label import as_people_write
from core.logs.wraps.unwrapped_stream import OpenUnwrapped
from tests.support.places import ROOT

SAMPLES = ROOT / "tests" / "core" / "wraps" / "samples"


def sample(name: str) -> bytes:
    """A sample's bytes."""
    return (SAMPLES / name).read_bytes()


def wrapped(name: str, content: bytes) -> LogFile:
    """A log in memory, as a source hands it over."""
    return LogFile(name, len(content), "", OpenUnwrapped(partial(io.BytesIO, content)))


def unwrapped(content: bytes) -> bytes:
    """What is read of a log."""
    with OpenUnwrapped(partial(io.BytesIO, content))() as stream:
        return stream.read()


def layers(content: bytes) -> list[str]:
    """Names of the layers around what is said."""
    opened = OpenUnwrapped(partial(io.BytesIO, content))
    opened().close()
    return [wrap.name for wrap in opened.known[0].layers]


def shown(content: bytes) -> list[str]:
    """A log's lines as a reader sees them; segments of one line are separated by a bar."""
    lines = unwrapped(content).removesuffix(b"\n").split(b"\n")
    return [b" | ".join(map(as_people_write, line.split(b"\r"))).decode("utf-8", "replace") for line in lines]
