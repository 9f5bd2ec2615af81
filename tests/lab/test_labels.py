"""Which lines get which role."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.check import check
from lab.kinds import FAULTS, HEALTHY
from lab.labels import truth_of
from lab.model import PlannedJob
from lab.settings import SETTINGS
from lab.wording import sentence

GROUP = "plain-ranks"
CLOSED = """Traceback (most recent call last):
  File "/job/code/train_lm.py", line 60, in average_gradients
    dist.all_reduce(bucket, group=group)
RuntimeError: [pair.cc:553] Connection closed by peer [10.77.0.12]:4711."""
NOT_THERE = """Traceback (most recent call last):
  File "/job/code/corpus.py", line 50, in _read
    with path.open(encoding="utf-8") as file:
FileNotFoundError: [Errno 2] No such file or directory: '/job/data/train-00005.jsonl'"""


def planned(kind: str) -> PlannedJob:
    return PlannedJob("lab00-001", kind, GROUP, 1, "c04n04", 1, 20, ())


def say(event: str, **facts: object) -> str:
    return "[2026-11-21T12:00:00.000] " + sentence("slurm", event, job="lab00-001", **facts)


def job(out: Path, ranks: dict[str, str], scheduler: str = "", status: str = "FAILED") -> Path:
    """A job folder of one file a rank."""
    home, settings = out / "jobs" / "lab00-001", SETTINGS[GROUP]
    for node, text in ranks.items():
        path = home / "logs" / "ranks" / f"{node}-{settings.ranks(node)[0]}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (home / "logs" / "slurmctld.log").write_text(scheduler, encoding="utf-8")
    document = {
        "job_id": "lab00-001", "status": status, "settings_id": GROUP, "nodes": settings.nodes,
        "node_ranks": {node: settings.ranks(node) for node in settings.nodes},
    }  # fmt: skip
    (home / "job.json").write_text(json.dumps(document), encoding="utf-8")
    return home


def truth(out: Path, kind: str, home: Path, status: str = "FAILED") -> tuple[dict[str, Any], str]:
    fault = FAULTS.get(kind, HEALTHY)
    found, complaint = truth_of(planned(kind), fault, {"status": status, "notes": []}, home)
    (out / "truth").mkdir(exist_ok=True)
    (out / "truth" / "lab00-001.json").write_text(json.dumps(found), encoding="utf-8")
    return found, complaint


def roles(found: dict[str, Any]) -> list[tuple[str, str, object]]:
    return [(label["role"], label["file"].rpartition("/")[2], label["block"]) for label in found["labels"]]


@pytest.fixture
def missing_file(tmp_path: Path) -> tuple[Path, Path]:
    """A job in which a file is missing on c04n04."""
    ended = say("failed", node="c04n04", rc=1) + "\n" + say("ended", state="FAILED") + "\n"
    ranks = {"c03n04": f"step 19/60 | loss 1.0\n{CLOSED}\n", "c04n04": f"ready\n{NOT_THERE}\n"}
    return tmp_path, job(tmp_path, ranks, ended)


def test_root_propagated_and_teardown(missing_file: tuple[Path, Path]) -> None:
    """The faulty node's exception is root, its peer's is propagated, the scheduler's end is teardown."""
    found, complaint = truth(missing_file[0], "missing_data_file", missing_file[1])

    assert complaint == ""
    assert roles(found) == [
        ("propagated", "c03n04-0.log", [2, 5]),
        ("root", "c04n04-1.log", [2, 5]),
        ("teardown", "slurmctld.log", None),
        ("teardown", "slurmctld.log", None),
    ]
    assert (found["faulty_nodes"], found["faulty_ranks"]) == (["c04n04"], [1])
    assert (found["stage"], found["iteration"]) == ("training", 19)


def test_a_label_quotes_the_exception(missing_file: tuple[Path, Path]) -> None:
    """The line of a block is the one that says what happened, not a frame."""
    found, _ = truth(missing_file[0], "missing_data_file", missing_file[1])

    (root,) = (label for label in found["labels"] if label["role"] == "root")
    assert root["text"] == NOT_THERE.splitlines()[-1]
    assert root["line"] == 5


def test_the_same_words_elsewhere_are_no_root(tmp_path: Path) -> None:
    """A fault of one node has its traces on that node."""
    home = job(tmp_path, {"c03n04": NOT_THERE + "\n", "c04n04": "ready\n"})

    found, complaint = truth(tmp_path, "missing_data_file", home)

    assert not any(label["role"] == "root" for label in found["labels"])
    assert complaint == "no line is a direct trace of the fault"


def test_a_fault_that_did_not_take_effect_is_told(missing_file: tuple[Path, Path]) -> None:
    """A job that completed although it should fail is reported, and has no labels."""
    found, complaint = truth(missing_file[0], "missing_data_file", missing_file[1], status="COMPLETED")

    assert complaint == "ended COMPLETED, not FAILED"
    assert found["labels"] == []


def test_a_successful_job_has_no_labels(tmp_path: Path) -> None:
    """Whatever a healthy job says, it is benign."""
    home = job(tmp_path, {"c03n04": f"step 60/60 | loss 1.0\n{CLOSED}\n"}, status="COMPLETED")

    found, complaint = truth(tmp_path, "none", home, status="COMPLETED")

    assert (found["failed"], found["labels"], complaint) == (False, [], "")


def test_a_lost_node_is_named_by_the_scheduler(tmp_path: Path) -> None:
    """Only the line about the struck node is root; another lost node is a consequence."""
    lines = [say("lost", node=node, seconds=7) for node in ("c04n04", "c05n04")]
    home = job(tmp_path, {"c03n04": "step 9/60 | loss 1.0\n"}, "\n".join(lines) + "\n")

    found, _ = truth(tmp_path, "node_power_loss", home)

    assert [label["role"] for label in found["labels"]] == ["root", "teardown"]


def test_the_second_start_of_a_daemon_is_a_trace(tmp_path: Path) -> None:
    """Every node's daemon starts once; that it starts again shows the reboot."""
    home = job(tmp_path, {"c03n04": "step 9/60 | loss 1.0\n"})
    path = home / "logs" / "slurmd" / "c04n04.log"
    path.parent.mkdir()
    line = "[2026-11-21T12:00:00.000] c04n04 " + sentence("slurm", "daemon", node="c04n04")
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")

    found, _ = truth(tmp_path, "node_reboot", home)

    assert [(label["role"], label["line"]) for label in found["labels"]] == [("root", 2)]


def test_a_sound_set_has_no_complaints(missing_file: tuple[Path, Path]) -> None:
    """The check is content with what the rules made."""
    truth(missing_file[0], "missing_data_file", missing_file[1])

    assert check(missing_file[0]) == ()


def edit(out: Path, change: dict[str, Any]) -> None:
    path = out / "truth" / "lab00-001.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"failed": False}, "but failed is False"),
        ({"job_id": "other"}, "disagree on the job's id"),
        ({"faulty_nodes": ["c99n04"], "faulty_ranks": []}, "is none of the job's"),
        ({"faulty_ranks": [3]}, "on none of the faulty nodes"),
        ({"scope": "job"}, "scope job with faulty nodes"),
        ({"labels": []}, "no root label"),
    ],
)
def test_a_planted_mistake_in_the_facts_is_found(
    missing_file: tuple[Path, Path], change: dict[str, Any], complaint: str
) -> None:
    """Facts that cannot be true are told."""
    truth(missing_file[0], "missing_data_file", missing_file[1])
    edit(missing_file[0], change)

    assert any(complaint in text for text in check(missing_file[0]))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"file": "logs/nowhere.log"}, "is not there"),
        ({"line": 99}, "beyond the file's end"),
        ({"block": [5, 2]}, "beyond the file's end"),
        ({"text": "something else"}, "reads otherwise"),
        ({"role": "guilty"}, "no such role"),
    ],
)
def test_a_planted_mistake_in_a_label_is_found(
    missing_file: tuple[Path, Path], change: dict[str, Any], complaint: str
) -> None:
    """A label must stand in the file that it names."""
    found, _ = truth(missing_file[0], "missing_data_file", missing_file[1])
    edit(missing_file[0], {"labels": [*found["labels"], found["labels"][0] | change]})

    assert any(complaint in text for text in check(missing_file[0]))


def test_a_forgotten_traceback_is_found(missing_file: tuple[Path, Path]) -> None:
    """In a failed job every traceback has a role, or the check says which has none."""
    out, home = missing_file
    with (home / "logs" / "ranks" / "c05n04-2.log").open("w", encoding="utf-8") as file:
        file.write(NOT_THERE.replace("FileNotFoundError", "ValueError") + "\n")
    truth(out, "missing_data_file", home)

    assert any("a traceback without a label: ValueError" in text for text in check(out))


def test_a_job_without_truth_and_a_truth_without_job_are_found(missing_file: tuple[Path, Path]) -> None:
    """Both halves of a set belong together."""
    out, _ = missing_file
    (out / "truth").mkdir(exist_ok=True)
    (out / "truth" / "lab00-002.json").write_text("{}", encoding="utf-8")

    assert set(check(out)) == {"lab00-001: a job without truth", "lab00-002: truth without a job"}


def test_a_path_of_this_machine_is_found(missing_file: tuple[Path, Path]) -> None:
    """Logs that are given away do not tell where they were made."""
    out, home = missing_file
    truth(out, "missing_data_file", home)
    (home / "logs" / "slurmctld.log").write_text("cwd /" + "home/somebody/x\n", encoding="utf-8")

    assert any("names this machine" in text for text in check(out))
