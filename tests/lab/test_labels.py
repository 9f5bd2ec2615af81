"""Which lines get which role."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.check import check
from lab.fault_kinds import FAULTS, HEALTHY
from lab.labels import last_iteration, truth_of
from lab.model import PlannedJob
from lab.settings import SETTINGS

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


def job(out: Path, ranks: dict[str, str], controller: str = "", status: str = "FAILED") -> Path:
    """A job folder of one file a rank."""
    home, settings = out / "jobs" / "lab00-001", SETTINGS[GROUP]
    for node, text in ranks.items():
        path = home / "logs" / "ranks" / f"{node}-{settings.ranks(node)[0]}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (home / "logs" / "slurmctld.log").write_text(controller, encoding="utf-8")
    document = {
        "job_id": "lab00-001", "status": status, "settings_id": GROUP, "nodes": settings.nodes,
        "node_ranks": {node: settings.ranks(node) for node in settings.nodes},
    }  # fmt: skip
    (home / "job.json").write_text(json.dumps(document), encoding="utf-8")
    return home


def truth(
    out: Path, kind: str, home: Path, status: str = "FAILED", struck: int | None = None
) -> tuple[dict[str, Any], str]:
    fault = FAULTS.get(kind, HEALTHY)
    found, complaint = truth_of(planned(kind), fault, {"status": status, "notes": [], "struck": struck}, home)
    (out / "truth").mkdir(exist_ok=True)
    (out / "truth" / "lab00-001.json").write_text(json.dumps(found), encoding="utf-8")
    return found, complaint


def roles(found: dict[str, Any]) -> list[tuple[str, str, object]]:
    return [(label["role"], label["file"].rpartition("/")[2], label["block"]) for label in found["labels"]]


@pytest.fixture
def missing_file(tmp_path: Path) -> tuple[Path, Path]:
    """A job in which a file is missing on c04n04."""
    ended = "[2026-11-22T08:37:33.654] _job_complete: JobId=90421 WEXITSTATUS 1\n"
    ranks = {"c03n04": f"step 19/60 | loss 1.0\n{CLOSED}\n", "c04n04": f"ready\n{NOT_THERE}\n"}
    return tmp_path, job(tmp_path, ranks, ended)


def test_root_propagated_and_teardown(missing_file: tuple[Path, Path]) -> None:
    """The faulty node's exception is root, its peer's is propagated, Slurm's end is teardown."""
    found, complaint = truth(missing_file[0], "missing_data_file", missing_file[1])

    assert complaint == ""
    assert roles(found) == [
        ("propagated", "c03n04-0.log", [2, 5]),
        ("root", "c04n04-1.log", [2, 5]),
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


LOST = "[2026-11-22T08:30:11.423] error: Nodes c04n04 not responding, setting DOWN\n"
OTHER_LOST = LOST.replace("c04n04", "c05n04")
ORDER = "slurmstepd-c03n04: error: *** STEP 7.0 ON c03n04 CANCELLED AT 2026-11-22T07:52:34 ***"


def test_a_lost_node_is_named_by_slurm(tmp_path: Path) -> None:
    """slurmctld's lines count for the node that they name, not for another one."""
    home = job(tmp_path, {"c03n04": "step 9/60 | loss 1.0\n"}, OTHER_LOST + LOST)

    found, _ = truth(tmp_path, "node_power_loss", home)

    assert [(label["role"], label["line"]) for label in found["labels"]] == [("teardown", 1), ("root", 2)]


@pytest.mark.parametrize(("kind", "role"), [("cancelled", "root"), ("rank_sigstop_hang", "teardown")])
def test_the_order_to_stop_is_the_event_of_a_healthy_stop_only(kind: str, role: str, tmp_path: Path) -> None:
    """Who cancels a job that hangs did not cause the hang."""
    home = job(tmp_path, {"c03n04": f"step 9/4000 | loss 1.0\n{ORDER}\n"}, status="CANCELLED")

    found, complaint = truth(tmp_path, kind, home, status="CANCELLED")

    assert complaint == ""
    assert [label["role"] for label in found["labels"]] == [role]
    assert (found["failed"], found["iteration"]) == (True, 9)


@pytest.mark.parametrize(
    "line",
    [
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "srun: error: gpu018: tasks 2-3: Terminated",
        "slurmstepd-kn-007: error: *** JOB 5710 ON kn-007 CANCELLED AT 2026-11-22T09:20:21 ***",
        "[2026-11-22T09:20:21.673] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=5710 uid 0",
        "[2026-11-22T09:23:49.305] Time limit exhausted for JobId=5711",
        "[2026-11-22T09:30:22.092] preempted JobId=5711 has been killed to reclaim resources for JobId=5712",
        "[2026-11-22T09:09:58.137] _job_complete: JobId=5711 WEXITSTATUS 1",
        "2026-11-22 09:29:10,832 WARN exited: train (exit status 1; not expected)",
        "2026-11-22 09:29:10,832 WARN received SIGTERM indicating exit request",
        "[rank: 0] Received SIGTERM: 15",
        "W1122 09:26:26.767000 5 torch/distributed/elastic/api.py:1028] Sending process 7 closing signal SIGTERM",
    ],
)
def test_what_launchers_write_at_the_end_is_teardown(line: str, tmp_path: Path) -> None:
    """Lines of real jobs: whoever ends a job is not what broke it."""
    home = job(tmp_path, {"c03n04": f"step 9/60 | loss 1.0\n{line}\n"})

    found, _ = truth(tmp_path, "rank_hang", home)

    assert [(label["role"], label["line"]) for label in found["labels"]] == [("teardown", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-22T09:09:35.661] sched: Allocate JobId=5711 NodeList=kn-[007-010] #CPUs=256 Partition=gpu",
        "2026-11-22 09:18:52,170 INFO exited: train (exit status 0; expected)",
        "2026-11-22 09:18:29,282 INFO supervisord started with pid 5",
        "could not reach experiment tracker, running offline",
    ],
)
def test_what_belongs_to_no_end_has_no_label(line: str, tmp_path: Path) -> None:
    """A job's start, and what sounds bad and is not."""
    home = job(tmp_path, {"c03n04": f"step 9/60 | loss 1.0\n{line}\n"})

    found, _ = truth(tmp_path, "rank_hang", home)

    assert found["labels"] == []


def test_a_stack_is_root_only_for_the_rank_that_hangs(tmp_path: Path) -> None:
    """What the others print when they are told to end is neither right nor wrong to show."""
    stack = 'Current thread 0x00007f (most recent call first):\n  File "/job/code/x.py", line 3 in wait\n'
    home = job(tmp_path, {"c03n04": stack, "c04n04": stack}, status="CANCELLED")

    found, complaint = truth(tmp_path, "dataloader_hang", home, status="CANCELLED")

    assert complaint == ""
    assert roles(found) == [("teardown", "c03n04-0.log", [1, 2]), ("root", "c04n04-1.log", [1, 2])]


def test_a_fault_that_the_logs_cannot_place_has_an_unknown_scope(tmp_path: Path) -> None:
    """Only the truth says where it was put."""
    home = job(tmp_path, {"c03n04": "step 9/4000 | loss 1.0\n"}, status="CANCELLED")

    found, _ = truth(tmp_path, "slow_network", home, status="CANCELLED", struck=9)

    assert (found["scope"], found["faulty_nodes"], found["faulty_ranks"]) == ("unknown", [], [])
    assert found["injected_nodes"] == ["c04n04"]


def test_a_slow_job_is_dated_by_its_first_slow_iteration(tmp_path: Path) -> None:
    """It goes on after the fault: the last iteration says nothing."""
    home = job(tmp_path, {"c03n04": "step 30/4000 | loss 1.0\n"}, status="CANCELLED")

    found, _ = truth(tmp_path, "slow_node", home, status="CANCELLED", struck=20)

    assert found["iteration"] == 21


def test_an_exception_in_one_line_of_json_is_a_block_of_one_line(tmp_path: Path) -> None:
    """structlog keeps a whole traceback in one physical line; it is an error all the same."""
    told = json.dumps({"msg": "training failed", "exception": CLOSED})
    home = job(tmp_path, {"c03n04": f"step 9/60 | loss 1.0\n{told}\n"})

    found, _ = truth(tmp_path, "missing_data_file", home)

    assert roles(found) == [("propagated", "c03n04-0.log", [2, 2])]


@pytest.mark.parametrize(
    "line",
    [
        "step 12/60 | loss 1.0", " iteration       12/      60 | lm loss", "step=12/60 loss=4.1", "step 12/60: loss 2",
        "\x1b[31mstep: 12  \x1b[32mloss:  4.1", '{"step": 12, "loss": 4.1}', r'{"log":"{\"step\": 12, \"loss\"',
        "Epoch 0:   0%| | 11/25000 [00:02<, 5.1it/s]\rEpoch 0:   0%| | 12/25000 [00:02<, 5.1it/s]",
    ],
)  # fmt: skip
def test_iterations_of_all_programs_are_read(line: str, tmp_path: Path) -> None:
    """However a program says it, the last complete iteration is known."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.log").write_text(f"start 99\n{line}\n", encoding="utf-8")

    assert last_iteration(tmp_path) == 12


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
