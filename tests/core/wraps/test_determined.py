"""Determined's log of a task: who speaks is a container, and each of its processes a rank."""

from tests.support.wrapped_logs import layers, unwrapped

HEAD = "[2026-03-04T18:40:{k:02}.818610Z]"
LINES = [
    f"{HEAD.format(k=k)} {own} [rank={rank}] || INFO: [90] docs: step={k} loss=2.5"
    for k in range(20)
    for rank, own in ((0, "9a46dc42"), (4, "cb624543"))
]
MASTER = "[2026-03-04T18:41:12.818610Z]          || ERROR: crashed: container failed with non-zero exit code: 137"


def test_container_and_rank_are_who_speaks() -> None:
    """The master has blanks in place of a container, and is nobody's rank."""
    said = unwrapped("\n".join([*LINES, MASTER]).encode() + b"\n").splitlines()

    who, text = said[0].split(b"\x1e")[1:]
    assert who.split(b"\x1f") == [b"node=9a46dc42", b"rank=0", b"unit=9a46dc42"]
    assert text == b"INFO: [90] docs: step=0 loss=2.5"
    assert b"cb624543" in said[1]
    assert said[-1].endswith(b"ERROR: crashed: container failed with non-zero exit code: 137")
    assert b"node=" not in said[-1]


def test_other_brackets_are_none() -> None:
    """Two bars behind a clock may be anybody's."""
    assert "Determined" not in layers("\n".join(f"[2026-03-04 18:40:{k:02}] a || b" for k in range(9)).encode() + b"\n")
