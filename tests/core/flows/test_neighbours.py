"""Who is beside whom: rails of a machine that has too few processors, and the stage that waits for a slow one."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowFinding, NamedGroup
from core.flows.blame import Localizer
from core.flows.findings import _again, _is_clear, _slow_step, _stretch
from core.flows.signs import FlowSign
from core.flows.stretches import Stretch, find_stretch, slow_steps
from core.flows.table import table_from
from core.flows.timeline import Timeline
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
STEPS = 60
Row = tuple[Any, ...]


def rail(number: int, clock: np.ndarray[Any, Any], late: np.ndarray[Any, Any]) -> list[Row]:
    """A group of two on two servers: two bursts a step, each begins late by something of its own."""
    rows: list[Row] = []
    for step, begin in enumerate((clock[:, None] + [0.1, 0.25] + late).tolist()):
        for moment in begin:
            start = round(moment * SECOND)
            for near, far in ((1, 2), (2, 1)):
                ends = f"10.0.{number}.{near}", f"10.0.{number}.{far}"
                size = 3_000_000 + step  # the steps of a job are alike, not the same
                rows.append((start, start + 12_000, *ends, size, 1, 1, 6, 2_000, 24))
    return rows


@pytest.mark.parametrize("late", [0.06, 0.08])
@pytest.mark.parametrize(("alike", "jobs"), [(True, 1), (False, 2)], ids=["rails", "tenants"])
def test_rails_that_keep_time_by_tens_of_milliseconds_are_one_job(*, alike: bool, jobs: int, late: float) -> None:
    """Ranks that take turns on few processors begin up to 80 ms apart; those of another tenant at any time.

    With 80 ms they keep time by .33 only; that is enough where both send as much.
    """
    random = np.random.default_rng(7)
    clocks = 1.8e9 + np.cumsum(0.4 + 0.05 * random.random((2, STEPS)), axis=1)
    rows = []
    for number in (0, 1):
        rows += rail(number, clocks[0 if alike else number], late * random.random((STEPS, 2)))
    homes = {f"10.0.{number}.{server}": f"server-{server}" for number in (0, 1) for server in (1, 2)}

    found = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology(homes)).jobs

    assert len(found) == jobs


@pytest.mark.parametrize(("apart", "jobs"), [(0.0, 1), (0.2, 2)], ids=["rails", "tenants"])
def test_rails_of_steps_that_are_all_alike_are_one_job(apart: float, jobs: int) -> None:
    """They keep time as well a step later; tenants with equal steps send when the others do not.

    Args:
        apart: seconds between the steps of the one and of the other.
    """
    random = np.random.default_rng(11)
    clock = 1.8e9 + np.cumsum(0.4 + 0.004 * random.random(STEPS))
    rows = []
    for number in (0, 1):
        rows += rail(number, clock + apart * number, 0.09 * random.random((STEPS, 2)))
    homes = {f"10.0.{number}.{server}": f"server-{server}" for number in (0, 1) for server in (1, 2)}

    found = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology(homes)).jobs

    assert len(found) == jobs


def test_rails_beside_another_tenant_are_one_job() -> None:
    """What a tenant on servers of its own sends is no activity of theirs, though its addresses come first."""
    random = np.random.default_rng(7)
    clocks = 1.8e9 + np.cumsum(0.4 + 0.05 * random.random((2, STEPS)), axis=1)
    rows = [(*row[:4], 8 * row[4], *row[5:]) for row in rail(0, clocks[0], 0.06 * random.random((STEPS, 2)))]
    for number in (1, 2):
        rows += rail(number, clocks[1], 0.04 * random.random((STEPS, 2)))
    homes = {f"10.0.{number}.{end}": f"server-{2 * (number > 0) + end}" for number in (0, 1, 2) for end in (1, 2)}

    found = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology(homes)).jobs

    assert [len(job.nics) for job in found] == [2, 4]


def seen(values: Any) -> FlowSign:
    """A sign of as many NICs as there are columns."""
    noise = np.random.default_rng(1).normal(0, 500, values.shape)
    return FlowSign(tuple((nic,) for nic in range(values.shape[1])), values + noise)


def localizer_of(pipelines: Sequence[Sequence[str]], work: Any, longest: Any, period: float = 0.0) -> Localizer:
    """Of a job of some pipelines, of which nothing is known but its own work: (steps, NICs), in all and longest."""
    nics = [nic for stage in zip(*pipelines, strict=True) for nic in stage]
    homes = {nic: f"server-{nic[-1]}" for nic in nics}
    named = tuple(NamedGroup(f"J1.pp{number}", "pp", tuple(of)) for number, of in enumerate(pipelines))
    groups = SimpleNamespace(of=lambda kind: named if kind == "pp" else (), grain=SimpleNamespace(blur=0.0))
    localizer = Localizer(
        cast("Any", SimpleNamespace(addresses=tuple(nics), switches=())), Topology(homes),
        cast("Any", SimpleNamespace(nics=tuple(range(len(nics))), heavy=())), cast("Any", groups),
        cast("Any", SimpleNamespace(period=period)), named,
    )  # fmt: skip
    nothing, none = FlowSign((), np.zeros((len(work), 0))), seen(np.zeros(work.shape))
    localizer.__dict__.update(_links=nothing, _stages=nothing, _answers=none, _receipts=none, _sendings=none)
    localizer.__dict__.update(_work=seen(300_000 + work), _silences=seen(60_000 + longest))
    return localizer


@pytest.mark.parametrize(("single", "server"), [(25_000.0, "server-2"), (1_000.0, None)])
def test_of_two_stages_the_one_with_longer_pieces_of_work_is_named(single: float, server: str | None) -> None:
    """Beside a slow stage the one that waits for it seems to work as much longer: 120 and 118 ms of all its work.

    Args:
        single: microseconds by which the longest piece of work of the slow stage rose.
    """
    rails = [[f"10.0.{number}.{place}" for place in (1, 2, 3)] for number in (0, 1)]
    inside = (np.arange(40) >= 15) & (np.arange(40) < 30)
    work = inside[:, None] * np.array([0, 0, 120_000, 119_000, 118_000, 117_000])
    longest = inside[:, None] * np.array([5_000, 0, single, 0, 0, 0])

    found = localizer_of(rails, work, longest).blame(inside, ~inside, 80_000.0)

    assert (found.subject.server if found else None) == server


@pytest.mark.parametrize(("other", "subject"), [(2_000.0, "10.0.0.2"), (9_000.0, "J1.pp0")])
def test_of_a_slow_pipeline_the_stage_with_longer_pieces_in_most_steps_is_named(other: float, subject: str) -> None:
    """In three of ten slow steps none of its pieces is longer; that its pipeline is slow is known from all its work.

    Args:
        other: microseconds by which the longest piece of the stage that waits for it rose.
    """
    pipelines = [[f"10.0.0.{place}" for place in ends] for ends in ((1, 2), (3, 4))]
    inside = (np.arange(40) >= 10) & (np.arange(40) < 30)
    work = inside[:, None] * np.array([100_000, 0, 190_000, 0])  # 1, 3, 2, 4
    longest = inside[:, None] * np.array([other, 0, 26_000, 0])
    longest[10:16, 2] = 0

    found = localizer_of(pipelines, work, longest).blame(inside, ~inside, 150_000.0)

    assert found is not None
    assert (found.subject.nic or found.subject.group) == subject


@pytest.mark.parametrize(("rise", "server"), [(60_000.0, "server-2"), (20_000.0, None)])
def test_longer_silences_of_one_server_name_it_where_its_work_tells_nothing(rise: float, server: str | None) -> None:
    """A rank of FSDP works longer in its backward pass, and seems to work less elsewhere."""
    inside = (np.arange(60) >= 20) & (np.arange(60) < 45)
    pipelines = [[f"10.0.0.{place}" for place in ends] for ends in ((1, 2), (3, 4))]
    longest = inside[:, None] * np.array([0, 0, rise, 0])

    found = localizer_of(pipelines, np.zeros((60, 4)), longest, period=400_000.0).slow_worker()

    assert (found[0] if found else None) == ((20, 44) if server else None)
    assert (found[1].subject.server if found else None) == server


@pytest.mark.parametrize(("silent", "clear"), [(140_000.0, True), (80_000.0, False)])
def test_stall_in_the_slack_of_a_pipeline_is_told_by_a_long_silence(silent: float, *, clear: bool) -> None:
    """A step that is longer by .12 is a slow one only where somebody said nothing for three tenths of a step."""
    longest = np.zeros((40, 4))
    longest[20, 2] = silent
    durations = 400_000 + 30_000 * np.sin(np.arange(40))
    durations[20] = 450_000
    end = 1_800_000_000_000_000 + np.cumsum(durations).astype(np.int64)
    (slow,) = [slow for slow in slow_steps(durations, None) if slow.step == 20]
    localizer = localizer_of([[f"10.0.0.{place}" for place in range(4)]], np.zeros((40, 4)), longest)
    assert [slow.step for slow in slow_steps(durations, Stretch(10, 39, False, 1.0, 1.0))] == []
    timeline = Timeline(np.append(end[0] - 400_000, end[:-1]), end, 400_000.0)

    found = _slow_step(localizer, timeline, durations, slow, np.zeros(40, np.int64))

    assert not slow.plain
    assert _is_clear(found) == clear


@pytest.mark.parametrize(("other", "subject"), [("10.0.0.2", "10.0.0.2"), ("10.0.0.1", None)])
def test_slow_step_is_of_who_was_silent_longest_where_other_slow_steps_name_it(other: str, subject: str | None) -> None:
    """Another NIC was silent for nearly as long in this one: it alone would name nobody."""
    longest = np.zeros((40, 4))
    longest[20, [2, 3]] = 300_000, 280_000  # 10.0.0.2 and 10.0.0.4
    localizer = localizer_of([["10.0.0.1", "10.0.0.2"], ["10.0.0.3", "10.0.0.4"]], np.zeros((40, 4)), longest)
    localizer.__dict__["_timeline"] = np.zeros(40)
    numbers = {"usual_ms": 500.0, "slow_ms": 800.0}
    step = FlowFinding("slow_step", None, (20, 20), 0, 1, 0.6, "Step 20 took 800 ms; nobody stands out.", numbers)

    found = _again(localizer, step, {other})

    assert (found.subject.nic if found.subject else None) == subject
    assert ("as in other slow steps" in found.because) == (subject is not None)


@pytest.mark.parametrize(("held", "kind"), [("level", "slow_switch"), ("line", "drift")])
def test_steps_that_seem_to_grow_are_of_a_switch_that_does_not(held: str, kind: str) -> None:
    """Other tenants make steps longer and longer; a queue with two levels is no drift, and tells its own steps."""
    step = np.arange(60)
    durations = 400_000.0 + np.where(step >= 5, 900 * (step - 5), 0) + 2_000 * np.sin(step)
    queue = np.where(step >= 22, 800.0, 0.0) if held == "level" else np.maximum(0, 30.0 * (step - 10))
    localizer = localizer_of([["10.0.0.1", "10.0.0.2"], ["10.0.0.3", "10.0.0.4"]], np.zeros((60, 4)), np.zeros((60, 4)))
    localizer.__dict__["_connections"].switches = ("leaf-0", "spine-0", "leaf-1")
    links = np.stack([queue, 5 * np.sin(step), queue, 5 * np.cos(step)], 1)
    localizer.__dict__["_links"] = FlowSign(((0, 1), (1, 2), (1, 0), (2, 1)), links)
    end = 1_800_000_000_000_000 + np.cumsum(durations).astype(np.int64)
    timeline = Timeline(np.append(end[0] - 400_000, end[:-1]), end, 400_000.0)
    stretch = find_stretch(durations)
    assert stretch is not None
    assert stretch.drifts

    found = _stretch(localizer, timeline, durations, stretch)

    assert found.kind == kind
    assert found.subject is not None
    assert found.subject.switch == "leaf-0"
    assert found.steps == ((22, 59) if held == "level" else (stretch.first, 59))
