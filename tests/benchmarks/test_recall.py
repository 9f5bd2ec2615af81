"""How the recall benchmark judges a library: nobody finds itself, no kind leaks, and what is counted."""

import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quality import recall
from benchmarks.quality.__main__ import LAB
from benchmarks.quality.recall import main, matches, report, similar, tally
from benchmarks.quality.recall_asked import Counted, counted
from benchmarks.quality.recall_cases import RecallCase, Seen, case_of, read_cases
from benchmarks.quality.recall_likeness import SetTally, best_threshold, grid_of, tally_at
from benchmarks.quality.recall_public import NONSENSE, PUBLIC, PublicQuestion
from benchmarks.quality.recall_questions import QUESTIONS, STRANGE
from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from benchmarks.unpack import unpack
from core.job import Job
from core.model import Diagnosis
from core.occurrences import Occurrence
from faultlib.embedding import WordHash
from faultlib.pattern import Entry
from faultlib.seeds import read_seeds
from tests.support.library_diagnoses import diagnosis, link_down, time_limit
from tests.support.library_entries import entry

EMBEDDER = WordHash()


def case(job_id: str, kind: str | None, seen: Diagnosis, *more: str) -> RecallCase:
    """more: events that the job says besides those that the diagnosis shows. Without a kind it succeeded."""
    document: dict[str, Any] = {
        "job_id": job_id,
        "failed": kind is not None,
        "kind": kind,
        "category": "hardware",
        "subtype": "network fault",
        "faulty_nodes": [],
        "labels": [],
    }
    shown = [(event.event, event.template, event.nodes) for event in seen.events]
    said = [*shown, *((f"more-{n}", text, ()) for n, text in enumerate(more))]
    occurrences = tuple(Occurrence(name, (text,), nodes, 1) for name, text, nodes in said)
    return case_of(document, Seen(seen, occurrences, tuple(bar.node for bar in seen.pictures.nodes)))


def cases() -> tuple[RecallCase, ...]:
    return (
        case("f01", "link_down", link_down()),
        case("f02", "link_down", link_down("1437825", ("gpu-1", "gpu-2", "gpu-3"))),
        case("pub-1", "time_limit", time_limit()),
    )


def test_a_pattern_is_confirmed_without_the_word_of_its_kind() -> None:
    """The cause is a sentence from category and subtype, and the query holds neither."""
    made = case("f01", "secret_kind", link_down())

    assert made.entry.pattern.cause == "Hardware fault: network fault."
    assert "secret" not in made.entry.model_dump_json()
    assert "network fault" not in made.query.text


def test_nobody_finds_itself() -> None:
    """Each job asks the patterns of all others: a lone kind finds nothing, and is not counted as known."""
    known = cases()

    assert tally(known, known, (), EMBEDDER) == SetTally(known=2, first=2, three=2, unknown=3, told=0)


def test_a_kind_that_was_taken_out_is_not_known() -> None:
    """What looks the same under another kind is told although it should not be, and that is counted."""
    known = (*cases()[:1], case("f02", "other_kind", link_down()))

    assert tally(known, known, (), EMBEDDER) == SetTally(known=0, first=0, three=0, unknown=2, told=2)


def test_a_job_that_shows_nothing_is_told_nothing() -> None:
    """A successful job asks nothing of the library."""
    assert similar(case("s01", None, diagnosis()), [one.entry for one in cases()], EMBEDDER) == ()


def test_exact_matches_are_counted_as_found_and_as_the_analysis_agrees() -> None:
    """A job that failed and was stopped afterwards matches the stop; the analysis does not agree."""
    stop = time_limit().events[0].template
    both = case("f3", "link_down", link_down(), stop)

    assert set(matches(both, cases(), agreed=False)) == {"link_down", "time_limit"}
    assert set(matches(both, cases(), agreed=True)) == {"link_down"}


def test_a_grid_has_every_job_against_every_pattern() -> None:
    """Its own pattern is the most alike; a stage that both know and disagree in is held against a pair."""
    grid = grid_of(cases(), EMBEDDER)

    assert grid.lexical.shape == (3, 3)
    assert grid.lexical[0].argmax() in (0, 1)
    assert grid.shared[0].tolist() == [1, 1, 0]
    assert grid.against[0].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.3, SetTally(known=2, first=2, three=2, unknown=3, told=3)),
        (0.5, SetTally(known=2, first=2, three=2, unknown=3, told=0)),
        (0.9, SetTally(known=2, first=0, three=0, unknown=3, told=0)),
    ],
)
def test_a_threshold_cuts_the_right_and_the_wrong(threshold: float, expected: SetTally) -> None:
    """Below it nothing is told; the diagonal, a job against itself, never counts."""
    scores = np.array([[1.0, 0.8, 0.4], [0.8, 1.0, 0.4], [0.4, 0.3, 1.0]])

    assert tally_at(scores, cases(), range(3), threshold) == expected


def test_the_best_threshold_lies_between_right_and_wrong() -> None:
    """In the middle of all that find as many and tell as little."""
    scores = np.array([[1.0, 0.8, 0.4], [0.8, 1.0, 0.4], [0.4, 0.3, 1.0]])

    assert 0.5 < best_threshold(scores, cases(), range(3)) < 0.7


def test_the_report_counts_both_sets() -> None:
    """A row for each set in each table, who was told something, and the likenesses when there are two sets."""
    text = report((*cases(), case("s01", None, diagnosis())), EMBEDDER)

    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| lab |", "| public |"))]
    taught, joined, rows = (
        rows[:2],
        rows[4:6],
        rows[8:],
    )  # behind each of the first two stands how far it is to be trusted
    assert [row[:2] for row in taught] == [["| lab", "1"], ["| public", "0"]]  # one sibling: two jobs of one kind
    assert [row[0] for row in joined] == ["| lab", "| public"]
    assert [row[0] for row in rows] == ["| lab"] * 2 + ["| public"] * 2 + ["| lab"] * 2 + ["| public"] * 2
    assert rows[0][2:7] == ["2", "2", "2", "2", "0"]
    assert "kind was taken out: nobody." in text
    assert "| words |" in text
    assert f"| written by us | {len(QUESTIONS)} |" in text


def test_the_questions_are_answered_by_seeds_that_exist() -> None:
    """At least twenty different questions; each id is the name of a seed, and no question is a seed's title."""
    seeds = {seed.id: seed.title.lower() for seed in read_seeds()}
    asked = [words for words, _ in QUESTIONS]

    assert len(set(asked)) == len(asked) >= 20
    assert {name for _, expected in QUESTIONS for name in expected} <= seeds.keys()
    assert not {words.lower() for words in (*asked, *STRANGE)} & set(seeds.values())


def test_public_questions_name_their_thread_and_seeds_that_exist() -> None:
    """Sixty and more, each once; both halves have questions that seeds answer, and some that none does."""
    known = {seed.id for seed in read_seeds()}

    assert len({one.words for one in PUBLIC}) == len(PUBLIC) >= 60
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one.thread) for one in PUBLIC)
    assert {name for one in PUBLIC for name in one.seeds} <= known
    assert all({bool(one.seeds) for one in half} == {True, False} for half in (PUBLIC[::2], PUBLIC[1::2]))
    assert not {one.words for one in PUBLIC} & {*NONSENSE, *STRANGE}


def test_questions_are_counted_by_what_answers_them() -> None:
    """Held: the first and among three. Taken out, left out and nonsense: told anything at all is counted."""
    held, left = PublicQuestion("held", "a/b#1", ("right",)), PublicQuestion("left", "a/b#2")
    library = [entry("wrong"), entry("right")]

    def everything(words: str, entries: Sequence[Entry], semantic: Mapping[str, float]) -> list[str]:
        assert {one.id for one in entries} <= semantic.keys()
        return [one.id for one in entries] if words in ("held", "left") else []

    got = counted([held, left], ["nonsense"], library, EMBEDDER, everything)

    assert got == Counted(
        with_seeds=1, first=0, three=1, taken_told=1, left=1, left_told=1, nonsense=1, nonsense_told=0
    )


def test_what_was_seen_is_kept_between_runs(tmp_path: Path) -> None:
    """The second run reads no log; jobs with the same ids from elsewhere are looked at anew."""
    document = {"job_id": "j1", "failed": True, "kind": "value", "category": "user", "subtype": None}
    (tmp_path / "j1.json").write_text(json.dumps(document | {"faulty_nodes": [], "labels": []}), encoding="utf-8")

    class Counted(FakeJobs):
        asked = 0

        def job(self, job_id: str) -> Job:
            self.asked += 1
            return super().job(job_id)

    source, cache = Counted({"j1": {"logs/train.log": b"ValueError: no\n"}}), MemoryCache()
    first, second = (read_cases(source, "here", tmp_path, cache) for _ in range(2))

    assert first == second
    assert [one.kind for one in first] == ["value"]
    assert source.asked == 1
    read_cases(source, "there", tmp_path, cache)
    assert source.asked == 2


def test_a_job_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """A truth without its job is no case."""
    (tmp_path / "j1.json").write_text(json.dumps({"job_id": "j1"}), encoding="utf-8")

    assert read_cases(FakeJobs({}), "here", tmp_path, MemoryCache()) == ()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Path]:
    """Three labelled jobs of the lab, one of them successful."""
    monkeypatch.setattr(recall, "CACHE", tmp_path / "cache")
    with tarfile.open(LAB) as archive:
        members = [
            member
            for member in archive.getmembers()
            if Path(member.name).parts[:2] in {("jobs", name) for name in ("f07", "f15", "s01")}
            or member.name in {f"truth/{name}.json" for name in ("f07", "f15", "s01")}
        ]
        unpack(archive, tmp_path, members)
    return {"jobs": tmp_path / "jobs", "truth": tmp_path / "truth"}


@pytest.mark.slow
def test_one_command_measures_real_jobs(lab: Mapping[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Two real faults of different kinds and a success: nobody is told anything, with the model that is shipped."""
    assert main(["--jobs", str(lab["jobs"]), "--truth", str(lab["truth"])]) == 0

    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    row = next(row for row in rows if row[:2] == ["| lab", "other jobs"])
    assert row[:2] == ["| lab", "other jobs"]
    assert row[2:] == ["0", "0", "0", "2", "0", "1", "0 |"]


def test_without_a_failed_job_there_is_nothing_to_measure(
    lab: Mapping[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence and exit code 2, not an empty table."""
    for name in ("f07", "f15"):
        (lab["truth"] / f"{name}.json").unlink()

    assert main(["--jobs", str(lab["jobs"]), "--truth", str(lab["truth"])]) == 2
    assert "None of these jobs failed" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The message and the hint of the embedding model, and exit code 2."""
    assert main(["--model", "firstfault/no-such-model"]) == 2
    assert "no embedding model" in capsys.readouterr().err
