"""What is made of many findings: intervals, calibration, targets, ablation, the same bytes, and the command."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.quality import __main__ as command
from benchmarks.quality.ablation import NO_CHANNEL, STEPS, answer, answers_alone, answers_without, channels_of
from benchmarks.quality.calibration import accused_wrongly, degrees
from benchmarks.quality.case import Shelf
from benchmarks.quality.findings import PARTS, Finding, examine
from benchmarks.quality.intervals import intervals
from benchmarks.quality.labels import Truth
from benchmarks.quality.methods import METHODS, OURS
from benchmarks.quality.report import marks
from benchmarks.quality.sameness import Run, unlike
from benchmarks.quality.score import score_job
from benchmarks.quality.sections import sections
from benchmarks.quality.targets import PUBLIC, Reached, reached
from benchmarks.support.memory_cache import MemoryCache
from core.diagnose import diagnose_parsed
from core.model import Confidence, Coverage, Diagnosis, NodeEvidence, Scope
from sources.folder import JobsFolder
from tests.benchmarks.test_quality import LINES, diagnosis, truth
from tests.support.places import EXAMPLES


def finding(what: Truth, said: Diagnosis, confidence: Confidence = Confidence.ESTABLISHED) -> Finding:
    """A job that every method answers in the same way."""
    score = score_job(what, said, LINES)
    return Finding(what, dict.fromkeys(METHODS, score), replace(said, confidence=confidence))


def right(job_id: str = "right") -> Finding:
    return finding(truth(job_id=job_id), diagnosis("raised", "gone", nodes=["node-1"]))


def wrong(job_id: str = "wrong") -> Finding:
    return finding(truth(job_id=job_id), diagnosis("noise", nodes=["node-2"]))


# --- how sure ---------------------------------------------------------------------------------------------------------


def test_an_interval_holds_its_measure() -> None:
    """The value is that of the table; bounds lie around it, alike in every run, and on it when all jobs agree."""
    mixed = intervals([*(right().ours for _ in range(6)), *(wrong().ours for _ in range(2))])
    agreed = intervals([right().ours] * 5)

    assert mixed["top1"].value == pytest.approx(0.75)
    assert mixed["top1"].low < 0.75 < mixed["top1"].high
    assert mixed == intervals([*(right().ours for _ in range(6)), *(wrong().ours for _ in range(2))])
    assert (agreed["recall"].low, agreed["recall"].value, agreed["recall"].high) == (1.0, 1.0, 1.0)
    assert "quiet" not in agreed


# --- confidence -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "said", "why"),
    [
        (truth(), diagnosis("raised", nodes=["node-1"]), ""),
        (truth(), diagnosis("raised", nodes=["node-2"]), "accuses node-2, not node-1"),
        (truth(), diagnosis("noise", nodes=["node-1"]), "first event is no direct trace"),
        (truth(), diagnosis(nodes=["node-1"]), "first event is missing"),
        (truth(), diagnosis("raised", scope=Scope.JOB), "scope job, not node"),
        (truth(labels=[]), diagnosis("noise", nodes=["node-1"]), ""),
        (truth(kind="preemption"), diagnosis("raised", scope=Scope.NONE), ""),
    ],
)
def test_an_answer_is_right_as_a_whole_or_not(what: Truth, said: Diagnosis, why: str) -> None:
    """Scope, suspect and first event count together; a stop needs no suspect, a silent fault no first event."""
    told = {one.confidence: one for one in degrees([finding(what, said)])}

    assert told[Confidence.ESTABLISHED].jobs == 1
    assert told[Confidence.ESTABLISHED].wrong == ({"j1": why} if why else {})
    assert told[Confidence.WEAK].right is None


def test_who_is_wronged_is_named() -> None:
    """In job-wide faults and in successful jobs alike."""
    innocent = truth(job_id="all", faulty_nodes=[])
    healthy = truth(job_id="fine", failed=False, kind=None, faulty_nodes=[])
    findings = [right(), finding(innocent, diagnosis(nodes=["node-1", "node-2"])), finding(healthy, diagnosis())]

    assert accused_wrongly(findings) == {"all": "node-1, node-2"}


# --- targets ----------------------------------------------------------------------------------------------------------


def by_name(told: list[Reached]) -> dict[str, Reached]:
    return {one.target.measure: one for one in told}


def test_a_missed_target_names_its_jobs() -> None:
    """What is measured, whether it is enough, and which jobs to look at."""
    told = by_name(reached("lab", [right(), wrong()]))

    assert (told["top1"].reached.value, told["top1"].met, told["top1"].misses) == (0.5, False, ("wrong",))
    assert (told["shown"].met, told["shown"].misses) == (True, ())
    assert told["established right"].misses == ("wrong",)
    assert "quiet" not in told


@pytest.mark.parametrize(("ranks", "exact"), [([9, 14], True), ([9], False), ([9, 14, 3], False)])
def test_flight_recorders_are_exact_or_not(ranks: list[int], exact: bool) -> None:
    """Of a job without any log just the faulty ranks may be named, and all of them."""
    what = truth(faulty_nodes=["rank 9", "rank 14"], faulty_ranks=[9, 14], labels=[])
    nodes = tuple(NodeEvidence("N1", 1.0, "", node=f"rank {rank}", ranks=(rank,)) for rank in ranks)
    said = replace(diagnosis(), nodes=nodes, coverage=Coverage(files=0))

    told = by_name(reached(PUBLIC, [finding(what, said)]))["flight recorders exact"]

    assert (told.met, told.misses) == (exact, () if exact else ("j1",))


# --- parts switched off -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job_id", ["f02", "f07", "s01"])
def test_with_all_its_parts_the_method_is_the_method(job_id: str) -> None:
    """The ablation's story is that of the core: with nothing left out it answers the same."""
    parsed = Shelf(JobsFolder(EXAMPLES), MemoryCache()).case(truth(job_id=job_id)).parsed

    assert answer(parsed) == diagnose_parsed(parsed)


def test_every_channel_that_speaks_can_be_switched_off() -> None:
    """Of a frozen rank its silence speaks; without channels nobody is accused, with one of them somebody is."""
    parsed = Shelf(JobsFolder(EXAMPLES), MemoryCache()).case(truth(job_id="f02")).parsed
    channels = channels_of(parsed)

    without, alone = answers_without(parsed), answers_alone(parsed)

    assert "silence" in channels
    assert set(without) == {*STEPS, *channels}
    assert set(alone) == {NO_CHANNEL, *channels}
    assert not alone[NO_CHANNEL].nodes
    assert [node.node for node in alone["silence"].nodes] == ["tr-02"]


# --- all of it --------------------------------------------------------------------------------------------------------


def test_runs_that_differ_are_found(tmp_path: Path) -> None:
    """Fresh processes print the same digest of an example; a job that is not there has the same answer too."""
    runs = (Run(1, 1, kept=False), Run(2, 2))

    assert unlike(str(EXAMPLES), ["f07", "no-such-job"], tmp_path, runs) == ()


def test_every_part_gets_its_section() -> None:
    """A finding with all parts fills all tables; without them theirs are left out."""
    shelf = Shelf(JobsFolder(EXAMPLES), MemoryCache())
    all_of_it = [examine(shelf, truth(job_id="f07", labels=[]), parts=PARTS)]

    told = sections({"lab": all_of_it}, {"lab": []}, "abc1234")
    less = sections({"lab": [right()]}, None, "abc1234")

    parts = ["quality", "intervals", "families", "targets", "calibration"]
    assert list(told) == [*parts, "ablation", "robustness"]
    assert list(less) == parts
    assert all(text.endswith("Measured at commit abc1234.") for text in told.values())
    assert "the same bytes for every job (1 jobs)" in told["robustness"]
    assert "| value | none | 1 | 1.00 | 1.00 | 1.00 | 1.00 |" in less["families"]


def test_a_document_gets_the_parts_that_it_has_a_place_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Markers decide; a set under its own name is measured beside the others."""
    begin, end = marks("quality")
    document, labels = tmp_path / "doc.md", tmp_path / "truth"
    document.write_text(f"{begin}\n{end}\n", encoding="utf-8")
    labels.mkdir()
    asked = []

    def found(jobs: str, truths: tuple[Truth, ...], _: Path, *, parts: list[str]) -> list[Finding]:
        asked.append((jobs, [one.job_id for one in truths], parts))
        return [right()]

    (labels / "f1.json").write_text('{"job_id": "f1", "failed": true, "kind": "x", "faulty_nodes": [], "labels": []}')
    monkeypatch.setattr(command, "examine_all", found)

    words = ["--jobs", "a", "--truth", str(labels), "--also", "fresh", "b", str(labels), "--part", "methods"]
    assert command.main([*words, "--write", str(document)]) == 0

    assert asked == [("a", ["f1"], ["methods"]), ("b", ["f1"], ["methods"])]
    assert "**fresh**: 1 job" in document.read_text(encoding="utf-8")
    assert "## calibration" in capsys.readouterr().out
    assert OURS in METHODS
