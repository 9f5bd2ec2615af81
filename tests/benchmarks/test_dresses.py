"""The same job in other dresses has the same answer; the pairs that differ are known by name and reason."""

import json
import re
from dataclasses import replace

import pytest

from benchmarks.quality.case import Case
from benchmarks.quality.dresses.jobs import JOBS, OF_LAB, OF_OTHERS, read_archives
from benchmarks.quality.dresses.known import KNOWN
from benchmarks.quality.dresses.outfit import Outfit
from benchmarks.quality.dresses.report import DOCUMENT, tables
from benchmarks.quality.dresses.same import FIRST, SCOPE, SUSPECTS, Difference, differences
from benchmarks.quality.dresses.trial import FittingRoom, Tried
from benchmarks.quality.dresses.wardrobe import BY_NAME, WARDROBE, Dress
from benchmarks.quality.dresses.wearer import Wearer
from core.model import Diagnosis, Line, Scope
from tests.benchmarks.test_quality import LINES, LOG, diagnosis
from tests.benchmarks.test_variations import case

# A small one: loguru, with daemons and a scheduler. What a dress does wrong it does to most jobs: a second job in each
# of them failed for the same.
EVERY_DRESS = "u05"
# Around each file, and around all of them at once: every other job wears the one, the rest the other. Good jobs wear it
# too, so that a dress of its own for each job takes three times as long.
BY_TURNS = ("CRI", "stern")


@pytest.fixture(scope="module")
def room() -> FittingRoom:
    return FittingRoom()


@pytest.fixture(scope="module")
def wearer(room: FittingRoom) -> Wearer:
    return room.wearer("u05")


@pytest.mark.slow
def test_a_job_has_its_answer_in_every_dress(room: FittingRoom) -> None:
    """All wrappers, colours, labels, clean-up, names: same scope, same suspects, same first event."""
    assert [found for dress in WARDROBE if (found := _unknown(room.try_on(EVERY_DRESS, dress)))] == []


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(JOBS)), ids=lambda place: JOBS[place])
def test_every_job_has_its_answer_in_a_dress(place: int, room: FittingRoom) -> None:
    """Jobs of all kinds and stacks; all pairs are tried by ``python -m benchmarks.quality.dresses``."""
    assert _unknown(room.try_on(JOBS[place], BY_NAME[BY_TURNS[place % 2]])) == ()


def _unknown(tried: Tried) -> tuple[Difference, ...]:
    """What differs in a dress, unless it is known."""
    return () if (tried.job_id, tried.dress) in KNOWN else tried.differs or ()


def test_24_jobs_of_different_kinds_are_dressed() -> None:
    """16 of the lab and 8 of other stacks, all of which failed or were stopped, with their truths."""
    truths = read_archives().truths

    assert (len(OF_LAB), len(OF_OTHERS)) == (16, 8)
    assert all(truths[job_id].failed for job_id in JOBS)
    assert len({truths[job_id].kind for job_id in JOBS}) >= 16


def test_the_document_lists_what_is_known() -> None:
    """Each pair that differs, with its reason, and no other."""
    rows = re.findall(r"(?m)^\| (\w+) \| ([^|]+) \| .* \| ([^|]+) \|$", DOCUMENT.read_text(encoding="utf-8"))

    assert {(job_id, dress): why for job_id, dress, why in rows if dress in BY_NAME} == KNOWN


# --- the shims ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dress", WARDROBE, ids=lambda dress: dress.name)
def test_a_dressed_line_knows_where_it_stood(dress: Dress, wearer: Wearer) -> None:
    """No line is lost, but empty ones, which journald drops; of several lines that hold one all know it."""
    worn = dress.put_on(wearer)
    lines = [line for stream in wearer.streams for line in stream.lines]

    assert worn is not None
    assert {line.place for line in lines if line.text or "journald" not in dress.name} <= set(worn.places.values())


def test_what_docker_cri_and_a_logger_hold_is_the_line(wearer: Wearer) -> None:
    """Byte for byte, behind what they put before it."""
    texts = [
        line.text.decode() for stream in wearer.streams if stream.name == "logs/rank_1.log" for line in stream.lines
    ]

    docker, cri, logger = (
        _lines(BY_NAME[name].put_on(wearer), "logs/rank_1.log") for name in ("docker json-file", "CRI", "JSON logger")
    )

    assert [json.loads(line)["log"] for line in docker] == [f"{text}\n" for text in texts]
    assert [line.split(" ", 3)[3] for line in cri] == texts
    assert [json.loads(line)["message"] for line in logger] == texts


def test_lines_of_many_files_come_in_the_order_of_time(wearer: Wearer) -> None:
    """And those of one file in their own order."""
    lines = _lines(BY_NAME["kubectl --prefix --timestamps"].put_on(wearer), "logs/pods.log")

    assert [line.split()[1] for line in lines] == sorted(line.split()[1] for line in lines)
    assert {line.split()[0] for line in lines} == {f"[pod/train-gpu{number}/pytorch]" for number in (14, 15, 16, 17)}


def test_a_launcher_does_not_clean_up_after_itself(room: FittingRoom) -> None:
    """srun is no other launcher to a job of srun's, torchrun none to one of torchrun's."""
    assert BY_NAME["clean-up by srun"].put_on(room.wearer("x01")) is None
    assert BY_NAME["clean-up by torchrun"].put_on(room.wearer("t01")) is None
    assert BY_NAME["clean-up by mpirun"].put_on(room.wearer("x01")) is not None


def test_clean_up_names_only_what_is_true(wearer: Wearer) -> None:
    """Every node of this job ended by itself, with exit code 1: nobody is said to have been killed but a sidecar."""
    srun, torchrun = (
        b"".join(content for name, content in worn.files.items() if wearer.files.get(name) != content)
        for worn in (BY_NAME[f"clean-up by {name}"].put_on(wearer) for name in ("srun", "torchrun"))
        if worn is not None
    )

    assert srun.count(b": Exited with exit code 1") == 4
    assert b"Killed" not in srun
    assert b"forcefully" not in torchrun


def _lines(worn: Outfit | None, name: str) -> list[str]:
    assert worn is not None
    return worn.files[name].decode().removesuffix("\n").split("\n")


# --- the same answer ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged() -> Case:
    made = case()
    made.__dict__["events"] = LINES
    return made


def _outfit() -> Outfit:
    return Outfit({}, {("logs/dressed.log", number + 10): (LOG, number) for number in range(1, 10)})


def test_the_lines_of_a_dressed_event_are_found_undressed(judged: Case) -> None:
    """A line of the same traceback will do, another event will not."""
    before = diagnosis("raised", cited=[3], nodes=["node-1"])

    assert _what(differences(judged, before, _dressed("raised", 11), _outfit())) == []
    assert _what(differences(judged, before, _dressed("noise", 14), _outfit())) == [FIRST]
    assert _what(differences(judged, before, _dressed("new", 99), _outfit())) == [FIRST]


def test_scope_and_suspects_are_compared(judged: Case) -> None:
    """Suspects by their undressed names, a rank of an unknown node by its node."""
    before = diagnosis("raised", cited=[3], nodes=["node-1"])

    assert _what(differences(judged, before, _dressed("raised", 11, "node-2"), _outfit())) == [SUSPECTS]
    assert _what(differences(judged, before, _dressed("raised", 11, "job-7-node-1"), _outfit())) == []
    assert _what(differences(judged, before, _dressed("raised", 11, "node-1", "node-2"), _outfit())) == [SUSPECTS]
    assert _what(differences(judged, before, _dressed("raised", 11, scope=Scope.JOB), _outfit())) == [SCOPE]


def test_the_tables_count_pairs_and_name_those_that_differ() -> None:
    """A dress that a job cannot wear is no pair."""
    tried = [
        Tried("f01", "CRI", ()),
        Tried("f02", "CRI", (Difference(SCOPE, "node", "job"),)),
        Tried("f02", "Ray", None),
    ]

    text = tables(tried)

    assert "**1 of 2 pairs unchanged (50.0%).**" in text
    assert "| CRI | 2 | 1 |" in text
    assert "| f02 | CRI | scope: node -> job | " in text
    assert "Ray" not in text.partition("| --- | --: | --: |")[2]


def _dressed(event: str, line: int, *nodes: str, scope: Scope = Scope.NODE) -> Diagnosis:
    made = diagnosis(event, nodes=nodes or ["node-1"], scope=scope)
    cited = (Line("logs/dressed.log", line, ""),)
    return replace(made, events=tuple(replace(one, lines=cited) for one in made.events))


def _what(found: tuple[Difference, ...]) -> list[str]:
    return [one.what for one in found]
