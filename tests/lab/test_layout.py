"""Where lines go, and what a container runtime puts around them."""

import io
import json
from pathlib import Path
from typing import IO

import pytest

from benchmarks.support.patience import PATIENCE
from lab.framing import LONGEST, cri, docker, pieces, pump, stamp
from lab.layout import LAYOUTS
from lab.settings import SETTINGS, Settings

MOMENT = "2026-11-22T08:00:00.000000007Z"


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_file_tells_who_wrote_it(settings: Settings) -> None:
    """The name that a run gives to a file of a node or rank leads back to it."""
    layout = settings.layout
    for node in settings.nodes:
        for rank in settings.ranks(node):
            found, told = layout.speaker(layout.path("lab05-001", 4711, node, rank), settings.nodes)
            if layout.by_rank:
                assert told == rank
            assert (found or settings.node_of(rank)) == node


def test_every_file_has_its_own_name() -> None:
    """No two nodes or ranks of a group write to one file, unless all of them do."""
    for settings in SETTINGS.values():
        ranks = [(node, rank) for node in settings.nodes for rank in settings.ranks(node)]
        names = {settings.layout.path("j", 7, *place) for place in ranks}
        assert len(names) in {1, len(settings.nodes), settings.world}


@pytest.mark.parametrize(
    ("layout", "raw", "text", "rank"),
    [
        ("output", " 3: hello", "hello", 3),
        ("output", "srun: error: gpu017: task 0: Killed", "srun: error: gpu017: task 0: Killed", None),
        ("pods", "2026-11-22T08:00:00.1Z stdout F hello", "hello", None),
        ("journal", "Nov 22 08:35:20.793889 train-bj-02 torchrun[25]: hello", "hello", None),
        ("docker", '{"log":"hello\\n","stream":"stdout","time":"x"}', "hello", None),
        ("docker", "no json", "no json", None),
        ("ranks", "3: hello", "3: hello", None),
    ],
)
def test_a_line_is_taken_out_of_its_frame(layout: str, raw: str, text: str, rank: int | None) -> None:
    """What srun, containerd, dockerd and journald put in front is no part of what was said."""
    assert LAYOUTS[layout].unwrap(raw) == (text, rank)


def test_a_long_line_is_cut_as_containerd_cuts_it() -> None:
    """16 KiB a piece, all but the last one marked as partial."""
    framed = [cri(piece, "stderr", MOMENT) for piece in pieces(b"x" * (2 * LONGEST + 5) + b"\n")]

    assert [line.split(b" ")[2] for line in framed] == [b"P", b"P", b"F"]
    assert framed[2] == f"{MOMENT} stderr F xxxxx\n".encode()


def test_a_line_that_just_fits_is_whole() -> None:
    """The end of a line needs no piece of its own."""
    assert list(pieces(b"x" * LONGEST + b"\n")) == [b"x" * LONGEST + b"\n"]


def test_docker_writes_json_as_go_does() -> None:
    """Angle brackets and ampersands are escaped; the text comes back whole."""
    line = docker("<a> & ü\n".encode(), "stdout", MOMENT)

    assert b"\\u003ca\\u003e \\u0026 " in line
    assert json.loads(line) == {"log": "<a> & ü\n", "stream": "stdout", "time": MOMENT}


def test_a_moment_has_nine_digits() -> None:
    """Both runtimes write nanoseconds in UTC."""
    assert stamp(1_700_000_000_000_000_007) == "2023-11-14T22:13:20.000000007Z"


def test_two_streams_meet_in_one_file(tmp_path: Path) -> None:
    """Every line of both is there once, named after its stream; hostile bytes pass."""
    streams: dict[str, IO[bytes]] = {"stdout": io.BytesIO(b"one\ntwo\n"), "stderr": io.BytesIO(b"\xff\x00\nno end")}
    for thread in pump(streams, tmp_path / "0.log", cri):
        thread.join(PATIENCE)

    lines = (tmp_path / "0.log").read_bytes().split(b"\n")[:-1]
    assert sorted(line.split(b" ", 1)[1] for line in lines) == [
        b"stderr F \xff\x00", b"stderr P no end", b"stdout F one", b"stdout F two",
    ]  # fmt: skip
