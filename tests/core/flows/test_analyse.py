"""Jobs, groups, steps and findings of made-up jobs whose layout and faults are known (benchmarks/flow_sets.py)."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.flow_sets import STORAGE, Fault, Layout, simulate
from bot.commandline.flows.documents import to_document
from bot.report.json_document import to_json
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer, Subject
from core.flows.table import REQUIRED, table_from
from core.flows.topology import topology_from

SECOND = 1_000_000


def answer(frame: pl.DataFrame, topology: dict[str, Any]) -> FlowsAnswer:
    return analyse(table_from(frame, "made up"), topology_from(topology))


def findings(of: FlowsAnswer) -> list[tuple[str, Subject | None]]:
    return [(finding.kind, finding.subject) for job in of.jobs for finding in job.findings]


@pytest.mark.parametrize(
    "layout",
    [
        Layout(),
        Layout(dp=2, pp=4, micro=6),
        Layout(dp=4, pp=2, tp=2),
        Layout(dp=3, pp=8, micro=10),
        Layout(dp=8, pp=1),
        Layout(dp=2, pp=3, micro=1),
    ],
    ids=["dp4 pp2", "rings of two", "rails", "eight stages", "data-parallel only", "one micro-batch"],
)
def test_layout_and_steps_are_seen(layout: Layout) -> None:
    """All NICs are one job, its sizes and the order of its stages are right, each step is as long as it was."""
    frame, topology, (job,) = simulate(layout)

    (found,) = answer(frame, topology).jobs

    assert (found.dp, found.pp, found.tp) == (layout.dp, layout.pp, layout.tp)
    assert len(found.nics) == layout.dp * layout.pp * layout.tp
    chains = {group.nics for group in found.groups if group.kind == "pp"}
    assert chains == {
        tuple(job.address(stage, replica, rail) for stage in range(layout.pp))
        for replica in range(layout.dp)
        for rail in range(layout.tp)
        if layout.pp > 1
    }
    lengths = np.diff(found.timeline.end) / SECOND
    assert lengths == pytest.approx(np.diff(job.ends), rel=1e-4)
    assert found.findings == ()


@pytest.mark.parametrize(
    ("layout", "kind", "subject"),
    [
        (Layout(dp=4, pp=4, faults=(Fault("compute", 15, 30, 1.6, 0, 1),)), "slow_compute", {"server": "server-1"}),
        (
            Layout(dp=2, pp=4, micro=8, faults=(Fault("compute", 15, 39, 1.6, 3, 1),)),
            "slow_compute",
            {"server": "server-7"},
        ),
        (Layout(dp=8, pp=1, faults=(Fault("compute", 15, 30, 1.6, 0, 3),)), "slow_compute", {"server": "server-3"}),
        (Layout(pp=2, tp=2, faults=(Fault("compute", 15, 30, 1.8, 0, 2),)), "slow_compute", {"server": "server-2"}),
        (Layout(dp=8, pp=1, faults=(Fault("nic", 15, 39, 0.02, 0, 3),)), "slow_nic", {"nic": "10.0.3.10"}),
        (Layout(dp=4, pp=4, faults=(Fault("nic", 15, 39, 0.02, 2, 3),)), "slow_nic", {"nic": "10.0.11.10"}),
        (
            Layout(dp=8, pp=1, faults=(Fault("nic", 15, 39, 0.02, 0, 3), Fault("compute", 15, 39, 2.0, 0, 3))),
            "slow_nic",
            {"nic": "10.0.3.10"},
        ),
        (Layout(dp=8, pp=2, faults=(Fault("leaf", 15, 39, 0.02, 0, 1),)), "slow_switch", {"switch": "leaf-1"}),
        (Layout(dp=8, pp=1, faults=(Fault("leaf", 15, 39, 0.0015, 0, 1),)), "slow_switch", {"switch": "leaf-1"}),
    ],
    ids=[
        "first stage",
        "last stage",
        "ring",
        "server of two",
        "link in a ring",
        "link in pipelines",
        "link that holds up work",
        "leaf",
        "leaf that hardly matters",
    ],
)
def test_who_is_slow_is_named(layout: Layout, kind: str, subject: dict[str, str]) -> None:
    """One finding, of the right kind, in the right steps, that names the right part."""
    frame, topology, _ = simulate(layout)

    (found,) = answer(frame, topology).jobs

    (finding,) = found.findings
    assert finding.kind == kind
    assert finding.steps == (layout.faults[0].first, layout.faults[0].last)
    assert finding.subject is not None
    assert {name: getattr(finding.subject, name) for name in subject} == subject


@pytest.mark.parametrize(("queue", "named"), [(0.00012, ["leaf-1"]), (0.00005, [])])
def test_switch_is_named_by_its_queue_alone(queue: float, named: list[str]) -> None:
    """Steps do not tell a queue of a tenth of a millisecond, but no other link has one; half of that is noise."""
    frame, topology, _ = simulate(Layout(dp=8, pp=1, jitter=0.08, faults=(Fault("leaf", 15, 39, queue, 0, 1),)))

    found = [finding for job in answer(frame, topology).jobs for finding in job.findings]

    assert [finding.subject and finding.subject.switch for finding in found] == named
    assert [finding.steps for finding in found] == [(15, 39)] * len(named)


def test_switch_is_named_where_its_queue_moves_records_either_way() -> None:
    """What came at once before it comes evenly behind it: the middle of a record may seem to be earlier there."""
    layout = Layout(dp=8, pp=2, faults=(Fault("leaf", 15, 39, 0.02, 0, 1),))
    frame, topology, (job,) = simulate(layout)
    step = np.searchsorted((job.ends * SECOND).astype(int), frame["start_us"].to_numpy())
    odd = pl.Series("odd", (step >= 15) & (step < 40) & (step % 2 == 1))
    own = pl.col("src").cast(pl.String).is_in([link["a"] for link in topology["links"] if link["b"] == "leaf-1"])
    moved = pl.col("odd") & (pl.col("switch").cast(pl.String) == "leaf-1") & (pl.col("bytes") > 100_000)
    by = pl.when(~moved).then(0).when(own).then(30_000).otherwise(-30_000)
    shifted = frame.with_columns(odd).with_columns(pl.col("start_us", "end_us") + by)

    (found,) = answer(shifted.drop("odd"), topology).jobs

    assert [finding.subject and finding.subject.switch for finding in found.findings] == ["leaf-1"]


def test_all_ranks_alike_accuse_nobody() -> None:
    """A job that is slower everywhere is a slowdown without a subject."""
    faults = tuple(Fault("compute", 15, 30, 1.5, stage, replica) for stage in range(2) for replica in range(4))
    frame, topology, _ = simulate(Layout(faults=faults))

    assert findings(answer(frame, topology)) == [("slowdown", None)]


def test_the_order_of_the_rows_changes_nothing() -> None:
    """Same records, same bytes."""
    frame, topology, _ = simulate(Layout(faults=(Fault("nic", 15, 39, 0.02, 1, 3),)))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)

    assert to_json(to_document(answer(shuffled, topology))) == to_json(to_document(answer(frame, topology)))


def test_copies_of_nameless_exporters_are_left_out() -> None:
    """Without exporter, a flow that three switches report is counted once, and the answer says so."""
    frame, topology, (job,) = simulate(Layout())

    found = answer(frame.with_columns(switch=pl.lit("")), topology)

    assert found.copies > 0
    assert (found.jobs[0].dp, found.jobs[0].pp) == (4, 2)
    assert np.diff(found.jobs[0].timeline.end) / SECOND == pytest.approx(np.diff(job.ends), rel=1e-3)
    assert any(skip.step == "switches" for skip in found.skipped)


def test_tenants_on_the_same_servers_stay_apart() -> None:
    """Clusters that share servers but keep different clocks are two jobs; the rails of one job are one."""
    first, second = Layout(seed=1, tp=2), Layout(seed=2, work=0.033, first_server=100)
    frame, topology, _ = simulate(first, second)
    own = topology["servers"][:8]
    for server, other in zip(own, topology["servers"][8:], strict=True):
        server["nics"] += other["nics"]

    found = answer(frame, topology | {"servers": own})

    assert sorted(len(job.nics) for job in found.jobs) == [8, 16]


def test_storage_joins_no_jobs() -> None:
    """What all servers talk to is no part of a job."""
    frame, topology, _ = simulate(Layout(seed=1), Layout(seed=2, work=0.033, first_server=100))
    to_storage = frame.filter(pl.col("src").cast(pl.String).str.starts_with("10.0.")).with_columns(
        dst=pl.lit(STORAGE).cast(frame.schema["dst"])
    )

    found = answer(pl.concat([frame, to_storage]), topology)

    assert [len(job.nics) for job in found.jobs] == [8, 8]
    assert all(STORAGE not in job.nics for job in found.jobs)


@pytest.mark.parametrize("seconds", [1, 60])
def test_a_coarse_grain_invents_nothing(seconds: int) -> None:
    """Records summed over a time-out longer than a step: same job, same rings, no step, and the reason."""
    frame, topology, _ = simulate(Layout())
    keys = ["src", "dst", "sport", "dport", "proto", "switch"]
    slot = pl.col("start_us") // (seconds * SECOND)
    coarse = frame.group_by(*keys, slot.alias("slot")).agg(
        pl.col("start_us").min(), pl.col("end_us").max(), pl.col("bytes", "packets").sum(), pl.col("tcp_flags").max()
    )

    found = answer(coarse, topology)

    assert (found.jobs[0].dp, found.jobs[0].pp, len(found.jobs[0].timeline)) == (4, 2, 0)
    assert {skip.step for skip in found.skipped} == {"timeline", "findings"}
    assert found.jobs[0].findings == ()


def test_the_five_required_columns_are_enough() -> None:
    """Nobody counted packets, so records are no samples of one: the same groups and steps, and what cannot be told."""
    frame, topology, (job,) = simulate(Layout())

    answered = answer(frame.select(*REQUIRED), topology)

    (found,) = answered.jobs
    assert (found.dp, found.pp, len(found.timeline)) == (4, 2, len(job.ends))
    assert np.diff(found.timeline.end) / SECOND == pytest.approx(np.diff(job.ends), rel=1e-3)
    assert {skip.step for skip in answered.skipped} == {"packets", "switches", "step ends"}


def test_groups_of_two_are_not_guessed_from_samples() -> None:
    """Single packets of a job without rings tell neither rings nor pipelines: sizes stay unknown."""
    frame, topology, _ = simulate(Layout(dp=2, pp=4))
    samples = frame.with_columns(packets=pl.lit(1), bytes=pl.when(pl.col("bytes") > 10_000).then(4096).otherwise(66))

    found = answer(samples.with_columns(pl.col("bytes").cast(pl.Int64)), topology)

    assert (found.jobs[0].dp, found.jobs[0].pp, found.jobs[0].groups) == (None, None, ())
    assert "groups" in {skip.step for skip in found.skipped}


def test_a_silent_job_with_open_connections_hangs() -> None:
    """Who fell silent first is named; a job that closes its connections at once has ended."""
    frame, topology, (job,) = simulate(Layout(dp=8, pp=1))
    stopped = int((job.ends[29] + 0.1 * Layout().work) * SECOND) + 5_000
    hung = frame.filter(pl.col("start_us") < stopped)
    first = job.address(0, 3, 0)
    mute = (pl.col("src").cast(pl.String) == first) & (pl.col("start_us") > int(job.ends[29] * SECOND))
    hung = hung.filter(~mute)
    nics = [job.address(0, replica, 0) for replica in range(8)]
    later = (
        hung.filter(pl.col("src").cast(pl.String).is_in(nics), pl.col("bytes") > 10_000)
        .group_by("src", "dst", "switch", maintain_order=True)
        .last()
    )
    begun = later.with_columns(
        start_us=pl.lit(stopped + 60_000), end_us=pl.lit(stopped + 61_000), bytes=pl.lit(20_000, pl.Int64)
    ).filter(pl.col("src").cast(pl.String) != first)
    closing = stopped + 20 * SECOND
    closed = later.with_columns(
        start_us=pl.lit(closing), end_us=pl.lit(closing), bytes=pl.lit(66, pl.Int64), packets=pl.lit(1, pl.Int64),
        tcp_flags=pl.lit(17, pl.UInt8),
    )  # fmt: skip

    found = answer(pl.concat([part.select(frame.columns) for part in (hung, begun, closed)]), topology)
    at_once = answer(
        pl.concat(
            [part.select(frame.columns) for part in (hung, begun, closed.with_columns(start_us=stopped + 70_000))]
        ),
        topology,
    )

    assert [(kind, subject and subject.nic) for kind, subject in findings(found)] == [("hang", first)]
    assert findings(at_once) == []


def test_first_steps_that_take_longer_are_the_beginning_of_a_job() -> None:
    """They connect and allocate; a step that is as long later on is a slow one."""
    replicas = [(stage, replica) for stage in range(2) for replica in range(4)]
    faults = [Fault("compute", first, last, 4.0, *of) for first, last in ((0, 1), (9, 9)) for of in replicas]
    frame, topology, _ = simulate(Layout(faults=tuple(faults)))

    (job,) = answer(frame, topology).jobs

    assert [(finding.kind, finding.steps) for finding in job.findings] == [("slow_step", (9, 9))]


def test_a_step_that_writes_to_storage_is_a_pause() -> None:
    """A single long step is benign when the job wrote a checkpoint meanwhile, and a slow step otherwise."""
    faults = tuple(Fault("compute", 20, 20, 4.0, stage, replica) for stage in range(2) for replica in range(4))
    frame, topology, (job,) = simulate(Layout(faults=faults))
    written = frame.head(1).with_columns(
        start_us=pl.lit(int(job.ends[19] * SECOND) + 1000), end_us=pl.lit(int(job.ends[19] * SECOND) + 90_000),
        dst=pl.lit(STORAGE).cast(frame.schema["dst"]), bytes=pl.lit(5_000_000, pl.Int64),
        packets=pl.lit(1_000, pl.Int64),
    )  # fmt: skip

    assert findings(answer(frame, topology)) == [("slow_step", None)]
    found = answer(pl.concat([frame, written]), topology)
    assert findings(found) == [("pause", None)]
    assert '"stored_mb": 5.0' in to_json(to_document(found))


def test_a_beginning_that_is_hardly_slower_is_nothing() -> None:
    """Jobs become faster when they have settled."""
    faults = tuple(Fault("compute", 0, 19, 1.2, stage, replica) for stage in range(2) for replica in range(4))

    assert findings(answer(*simulate(Layout(faults=faults))[:2])) == []


@pytest.mark.parametrize(("first", "found"), [(0, "slowdown"), (12, "slow_group")])
def test_group_that_was_slow_from_the_first_step_on_is_not_accused(first: int, found: str) -> None:
    """Nothing became slow there: the job became faster, as on a machine that others leave."""
    faults = tuple(Fault("compute", first, first + 19, 3.0, 0, replica) for replica in range(4))
    frame, topology, _ = simulate(Layout(faults=faults))

    assert [kind for kind, _ in findings(answer(frame, topology))] == [found]


def test_no_records_are_no_jobs() -> None:
    """An empty table is an answer."""
    frame, topology, _ = simulate(Layout(steps=6))

    assert answer(frame.clear(), topology).jobs == ()


def test_a_step_of_fsdp_ends_with_its_scatter() -> None:
    """Two gathers on one connection and a scatter on the other: the longest silence is before the scatter."""
    rows = []
    random = np.random.default_rng(0)
    clock, ends = 1.8e9, []
    for _ in range(30):
        for after, port in ((0.02, 1), (0.15, 1), (0.3 * random.normal(1, 0.05), 2)):
            clock += after
            for nic in range(4):
                begin, size = int((clock + 0.001 * nic) * SECOND), 3_000_000
                rows.append(
                    (begin, begin + 9_000, f"10.0.0.{nic}", f"10.0.0.{(nic + 1) % 4}", size, port, port, 6, 800)
                )
            clock += 0.012
        ends.append(clock)
    names = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets"]

    (found,) = answer(pl.DataFrame(rows, names, orient="row"), {"schema": "firstfault.topology/1"}).jobs

    assert (found.dp, len(found.timeline)) == (4, 30)
    assert found.timeline.end / SECOND == pytest.approx(ends, abs=0.001)


def test_queue_pairs_of_roce_are_connections() -> None:
    """RoCEv2 has one destination port both ways and no flags: groups and steps as ever, and a hang cannot be told."""
    frame, topology, (job,) = simulate(Layout(faults=(Fault("nic", 15, 39, 0.02, 1, 3),)))
    pair = (pl.min_horizontal("sport", "dport").cast(pl.Int64) * 7 + pl.max_horizontal("sport", "dport")) % 60_000
    roce = frame.with_columns(
        sport=pair.cast(pl.UInt16),
        dport=pl.lit(4791, pl.UInt16),
        proto=pl.lit(17, pl.UInt8),
        tcp_flags=pl.lit(0, pl.UInt8),
    )

    (found,) = answer(roce, topology).jobs

    assert (found.dp, found.pp, len(found.timeline)) == (4, 2, len(job.ends))
    assert [finding.kind for finding in found.findings] == ["slow_nic"]


def test_a_capture_of_one_host_names_nobody() -> None:
    """Steps are seen, but a NIC whose other neighbours were not captured cannot be compared."""
    frame, topology, (job,) = simulate(Layout(dp=8, pp=1, faults=(Fault("compute", 15, 30, 1.6, 0, 3),)))
    host = job.address(0, 5, 0)
    seen = frame.filter((pl.col("src").cast(pl.String) == host) | (pl.col("dst").cast(pl.String) == host))

    found = answer(seen, topology)

    assert len(found.jobs[0].timeline) == len(job.ends)
    assert findings(found) == [("slowdown", None)]
    assert "subjects" in {skip.step for skip in found.skipped}


def test_a_few_bursts_are_no_steps() -> None:
    """A capture that ends while a job begins has too few bursts to call them steps."""
    frame, topology, _ = simulate(Layout(steps=7))

    (found,) = answer(frame, topology).jobs

    assert len(found.timeline) == 0
