"""Iterations in words that no rule knows: a number that rises by the same step each time it is said."""

import time

import pytest

from core.course.counters import MAX_READ
from core.course.timings import LAG
from core.logs.wraps import json_lines
from tests.support.jobs import at, job, lines, parse

ROUNDS = 12


@pytest.mark.parametrize(
    ("says", "last", "total"),
    [
        ("it {n:4d} of 300  cost 2.51  load 0ms", 11, 300),
        ("round {n} err=0.51 input=0.00s", 11, None),
        ("epoch {n}/900  mse 3.020e-02  365 ms", 11, 900),
        ("episode ep={ten} ms=205 norm=2.88", 110, None),
        ("epoch 3 batch {n}/40 obj 0.0123 | read 0.001 calc 0.181", 11, 40),
        ("msg=progress step={ten} of=400 cost=0.13602 step_ms=206", 110, 400),
        ("upd n:{ten} loss:0.5298 data:0.04", 110, None),
        ("[{ten}]\ttraining's l2: 0.905511", 110, None),
        ("[r3] turn {n}: pick 0.00 calc 0.20", 11, None),
        ("I,3,24.707,step,{ten},2.51,0.2497", 110, None),
        ("hit rate 0.910 after {ten} minibatches", 110, None),
        ("batch_idx={n} train_loss=0.0837 wait=0.01s", 11, None),
        ("batch n={n} loss=51.705 cached_samples={ten}", 11, None),
        ("i{n:06d}  G 1.047  D 0.663  953 ms", 11, None),
        ("r0 e3 i{ten} loss 0.5641 0.9 s/it eta 2.9h", 110, None),
        ("\u7b2c{n}\u6b65 \u635f\u5931=0.6854 AUC=0.7108", 11, None),
        ("paso  {n}  p\u00e9rdida 6,433  frases/s 5016", 11, None),
    ],
)
def test_what_rises_steadily_counts_iterations(says: str, last: int, total: int | None) -> None:
    """A total, a word, or a regular step beside a measurement."""
    said = [at(n, says.format(n=n, ten=10 * n)) for n in range(ROUNDS)]
    found = parse(job({"rank_0.log": lines(*said)})).iterations

    assert (found.last, found.total) == (last, total)
    assert len(found.course) == ROUNDS


@pytest.mark.parametrize(
    "says",
    [
        "heartbeat {n} s",
        "took 2.5 seconds, {ten} samples seen",
        "loaded shard {n}",
        "rank {n} of 300 joined, 2.5 ms",
        "ERROR batch {n}/40 failed 0.5",
        "checked part_{n}.bin 0.5",
        "waited {odd} 0.5",
    ],
)
def test_what_only_rises_does_not(says: str) -> None:
    """Times, samples, shards, ranks, errors, names, and numbers without a step."""
    said = [at(n, says.format(n=n, ten=10 * n, odd=n * n)) for n in range(ROUNDS)]

    assert parse(job({"rank_0.log": lines(*said)})).iterations.last is None


def test_ranks_that_share_a_file_repeat_each_number() -> None:
    """Of sixteen, the last lines of one message tell few numbers: more of them are read."""
    said = [
        at(n, f"<seat {(5 * seat + n * n) % 16:02d}> lap {n} reward +0.180 sim 0.04")
        for n in range(ROUNDS)
        for seat in range(16)
    ]

    assert parse(job({"all.txt": lines(*said)})).iterations.last == ROUNDS - 1


def test_a_share_is_no_count() -> None:
    """The per cent of a bar that is called "Steps", beside a loss."""
    bars = [f"Steps:   2%|#   | {n}/14000 [08:{n:02d}<7:03:46,  1.92s/it, step_loss=0.1562]" for n in range(20, 50)]

    found = parse(job({"rank_0.log": lines(*bars)})).iterations

    assert (found.last, found.total) == (49, 14000)


def test_a_dialect_that_is_known_counts_before_any_number() -> None:
    """Both in one log: frameworks say what they mean."""
    said = [
        at(n, text) for n in range(ROUNDS) for text in (f"round {n} err=0.5", f"iteration {n + 50}/ 100 | loss: 1.0 |")
    ]

    assert parse(job({"rank_0.log": lines(*said)})).iterations.last == ROUNDS - 1 + 50


def test_few_numbers_count_where_many_say_them_under_a_name_for_it() -> None:
    """Four lines of each of three ranks; the first is always printed, and then every fourth."""
    said = [at(n, f"it={number:05d}  ce=1.5008") for n, number in enumerate((1, 4, 8, 12))]
    files = {f"rank_{rank}.log": lines(*said) for rank in range(3)}

    assert parse(job(files)).iterations.last == 12
    assert parse(job({"rank_0.log": lines(*said)})).iterations.last is None


def test_what_torchtune_prints_counts_steps() -> None:
    """Its recipes describe their bar so (recipes/lora_finetune_distributed.py)."""
    said = [at(n, f"1|{4 * n}|Loss: 5.8564") for n in range(1, 4)]

    assert parse(job({"rank_0.log": lines(*said)})).iterations.last == 12


def test_a_line_with_fewer_whole_numbers_is_not_tried_with_every_choice_of_them() -> None:
    """Fractions where others have whole numbers: each line with one less took 2^20 tries, .2 s."""
    numbers = "".join(f"k{letter}=1 " for letter in "abcdefghijklmnopqrst")
    fewer = numbers.replace("1", "1.5", 1)
    early = 5 * ROUNDS  # the lines at the end tell where the counter stands
    said = [at(n % 60, f"{fewer if n < early else numbers}turn {n} /900 obj 0.5") for n in range(early + MAX_READ)]
    began = time.thread_time()

    assert parse(job({"rank_0.log": lines(*said)})).iterations.last == early + MAX_READ - 1
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    ("leader", "others"),
    [
        ("train: {bar}%|##| {n}/300 [00:{n:02d}<02:00, 1.00it/s, loss=0.5]", "t={n} read/comp/comm = 0.0/2.0/0.1 s"),
        ("progress ep={n} ms=205 norm=2.88", "synced ep={n} own=193"),
    ],
    ids=["the leader draws a bar", "the others acknowledge"],
)
def test_ranks_tell_their_times_in_words_of_their_own(leader: str, others: str) -> None:
    """What each rank takes for its part stands in its own lines, which count the same iterations."""
    files = {
        f"rank_{rank}.log": lines(*(at(n, says.format(n=n, bar=n // 3)) for n in range(5, 60, 5)))
        for rank, says in enumerate((leader, others, others, others))
    }
    found = parse(job(files))
    told = {rank for name, of in found.timings.items() if name != LAG for rank in of}

    assert set(found.iterations.of_rank) == {0}
    assert {1, 2, 3} <= told


def test_what_ends_long_before_counts_something_else() -> None:
    """Ranks that open files at the start count files."""
    files = {
        f"rank_{rank}.log": lines(*(at(n, f"opened piece {n}/12 in 0.5") for n in range(ROUNDS)))
        for rank in range(1, 4)
    } | {"rank_0.log": lines(*(at(20 + n, f"train: 1%|##| {n}/300 [00:{n:02d}<02:00]") for n in range(5, 60)))}
    found = parse(job(files))

    assert not {rank for name, of in found.timings.items() if name != LAG for rank in of} & {1, 2, 3}


def test_frames_of_native_stacks_are_not_counted() -> None:
    """dmlc numbers them from 0 on, in each process that raises (XGBoost 3.2)."""
    frames = [f"  [bt] ({n}) /opt/lib/libxgboost.so(+0x2c1a8{n}) [0x7fe596ac1a8{n}]" for n in range(9)]
    said = {f"node-{n}.log": lines(at(1, f"rank {n} of 3"), "Stack trace:", *frames) for n in range(3)}

    assert parse(job(said)).iterations.last is None


def test_rows_of_a_table_that_begin_anew_count_no_iterations() -> None:
    """Of two numbers that rise the one that never falls counts: a table has a row for each rank, again and again."""
    said = []
    for n in range(ROUNDS):
        said.append(f" cycle {n}  res 0.51  wall 0.613")
        said += [f"   {rank}  0.36{rank}  0.15{rank}" for rank in range(8)]
    assert parse(job({"out.log": lines(*said)})).iterations.last == ROUNDS - 1


def test_the_finer_of_two_counts_is_taken_whatever_stands_before_its_number() -> None:
    """A probe tells of every fourth batch, and each rank of its own."""
    probe = [f"b~{4 * n} rx_errors 0 load1 48.{n}" for n in range(1, ROUNDS + 1)]
    ranks = [f"r0 e0 b{n} loss=2.85 compute=0.34" for n in range(1, 4 * ROUNDS + 1)]
    found = parse(job({"probe.log": lines(*probe), "rank_0.log": lines(*ranks)})).iterations
    assert len(set(found.numbers.tolist())) == 4 * ROUNDS


def test_several_that_share_a_file_count_alike_from_one_on() -> None:
    """Each says 1, 4, 8, 12, one below the other."""
    said = [at(n, f"s={max(1, 4 * n)} L=4.91 c=1.3{who}") for n in range(ROUNDS) for who in range(2)]
    assert parse(job({"out.log": lines(*said)})).iterations.last == 4 * (ROUNDS - 1)


def test_metrics_with_a_clock_tell_when_the_screen_has_none() -> None:
    """The screen shows every fifth step, and a file of metrics has each with its time."""
    screen = [f"   {n}/4000  loss 2.75  378.3 utt/s" for n in range(5, 5 * ROUNDS + 1, 5)]
    metrics = [at(n, f"gs={n} fwd_ms=413.6 loss=3.24") for n in range(1, 5 * ROUNDS + 1)]
    found = parse(job({"console.txt": lines(*screen), "metrics.txt": lines(*metrics)})).iterations
    assert len(found.course) == 5 * ROUNDS


def test_a_row_of_metrics_of_a_rank_is_a_record() -> None:
    """It has a time and a rank, and no message."""
    row = b'{"ts": 1789746675.012, "rank": 5, "gs": 131, "fwd_bwd_ms": 904.4, "loss": 1.441}'
    assert json_lines.fit([row] * 3) is not None
    found = json_lines.peel(row)
    assert found is not None
    assert found.rank == 5
    assert found.text == b"fwd_bwd_ms=904.4 gs=131 loss=1.441"
    assert json_lines.fit([b'{"step": 3, "loss": 1.441}'] * 3) is None


def test_the_first_steps_may_be_finer() -> None:
    """1, 2, 3, 4, 8, 12: a trainer tells each of the first ones, and then each fourth."""
    numbers = [1, 2, 3, *range(4, 60, 4)]
    said = [at(n, f"INFO step fb_s=1.4{n % 10} loss=2.5 mem_gb=61.4 n={n} step_s=1.6{n % 10}") for n in numbers]

    assert parse(job({"train.log": lines(*said)})).iterations.last == 56


@pytest.mark.parametrize(
    ("says", "last"),
    [
        ("samples={} auc=0.7833 feed=41ms", 11),
        ("tokens: {}, loss: 4.51", 11),
        ('{{"ts": 1794356519.287, "tok": {}, "loss": 9.4631}}', 11),
        ("step={} loss=2.5", 11 * 327_680),
    ],
)
def test_what_a_job_learned_from_counts_its_steps(says: str, last: int) -> None:
    """Where nothing else counts; a step is what comes each time. A number that is called a step is one."""
    texts = [says.format(327_680 * n) for n in range(1, ROUNDS)]
    said = texts if says.startswith("{") else [at(6 * n, text) for n, text in enumerate(texts)]
    found = parse(job({f"rank_{rank}.log": lines(*said) for rank in range(3)})).iterations

    assert found.last == last


def test_samples_count_nothing_beside_steps() -> None:
    """They are what a step learned from."""
    said = [at(6 * n, f"samples={327_680 * n} auc=0.7833 upd n:{5 * n}") for n in range(1, ROUNDS)]

    assert parse(job({"rank_0.log": lines(*said)})).iterations.last == 55


def test_what_is_tried_again_is_no_iteration() -> None:
    """MindSpore cluster_context.cc (2.6)."""
    said = "[WARNING] DISTRIBUTED(77202,ffff3cf2,python): Topology build timed out., retry({n}/14400)."
    found = parse(job({"rank_0.log": lines(*(at(n, said.format(n=16 * n)) for n in range(1, ROUNDS)))})).iterations

    assert found.last is None
