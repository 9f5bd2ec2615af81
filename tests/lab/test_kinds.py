"""The catalogue of faults."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab import files
from lab.cluster import Cluster
from lab.fault_kinds import FAULTS
from lab.files import lay_out, write_corpus
from lab.model import CANCELLED, COMPLETED, PlannedJob, Site
from lab.plan import plan_jobs
from lab.settings import SETTINGS

STAGES = {"initialization", "data loading", "checkpoint loading", "training", "evaluation", "checkpoint saving", None}


def test_there_are_many_kinds() -> None:
    """The lab was asked for at least 28 kinds, survivors and stops included."""
    assert len(FAULTS) >= 28


def test_a_kind_is_told_whole() -> None:
    """Name, blame and stage of every kind are words that the truth files know."""
    for fault in FAULTS.values():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", fault.kind)
        assert fault.scope in {"node", "job", "none"}, fault.kind
        assert fault.stage in STAGES, fault.kind
        assert (fault.ends == COMPLETED) == (fault.scope == "none") == (fault.category is None), fault.kind
        assert "{" not in fault.summary.format_map({"node": "n", "rank": 0, "iteration": 1})
        assert any(fault.suits(settings) for settings in SETTINGS.values()), fault.kind


def test_traces_can_be_looked_for() -> None:
    """Every rule is a regular expression that does not fit every line."""
    patterns = [trace.pattern for fault in FAULTS.values() for trace in fault.traces]

    assert all(patterns)
    assert [pattern for pattern in patterns if re.search(pattern, "step 7/60 | loss 4.1")] == []


def test_what_is_ended_from_outside_is_no_failure_of_its_own() -> None:
    """A job that somebody ends is CANCELLED, and all but healthy stops wait for the fault before."""
    for fault in FAULTS.values():
        if fault.outside is not None:
            assert fault.ends == CANCELLED, fault.kind
            assert fault.outside.since in {"progress", "strike", "start"}, fault.kind
            assert fault.onset <= (fault.outside.since == "strike"), fault.kind


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a lab has made before its first fault: data, and a checkpoint of every group."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "SHARDS", 8)  # two for each rank; each machine of each job gets a copy
        write_corpus(folder / "corpus")
    for group in SETTINGS:
        kept = folder / "checkpoints" / group / "some.pt"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"tensors")
    return folder


SOME = ("mega-tp2-srun", "plain-torchrun", "trainer-nodes", "accelerate-journal", "structlog-docker")
PROGRAMS = {settings.program.script: name for name, settings in SETTINGS.items()}.values()  # a group of each


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        (kind, group)
        for kind, fault in FAULTS.items()
        for group in (PROGRAMS if fault.code else SOME if fault.prepare else ())
        if fault.suits(SETTINGS[group])
    ],
)
def test_a_fault_finds_what_it_changes(kind: str, group: str, tmp_path: Path, scratch: Path) -> None:
    """Anchors, files and functions that a fault changes are in every program that suits it."""
    fault, settings = FAULTS[kind], SETTINGS[group]
    planned = plan_jobs(1, 4, kinds=(kind,), settings=(group,))[-1]
    cluster = Cluster(settings.nodes, 0, netns=True, controller="ctl")  # never opened
    site = Site(planned, fault, cluster, tmp_path / "work", tmp_path / "logs", Path("python"))
    lay_out(site, scratch)
    before = snapshot(site)

    for anchor, lines in fault.code:
        site.insert(planned.node, anchor, lines)
    if fault.prepare is not None:
        fault.prepare(site)

    assert snapshot(site) != before


def snapshot(site: Site) -> object:
    """Everything that a fault may prepare: files, mounts, arguments, launcher."""
    paths = {path for path in site.work.rglob("*") if path.is_file() or path.is_fifo()}
    return (
        {path: path.read_bytes() for path in paths if path.is_file()},
        paths,
        [[*node.mounts, *node.shell] for node in site.cluster.nodes],
        repr(site.args),
        repr(site.launcher),
        repr(site.env),
    )


def test_a_plan_names_its_settings() -> None:
    """A planned job knows its group without holding it, so that it can be written down."""
    plan = PlannedJob("j", "none", "plain-ranks", 1, "", -1, 0, ())

    assert plan.settings is SETTINGS["plain-ranks"]
    assert replace(plan, settings_id="mega-pods").settings is SETTINGS["mega-pods"]
