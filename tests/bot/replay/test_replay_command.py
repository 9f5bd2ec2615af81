"""``firstfault replay plan`` and ``read``, on the results of a real gloo job where an interpreter has torch."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.commandline.cli import app
from core.errors import FirstfaultError
from tests.support.jobs import at, lines, raised, steps
from tests.support.places import ROOT

TORCH = os.environ.get("LAB_PYTHON", sys.executable)  # an interpreter that has torch
NODES = 8
GLOO_JOB = ROOT / "tests" / "support" / "gloo_job.py"


def ran(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("".join(f"node-{number} slots=8  # rack 1\n" for number in range(NODES)), encoding="utf-8")
    answer = ran("replay", "plan", nodes, "--command", "srun -w {nodelist} -N {nnodes} 'replay {group}' {run}")
    assert answer.exit_code == 0, answer.output
    path = tmp_path / "plan.json"
    path.write_text(answer.stdout, encoding="utf-8")
    return path


def test_a_plan_has_commands_as_lists_of_words(plan: Path) -> None:
    """Names of nodes never become part of a line for a shell."""
    document = json.loads(plan.read_text(encoding="utf-8"))
    first = document["groups"][0]

    assert (len(document["groups"]), document["runs"], document["group_size"]) == (8, 5, 2)
    assert first["commands"][0] == ["srun", "-w", "node-0,node-1", "-N", "2", "replay 1-0", "1"]
    assert len(first["commands"]) == 5


def test_results_by_exit_code_and_by_digest_name_a_node(plan: Path, tmp_path: Path) -> None:
    """Node 5 fails by its exit code in one phase, by its digest in the other; a run without a code is told."""
    rows = ["group,run,exit_code,digest"]
    for group in json.loads(plan.read_text(encoding="utf-8"))["groups"]:
        for run in range(1, 6):
            bad = "node-5" in group["nodes"] and run < 4
            code, digest = ("1", "") if bad and group["phase"] == 1 else ("0", "beef" if bad else "cafe")
            rows.append(f"{group['name']},{run},{code if run < 5 else ''},{digest}")
    results = tmp_path / "results.csv"
    results.write_text("\n".join(rows), encoding="utf-8")

    answer, document = ran("replay", "read", plan, results), ran("replay", "read", plan, results, "--json")

    assert answer.exit_code == 0
    assert answer.stdout.startswith("Faulty: node-5.")
    assert "8 runs have no exit code" in answer.stdout
    assert json.loads(document.stdout)["suspects"] == [{"node": "node-5", "share": 1.0}]


def test_job_folders_of_runs_are_diagnosed(plan: Path, tmp_path: Path) -> None:
    """A run whose diagnosis finds a failure has failed; one that completed has passed."""
    jobs = tmp_path / "jobs"
    for group in json.loads(plan.read_text(encoding="utf-8"))["groups"]:
        bad = "node-6" in group["nodes"]
        log = [*steps(5, total=5), *(raised("FloatingPointError: loss is nan") if bad else [at(6, "done")])]
        folder = jobs / f"{group['name']}.1"
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "train.log").write_text(lines(*log), encoding="utf-8")
        status = "FAILED" if bad else "COMPLETED"
        (folder / "job.json").write_text(json.dumps({"job_id": folder.name, "status": status}), encoding="utf-8")

    answer = ran("replay", "read", plan, jobs)

    assert answer.stdout.startswith("Faulty: node-6."), answer.output


def test_two_faulty_nodes_get_a_third_round(plan: Path, tmp_path: Path) -> None:
    """The file of the third round is a plan again."""
    bad = {"node-1", "node-6"}
    rows = ["group,run,exit_code"]
    for group in json.loads(plan.read_text(encoding="utf-8"))["groups"]:
        rows += [f"{group['name']},{run},{int(bool(bad & set(group['nodes'])))}" for run in range(1, 6)]
    results, third = tmp_path / "results.csv", tmp_path / "third.json"
    results.write_text("\n".join(rows), encoding="utf-8")

    answer = ran("replay", "read", plan, results, "--third", third)

    assert answer.exit_code == 1
    assert "node-1" in answer.stdout
    again = ["group,run,exit_code"]
    for group in json.loads(third.read_text(encoding="utf-8"))["groups"]:
        again += [f"{group['name']},{run},{int(bool(bad & set(group['nodes'])))}" for run in range(1, 6)]
    results.write_text("\n".join(again), encoding="utf-8")
    assert ran("replay", "read", third, results).stdout.startswith("Faulty: node-1, node-6.")


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "firstfault.replay/1"}'])
def test_what_is_no_plan_is_refused(text: str, tmp_path: Path) -> None:
    """A file that was cut off, and results that are not there."""
    broken = tmp_path / "plan.json"
    broken.write_text(text, encoding="utf-8")

    assert ran("replay", "read", broken, tmp_path / "none.csv").exit_code != 0


def test_a_path_that_is_not_there_is_told_with_what_to_give(plan: Path, tmp_path: Path) -> None:
    """Of nodes, plan and results alike; a folder in place of a file too."""
    gone = tmp_path / "nope"
    for words in (("plan", gone), ("read", gone, gone), ("read", plan, gone), ("read", tmp_path, gone)):
        refused = ran("replay", *words).exception
        assert isinstance(refused, FirstfaultError)
        assert refused.exit_code == 2
        assert refused.hint
        assert "Errno" not in refused.message


def _has_torch() -> bool:
    found = shutil.which(TORCH)
    words = [TORCH, "-c", "import torch"]
    return found is not None and subprocess.run(words, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not _has_torch(), reason="no interpreter with torch: LAB_PYTHON names one")
def test_a_rank_that_adds_nan_in_half_of_the_runs_is_found(plan: Path, tmp_path: Path) -> None:
    """Real gloo, eight ranks, a faulty one each of ten times: found in at least nine, and nobody else is named."""
    words = [TORCH, str(GLOO_JOB), str(plan)]
    ranks = [
        subprocess.Popen([*words, str(rank), "10", str(tmp_path / "rows"), str(tmp_path / "store")])
        for rank in range(NODES)
    ]
    assert [rank.wait(timeout=300) for rank in ranks] == [0] * NODES
    rows = [
        row for rank in range(NODES) for row in (tmp_path / f"rows.{rank}").read_text(encoding="utf-8").splitlines()
    ]
    found = 0
    for trial in range(10):
        own = [row.partition(",")[2] for row in rows if row.startswith(f"{trial},")]
        results = tmp_path / f"results-{trial}.csv"
        results.write_text("\n".join(["group,run,exit_code", *own]), encoding="utf-8")
        answer = ran("replay", "read", plan, results)
        assert len(own) == 40
        assert answer.exit_code == 1 or answer.stdout.startswith(f"Faulty: node-{trial % NODES}.")
        found += answer.exit_code == 0
    assert found >= 9


@pytest.mark.parametrize("hostile", ["names", "long", "runs"])
def test_a_plan_is_bounded(tmp_path: Path, hostile: str) -> None:
    """A million nodes took gigabytes, a name of megabytes was printed again and again; now it is said what may be."""
    nodes = tmp_path / "nodes.txt"
    names = {"names": [f"n{number}" for number in range(70_000)], "long": ["a" * 1_000_000, "b", "c", "d"]}
    nodes.write_text("\n".join(names.get(hostile, ["a", "b", "c", "d"])), encoding="utf-8")

    answer = ran("replay", "plan", nodes, *(("--runs", "1000000000") if hostile == "runs" else ()))

    assert answer.exit_code != 0
    assert len(answer.output) < 1000
    assert "at most" in str(answer.exception) or "is no name of a node" in str(answer.exception)


def test_names_in_results_cannot_write_on_the_terminal(plan: Path, tmp_path: Path) -> None:
    """A group that the plan does not have is told without its control characters."""
    results = tmp_path / "results.csv"
    results.write_text("group,run,exit_code\n\x1b[2J,1,0\n1-0,1,0\n", encoding="ascii")

    answer = ran("replay", "read", plan, results)

    assert "that the plan does not have" in answer.stdout
    assert "\x1b" not in answer.stdout


@pytest.mark.parametrize(
    "edit", [{"group_size": 0}, {"data_parallel": 0}, {"runs": -1}, {"chance": 0}, {"chance": 5}, {"groups": []}]
)
def test_a_plan_with_numbers_that_no_plan_has_is_refused(plan: Path, tmp_path: Path, edit: dict[str, object]) -> None:
    """Some of them divided by zero."""
    results, edited = tmp_path / "results.csv", tmp_path / "edited.json"
    results.write_text("group,run,exit_code\n1-0,1,1\n2-0,1,1\n", encoding="ascii")
    edited.write_text(json.dumps(json.loads(plan.read_text(encoding="utf-8")) | edit), encoding="utf-8")

    answer = ran("replay", "read", edited, results, "--third", tmp_path / "third.json")

    assert "that no plan has" in str(answer.exception)
