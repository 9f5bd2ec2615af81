"""How the recall benchmark judges a library: nobody finds itself, no kind leaks, and what is counted."""

import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality import recall
from benchmarks.quality.__main__ import LAB
from benchmarks.quality.labels import parse_truth
from benchmarks.quality.recall import main, report
from benchmarks.quality.recall_asked import Counted, counted
from benchmarks.quality.recall_cases import RecallCase, Seen, case_of, read_cases
from benchmarks.quality.recall_faults import Fault, fault_of, same_fault
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
    """The cause is a sentence from category and subtype."""
    made = case("f01", "secret_kind", link_down())

    assert made.entry.pattern.cause == "Hardware fault: network fault."
    assert "secret" not in made.entry.model_dump_json()


def test_the_report_counts_each_set() -> None:
    """A row for each set in each table, for the lab alone, and for the questions."""
    text = report((*cases(), case("s01", None, diagnosis())), EMBEDDER)

    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| lab |", "| public |"))]
    taught, joined = rows[:2], rows[4:6]  # behind each of these stands how far it is to be trusted
    assert [row[:2] for row in taught] == [["| lab", "1"], ["| public", "0"]]  # one sibling: two jobs of one kind
    assert [row[0] for row in joined] == ["| lab", "| public"]
    assert "| lab alone | 1 |" in text
    assert f"| written by us | {len(QUESTIONS)} |" in text


DISK = "OSError: [Errno 28] No space left on device"
CLOSED = "ConnectionResetError: Connection reset by peer"


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"kind": "no_space"}, True),  # another labeller's word
        ({"kind": "quota"}, False),
        ({"labels": [("root", f"r3: write /b: {DISK.lower()} 7")]}, True),
        ({"labels": [("root", CLOSED)]}, False),
        ({"labels": [("teardown", DISK)]}, False),  # only one prints it
        ({"scope": "job"}, False),
        ({"scope": "unknown"}, False),
        ({"stage": "training"}, True),  # a trace tells more than where it was met
    ],
)
def test_the_same_fault_is_what_labellers_wrote_alike(changes: dict[str, Any], same: bool) -> None:
    """Cause, place and a trace that both print; what Firstfault says of the jobs is not asked."""
    one, other = fault(), fault(**changes)

    assert same_fault(one, other) is same_fault(other, one) is same


@pytest.mark.parametrize(
    ("changes", "same"),
    [({}, True), ({"stage": "saving"}, False), ({"kind": "hang"}, False), ({"kind": "cancelled"}, False)],
)
def test_faults_that_nobody_prints_are_the_same_at_the_same_stage(changes: dict[str, Any], same: bool) -> None:
    """A frozen rank is one; a hang of whatever kind and a stop from outside are no fault that anybody would teach."""
    silent: dict[str, Any] = {"kind": "rank_frozen", "labels": (), "stage": "training"}
    one, other = fault(**silent | {"kind": changes.get("kind", "rank_frozen")}), fault(**silent | changes)

    assert same_fault(one, other) is same


def fault(**changes: Any) -> Fault:
    """A full disk of one node, as a labeller writes it, with changes; labels: pairs of role and text."""
    document: dict[str, Any] = {"job_id": "j", "failed": True, "kind": "disk_full", "scope": "node", "stage": "saving"}
    labels = changes.pop("labels", [("root", DISK)])
    told = [{"role": role, "text": text, "file": "a.log", "line": 1} for role, text in labels]
    return fault_of(parse_truth(document | {"faulty_nodes": [], "labels": told} | changes))


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
    row = next(row for row in rows if row[0] == "| lab")
    assert row[1:] == ["0"] * 10 + ["2", "0", "1", "0 |"]


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
