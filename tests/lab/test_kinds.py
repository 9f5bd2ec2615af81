"""The catalogue of faults, and the words of scheduler and daemon."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.cluster import Cluster
from lab.files import lay_out, write_corpus
from lab.kinds import FAULTS
from lab.model import COMPLETED, Fault, PlannedJob, Site
from lab.plan import plan_jobs
from lab.settings import SETTINGS
from lab.wording import EVENTS, WORDS, pattern, sentence

FACTS = {
    "job": "j1", "node": "n-1", "nodes": "n-1,n-2", "tasks": "4", "rc": "3", "seconds": "7", "state": "FAILED",
    "text": "a text", "command": "python x.py", "task": "2", "name": "SIGKILL", "address": "a:1", "count": "5",
    "error": "timed out", "reason": "FAILURE", "load": "1.0", "rx": "1", "tx": "2", "retrans": "0",
}  # fmt: skip
STAGES = {"initialization", "data loading", "checkpoint loading", "training", "evaluation", "checkpoint saving", None}


def test_there_are_many_kinds() -> None:
    """The lab was asked for at least 28 kinds, survivors and stops included."""
    assert len(FAULTS) >= 28


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_kind_is_told_whole(fault: Fault) -> None:
    """Name, blame and stage of every kind are words that the truth files know."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", fault.kind)
    assert fault.scope in {"node", "job", "none"}
    assert fault.stage in STAGES
    assert (fault.ends == COMPLETED) == (fault.scope == "none") == (fault.category is None)
    assert "{" not in fault.summary.format_map({"node": "n", "rank": 0, "iteration": 1})
    assert any(fault.suits(settings) for settings in SETTINGS.values())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_traces_can_be_looked_for(fault: Fault) -> None:
    """Every rule is a regular expression, or an event that scheduler or daemon can write."""
    for trace in fault.traces:
        assert trace.pattern or trace.event
        assert not trace.event or trace.event in EVENTS
        re.compile(trace.pattern)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a lab has made before its first fault: data, and a checkpoint of every group."""
    folder = tmp_path_factory.mktemp("lab")
    write_corpus(folder / "corpus")
    for group in SETTINGS:
        kept = folder / "checkpoints" / group / "some.pt"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"tensors")
    return folder


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        (kind, group)
        for kind, fault in FAULTS.items()
        for group in ("mega-tp2-srun", "plain-torchrun", "trainer-nodes")  # one of each program
        if (fault.code or fault.prepare) and fault.suits(SETTINGS[group])
    ],
)
def test_a_fault_finds_what_it_changes(kind: str, group: str, tmp_path: Path, scratch: Path) -> None:
    """Anchors, files and functions that a fault changes are in every program that suits it."""
    fault, settings = FAULTS[kind], SETTINGS[group]
    planned = plan_jobs(1, 2 + 1, kinds=(kind,), settings=(group,))[-1]
    cluster = Cluster(settings.nodes, 0, netns=True)  # never opened
    site = Site(planned, cluster, tmp_path / "work", tmp_path / "logs")
    lay_out(site, scratch)
    before = snapshot(site)

    for anchor, lines in fault.code:
        site.insert(planned.node, anchor, lines)
    if fault.prepare is not None:
        fault.prepare(site)

    assert snapshot(site) != before


def snapshot(site: Site) -> object:
    """Everything that a fault may prepare: files, mounts, arguments, launcher."""
    files = {path: path.stat().st_size for path in site.work.rglob("*") if path.is_file() or path.is_fifo()}
    texts = {path: path.read_bytes() for path in files if path.is_file()}
    return (
        texts,
        set(files),
        [list(node.mounts) for node in site.cluster.nodes],
        repr(site.args),
        repr(site.launcher),
        repr(site.env),
    )


@pytest.mark.parametrize("dialect", WORDS)
@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_found_by_its_own_pattern(dialect: str, event: str) -> None:
    """Labels are made from the table that the lines were written from; all dialects know all events."""
    text = sentence(dialect, event, **FACTS)

    assert re.search(pattern(dialect, event), text)
    assert re.search(pattern(dialect, event, node="n-1"), text)


@pytest.mark.parametrize("dialect", WORDS)
def test_a_pattern_with_facts_is_narrow(dialect: str) -> None:
    """The rule for one node does not find another one's lines."""
    text = sentence(dialect, "lost", **FACTS | {"node": "n-2"})

    assert not re.search(pattern(dialect, "lost", node="n-1"), text)


@pytest.mark.parametrize("dialect", WORDS)
def test_no_event_is_mistaken_for_another(dialect: str) -> None:
    """A sentence is found by one pattern only."""
    for event in EVENTS:
        found = [other for other in EVENTS if re.search(pattern(dialect, other), sentence(dialect, event, **FACTS))]
        assert found == [event]


def test_a_plan_names_its_settings() -> None:
    """A planned job knows its group without holding it, so that it can be written down."""
    plan = PlannedJob("j", "none", "plain-ranks", 1, "", -1, 0, ())

    assert plan.settings is SETTINGS["plain-ranks"]
    assert replace(plan, settings_id="mega-pods").settings is SETTINGS["mega-pods"]
