"""Iterations: every dialect is counted, the last run counts, and what only looks like an iteration does not."""

import math

import pytest

from core.course.iterations import Iterations
from core.course.markers import measures
from core.job import Job
from tests.support.jobs import at, example, four_nodes, job, lines, parse, steps

MLLOG = (
    ':::MLLOG {"namespace": "", "time_ms": 1727699318686, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
    '"value": {"throughput": 3.5}, "metadata": {"file": "x.py", "lineno": 31, "step": %d}}'
)
BAR = "%3d%%|##        | %d/%d [00:02<00:15,  4.20it/s]"


def counted(one: Job) -> Iterations:
    return parse(one).iterations


def test_validation_of_nemo_counts_no_iterations() -> None:
    """It has batches of its own: 4 of 4 is no end of the run."""
    said = [f"Training epoch 0, iteration {n}/99 | lr: 0.0001 | global_step: {n} | loss: 5.6" for n in range(1, 31)]
    validation = [f"Validation: iteration {n}/4" for n in range(1, 5)]
    found = counted(job({"train.log": lines(*said, *validation)}))

    assert (found.last, found.at_end) == (30, False)


def bar(last: int, total: int, label: str = "") -> str:
    """A progress bar up to here: one physical line."""
    return "\r".join(label + BAR % (100 * n // total, n, total) for n in range(1, last + 1))


@pytest.mark.parametrize(
    ("line", "total"),
    [
        (" iteration {n:8d}/     200 | consumed samples:   96 | elapsed time per iteration (ms): 211.5 |", 200),
        ("samples/sec: 12.5 | iteration {n:4d}/ 200 | elapsed time per iteration (ms): 20.1 |", 200),
        ("3:  iteration {n:8d}/     200 | consumed samples:   96 |", 200),
        ("[2026-11-21 04:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step={n}, skipped=0, lr=[0.0001]", None),
        ("steps: {n} loss: 5.5 iter time (s): 0.211 samples/sec: 37.9", None),
        ("Training epoch 0, iteration {n}/99 | lr: 0.0001 | reduced_train_loss: 5.6", 99),
        ("Training epoch 3, iteration 8/99 | lr: 0.0001 | global_step: {n} | reduced_train_loss: 5.6", None),
        ("iteration {n} timers (ms): forward-backward: 3.2", None),
        ("iter {n}: loss 5.5, time 211.00ms", None),
        ("epoch: 1 step: {n}, loss is 5.5", None),
        # espnet/espnet espnet2/train/reporter.py (202402)
        (
            "[gpu-7] 2026-11-21 04:00:00,123 (trainer:779) INFO: 3epoch:train:1-{n}batch: iter_time=0.010, acc=0.787",
            None,
        ),
        ("node0 | batches 1-{n} | 158.63 img/s/gpu | load 7.0 ms", None),
        ("step: {n}, loss: 5.5", None),
        ("iteration: {n} took 3.5 s", None),
        ("iteration={n}, loss=5.5", None),
        (
            "[titan] 2026-11-21 04:00:00,123 - root - INFO - step: {n:2d}  loss:  8.2432  grad_norm:  1.2  tps: 3,012",
            None,
        ),
        (
            "I1121 04:00:00.123456 139 metric_logger.py:196] completed step: {n}, seconds: 1.2, TFLOP/s/device: 3.4",
            None,
        ),
        ("11/21/2026 04:00:00 [INFO|DP=0|PP=0|node-0]: iteration: {n} / 500 | consumed_tokens: 4M | lm_loss: 9.1", 500),
        ("[batch={n}/4800]:", 4800),
        ("     Train time/batch: {n}", None),
        ("rank0[139][MainThread]: INFO: composer.loggers: [batch={n}/500]: Train loss/train/total: 9.12", 500),
        ("[2026-11-21 04:00:00,123] [    INFO] - global step {n}, epoch: 0, batch: 9, loss: 9.123, speed: 1.2", None),
        (
            "- mindformers - INFO - {{ Epoch:[  1/  1], step:[  {n}/  500], loss: 9.123, per_step_time: 530ms, lr: 1",
            500,
        ),
        ("{{'loss': 9.12, 'grad_norm': 1.2, 'epoch': 0.1, 'global_step/max_steps': '{n}/500'}}", 500),
        ("(TaskRunner pid=1234) step:{n} - global_seqlen/min:1234 - actor/entropy:0.5 - perf/time_per_step:1", None),
        ("Train Epoch: 1 [{n}/60000 (1%)]\tLoss: 2.300000", 60000),
        ("Epoch [1/10], Step [{n}/500], Loss: 1.2345", 500),
        ("step {n}/500 | loss 2.3456 | lr 1e-4 | 530 ms", 500),
        ("2026-11-21 04:00:00 INFO Step {n}: train loss 2.3456", None),
        ("Epoch 1 | iter {n} step {n} | loss train: 2.345, val: n/a | iter time: 530.12 ms (step)", None),
        (
            "| INFO | train_inner | epoch 001:     {n} / 500 loss=9.12, ppl=123, wps=123, num_updates={n}, lr=1e-05",
            None,
        ),
        ('{{"time": "2026-11-21T04:00:00Z", "level": "info", "step": {n}, "loss": 2.345}}', None),
        ("level=info step={n} loss=2.345 grad_norm=1.2", None),
        ("[2026-11-21 04:00:00] INFO     [olmo.train:968, rank=0] [step={n}/500]", 500),
        ("0: 2026-11-21 04:00:00.123\tn1:0\tolmo.train:1245\tINFO\t[step={n}/500,epoch=0]", 500),
        (
            "2026-11-21T04:00:00 - 0 - tqdm_loggable.tqdm_logging - INFO :: Progress on:train {n}.0it/70.0it rate:7s",
            70,
        ),
        ("{n}/500 [=====>........................] - ETA: 1:00 - loss: 2.34", 500),
    ],
)
def test_every_dialect_counts(line: str, total: int | None) -> None:
    """The number that a framework prints at the end of an iteration is the iteration, of how many where it says so."""
    found = counted(job({"train.log": lines("start", *(line.format(n=n) for n in range(7, 12)), "end")}))

    assert found.last == 11
    assert found.total == total
    assert found.of_row.tolist() == [-1, 7, 8, 9, 10, 11, 11]


@pytest.mark.parametrize(("line", "last"), [("step {n},200,000 loss 2.1", 11_200_000), ("step {n}, loss 200.5", 11)])
def test_a_number_may_be_written_in_groups_of_three(line: str, last: int) -> None:
    """As people write large ones; what is no such group is another number."""
    assert counted(job({"train.log": lines("start", *(line.format(n=n) for n in range(7, 12)), "end")})).last == last


def test_mlperf_logging_counts() -> None:
    """Its numbers are inside JSON."""
    found = counted(job({"train.log": lines(*(MLLOG % n for n in (10, 20, 30)))}))

    assert (found.last, found.numbers.tolist()) == (30, [10, 20, 30])


@pytest.mark.parametrize("label", ["", "Epoch 0: ", "Training: ", "Steps: "])
def test_a_progress_bar_counts(label: str) -> None:
    """A bar is one physical line; each update of it is an iteration."""
    found = counted(job({"train.log": lines(bar(7, 90, label), "Traceback")}))

    assert (found.last, found.total) == (7, 90)


@pytest.mark.parametrize(
    "label", ["", "Evaluating: ", "Validation DataLoader 0: ", "Loading checkpoint shards: ", "Map: "]
)
def test_other_progress_bars_are_no_iterations(label: str) -> None:
    """Evaluation and loading draw bars too, with more updates than training has made."""
    found = counted(job({"train.log": lines(bar(5, 80), bar(20, 20, label))}))

    assert (found.last, found.total) == (5, 80)


def test_the_planned_number_tells_which_bar_is_at_work() -> None:
    """job.json knows how many iterations there should be."""
    found = counted(job({"train.log": lines(bar(5, 80), bar(7, 90))}, total_iterations=80))

    assert (found.last, found.total) == (5, 80)


def test_a_bar_does_not_count_where_a_log_line_does() -> None:
    """Of several dialects the framework's own line decides."""
    found = counted(job({"train.log": lines(*steps(6), bar(50, 60))}))

    assert (found.last, found.total) == (6, 100)


@pytest.mark.parametrize("clock", [True, False])
def test_of_two_runs_in_a_file_the_last_one_counts(clock: bool) -> None:
    """A log that was appended to holds an earlier run; how far that one came says nothing of the failure."""
    said = [(n, f"iteration {n}/ 100 | lm loss: 5.0") for n in (*range(1, 31), *range(1, 6))]
    texts = [at(second, text) if clock else text for second, (_, text) in enumerate(said)]

    found = counted(job({"train.log": lines(*texts, "end")}))

    assert found.last == 5
    assert found.numbers.tolist() == [1, 2, 3, 4, 5]
    assert found.of_row.tolist() == [*range(1, 31), *range(1, 6), 5]


def test_a_rank_that_did_not_come_back_says_nothing_of_the_last_run() -> None:
    """Its file holds the first run only; how far that one came does not count."""
    again = [at(100 + n, f"iteration {n}/ 100 | lm loss: 5.0") for n in range(1, 6)]

    found = counted(four_nodes({0: [*steps(30), *again], 1: steps(30)}))

    assert (found.last, dict(found.of_rank)) == (5, {0: 5})


def test_of_two_attempts_the_last_one_counts() -> None:
    """torchrun starts again from the last checkpoint, in a folder of its own."""
    one = job(
        {
            "node-00/run/attempt_0/0/stdout.log": lines(*steps(60)),
            "node-00/run/attempt_1/0/stdout.log": lines(*(at(100 + n, f"iteration {n}/ 100 |") for n in (51, 52))),
        }
    )

    found = counted(one)

    assert (found.last, dict(found.of_rank)) == (52, {})
    assert found.numbers.tolist() == [51, 52]


def test_a_message_that_counts_once_begins_no_run() -> None:
    """A warning that names a part of a step stands among many lines that count."""
    warning = at(40, "WARNING loss is not finite in micro batch 1, skipping backward of this step")

    found = counted(job({"train.log": lines(*(at(n, f"step={n}/90 loss=2.50 lr=0.001") for n in range(31)), warning)}))

    assert (found.last, found.began) == (30, None)


def test_ranks_that_share_a_file_do_not_start_anew() -> None:
    """Ranks print a little apart; that is no second run."""
    found = counted(job({"train.log": lines(*(f"iteration {n}/ 100 | lm loss: 5.0" for n in (1, 2, 1, 3, 2, 4, 3)))}))

    assert (found.last, found.began) == (4, None)


def spoken(each: int, last: int, total: int) -> list[str]:
    """DeepSpeed's report of every tenth step, beside what its program says of each (or of other) steps."""
    reports = [f"[Rank 0] step={n}, skipped=0, lr=[0.002]" for n in range(0, last + 1, 10)]
    return [*reports, *(f"step {n}/{total} | loss 1.5" for n in range(each, last + 5, each))]


@pytest.mark.parametrize(("each", "last"), [(1, 34), (2, 34), (4, 30)])
def test_the_same_count_in_smaller_steps_counts(each: int, last: int) -> None:
    """Only when it holds all that the framework counts; the steps of an evaluation are others."""
    assert counted(job({"train.log": lines(*spoken(each, 30, 60))})).last == last


def test_each_rank_has_its_own_last_iteration() -> None:
    """Who is behind can be told only where ranks are counted apart."""
    found = counted(four_nodes({n: steps(5 if n == 2 else 9) for n in range(4)}))

    assert dict(found.of_rank) == {0: 9, 1: 9, 2: 5, 3: 9}
    assert found.last == 9


def test_who_counts_nothing_follows_the_jobs_clock() -> None:
    """A node's daemon has no iterations; what it says at 04:00:04 was said during what the ranks did then."""
    daemon = lines(at(0, "up"), at(4.5, "link down"), at(50, "bye"))

    parsed = parse(job({"node-0/rank_0.log": lines(*steps(9)), "node-0/slurmd.log": daemon}))

    of_daemon = parsed.iterations.of_row[parsed.table.file == parsed.table.files.index("logs/node-0/slurmd.log")]
    assert of_daemon.tolist() == [-1, 4, 9]


def test_numbers_that_lines_carry_become_series() -> None:
    """Time an iteration in milliseconds whatever the unit of the framework, loss, gradient norm."""
    megatron = "iteration {n}/ 9 | elapsed time per iteration (ms): 21{n}.5 | lm loss: {n}.5E+00 | grad norm: 3.{n} |"

    found = counted(job({"train.log": lines(*(megatron.format(n=n) for n in (1, 2)))}))

    assert {one.name: (one.iterations, one.values) for one in found.series} == {
        "gradient norm": ((1, 2), (3.1, 3.2)),
        "loss": ((1, 2), (1.5, 2.5)),
        "time per iteration (ms)": ((1, 2), (211.5, 212.5)),
    }


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("steps: {n} loss: 5.5 iter time (s): 0.25", "time per iteration (ms)"),
        ("Training epoch 0, iteration {n}/9 | train_step_timing in s: 0.25", "time per iteration (ms)"),
        ("epoch: 1 step: {n}, loss is 250", "loss"),
        ("iter {n}: loss 250.0, time 1ms", "loss"),
        ("iter {n}: loss 2.5, time 250.0ms", "time per iteration (ms)"),
        ("completed step: {n}, seconds: 0.25, TFLOP/s/device: 1, loss: 9.1", "time per iteration (ms)"),
        ("step:[  {n}/  500], loss: 9.123, per_step_time: 250ms, lr: 1e-5", "time per iteration (ms)"),
        ("[batch={n}/500]: Train loss/train/total: 250", "loss"),
        ('{{"step": {n}, "loss": "250.0"}}', "loss"),
        ("level=info step={n} loss=1.5 grad_norm=250", "gradient norm"),
    ],
)
def test_series_are_read_in_every_dialect(line: str, name: str) -> None:
    """Seconds become milliseconds."""
    found = counted(job({"train.log": lines(*(line.format(n=n) for n in (1, 2)))}))

    assert {one.name: one.values for one in found.series}[name] == (250.0, 250.0)


@pytest.mark.parametrize(
    ("printed", "value"), [("nan", math.nan), ("NaN", math.nan), ("inf", math.inf), ("-inf", -math.inf)]
)
def test_what_is_no_number_any_more_stays_in_the_series(printed: str, value: float) -> None:
    """The iteration at which a loss broke is the first thing that a reader wants to know."""
    found = counted(
        job({"train.log": lines(*(f"iteration {n}/ 9 | lm loss: {v} |" for n, v in ((1, "5.0"), (2, printed))))})
    )

    (loss,) = found.series
    assert loss.iterations == (1, 2)
    assert math.isnan(loss.values[1]) if math.isnan(value) else loss.values[1] == value


@pytest.mark.parametrize(
    "line",
    [
        "iteration {n}/ 100 | lm loss: ... | grad norm: .",
        "iteration {n}/ 100 | lm loss: 1.2.3 | elapsed time per iteration (ms): 1..2",
        "iteration {n}99999999999999999999999999/ 100 | lm loss: 1",
        "iteration {n}/ 99999999999999999999999999 | lm loss: 1e999999",
        "iteration {n}/ 100 | lm loss: 5e+",
        "iteration {n}/ 100 | lm loss: --5",
    ],
)
def test_numbers_that_make_no_sense_crash_nothing(line: str) -> None:
    """A line that was torn or forged costs itself at most."""
    found = counted(job({"train.log": lines("iteration 1/ 100 | lm loss: 5", line.format(n=2), "end")}))

    assert found.last in (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "loading iteration plan",
        "{'loss': 5.6, 'grad_norm': 3.5, 'learning_rate': 1e-4, 'epoch': 0.1}",
        "3 of 4 nodes are up",
        "epoch 3",
        "Evaluating iter 7/10",
        "step 3: download the tokenizer",
        "validation step 10 loss 2.3",
        "max_steps: 500, lr: 0.0001",
        "total training steps = 500, learning_rate = 0.0001",
        "Resuming from step 40, loss scale 1",
        "loading the checkpoint of step 40 with lr 0.0001",
        "saving at step 40, loss 2.3",
        "warmup steps: 40, lr: 0.0001",
        "global_batch_size: 8, lr: 0.0001",
    ],
)
def test_without_a_marker_nothing_is_counted(text: str) -> None:
    """No iteration is an answer."""
    found = counted(job({"train.log": lines(text, text)}))

    assert (found.last, found.total, found.series) == (None, None, ())
    assert found.of_row.tolist() == [-1, -1]


def test_a_real_job_is_counted() -> None:
    """The lab's job f07 lost a node after iteration 30 of 60."""
    found = counted(example("f07"))

    assert (found.last, found.total) == (30, 60)
    assert {"loss", "gradient norm", "time per iteration (ms)"} <= {one.name for one in found.series}


def test_a_bar_above_all_clocks_of_its_file_was_not_drawn_after_them() -> None:
    """Errors come half an hour after a bar that no clock stands above: it began at a time that nobody knows."""
    drawn = [f" {n}%|##| {n}/100 [{n // 60:02}:{n % 60:02}<10:00,  1.00s/it]" for n in range(1, 90)]
    error = at(3600, "[rank0]: ERROR something broke")
    course = counted(job({"train.err": lines(*drawn, error), "a.log": lines(at(0, "ready"))})).course
    below_a_clock = counted(job({"train.err": lines(at(0, "ready"), *drawn, error)})).course

    assert len(course) == 0
    assert len(below_a_clock) == 89


@pytest.mark.parametrize(
    "text",
    [
        "Elapsed time per iteration (ms): 12.5", "per_step_time: 12 ms", "ITER TIME 12.5 ms", "time=12ms",
        "iter time (s): 1.5", "train_step_timing in s=1.5", "step_time: 2", "perf/time_per_step: 2", "at 3, seconds: 2",
        "lm loss: 1e-3", "reduced_train_loss=nan", "loss/train/total: 2", "loss train: 2", "'Loss': 2", "loss is 2",
        "grad norm: 2", "grad_norm=2", "gradient norm: inf",
    ],
)  # fmt: skip
def test_a_number_is_found_by_its_word_as_without(text: str) -> None:
    """The words of each number stand in every form of it."""
    found = [measure.find(text, text.lower()) is not None for measure in measures()]

    assert found == [measure.read.search(text) is not None for measure in measures()]
    assert any(found)


def test_a_record_that_is_printed_a_line_a_field_counts() -> None:
    """As Julia's ConsoleLogger does (base/logging/ConsoleLogger.jl): each line is a name and a number."""
    record = (
        "\u250c Info: train",
        "\u2502   rank = {}",
        "\u2502   batch = {}",
        "\u2502   seen = {}",
        "\u2514   lr = 0.1",
    )
    of_rank = {
        f"out.{rank}": lines(
            *(
                text.format(value)
                for k in range(10, 90, 10)
                for text, value in zip(record, ("", rank, k, 64 * k, ""), strict=True)
            )
        )
        for rank in range(3)
    }

    assert parse(job(of_rank)).iterations.last == 80
