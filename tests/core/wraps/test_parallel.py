"""GNU parallel's ``--tag``: the argument of the process, a tab, and what it wrote."""

from tests.support.wrapped_logs import layers, unwrapped

STEPS = [f"gpu-{n}\t[2026-11-26T01:22:{k:02}Z INFO  lmring] step {k}" for k in range(9) for n in range(3)]
# What parallel writes itself, with --timeout and --tag (20221122)
OWN = ["parallel: Warning: This job was killed because it timed out:", "parallel: Warning: ./run-gpu-0.sh"]


def test_the_tag_is_who_speaks_and_parallels_own_lines_have_none() -> None:
    """Each line is read as its process wrote it."""
    said = unwrapped("\n".join([*STEPS, *OWN]).encode() + b"\n").splitlines()

    assert {line.split(b"\x1e")[1] for line in said[: len(STEPS)]} == {b"node=gpu-0", b"node=gpu-1", b"node=gpu-2"}
    assert said[-1].endswith(b"\x1e\x1e" + OWN[-1].encode())


def test_a_table_is_none() -> None:
    """parallel's own --joblog has columns, and so have metrics with a name in the first."""
    table = [f"train\t{k}\t{2.5 - k / 10}" for k in range(9)] + [f"eval\t{k}\t{2.5 - k / 10}" for k in range(9)]

    assert layers("\n".join(table).encode() + b"\n") == []
