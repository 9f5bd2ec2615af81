"""``firstfault flows``: its answers, exit codes and contract."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.flow_sets import Fault, Layout, simulate
from bot.commandline.cli import app
from bot.commandline.flows.documents import FlowsDocument
from bot.commandline.flows.terminal import headline
from bot.fetch import flows
from bot.report.json_document import to_json
from core.errors import UnreadableFlows
from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer, Subject
from core.flows.timeline import Timeline
from tests.support.jobs import job, log_file
from tests.support.places import ROOT

GOLDEN = ROOT / "tests" / "bot" / "golden"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("capture")
    frame, topology, _ = simulate(Layout(faults=(Fault("nic", 15, 39, 0.02, 1, 3),)), Layout(seed=1, first_server=100))
    frame.write_parquet(folder / "flows.parquet")
    (folder / "topology.json").write_text(json.dumps(topology))
    return [str(folder / "flows.parquet"), "--topology", str(folder / "topology.json")]


def test_the_answer_at_a_terminal(capture: list[str], golden: Callable[[Path, str], None]) -> None:
    """Headline, table of jobs, each finding with its sentence."""
    run = CliRunner().invoke(app, ["flows", *capture])

    assert run.exit_code == 0
    golden(GOLDEN / "flows.txt", run.stdout)


def test_the_headline_counts_all_findings_below_it() -> None:
    """Single slow steps too, which are listed like the others."""
    subject = Subject("10.0.0.1", "server-1", "J1.dp0")
    slow = FlowFinding("slow_nic", subject, (3, 9), 0, 1, 0.5, "made up")
    step = replace(slow, kind="slow_step", steps=(12, 12))
    timeline = Timeline(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0)
    job = JobAnswer("J1", ("10.0.0.1",), ("server-1",), (), (), timeline, 1, 1, 1, (slow, step, step))

    says = headline(FlowsAnswer((0, 1), 1, 0, 0, (), (job,), ()))

    assert says == "J1: a slow link, NIC 10.0.0.1 of server-1, and 2 more findings."


def test_a_folder_is_to_be_followed(tmp_path: Path) -> None:
    """The hint names the option."""
    with pytest.raises(UnreadableFlows, match="is a folder") as caught:
        CliRunner().invoke(app, ["flows", str(tmp_path)], catch_exceptions=False)

    assert "--follow" in (caught.value.hint or "")


def test_the_json_is_the_contract(capture: list[str]) -> None:
    """Fields of the contract in its order; it can be read back without loss."""
    run = CliRunner().invoke(app, ["flows", *capture, "--json"])

    document = json.loads(run.stdout)
    assert list(document)[:5] == ["schema", "span", "jobs", "findings", "skipped"]
    assert document["schema"] == "firstfault.flows/1"
    assert list(document["jobs"][0]) == ["id", "nics", "servers", "period", "parallelism", "groups", "pairs", "steps"]
    assert list(document["findings"][0]) == [
        "id",
        "job",
        "kind",
        "subject",
        "steps",
        "start",
        "end",
        "score",
        "because",
        "evidence",
    ]
    assert to_json(FlowsDocument.model_validate_json(run.stdout)) == run.stdout


def test_no_job_is_exit_code_1(tmp_path: Path) -> None:
    """A useless capture tells what to capture."""
    path = tmp_path / "flows.csv"
    path.write_text("start_us,end_us,src,dst,bytes\n1800000000000000,1800000000000001,10.0.0.1,10.0.0.1,10\n")

    run = CliRunner().invoke(app, ["flows", str(path)])

    assert run.exit_code == 1
    assert "No training job" in run.stdout
    assert "docs/how-to/flows.md" in run.stdout


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """Wrong use is an error of ours, with a hint, which ends with exit code 2."""
    run = CliRunner().invoke(app, ["flows", str(tmp_path / "nowhere")])

    assert isinstance(run.exception, UnreadableFlows)
    assert run.exception.exit_code == 2
    assert run.exception.hint


def test_flows_beside_logs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file of megabytes unfolded to gigabytes of records; that it is left out is told, and ends nothing."""
    monkeypatch.setattr(flows, "MAX_BYTES", 1000)
    rows = "".join(f"{n},{n},a,b,5\n" for n in range(200))
    file = log_file("flows/flows.csv", f"start_us,end_us,src,dst,bytes\n{rows}")

    answer, skipped = flows.flows_beside(replace(job({"rank_0.log": ""}), flows=(file,)))

    assert answer is None
    assert "more than 1,000 bytes" in skipped[0].reason
