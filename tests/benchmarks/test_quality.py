"""The quality benchmark: its scorer, its runner, its tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality import report
from benchmarks.quality.__main__ import main
from benchmarks.quality.case import Shelf
from benchmarks.quality.findings import examine
from benchmarks.quality.labels import Truth, parse_truth
from benchmarks.quality.measures import measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.report import BEGIN, END, NoMarkers, write
from benchmarks.quality.score import Score, Verdict, score_job
from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from core.errors import FirstfaultError
from core.model import (
    Confidence,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    NodeEvidence,
    Role,
    Scope,
    Stage,
)

LOG = "logs/a.log"
# lines of LOG: 1-3 a traceback (root), 5 and 6 peers that differ in a number (propagated), 8 and 9 the end (teardown)
LABELS = [
    {"file": LOG, "line": 3, "block": [1, 3], "role": "root", "text": "ValueError: no"},
    {"file": LOG, "line": 5, "role": "propagated", "text": "peer 1 is gone"},
    {"file": LOG, "line": 6, "block": None, "role": "propagated", "text": "peer 22 is gone"},
    {"file": LOG, "line": 8, "role": "teardown", "text": "terminating 7"},
    {"file": LOG, "line": 9, "role": "teardown", "text": "terminated"},
]
EVENTS = {"raised": (1, 2, 3), "gone": (5,), "gone too": (6,), "ended": (8, 9), "noise": (4, 7), "mixed": (3, 4, 7)}
LINES = {(LOG, number): event for event, numbers in EVENTS.items() for number in numbers}


def truth(**changes: Any) -> Truth:
    document: dict[str, Any] = {
        "job_id": "j1",
        "failed": True,
        "kind": "value",
        "faulty_nodes": ["node-1"],
        "stage": "training",
        "iteration": 40,
        "labels": LABELS,
    }
    return parse_truth(document | changes)


def diagnosis(
    *events: str, cited: Sequence[int] = (), nodes: Sequence[str] = (), scope: Scope = Scope.NODE, iteration: int = 40
) -> Diagnosis:
    lines = tuple(Line(LOG, number, "") for number in cited)
    return Diagnosis(
        job="j1",
        method="made up",
        scope=scope,
        confidence=Confidence.WEAK,
        headline="",
        events=tuple(EventEvidence("E1", 1.0, "", lines, event=event, role=Role.ROOT) for event in events),
        nodes=tuple(NodeEvidence("N1", 1.0, "", node=node) for node in nodes),
        stage=Stage.TRAINING,
        iterations=(IterationEvidence("I1", 1.0, "", iteration=iteration),),
    )


# --- one job ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "verdicts", "found"),
    [
        (["raised"], "right", 1),
        (["gone", "gone too"], "right repeat", 1),
        (["gone", "raised", "raised"], "right right repeat", 2),
        (["ended"], "idle", 0),
        (["noise"], "wrong", 0),
        (["mixed"], "wrong", 0),
        (["an event that the job does not hold"], "wrong", 0),
        ([], "", 0),
    ],
)
def test_each_reported_event_gets_its_verdict(events: list[str], verdicts: str, found: int) -> None:
    """Right once, then a repeat; the end of a job costs nothing; what is mostly not labelled is wrong."""
    score = score_job(truth(), diagnosis(*events), LINES)

    assert score.verdicts == tuple(map(Verdict, verdicts.split()))
    assert (score.groups, score.found) == (2, found)


@pytest.mark.parametrize(("cited", "verdict"), [((1, 4), "right"), ((1, 4, 7), "wrong"), ((8, 4), "idle")])
def test_cited_lines_count_like_all_lines_of_an_event(cited: tuple[int, ...], verdict: str) -> None:
    """An event that is too wide is right when half of the lines that it cites are."""
    assert score_job(truth(), diagnosis("noise", cited=cited), LINES).verdicts == (Verdict(verdict),)


@pytest.mark.parametrize(
    ("events", "first", "root3"),
    [
        (["raised", "noise"], True, True),
        (["noise", "gone", "raised"], False, True),
        (["noise", "gone", "ended", "raised"], False, False),
    ],
)
def test_the_place_of_the_root_counts(events: list[str], first: bool, root3: bool) -> None:
    """Found by the first, by the first three reported events."""
    score = score_job(truth(), diagnosis(*events), LINES)

    assert (score.first, score.root3) == (first, root3)


@pytest.mark.parametrize(
    ("changes", "nodes", "scope", "right"),
    [
        ({}, ["node-1"], Scope.NODE, True),
        ({}, ["node-2", "node-1"], Scope.NODE, False),
        ({}, [], Scope.JOB, False),
        ({"faulty_nodes": []}, [], Scope.JOB, True),
        ({"faulty_nodes": []}, ["node-1"], Scope.JOB, False),
        ({"failed": False, "kind": "none", "faulty_nodes": []}, [], Scope.NONE, None),
    ],
)
def test_the_verdict_is_what_a_person_acts_on(
    changes: dict[str, Any], nodes: list[str], scope: Scope, right: bool | None
) -> None:
    """Scope and first suspect, or nobody; what is ``established`` counts apart."""
    weak = diagnosis(nodes=nodes, scope=scope)
    sure = replace(weak, confidence=Confidence.ESTABLISHED)

    assert score_job(truth(**changes), weak, LINES).verdict is right
    assert score_job(truth(**changes), weak, LINES).sure is None
    assert score_job(truth(**changes), sure, LINES).sure is right


def test_an_event_must_claim_the_role_of_what_it_finds() -> None:
    """Both are called roots here; of what finds nothing no role is asked."""
    assert score_job(truth(), diagnosis("raised", "gone", "noise"), LINES).roles == (True, False)


def test_suspects_stage_and_iteration() -> None:
    """The first suspect counts apart from the first three; an iteration may be one off."""
    score = score_job(truth(), diagnosis(nodes=["node-2", "node-1"], iteration=41), LINES)

    assert (score.top1, score.top3, score.accused, score.quiet) == (False, True, 2, None)
    assert (score.scope, score.stage, score.iteration) == (True, True, True)
    assert score_job(truth(), diagnosis(iteration=42), LINES).iteration is False


@pytest.mark.parametrize(
    ("changes", "scope", "right"),
    [
        ({}, Scope.NODE, True),
        ({}, Scope.JOB, False),
        ({"faulty_nodes": []}, Scope.JOB, True),
        ({"faulty_nodes": [], "scope": "unknown"}, Scope.UNKNOWN, True),
        ({"faulty_nodes": [], "scope": "unknown"}, Scope.JOB, True),
        ({"kind": "time_limit"}, Scope.NONE, True),
        ({"kind": "time_limit"}, Scope.NODE, False),
        ({"failed": False, "kind": None}, Scope.NONE, True),
    ],
)
def test_scope(changes: dict[str, Any], scope: Scope, right: bool) -> None:
    """Stopped from outside: none or job; not known: unknown or job."""
    assert score_job(truth(**changes), diagnosis(scope=scope), LINES).scope is right


@pytest.mark.parametrize(
    ("changes", "said", "quiet"),
    [
        ({"faulty_nodes": []}, diagnosis("noise"), True),
        ({"faulty_nodes": []}, diagnosis(nodes=["node-1"]), False),
        ({"failed": False, "kind": None, "faulty_nodes": []}, diagnosis(scope=Scope.NONE), True),
        ({"failed": False, "kind": None, "faulty_nodes": []}, diagnosis("noise", scope=Scope.NONE), False),
        ({"failed": False, "kind": None, "faulty_nodes": []}, diagnosis(scope=Scope.JOB), False),
    ],
)
def test_quiet(changes: dict[str, Any], said: Diagnosis, quiet: bool) -> None:
    """Nobody is accused where no node is to blame; of a healthy job, nothing at all."""
    assert score_job(truth(**changes), said, LINES).quiet is quiet


def test_no_answer_is_all_wrong() -> None:
    """A method gains nothing by failing on a hard job."""
    score = score_job(truth(), None, {})

    assert not score.answered
    assert (score.first, score.root3, score.top1, score.top3, score.scope) == (False,) * 5
    assert (score.stage, score.iteration, score.found) == (False, False, 0)
    assert score_job(truth(faulty_nodes=[]), None, {}).quiet is False


# --- many jobs --------------------------------------------------------------------------------------------------------


def test_measures() -> None:
    """Macro over jobs, the rest over all events together; what no job asks for has no number."""
    scores = [
        score_job(truth(), diagnosis("raised", "noise", nodes=["node-1"]), LINES),
        score_job(truth(), diagnosis("raised", "gone", "gone too"), LINES),
        score_job(truth(faulty_nodes=[], iteration=None), None, {}),
    ]

    measures = measure(scores)

    assert measures.precision == pytest.approx(3 / 4)
    assert measures.recall == pytest.approx(3 / 6)
    assert measures.macro_f1 == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert measures.useful == pytest.approx(3 / 5)
    assert (measures.top1, measures.accused, measures.iteration) == (0.5, 0.5, 1.0)
    assert (measures.unanswered, measures.failed) == (1, 3)
    assert measure([score_job(truth(failed=False, kind=None), diagnosis(scope=Scope.NONE), LINES)]).top1 is None


# --- the run and its tables -------------------------------------------------------------------------------------------


def stub(*_: object) -> Diagnosis:
    return diagnosis(nodes=["node-1"])


def failing(*_: object) -> Diagnosis:
    raise FirstfaultError("made up")


def jobs(*ids: str) -> FakeJobs:
    log = b"2026-11-21 04:00:00,000 ERROR broken\n2026-11-21 04:00:01,000 INFO done\n"
    return FakeJobs({job_id: {"logs/node-1/rank_0.log": log} for job_id in ids})


def test_a_job_without_an_answer_counts() -> None:
    """Neither a method that fails nor a job that is not there shortens the table."""
    shelf, methods = Shelf(jobs("j1"), MemoryCache()), {"stub": stub, "failing": failing}

    read, missing = (examine(shelf, truth(job_id=job_id), methods).scores for job_id in ("j1", "not there"))

    assert (read["stub"].answered, read["stub"].top1) == (True, True)
    assert [score.answered for score in (read["failing"], *missing.values())] == [False] * 3


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers(name: str) -> None:
    """All that the table shows can be run on any job."""
    finding = examine(Shelf(jobs("j1"), MemoryCache()), truth(), {name: METHODS[name]})

    assert finding.scores[name].answered


def test_the_report_is_written_between_its_markers(tmp_path: Path) -> None:
    """What a person wrote around the table stays as it is."""
    document = tmp_path / "README.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    scores: list[Score] = [score_job(truth(), diagnosis("raised"), LINES, seconds=0.25)]

    write(document, report.methods({"lab": {"stub": measure(scores)}}))

    text = document.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n**lab**: 1 job, 1 of them failed or stopped.\n")
    assert "| stub | 0.00 | - | 0.67 | 1.00 | 0.50 |" in text
    assert text.endswith(f"\n{END}\nafter\n")


@pytest.mark.parametrize("content", [None, "no markers", f"only {BEGIN}", f"{END} {BEGIN}"])
def test_a_document_without_markers_is_left_alone(tmp_path: Path, content: str | None) -> None:
    """Nothing is overwritten by guessing."""
    document = tmp_path / "README.md"
    if content is not None:
        document.write_text(content, encoding="utf-8")

    with pytest.raises(NoMarkers):
        write(document, "table")

    assert not document.exists() or document.read_text(encoding="utf-8") == content


def test_no_truth_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without labels gives a sentence and exit code 2, not an empty table."""
    assert main(["--jobs", str(tmp_path), "--truth", str(tmp_path)]) == 2
    assert "No truth" in capsys.readouterr().err
