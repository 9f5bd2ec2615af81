"""What names that stand in one place mean, read together."""

import pytest

from core.logs.speaker_names import Name, are_made_alike, count_all, find_reading


@pytest.mark.parametrize(
    ("names", "key", "first"),
    [
        (["0", "1", "2"], b"", Name(rank=0)),
        (["0/4", "1/4", "3/4"], b"", Name(rank=0)),
        (["R0", "R1"], b"", Name(rank=0)),
        (["rk00", "rk01"], b"", Name(rank=0)),
        (["r4", "r5", "r6", "r7"], b"", Name(rank=4)),
        (["8", "9"], b"rank", Name(rank=8)),
        (["rank_0", "rank_1"], b"", Name(rank=0)),
        (["0", "1"], b"local_rank", Name(local_rank=0)),
        (["gpu-3/0", "gpu-7/1"], b"", Name(b"gpu-3", 0)),
        (["gpu-3/4", "gpu-3/5"], b"", Name(b"gpu-3", 4)),
        (["R0@gpu-3", "R1@gpu-7"], b"", Name(b"gpu-3", 0)),
        (["gpu-3[0", "gpu-7[1"], b"", Name(b"gpu-3", 0)),
        (["gnn-0.0", "gnn-1.1"], b"", Name(b"gnn-0", 0)),
        (["a-1.x.0", "a-1.x.1", "a-2.x.0", "a-2.x.1"], b"", Name(b"a-1.x", local_rank=0)),
        (["gpu-3:0", "gpu-3:1", "gpu-7:0", "gpu-7:1"], b"", Name(b"gpu-3", local_rank=0)),
        (["stage0@gpu-3", "stage1@gpu-7"], b"", Name(b"gpu-3")),
        (["gpu-3/main", "gpu-3/w0", "gpu-7/w0"], b"", Name(b"gpu-3")),
        (["farm/ox", "farm/cow"], b"", Name(b"ox")),
        (["r-fra", "r-mad"], b"", Name(b"r-fra")),
        (["worker-0", "worker-1"], b"", Name(b"worker-0")),
        (["gpu-3", "gpu-7"], b"host", Name(b"gpu-3")),
        (["10.0.0.1.ec2.internal", "10.0.0.2.ec2.internal"], b"", Name(b"10.0.0.1.ec2.internal")),
    ],
)
def test_names_tell_a_rank_a_machine_or_both(names: list[str], key: bytes, first: Name) -> None:
    """Numbers that count from zero are ranks; those that begin anew on each machine are ranks of the machine."""
    reading = find_reading([name.encode() for name in names], key)

    assert reading is not None
    assert reading.read(names[0].encode()) == first


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (["INFO", "ERROR"], b""),
        (["train.py:88", "loop.py:12"], b""),
        (["12ms", "13ms"], b""),
        (["4.2GiB", "4.3GiB"], b""),
        (["18.1G", "18.3G"], b""),
        (["100/s", "107/s"], b""),
        (["0x1f", "0x2f"], b""),
        (["3f9ac01b", "4f9ac01b"], b""),
        (["Nov", "Dec"], b""),
        (["64", "128"], b""),
        (["64", "65"], b""),
        (["0", "1"], b"epoch"),
    ],
)
def test_other_words_of_heads_are_nobodys_names(names: list[str], key: bytes) -> None:
    """Levels, places in the code, measures, identifiers, parts of dates, and numbers that count something else."""
    assert find_reading([name.encode() for name in names], key) is None


def test_machines_are_called_alike() -> None:
    """By number, by a letter or two, or by what stands behind one beginning; other words are called otherwise."""
    assert are_made_alike([b"gpu-3", b"gpu-12"])
    assert are_made_alike([b"p5a", b"p5b"])
    assert are_made_alike([b"r-fra", b"r-ams"])
    assert not are_made_alike([b"forward-pass", b"backward-pass"])
    assert not are_made_alike([b"train", b"valid"])


def test_names_that_count_all_ranks_are_speakers_however_seldom() -> None:
    """A machine and a rank each, and no rank left out."""
    assert count_all([b"cu-07/0", b"cu-08/1", b"cu-10/2"])
    assert not count_all([b"cu-07/0", b"cu-08/2", b"cu-10/3"])
    assert not count_all([b"cu-07/0", b"cu-07/1"])


def test_a_machine_may_be_called_like_a_day() -> None:
    """Beside others that are not."""
    reading = find_reading([b"sun", b"moon", b"mars"])

    assert reading is not None
    assert reading.read(b"sun") == Name(b"sun")


def test_process_ids_in_brackets_are_no_ranks() -> None:
    """As syslog has them: trainer[31539]; what counts from zero is a rank."""
    pids, ranks = find_reading([b"trainer[31539", b"trainer[31540"]), find_reading([b"trainer[0", b"trainer[1"])

    assert pids is None or not pids.tells_rank
    assert ranks is not None
    assert ranks.tells_rank
