"""What is kept of a capture to be drawn: the traffic of each group, and the measurements behind a finding."""

import numpy as np

from benchmarks.flow_sets import Fault, Layout, simulate
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import table_from
from core.flows.topology import topology_from


def drawn(layout: Layout) -> FlowsAnswer:
    frame, topology, _ = simulate(layout)
    return analyse(table_from(frame, "made up"), topology_from(topology), with_lanes=True)


def test_each_ring_is_a_lane_and_neighbours_of_a_pipeline_are_two() -> None:
    """Activations go down, gradients come back, one transfer a micro-batch and step each."""
    layout = Layout(dp=3, pp=3, micro=5, steps=12)

    (job,) = drawn(layout).jobs

    rings = [lane for lane in job.lanes if lane.group.startswith("J1.dp")]
    stages = [lane for lane in job.lanes if lane.group.startswith("J1.pp")]
    assert [lane.name for lane in rings] == ["J1.dp0", "J1.dp1", "J1.dp2"]
    first = next(group.nics for group in job.groups if group.id == "J1.pp0")
    assert [lane.name for lane in stages if lane.group == "J1.pp0"] == [
        f"{first[0]} → {first[1]}",
        f"{first[1]} → {first[0]}",
        f"{first[1]} → {first[2]}",
        f"{first[2]} → {first[1]}",
    ]
    assert {len(lane.transfers) for lane in stages} == {layout.micro * layout.steps}
    assert {int(size) for lane in stages for size in lane.transfers[:, 2]} == {layout.activation}


def test_nothing_is_kept_unasked() -> None:
    """A capture of ten million records is answered without its drawing."""
    frame, topology, _ = simulate(Layout(steps=12))

    (job,) = analyse(table_from(frame, "made up"), topology_from(topology)).jobs

    assert job.lanes == ()


def test_a_finding_keeps_what_named_it_beside_all_others() -> None:
    """The slow NIC's series rises in the steps of the finding; every other NIC is there, and does not."""
    layout = Layout(faults=(Fault("nic", 15, 39, 0.02, 1, 3),))

    (job,) = drawn(layout).jobs

    (finding,) = [finding for finding in job.findings if finding.kind == "slow_nic"]
    assert finding.series is not None
    assert finding.subject is not None
    assert [finding.series.things[place] for place in finding.series.guilty] == [finding.subject.nic]
    assert set(finding.series.things) == set(job.nics)
    inside = np.nanmedian(finding.series.values[finding.steps[0] :], axis=0)
    assert int(np.argmax(inside)) == finding.series.guilty[0]


def test_a_slow_accelerator_is_shown_beside_the_work_of_all() -> None:
    """Who was not slow is drawn too, or nobody could judge."""
    layout = Layout(pp=4, faults=(Fault("compute", 20, 39, 2.0, 2, 1),))

    (job,) = drawn(layout).jobs

    (finding,) = [finding for finding in job.findings if finding.kind == "slow_compute"]
    assert finding.series is not None
    assert finding.subject is not None
    assert [finding.series.things[place] for place in finding.series.guilty] == [finding.subject.nic]
    assert len(finding.series.things) == layout.dp * layout.pp
