"""The same job under worse conditions: what is changed, and that nothing else is."""

import re

import pytest

from benchmarks.quality.case import Case, Shelf, read_case
from benchmarks.quality.clocks import set_forward
from benchmarks.quality.labels import Truth
from benchmarks.quality.robustness import ORDER, STATUS, Varied, rows, vary, what_is_lost
from benchmarks.quality.score import score_job
from benchmarks.quality.variations import (
    new_names,
    renamed,
    shuffled,
    with_history,
    with_skew,
    without_files,
    without_status,
)
from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from core.diagnose import diagnose_parsed
from core.job import Status
from tests.benchmarks.test_quality import LINES, diagnosis, truth

MANIFEST = b"""{"job_id": "j1", "status": "FAILED", "settings_id": "a", "nodes": ["node-1", "node-2"],
 "node_addresses": {"node-1": "10.0.0.1", "node-2": "10.0.0.12"}, "launch": {"node-1": ["--host", "node-1:29400"]}}"""
GOOD = b'{"job_id": "good", "status": "COMPLETED", "settings_id": "a"}'
LOG = b"2026-11-21 04:00:00,250 INFO started on node-1 with 10.0.0.1 and 10.0.0.12\nnode-10 is another\n"


@pytest.mark.parametrize(
    ("text", "micros", "later"),
    [
        (b"2026-11-21T03:59:45.140Z x", 5_000_000, b"2026-11-21T03:59:50.140Z x"),
        (b"[2026-12-31 23:59:59,999]", 1_001_000, b"[2027-01-01 00:00:01,000]"),
        (b"W1121 03:59:29.212774143 socket", 500_000, b"W1121 03:59:29.712774143 socket"),
        (b"2025-01-24-11:24:07.476.125 [", 1_000, b"2025-01-24-11:24:07.477.125 ["),
        (b"02/28/2026 23:59:59 x", 1_000_000, b"03/01/2026 00:00:00 x"),
        (b"11-30 23:59:58 x", 2_000_000, b"12-01 00:00:00 x"),
        (b"Nov 30 23:59:58 host", 2_000_000, b"Dec 01 00:00:00 host"),
        (b"took 0:00:12, at 12:34:56, version 1.2.3", 5_000_000, b"took 0:00:12, at 12:34:56, version 1.2.3"),
        (b"2026-13-45 03:59:45 is no date", 5_000_000, b"2026-13-45 03:59:45 is no date"),
    ],
)
def test_clocks_are_set_forward_in_their_own_form(text: bytes, micros: int, later: bytes) -> None:
    """Every dated reading that the parser knows moves, with carry; durations and bare clocks say too little."""
    assert set_forward(text, micros) == later


def case(**files: bytes) -> Case:
    """A job of two nodes with four files."""
    logs = {
        "logs/slurmctld.log": LOG,
        "logs/node-1/rank_0.log": LOG,
        "logs/node-1/rank_1.log": LOG,
        "logs/node-2/rank_2.log": LOG,
    }
    jobs = FakeJobs({"j1": {"job.json": MANIFEST, **logs, **files}, "good": {"job.json": GOOD, **logs}})
    return Shelf(jobs, MemoryCache()).case(labelled())


def labelled() -> Truth:
    label = {"file": "logs/node-1/rank_0.log", "line": 1, "role": "root", "text": "started"}
    return truth(labels=[label])


def texts(of: Case | None) -> dict[str, bytes]:
    assert of is not None
    found = {}
    for file in of.parsed.job.logs:
        with file.open() as stream:
            found[file.name] = stream.read()
    return found


def test_skewed_clocks_are_as_far_apart_as_told() -> None:
    """Files of one node move together, another node by the whole skew, the scheduler not at all."""
    seconds = {name: re.findall(rb"04:00:0(\d)", text)[0] for name, text in texts(with_skew(case(), 5)).items()}

    assert seconds["logs/slurmctld.log"] == b"0"
    assert seconds["logs/node-1/rank_0.log"] == seconds["logs/node-1/rank_1.log"]
    assert {seconds["logs/node-1/rank_0.log"], seconds["logs/node-2/rank_2.log"]} == {b"0", b"5"}


def test_nothing_is_asked_of_lost_files() -> None:
    """As many files are gone as told, the same ones every time, and no label stands in them."""
    before = case()

    after, again = without_files(before, 0.5), without_files(before, 0.5)

    assert after is not None
    assert texts(after) == texts(again)
    assert len(texts(after)) == 2
    assert all(label.files <= texts(after).keys() for label in after.truth.labels)


def test_history_and_status_are_withheld() -> None:
    """A job without successful ones is still read; a job with fewer than asked for is not measured."""
    before = case()
    none, status = with_history(before, 0), without_status(before)

    assert none is not None
    assert status is not None
    assert (len(before.parsed.profiles), len(none.parsed.profiles)) == (1, 0)
    assert with_history(before, 2) is None
    assert status.parsed.job.status is Status.UNKNOWN


def test_nodes_are_renamed_everywhere() -> None:
    """In paths, text, manifest and truth; whole names only; addresses as addresses."""
    before = case()
    names = new_names(before)
    pair = renamed(before)

    assert pair is not None
    after, rename = pair
    one, other = names["node-1"], names["10.0.0.12"]
    assert set(names) == {"node-1", "node-2", "10.0.0.1", "10.0.0.12"}
    assert texts(after)[f"logs/{one}/rank_0.log"] == rename(LOG.decode()).encode()
    assert rename("node-1:29400 10.0.0.12:1 node-10 node-1_7") == f"{one}:29400 {other}:1 node-10 {one}_7"
    assert after.parsed.job.manifest.extra["launch"] == {one: ["--host", f"{one}:29400"]}
    assert after.truth.faulty_nodes == {one}
    assert after.truth.labels[0].files == {f"logs/{one}/rank_0.log"}


def test_order_of_files_is_another() -> None:
    """The same files, not as they were handed over before."""
    before = case()
    after = shuffled(before)

    assert after is not None
    assert texts(after) == texts(before)
    assert list(texts(after)) != list(texts(before))


def test_an_answer_that_may_not_change_is_compared() -> None:
    """Order and names change nothing of a small job's answer, and its row says so."""
    before = case(**{"logs/node-2/rank_3.log": b"2026-11-21 04:00:01,000 ERROR ValueError: broken on node-2\n"})

    varied = vary(before, diagnose_parsed(before.parsed))
    told = {row.name: row for row in rows({"j1": varied})}

    assert told[ORDER].differs == {}
    assert told["nodes renamed"].differs == {}
    assert (told[STATUS].before.jobs, told[STATUS].after.jobs) == (1, 1)


def test_what_a_change_costs_is_named() -> None:
    """Right before and wrong after, or an accusation that was not there; what was wrong before costs nothing."""
    right = score_job(truth(), diagnosis("raised", nodes=["node-1"]), LINES)
    wrong = score_job(truth(), diagnosis("noise", nodes=["node-2"]), LINES)
    quiet, loud = (
        score_job(truth(faulty_nodes=[]), diagnosis("raised", nodes=nodes), LINES) for nodes in ([], ["node-1"])
    )

    assert what_is_lost(right, wrong) == ("first", "top1")
    assert what_is_lost(wrong, right) == ()
    assert what_is_lost(quiet, loud) == ("quiet", "accuses")
    (row,) = rows({"j1": {ORDER: Varied(right, wrong, ("nodes",))}})
    assert (row.worse, row.differs) == ({"j1": ("first", "top1")}, {"j1": ("nodes",)})


def test_a_case_tells_the_event_of_each_line() -> None:
    """The scorer looks up lines by file and number, and the same message is the same event."""
    before = case()
    again = read_case(before.truth, before.parsed.job, before.baseline, MemoryCache())

    assert len(before.events) == 8
    assert before.events == again.events
    assert before.events["logs/node-1/rank_0.log", 2] == before.events["logs/node-2/rank_2.log", 2]
