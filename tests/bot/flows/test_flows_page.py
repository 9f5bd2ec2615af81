"""``firstfault flows --html`` and ``--perfetto``: one page and one trace that need nothing else."""

import hashlib
import json
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.flow_sets import Fault, Layout, simulate
from bot.commandline.cli import app
from bot.commandline.flows import pictures
from bot.commandline.flows.page import render
from bot.commandline.flows.trace import to_trace
from bot.commandline.flows.traffic_lanes import MAX_LANES, MAX_MARKS, drawn_lanes
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer, Lane
from core.flows.table import table_from
from core.flows.topology import Topology, topology_from

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def answered() -> tuple[FlowsAnswer, Topology]:
    layout = Layout(faults=(Fault("nic", 15, 39, 0.02, 1, 3),))
    frame, document, _ = simulate(layout, Layout(seed=1, first_server=100))
    topology = topology_from(document)
    return analyse(table_from(frame, "made up"), topology, with_lanes=True), topology


def test_the_page_and_the_trace_are_written(tmp_path: Path) -> None:
    """Both beside the answer at the terminal; the same capture gives the same bytes."""
    frame, topology, _ = simulate(Layout(steps=12))
    frame.write_parquet(tmp_path / "flows.parquet")
    (tmp_path / "topology.json").write_text(json.dumps(topology))
    words = ["flows", str(tmp_path / "flows.parquet"), "--topology", str(tmp_path / "topology.json")]

    runs = [
        CliRunner().invoke(
            app, [*words, "--html", str(tmp_path / f"{n}.html"), "--perfetto", str(tmp_path / f"{n}.json")]
        )
        for n in "ab"
    ]

    assert [run.exit_code for run in runs] == [0, 0]
    assert "1 job seen" in runs[0].stdout
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_page_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    """Nothing is read for it."""
    run = CliRunner().invoke(app, ["flows", str(tmp_path / "none"), "--html", str(tmp_path / "no" / "page.html")])

    assert "Cannot write the report" in str(run.exception)


def test_only_the_script_of_the_page_may_run(answered: tuple[FlowsAnswer, Topology]) -> None:
    """The policy names it by its hash; nothing comes from outside."""
    page = render(*answered, file="flows.parquet", version="1")

    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert f"script-src 'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', page)


def test_hostile_names_are_only_text(answered: tuple[FlowsAnswer, Topology]) -> None:
    """An address, a switch and a file are written by others."""
    answer, topology = answered
    job = answer.jobs[0]
    finding = next(candidate for candidate in job.findings if candidate.series is not None)
    assert finding.series is not None
    things = (HOSTILE, *finding.series.things[1:])
    lanes = (Lane(job.lanes[0].group, HOSTILE, job.lanes[0].transfers), *job.lanes[1:])
    job = replace(
        job,
        lanes=lanes,
        findings=(replace(finding, because=HOSTILE, series=replace(finding.series, things=things, guilty=(0,))),),
    )
    servers = dict.fromkeys(job.nics, HOSTILE)

    page = render(
        replace(answer, jobs=(job,)),
        replace(topology, server=servers, leaf=dict.fromkeys(job.nics, HOSTILE)),
        file=HOSTILE,
        version="1",
    )

    assert "<script>alert" not in page
    assert len(re.findall("<script", page)) == 2  # the lanes of the job, and ours


def test_what_a_capture_without_steps_shows_claims_no_health() -> None:
    """No steps: nothing slow was seen because nothing could be."""
    frame, document, _ = simulate(Layout(steps=6))
    answer = analyse(table_from(frame, "made up"), topology_from(document), with_lanes=True)

    page = render(answer, Topology(), file="flows.parquet", version="1")

    assert "show no steps" in page
    assert "nobody slow" not in page


def test_a_drawing_stays_small(answered: tuple[FlowsAnswer, Topology]) -> None:
    """Marks that nobody could tell apart are joined, too many lanes left out and counted; no byte is lost."""
    job = answered[0].jobs[0]
    start = np.arange(0, 40_000 * 7_000, 7_000)
    many = np.stack([start, start + 100, np.full(len(start), 10)], 1)
    lanes = tuple(Lane("J1.dp0", f"lane {number}", many) for number in range(MAX_LANES + 5))

    drawn = drawn_lanes(replace(job, lanes=lanes))

    marks = [lane["marks"] for lane in drawn.document["lanes"]]
    assert sum(map(len, marks)) <= 3 * MAX_MARKS
    assert {sum(mark[2::3]) for mark in marks} == {10 * len(start)}
    assert (len(marks), drawn.left_out) == (MAX_LANES, 5)


def test_the_trace_has_steps_findings_and_transfers(answered: tuple[FlowsAnswer, Topology]) -> None:
    """A process a job, a thread a lane; times in microseconds."""
    answer, _ = answered

    events = json.loads(to_trace(answer))["traceEvents"]

    complete = [event for event in events if event["ph"] == "X"]
    of_job = Counter(event["pid"] for event in complete)
    for number, job in enumerate(answer.jobs, start=1):
        expected = len(job.timeline) + len(job.findings) + sum(len(lane.transfers) for lane in job.lanes)
        assert of_job[number] == expected
    first = next(event for event in complete if event["name"] == "step 3")
    assert first["ts"] == int(answer.jobs[0].timeline.start[3])
    assert first["ts"] + first["dur"] == int(answer.jobs[0].timeline.end[3])
    assert all(event["dur"] >= 0 for event in complete)


def test_all_levels_of_switches_are_drawn() -> None:
    """Leaves, pods, and the spine that joins them, also with storage attached; no leaf of others, and nothing above."""
    document = {
        "schema": "firstfault.topology/1",
        "servers": [{"name": f"server-{nic}", "nics": [f"10.0.0.{nic}"]} for nic in range(5)],
        "switches": [{"name": name} for name in ("leaf-0", "leaf-1", "leaf-2", "pod-0", "pod-1", "spine-0")],
        "links": [{"a": f"10.0.0.{nic}", "b": f"leaf-{nic // 2}"} for nic in range(5)]
        + [{"a": f"leaf-{leaf}", "b": f"pod-{leaf // 2}"} for leaf in range(3)]
        + [{"a": "pod-0", "b": "spine-0"}, {"a": "pod-1", "b": "spine-0"}, {"a": "10.9.0.1", "b": "spine-0"}],
        "infrastructure": [{"name": "storage", "addresses": ["10.9.0.1"], "role": "storage"}],
    }
    topology = topology_from(document)

    far = pictures.switch_places(topology, {"10.0.0.0": 0.0, "10.0.0.4": 1.0})
    near = pictures.switch_places(topology, {"10.0.0.0": 0.0, "10.0.0.2": 1.0})

    assert {name: height for name, (_, height) in far.items()} == {
        "leaf-0": 2.0, "leaf-2": 2.0, "pod-0": 3.0, "pod-1": 3.0, "spine-0": 4.0,
    }  # fmt: skip
    assert set(near) == {"leaf-0", "leaf-1", "pod-0"}
