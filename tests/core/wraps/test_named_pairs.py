"""A speaker in a pair that no standard names: known by its key, and by what its values do."""

import pytest

from tests.support.wrapped_logs import layers, unwrapped


def labels(lines: list[str]) -> set[bytes]:
    """The labels of the lines of one file."""
    content = "\n".join(lines).encode() + b"\n"
    return {line.split(b"\x1e")[1] for line in unwrapped(content).splitlines()}


def logfmt(pairs: str, ranks: int = 4) -> list[str]:
    """Records as logrus writes them, of ranks that take turns."""
    head = 'time="2026-11-22T04:00:{n:02}Z" level=info msg="round done" n={n} '
    return [(head + pairs).format(n=n, rank=rank, box=rank // 2) for n in range(12) for rank in range(ranks)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ("who=worker/{rank}", {b"rank=0", b"rank=1", b"rank=2", b"rank=3"}),
        ("replica={rank}", {b"rank=0", b"rank=1", b"rank=2", b"rank=3"}),
        ("proc=actor-{rank}", {b"rank=0", b"rank=1", b"rank=2", b"rank=3"}),
        ("who=gpu-{box}/{rank}", {f"node=gpu-{rank // 2}\x1frank={rank}".encode() for rank in range(4)}),
        ("box=gpu-{box} proc=p{rank}", {f"node=gpu-{rank // 2}\x1frank={rank}".encode() for rank in range(4)}),
    ],
)
def test_a_pair_names_who_speaks(pairs: str, expected: set[bytes]) -> None:
    """A rank, a machine, or both; in one pair or two."""
    assert labels(logfmt(pairs)) == expected


def test_an_object_is_a_row_of_pairs() -> None:
    """structlog's and zap's fields are read as those of logfmt are."""
    lines = [
        f'{{"ts": "2026-11-22T04:00:{n:02}Z", "level": "info", "msg": "round done", "n": {n}, "trainer": "{rank}"}}'
        for n in range(12)
        for rank in range(3)
    ]

    assert labels(lines) == {b"rank=0", b"rank=1", b"rank=2"}


@pytest.mark.parametrize("pairs", ["to=w{rank}", "peer=worker/{rank}", "shard=s{rank}", "mode=m{rank}"])
def test_whom_a_line_talks_about_does_not_speak(pairs: str) -> None:
    """A pair of another meaning is left where it is."""
    content = "\n".join(logfmt(pairs)).encode() + b"\n"

    assert layers(content) == ["logfmt"]


def test_what_comes_in_stretches_names_nobody() -> None:
    """An agent that is tried three times is one speaker, with three attempts."""
    lines = [f"04:00:{n:02} agent={agent} trial step {n}" for agent in range(3) for n in range(20)]

    assert layers("\n".join(lines).encode() + b"\n") == []
