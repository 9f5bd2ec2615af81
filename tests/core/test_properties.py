"""Properties of whole diagnoses, on real jobs: what must not change an answer does not change it."""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from core.diagnose import diagnose, events
from core.job import Job
from core.logs import scan
from core.logs.lines import Format
from core.logs.stream import BLOCK_BYTES, Stream, blocks
from core.model import Diagnosis, Role
from tests.support.jobs import example, good_jobs, judged, log_file
from tests.support.places import EXAMPLES, ROOT

BASELINE = {job_id: good_jobs(job_id) for job_id in ("f02", "f07", "f15", "f22", "f42")}
NEW_NAMES = ("hal-93", "hal-07", "hal-41", "hal-20")
PROFILES = MemoryCache()  # reading the good jobs once is enough for all tests

failed_jobs = pytest.mark.parametrize("job_id", BASELINE)


def good(job_id: str) -> list[Job]:
    return [example(name) for name in BASELINE[job_id]]


@cache
def answer(job_id: str) -> Diagnosis:
    """The diagnosis as everybody gets it."""
    return diagnose(example(job_id), good(job_id), cache=PROFILES)


def as_bytes(diagnosis: Diagnosis) -> str:
    return to_json(to_contract(diagnosis))


def suspects(diagnosis: Diagnosis) -> tuple[str, list[str]]:
    return diagnosis.scope.value, [node.node for node in diagnosis.nodes]


def folder(job_id: str) -> dict[str, bytes]:
    """Path below the job folder -> content."""
    home = EXAMPLES / job_id
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


def changed(job_id: str, change: Callable[[str, bytes], tuple[str, bytes]]) -> Job:
    """The job, each of its files renamed or rewritten."""
    return FakeJobs({job_id: dict(change(name, content) for name, content in folder(job_id).items())}).job(job_id)


@failed_jobs
@pytest.mark.parametrize("seed", [1])
def test_the_order_of_files_changes_no_byte(job_id: str, seed: int) -> None:
    """Also not the order of the successful jobs."""
    one, others = example(job_id), good(job_id)
    shuffled = list(one.logs)
    random.Random(seed).shuffle(shuffled)

    found = diagnose(replace(one, logs=tuple(shuffled)), others[::-1], cache=PROFILES)

    assert as_bytes(found) == as_bytes(diagnose(one, others[::-1], cache=PROFILES))
    assert replace(found.coverage, baseline_ids=()) == replace(answer(job_id).coverage, baseline_ids=())
    assert (found.events, found.nodes, found.iterations) == (
        answer(job_id).events,
        answer(job_id).nodes,
        answer(job_id).iterations,
    )


def _renamed(job_id: str) -> dict[str, str]:
    return dict(zip(example(job_id).manifest.nodes, NEW_NAMES, strict=False))


@failed_jobs
@pytest.mark.parametrize("baseline_too", [True, False])
def test_names_of_nodes_change_nothing_but_names(job_id: str, baseline_too: bool) -> None:
    """In paths, texts and job.json; jobs run on other machines than the successful ones before them did."""
    renamed = _renamed(job_id)

    def rename(name: str, content: bytes) -> tuple[str, bytes]:
        for old, new in renamed.items():
            name, content = name.replace(old, new), content.replace(old.encode(), new.encode())
        return name, content

    others = [changed(name, rename) for name in BASELINE[job_id]] if baseline_too else good(job_id)

    found = diagnose(changed(job_id, rename), others)

    scope, nodes = suspects(answer(job_id))
    assert suspects(found) == (scope, [renamed[node] for node in nodes])
    assert found.stage is answer(job_id).stage


@failed_jobs
def test_the_number_of_workers_changes_no_byte(job_id: str) -> None:
    """Files are read in any order then."""
    assert as_bytes(diagnose(example(job_id), good(job_id), workers=2)) == as_bytes(answer(job_id))


def test_the_same_question_has_the_same_answer() -> None:
    """In this process, with whatever it has computed before."""
    answers = {as_bytes(diagnose(example("f07"), good("f07"), cache=PROFILES)) for _ in range(4)}

    assert answers == {as_bytes(answer("f07"))}


def test_the_same_question_has_the_same_answer_in_another_process(tmp_path: Path) -> None:
    """Sets and dicts of strings have another order in every process of Python: in another one, and in this one."""
    command = [sys.executable, "-m", "bot", "diagnose", "f07", "--jobs", str(EXAMPLES), "--json"]

    seeded = os.environ | {"PYTHONHASHSEED": "1", "FIRSTFAULT_CACHE": str(tmp_path)}
    answered = subprocess.run(command, cwd=ROOT, env=seeded, capture_output=True, check=True).stdout

    around: dict[str, object] = {"matches": [], "note": None}  # the library's part and the note are not the core's
    assert json.loads(answered) | around == json.loads(as_bytes(answer("f07")))


@failed_jobs
def test_one_more_successful_job_never_adds_a_root(job_id: str) -> None:
    """A rate that was survived once more explains more, not less."""
    pools = [good(job_id)[:count] for count in range(len(BASELINE[job_id]) + 1)]

    roots = [sum(one.role is Role.ROOT for one in judged(example(job_id), *pool)) for pool in pools]

    assert roots == sorted(roots, reverse=True)


@failed_jobs
def test_without_successful_jobs_the_suspect_is_the_same(job_id: str) -> None:
    """The first failure of a new model is found as well."""
    assert suspects(diagnose(example(job_id), [])) == suspects(answer(job_id))


@pytest.mark.parametrize("job_id", ["f02", "f22", "f42"])  # with files of each node
@pytest.mark.parametrize(("place", "seconds"), [(0, 5), (1, 5), (1, -5), (-1, -5)])
def test_a_clock_that_is_wrong_changes_no_suspect(job_id: str, place: int, seconds: int) -> None:
    """A node's clock may be five seconds off; time orders lines across nodes only beyond that."""
    node = example(job_id).manifest.nodes[place]

    def skew(name: str, content: bytes) -> tuple[str, bytes]:
        return name, _CLOCK.sub(shifted, content) if name.startswith(f"logs/{node}") else content

    def shifted(match: re.Match[bytes]) -> bytes:
        hour, minute, second = (int(part) for part in match.groups())
        later = hour * 3600 + minute * 60 + second + seconds
        return b"%02d:%02d:%02d" % (later // 3600, later // 60 % 60, later % 60)

    assert suspects(diagnose(changed(job_id, skew), good(job_id), cache=PROFILES)) == suspects(answer(job_id))


_CLOCK = re.compile(rb"(?<![0-9:])([0-9]{2}):([0-9]{2}):([0-9]{2})(?![0-9:])")


@failed_jobs
def test_events_and_diagnosis_speak_of_the_same_events(job_id: str) -> None:
    """The id of a shown event is that of each of its cited lines in the list of all lines."""
    of_line = {
        (row.file, row.line): row.event for row in events(example(job_id), good(job_id), cache=PROFILES)
    }  # of a line with several parts the last one counts

    for event in answer(job_id).events:
        assert {of_line[line.file, line.line] for line in event.lines} == {event.event}


@failed_jobs
def test_every_physical_line_is_listed(job_id: str) -> None:
    """A row for each line of each file, in their order, with the node and rank that said it."""
    listed = [(row.file, row.line) for row in events(example(job_id), good(job_id), cache=PROFILES)]

    expected = [
        (name, number)
        for name, content in folder(job_id).items()
        if name.startswith("logs/")
        for number in range(1, len(content.splitlines(keepends=False)) + 1)
    ]
    assert sorted(set(listed)) == sorted(expected)
    assert listed == sorted(listed, key=lambda place: (place[0], place[1]))


def test_a_log_that_outgrows_its_size_is_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed log holds many times its size: the kernel takes over from the reference, and no column differs."""
    texts = b"".join(b"[rank%d]: step %d took %d ms\r\n" % (n % 3, n, n * 7) for n in range(50_000))
    log = log_file("logs/a.log", texts)
    assert log.size > BLOCK_BYTES
    expected = scan.scan_blocks(blocks(cast(Stream, log.open())), Format(year=2026))
    monkeypatch.setattr(scan, "KERNEL_BYTES", 20_000)

    found = scan.scan_file(log, (), 2026, scan.scan_blocks).chunks[0].wide()

    assert found.bodies == expected.bodies
    assert found.line.tolist() == expected.line.tolist()
    assert found.body.tolist() == expected.body.tolist()
    assert found.offset.tolist() == expected.offset.tolist()
