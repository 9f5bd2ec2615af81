"""A speaker in the head of each line that no word marks: known by what the column does, and by nothing else."""

import pytest

from tests.support.wrapped_logs import layers, shown, unwrapped

NAMES = ("gpu-03", "gpu-04", "gpu-07")
BOTH = {b"node=gpu-03\x1frank=0", b"node=gpu-04\x1frank=1", b"node=gpu-07\x1frank=2"}


def lines(head: str, names: tuple[str, ...] = NAMES, count: int = 12) -> bytes:
    """Steps that all speakers say, one after the other."""
    said = [
        f"2026-11-22 13:{n // 60:02}:{n % 60:02} {head.format(name=name, rank=rank)} step {n} loss 2.{n}"
        for n in range(count)
        for rank, name in enumerate(names)
    ]
    return "\n".join(said).encode() + b"\n"


def labels(content: bytes) -> set[bytes]:
    return {line.split(b"\x1e")[1] for line in unwrapped(content).splitlines()}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("INFO [{name}/{rank}]", BOTH),
        ("<{name}:{rank}>", BOTH),
        ("({rank}@{name})", BOTH),
        ("{name} INFO", {b"node=gpu-03", b"node=gpu-04", b"node=gpu-07"}),
        ("INFO train [w{rank}]", {b"node=w0", b"node=w1", b"node=w2"}),
        ("<{rank}/3 {name}>", BOTH),
        ("{name}[{rank}] INFO", BOTH),
        ("R{rank}@{name}", BOTH),
        ("host={name} rank={rank};", BOTH),
        ("- {name} (rank {rank}) -", BOTH),
        ("{name}.{rank}", BOTH),
        ("worker {name} trainer", {b"node=gpu-03", b"node=gpu-04", b"node=gpu-07"}),
        ("Rank {rank}:", {b"rank=0", b"rank=1", b"rank=2"}),
        ("#{rank} [main]", {b"rank=0", b"rank=1", b"rank=2"}),
        ("proc{rank}", {b"rank=0", b"rank=1", b"rank=2"}),
        ("stage{rank}@{name}:", {b"node=gpu-03", b"node=gpu-04", b"node=gpu-07"}),
        ("worker={rank} INFO", {b"rank=0", b"rank=1", b"rank=2"}),
        ("{name}#{rank}", BOTH),
        ("{name}/out", {b"node=gpu-03", b"node=gpu-04", b"node=gpu-07"}),
    ],
)
def test_a_column_of_names_that_come_again_is_the_speaker(head: str, expected: set[bytes]) -> None:
    """A machine, a rank, or both, in any brackets."""
    assert layers(lines(head))[-1] == "heads"
    assert labels(lines(head)) == expected


def test_the_device_in_the_head_of_nccl_is_no_rank() -> None:
    """Each machine counts its own; the machine stands before it, and srun's label may."""
    heads = ("gpu-a1:{n}1:{n}1 [{n}]", "{n}: gpu-a1:{n}1:{n}1 [{n}]")
    for head in heads:
        # NVIDIA/nccl src/debug.cc, src/init.cc (2.21)
        said = [
            f"{head.format(n=n)} NCCL INFO {text}\n".encode()
            for text in ("Connected all rings", "Connected all trees", "Using network IB", "NVLS is not available")
            for n in (2, 0, 3, 1)
        ]
        assert unwrapped(b"".join(said)) == b"".join(said)


def test_whoever_stands_before_every_line_speaks() -> None:
    """However different the names are made: who collects the lines of several puts them before each."""
    said = [f"{name} ts={n} level=info event=push n={n}\n".encode() for n in range(9) for name in ("ps0", "w1", "w22")]
    verbs = [f"{word} {n} files of part 3\n".encode() for n in range(9) for word in ("read2", "wrote", "closed")]

    assert labels(b"".join(said)) >= {b"node=ps0", b"node=w1", b"node=w22"}
    assert layers(b"".join(verbs)) == []


def test_a_column_without_a_clock_stands_below_lines_that_have_one() -> None:
    """What a library prints with a clock, before a program without one begins."""
    warning = b"[W1123 02:35:31.363 socket.cpp:207] [c10d] The hostname of the client socket cannot be retrieved.\n"
    said = [b"stage%d@gpu-%d: iteration %d: busy 162 ms\n" % (r, r, n) for n in range(12) for r in range(3)]

    assert layers(b"".join((*[warning] * 4, *said))) == ["heads"]


def test_a_file_of_one_rank_is_that_ranks() -> None:
    """In brackets it is a name, as Accelerate's adapter writes it; a field of records stands beside others."""
    named = b"".join(b"11/22/2026 20:47:%02d | INFO | sft | [RANK 2] step %d\n" % (n, n) for n in range(9))
    fields = b"".join(b"11/22/2026 20:47:%02d host=w03 rank=2 step %d\n" % (n, n) for n in range(9))

    assert labels(named) == {b"rank=2"}
    assert "ranks" not in layers(fields)


def test_machines_that_differ_in_a_letter_say_the_same() -> None:
    """Their name leaves the text, so that one template is told by all; a reader sees it before the line."""
    content = lines("{name} INFO", ("p5-a", "p5-b", "p5-c"))

    assert labels(content) == {b"node=p5-a", b"node=p5-b", b"node=p5-c"}
    assert shown(content)[1] == "p5-b: 2026-11-22 13:00:00 INFO step 0 loss 2.0"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines("INFO", ("a",)), id="nobody"),
        pytest.param(
            b"".join(b"13:00:%02d INFO [epoch%d] step %d\n" % (n, n // 10, n) for n in range(50)), id="in stretches"
        ),
        pytest.param(b"".join(b"13:00:%02d INFO [it%d] loss 2.5\n" % (n, n) for n in range(50)), id="a counter"),
        pytest.param(
            b"".join(b"13:00:%02d INFO [io1] read %d\n13:00:%02d INFO [io2] wrote it\n" % (n, n, n) for n in range(30)),
            id="modules, each with messages of its own",
        ),
        pytest.param(
            b"".join(b"13:00:%02d sched: task on node-%d started\n" % (n, n % 3) for n in range(30)), id="prose"
        ),
        pytest.param(
            b"".join(b"13:00:%02d ctl: INFO node node-%d task running\n" % (n, n % 3) for n in range(30)),
            id="a subject",
        ),
    ],
)
def test_other_columns_are_no_speakers(content: bytes) -> None:
    """Levels, phases, counters, modules, and machines that a line talks about."""
    assert "heads" not in layers(content)


def test_what_stands_below_belongs_to_whom_told_of_an_error() -> None:
    """Others write to the same file: a traceback below a step may be anybody's."""
    trace = b"Traceback (most recent call last):\nOSError: 20000 requested and 8160 written\n"
    below_a_step = unwrapped(lines("INFO [{name}/{rank}]") + trace).splitlines()
    failed = b"2026-11-22 13:01:00 ERROR [gpu-04/1] training failed\n"
    below_an_error = unwrapped(lines("INFO [{name}/{rank}]") + failed + trace).splitlines()

    assert [line.split(b"\x1e")[1] for line in below_a_step[-2:]] == [b"", b""]
    assert [line.split(b"\x1e")[1] for line in below_an_error[-2:]] == [b"node=gpu-04\x1frank=1"] * 2


def test_what_mpirun_writes() -> None:
    """Open MPI's stamp, its tag where there is one, and the program's own column behind them."""
    tagged = b"".join(
        b"Sun Nov 22 13:09:%02d 2026[1,%d]<stdout>:epoch %d mse 0.5\n" % (n, r, n) for n in range(9) for r in (0, 1)
    )
    plain = b"".join(
        b"Sun Nov  1 13:09:%02d 2026<stdout>:INFO [wk%d/%d] epoch %d mse 0.5\n" % (n, r, r, n)
        for n in range(9)
        for r in (0, 1)
    )

    assert layers(tagged) == ["mpirun"]
    assert unwrapped(tagged).startswith(b"2026-11-22T13:09:00 \x1erank=0\x1eepoch 0 mse 0.5\n")
    assert layers(plain) == ["mpirun", "heads"]
    assert b"2026-11-01T13:09:00 \x1enode=wk1\x1frank=1\x1e" in unwrapped(plain)


def test_a_name_before_each_line_is_taken_off_so_that_what_stands_behind_begins_the_line() -> None:
    """Labels of launchers and tracebacks are read by their beginning, and tracebacks make long turns."""
    trace = [
        "Traceback (most recent call last):",
        *(f'  File "train.py", line {n}' for n in range(20)),
        "KeyboardInterrupt",
    ]
    said = [f"[dgx0{r}] 11/23/2026 17:11:{n:02} - INFO - step {n}" for n in range(8) for r in (2, 5, 6)]
    said += [f"[dgx0{r}] [rank{r}]: {line}" for r in (6, 2, 5) for line in trace]
    found = unwrapped("\n".join(said).encode() + b"\n").splitlines()

    assert {line.split(b"\x1e")[1] for line in found} == {b"node=dgx02", b"node=dgx05", b"node=dgx06"}
    assert b"\x1enode=dgx06\x1e[rank6]: Traceback (most recent call last):" in found


def test_bars_without_blanks_part_a_head() -> None:
    """A role with its rank and the world, at a machine."""
    said = [f"12:00:{n:02}|I|m{r}/3@ki-{r + 2}|kelp|beat {n} nll 3.5\n".encode() for n in range(9) for r in range(3)]

    assert labels(b"".join(said)) == {b"node=ki-2\x1frank=0", b"node=ki-3\x1frank=1", b"node=ki-4\x1frank=2"}


def test_brackets_in_every_line_hold_a_name_however_it_is_made() -> None:
    """Names of rivers, in the lines of all."""
    said = [f"12:00:{n:02} [INFO ] Knoten ({name}): Runde {n}\n".encode() for n in range(9) for name in ("isar", "inn")]

    assert labels(b"".join(said)) == {b"node=isar", b"node=inn"}


def test_a_leader_that_says_nearly_all_is_told_from_the_others() -> None:
    """They count all ranks, each on a machine of its own."""
    joins = [f"12:00:00 cu-0{r}/{r}: joining as {r} of 3\n".encode() for r in range(3)]
    leads = [f"12:00:{n:02} cu-00/0: it {n} loss 2.5\n".encode() for n in range(1, 40)]

    assert labels(b"".join((*joins, *leads))) == {f"node=cu-0{r}\x1frank={r}".encode() for r in range(3)}


def test_any_word_with_a_number_before_each_line_is_a_rank_where_they_count_from_zero() -> None:
    """Whatever a program calls its ranks; epochs come one after the other, and parts of a run are no speakers."""
    said = [f"shelf {r}: firing {n} glaze={2.5 - n / 100} soak=0.62\n".encode() for n in range(9) for r in range(4)]
    epochs = [f"epoch {n // 4}: step {n} loss 2.5\n".encode() for n in range(36)]

    assert labels(b"".join(said)) == {f"rank={r}".encode() for r in range(4)}
    assert b"\x1e" not in unwrapped(b"".join(epochs))


def test_numbers_in_brackets_before_each_line_are_ranks_of_a_later_machine() -> None:
    """A file of the seventh of eight machines with two ranks each."""
    said = [f"0309 08:01:{n:02}.51 [{r}] letter {n} ink 4.1 post 0.3\n".encode() for n in range(9) for r in (12, 13)]

    assert labels(b"".join(said)) == {b"rank=12", b"rank=13"}


def test_numbers_of_one_width_are_padded_in_their_brackets() -> None:
    """``[ 3]`` beside ``[12]``: taken off, so that all speakers say the same."""
    said = [f"[{rank:2}] it {n} exchange enter" for n in range(8) for rank in range(12)]
    content = "\n".join(said).encode() + b"\n"

    assert labels(content) == {b"rank=%d" % rank for rank in range(12)}
    assert "[rank3]: it 0 exchange enter" in shown(content)


@pytest.mark.parametrize(
    ("label", "label_shown"), [("<seat {:02}>", "[rank2]: "), ("[local {}]", "")], ids=["of the job", "of a machine"]
)
def test_numbers_in_brackets_count_processes_in_whatever_words(label: str, label_shown: str) -> None:
    """From 0 on, in turns; those of one machine are no ranks."""
    told = "".join(f"Sat 14:02:{n:02}.3 {label.format(m)} lap {n} reward 0.01\n" for n in range(40) for m in range(4))

    assert "heads" in layers(told.encode())
    assert shown(told.encode())[2].startswith(label_shown)
