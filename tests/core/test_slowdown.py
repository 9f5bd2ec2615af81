"""What grows little by little, stands still in words of its own, or is no number any more."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from core.course.level_shift import find_growth, find_shift
from core.course.pace import Course
from core.course.timings import numbers_told
from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from tests.support.jobs import START, at, four_nodes, job, lines, steps

STOP = [at(100, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***")]


@pytest.mark.parametrize(
    ("values", "grows"),
    [
        ([1.8, 0.92, 0.98, 1.05, 1.23, 1.8, 2.1], True),
        ([0.3 + 0.01 * n for n in range(200)], True),
        ([0.3] * 100, False),
        ([0.3, 0.31, 0.3, 0.4, 0.3, 0.31, 0.9], False),
        ([0.92, 0.98, 1.05, 1.1, 1.2, 1.3], False),
        ([0.3, 0.6, 1.2], False),
        ([0.0] * 20, False),
    ],
    ids=["memory", "a list", "steady", "noise", "too little", "too few", "no clock"],
)
def test_what_grows_until_the_end_is_told_from_noise(values: list[float], grows: bool) -> None:
    """By order and by size; the first value, which compiles, is left out."""
    assert (find_growth(np.array(values)) is not None) is grows


def growing(each: float) -> Job:
    """Steps that all ranks take a bit longer for each time, until the job is cancelled."""
    clock, said = 0.0, []
    for n in range(1, 21):
        clock += 1 + each * n
        said.append(at(clock, f"step {n} loss 2.5"))
    order = at(clock + 1, STOP[0].split(" ", 2)[2])
    return four_nodes({}, usual=said, others={"slurm.out": [order]}, status=Status.CANCELLED)


def test_steps_that_grow_are_no_harmless_stop() -> None:
    """Nobody is special, and yet whoever cancelled it had a reason."""
    found = diagnose(growing(0.2), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "The job was slow from iteration" in found.headline
    assert diagnose(growing(0.0), []).scope is Scope.NONE


def losses(values: list[str], status: Status) -> Job:
    """Iterations with a loss under a name that no program is known for."""
    said = [at(n, f"update {n}/400 silog={value} skipped=0") for n, value in enumerate(values, start=1)]
    return four_nodes({0: said}, status=status)


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.COMPLETED, Status.RUNNING])
def test_a_loss_that_is_no_number_until_the_end_is_told(status: Status) -> None:
    """Nothing failed, and nothing was learned."""
    found = diagnose(losses(["2.5"] * 10 + ["nan"] + ["2.4"] * 2 + ["nan"] * 9, status), [])

    assert found.scope is Scope.JOB
    assert "silog is nan from iteration 14 on" in found.headline
    assert found.confidence is not Confidence.ESTABLISHED


@pytest.mark.parametrize("values", [["2.5"] * 10 + ["nan"] * 2 + ["2.4"] * 3, ["nan"] * 12], ids=["went on", "always"])
def test_single_steps_without_a_loss_are_not(values: list[str]) -> None:
    """Gradients overflow now and then, and some numbers are never computed."""
    assert "nan" not in diagnose(losses(values, Status.CANCELLED), []).headline


@pytest.mark.parametrize("counted", ["number of nan iterations: {}", "skipped nan batches: {}"])
def test_a_count_of_steps_without_a_loss_is_not(counted: str) -> None:
    """Megatron-LM prints one with each iteration, and none with the line that says where training begins."""
    said = [at(1, "setting training data start iteration to 0")]
    said += [at(10 * n, f" iteration {n:8d}/ 400 | lm loss: 2.5 | {counted.format(0)} |") for n in range(1, 9)]

    assert "nan" not in diagnose(four_nodes({0: said}, status=Status.CANCELLED), []).headline


def test_a_request_that_nobody_gets_an_answer_to_is_a_hang_of_all() -> None:
    """Too few iterations for a pace; what always came within the second does not come in twenty."""
    said = {
        rank: [
            text
            for n in range(1, 4)
            for text in (
                at(n, f"GET train/{rank:02d}/{n:05d}.tar"),
                at(n + 0.01, f"got train/{rank:02d}/{n:05d}.tar, 4096 bytes"),
            )
        ]
        + [at(4, f"GET train/{rank:02d}/00004.tar")]
        for rank in range(4)
    }
    said[0] = sorted([*said[0], *(at(n + 0.5, f"step {n} loss 2.5") for n in range(1, 4))])

    found = diagnose(four_nodes(said, others={"slurm.out": STOP}, status=Status.CANCELLED), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "The job hung" in found.headline


def test_who_falls_silent_while_the_others_say_that_they_wait_is_named() -> None:
    """In no known words, and nobody tells how the job ended."""
    said = {
        rank: [at(n, f"round {n} pushed") for n in range(1, 31)]
        + [at(30 + 5 * n, f"still no model of round 31 after {5 * n} s") for n in range(1, 5) if rank != 3]
        for rank in range(4)
    }

    found = diagnose(four_nodes(said, status=Status.UNKNOWN), [])

    assert [node.node for node in found.nodes] == ["node-3"]
    assert found.confidence is not Confidence.ESTABLISHED


def test_a_stop_is_only_sure_where_the_clock_tells_of_steady_progress() -> None:
    """Who cancelled it says nothing of how it was."""
    steady = four_nodes({}, usual=steps(98, total=900), others={"slurm.out": STOP}, status=Status.CANCELLED)
    undated = four_nodes({}, usual=[f"step {n} loss 2.5" for n in range(1, 50)], status=Status.COMPLETED)

    assert diagnose(steady, []).confidence is Confidence.ESTABLISHED
    assert diagnose(undated, []).confidence is Confidence.SUPPORTED


def test_a_clock_of_another_zone_is_no_loop_that_never_ends() -> None:
    """One host counts nine hours more; all that it says comes after the last progress of the others."""
    said = {rank: [at(n + 9 * 3600 * (rank == 0), f"step {n} loss 2.5") for n in range(1, 61)] for rank in range(4)}

    assert diagnose(four_nodes(said, status=Status.UNKNOWN), []).nodes == ()


def throttled(ranks: tuple[int, ...], status: Status) -> Job:
    """Six ranks on three nodes; from step 30 on some compute ten times as long, and the others wait for them."""
    files, clock = {f"node-{rank // 2}/rank_{rank}.log": "" for rank in range(6)}, 0.0
    for n in range(1, 71):
        slow = n >= 30 and bool(ranks)
        clock += 2.2 if slow else 0.4
        for name, rank in zip(files, range(6), strict=True):
            compute, sync = (2.0, 0.1) if slow and rank in ranks else (0.2, 1.9) if slow else (0.2, 0.1)
            files[name] += at(clock, f"upd={n} mel=0.5 fwd={compute:.1f} sync={sync:.1f}") + "\n"
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(3)}
    return job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=6, status=status)


@pytest.mark.parametrize(
    ("ranks", "scope", "accused"),
    [((2, 3), Scope.NODE, ["node-1"]), ((0, 1, 2, 3, 4, 5), Scope.JOB, []), ((), Scope.NONE, [])],
    ids=["both ranks of a node", "all", "none"],
)
def test_a_job_that_completed_slowly_is_told_and_all_ranks_of_one_node_are_few(
    ranks: tuple[int, ...], scope: Scope, accused: list[str]
) -> None:
    """Its status says that it ended, not how it went."""
    found = diagnose(throttled(ranks, Status.COMPLETED), [])

    assert (found.scope, [node.node for node in found.nodes]) == (scope, accused)
    assert found.confidence is not Confidence.ESTABLISHED


@pytest.mark.parametrize(("after", "slow"), [(4, True), (1, False)])
def test_a_bar_without_any_clock_tells_its_pace(after: int, *, slow: bool) -> None:
    """tqdm tells how long it has run; when it began, and so whether it hung at its end, nobody tells."""
    bars, elapsed = [], 0
    for n in range(2, 62):
        elapsed += after if n > 31 else 1
        bars.append(f"{n}%|##        | {n}/100 [{elapsed // 60:02d}:{elapsed % 60:02d}<10:00,  1.00it/s]")

    answer = diagnose(job({"train.err": "\r".join(bars) + "\n"}, status=Status.CANCELLED), [])

    assert ("slow from iteration" in answer.headline) is slow
    assert answer.confidence is not Confidence.ESTABLISHED


@pytest.mark.parametrize(("longer", "slow"), [(0.1, False), (0.6, True)])
def test_a_slowdown_must_have_cost_a_second(longer: float, *, slow: bool) -> None:
    """Three steps of a tenth of a second that take twice as long are what a busy machine does."""
    clock, said = 0.0, []
    for n in range(1, 34):
        clock += 0.1 + (longer if n > 30 else 0.0)
        said.append(at(clock, f"step {n} loss 2.5"))
    order = at(clock + 0.1, STOP[0].split(" ", 2)[2])

    found = diagnose(job({"rank_0.log": lines(*said), "slurm.out": lines(order)}, status=Status.CANCELLED), [])

    assert ("slow from iteration" in found.headline) is slow


@pytest.mark.parametrize(("steps", "slow"), [(12, True), (6, False)], ids=["long", "short"])
def test_a_long_job_is_slow_by_less_than_a_short_one(steps: int, *, slow: bool) -> None:
    """One and a half times the step before, kept up by all: of few steps that is noise."""
    told: list[str] = []
    clock = 0.0
    for n in range(1, 2 * steps + 1):
        clock += 10.0 if n <= steps else 16.0
        told.append(at(clock, f"step {n} loss 2.5"))
    order = at(clock + 1, STOP[0].split(" ", 2)[2])
    found = diagnose(four_nodes({}, usual=told, others={"slurm.out": [order]}, status=Status.CANCELLED), [])

    assert ("slow from iteration" in found.headline) is slow


@pytest.mark.parametrize(
    ("usual", "seconds", "slow"), [(10.0, 16.0, True), (10.0, 13.0, True), (10.0, 12.5, False), (0.3, 0.4, False)]
)
def test_a_long_job_is_slow_that_needs_a_quarter_more_than_good_ones(
    usual: float, seconds: float, *, slow: bool
) -> None:
    """From its first step on, so that nothing changes in it; steps of tenths of a second differ by a third."""

    def paced(each: float, **manifest: Any) -> Job:
        told = [at(n * each, f"step {n} loss 2.5") for n in range(1, 25)]
        order = at(24 * each + 1, STOP[0].split(" ", 2)[2])
        return four_nodes({}, usual=told, others={"slurm.out": [order]}, settings_id="s", **manifest)

    good = paced(usual, job_id="good", status=Status.COMPLETED)
    found = diagnose(paced(seconds, status=Status.CANCELLED), [good])

    assert ("slow from iteration" in found.headline) is slow


def printing(seconds: float) -> Job:
    """The log of Megatron's last rank, which names neither rank nor clock; steps take so long from the 21st on."""
    # NVIDIA/Megatron-LM megatron/training/training.py, training_log (core 0.9)
    said = [
        f" iteration {n:8d}/   40 | consumed samples: {n * 768:12d} | elapsed time per iteration (ms): "
        f"{1000 * (5.0 if n <= 20 else seconds) + n % 7:.1f} | learning rate: 1.371E-04 | lm loss: 2.563147E+00 |"
        for n in range(1, 41)
    ]
    order = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***"
    return job({"gpt.log": lines(*said, order)}, nodes=("node-0", "node-1"), status=Status.CANCELLED)


def test_what_one_prints_for_all_tells_a_slowdown_without_a_clock() -> None:
    """In milliseconds, as its name says in brackets."""
    found = diagnose(printing(9.0), [])

    assert "The job was slow from iteration 21 on" in found.headline
    assert "A step took 9.0 s from iteration 21 on, until the end, and 5.0 s before." in found.iterations[0].because
    assert "slow" not in diagnose(printing(5.0), []).headline


def test_a_pause_before_a_slowdown_is_not_its_beginning() -> None:
    """An evaluation takes long just before the steps do."""
    values = np.array([1.25] * 30 + [7.5] + [1.25] * 4 + [3.0] * 34)
    found = find_shift(values)
    assert found is not None
    assert found.place == 35


def parted(seconds: float) -> list[str]:
    """Steps of so many seconds by a clock of whole seconds, whose parts and sum are printed in words of their own."""
    clock, said = 0.0, []
    for n in range(1, 61):
        step = 2.6 if n <= 30 else seconds
        clock += step
        clocked = f"[2026-11-21 04:{int(clock) // 60:02d}:{int(clock) % 60:02d}]"
        times = f"\u8017\u65f6={step:.3f}s \u8ba1\u7b97=1.800s \u901a\u4fe1={step - 1.8:.3f}s"
        said.append(f"{clocked} \u7b2c{n}\u6b65 \u635f\u5931=4.36 {times}")
    return said


@pytest.mark.parametrize(("seconds", "slow"), [(4.0, True), (2.7, False)])
def test_the_printed_time_that_is_the_sum_of_all_others_is_that_of_a_step(seconds: float, *, slow: bool) -> None:
    """In whatever language: a clock of whole seconds alone does not tell of half as long again."""
    found = diagnose(four_nodes({}, usual=parted(seconds)), ())
    assert ("slow from iteration" in found.headline) is slow


def test_a_machine_by_itself_that_says_that_it_is_too_hot_is_named() -> None:
    """Nobody is there to compare it with; the kernel tells it, and the steps took longer."""
    hot = "[151136.421861] CPU18: Package temperature is above threshold, cpu clock is throttled (total events = 244)"
    said = [f"iter {n}: loss 3.58, time {403 if n < 30 else 1403}.43ms" for n in range(60)]
    found = diagnose(job({"ws-7/dmesg.txt": lines(hot), "ws-7/screenlog.0": lines(*said)}, nodes=("ws-7",)), ())
    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["ws-7"])


def test_means_of_several_steps_are_as_long_a_series_as_their_steps() -> None:
    """Of thirteen times of five steps each as much follows as of 65 steps; of thirteen single ones it does not."""
    values = np.array([3.58, 3.61, 3.55, 3.60, 3.57, 5.85, 5.80, 5.91, 5.83, 5.86, 5.84, 5.88, 5.82])

    assert find_shift(values, long=1.5) is None
    assert find_shift(values, long=1.5, each=5.0) is not None


@pytest.mark.parametrize(("shares", "onset"), [((0.0, 1.0), 51), ((0.4, 1.0), 47), ((0.0, 0.6), 55)])
def test_a_slowdown_begins_within_a_mean_that_rose_in_part(shares: tuple[float, float], onset: int) -> None:
    """Every tenth iteration is printed; how slow the ten before were tells how many of them were."""
    means = [1.0] * 4 + [1.0 + share for share in shares] + [2.0] * 6
    times = np.cumsum([0.0, *(10.0 * mean for mean in means)])
    numbers = np.arange(len(times)) * 10
    course = Course(numbers, (times * 1_000_000).astype(np.int64), np.arange(len(times)), np.ones(len(times), np.int64))
    place = 4 if shares[0] > 0.5 else 5

    assert course.onset_near(place, 1.0, 2.0) == onset


def test_numbers_in_short_are_read_where_they_are_times_or_rates() -> None:
    """As huggingface/nanotron prints them (src/nanotron/logging, human_format); 786K of a batch are a size."""
    said = "iteration: 26 / 150 | time_per_iteration_ms: 1.65K | tokens_per_sec: 476K | global_batch_size: 786K"

    told = dict(numbers_told(said))

    assert told["time_per_iteration_ms"] == 1650.0
    assert told["tokens_per_sec"] == pytest.approx(1 / 476_000)
    assert "global_batch_size" not in told


@pytest.mark.parametrize(("clock", "is_slow"), [(2.4, True), (1.65, False)])
def test_printed_times_tell_what_a_clock_of_whole_seconds_rounds_away(clock: float, is_slow: bool) -> None:
    """If the clock agrees with them on the average."""
    said, now = [], 0.0
    for step in range(1, 121):
        printed = 1.65 if step <= 60 else 2.4
        now += 1.65 if step <= 60 else clock
        second = f"{START + timedelta(seconds=int(now)):%Y-%m-%d %H:%M:%S}"
        said.append(f"{second} iteration: {step} / 150 | time_per_iteration_ms: {printed:.2f}K | lm_loss: 2.5")
    one = four_nodes({0: said}, status=Status.CANCELLED)

    assert diagnose(one, []).headline.count("slow from iteration 6") == is_slow
