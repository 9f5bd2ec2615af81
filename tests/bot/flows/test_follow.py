"""``firstfault flows --follow``: files of a collector roll by; who is slow is told once, and when it is over."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from benchmarks.flow_sets import Fault, Layout, simulate
from benchmarks.support.patience import PATIENCE
from bot.commandline.cli import app
from bot.commandline.flows.follow import FlowsWatch
from core.errors import UnreadableFlows
from core.flows.alarms import Alarm, AlarmState
from core.flows.table import Window
from core.flows.topology import topology_from
from sources.flows.rotated import RotatedFolder

SLOW = Fault("nic", 120, 320, 0.05, 0, 3)


def rotated(folder: Path, seconds: int, *layouts: Layout) -> dict[str, object]:
    """Flows of jobs as a collector writes them, a file for so many seconds; their topology."""
    folder.mkdir(exist_ok=True)
    frame, topology, _ = simulate(*layouts)
    since = (pl.col("end_us") - frame["start_us"].min()) // (seconds * 1_000_000)
    for (number,), part in frame.group_by(since.alias("file"), maintain_order=True):
        part.drop("file", strict=False).write_parquet(folder / f"flows.{int(str(number)):05d}.parquet")
    return topology


def alarms(folder: Path, topology: dict[str, object], seconds: float) -> tuple[list[Alarm], FlowsWatch]:
    """What is told of a folder, file after file, and who told it."""
    watch = FlowsWatch(folder, topology_from(topology), seconds)
    assert list(watch.look()) == []  # no file was seen twice
    return list(watch.look()), watch


@pytest.mark.slow
def test_half_an_hour_of_a_healthy_job_raises_nothing(tmp_path: Path) -> None:
    """Steps of two seconds that vary by a twentieth, in files of a minute; memory holds no more than the window.

    Six times the window: what a window sees of a job that stays the same, the next one sees again.
    """
    topology = rotated(tmp_path / "in", 60, Layout(work=0.2, jitter=0.05, steps=850))
    files = len(list((tmp_path / "in").iterdir()))

    raised, watch = alarms(tmp_path / "in", topology, 300)

    assert files >= 30
    assert raised == []
    assert len(watch.window) < 8 / files * sum(len(pl.read_parquet(path)) for path in (tmp_path / "in").iterdir())


@pytest.mark.slow
def test_a_fault_is_told_once_and_when_it_is_over(tmp_path: Path) -> None:
    """A link is slow for much longer than the window, in which nothing is faster then: the alarm stands."""
    topology = rotated(tmp_path / "in", 5, Layout(dp=8, pp=1, steps=450, faults=(SLOW,)))

    told_alarms, _ = alarms(tmp_path / "in", topology, 25)

    assert [(alarm.state, alarm.finding.kind) for alarm in told_alarms] == [
        (AlarmState.RAISED, "slow_nic"),
        (AlarmState.OVER, "slow_nic"),
    ]
    raised, over = told_alarms
    assert raised.finding.subject is not None
    assert raised.finding.subject.nic == "10.0.3.10"
    assert (over.at - raised.at) / 1e6 > 50


@pytest.mark.slow
def test_one_answer_alone_raises_nothing(tmp_path: Path) -> None:
    """A fault that is in a single file and gone in the next."""
    short = Fault("nic", 120, 128, 0.05, 0, 3)
    topology = rotated(tmp_path / "in", 20, Layout(dp=8, pp=1, steps=300, faults=(short,)))

    assert alarms(tmp_path / "in", topology, 60)[0] == []


def test_files_count_when_they_no_longer_change(tmp_path: Path) -> None:
    """Each once; one that is written to, one that the collector has not closed, and hidden ones do not."""
    folder = RotatedFolder(tmp_path)
    for name in ("b", "a", "nfcapd.current.77", ".hidden", "topology.json"):
        (tmp_path / name).write_text("1")

    assert folder.look() == []
    (tmp_path / "b").write_text("22")
    assert [path.name for path in folder.look()] == ["a"]
    assert [path.name for path in folder.look()] == ["b"]
    assert folder.look() == []
    (tmp_path / "a").unlink()
    assert folder.look() == []


def test_a_window_forgets_what_is_old_and_what_is_too_much() -> None:
    """By the times of the records, in whatever order they come."""
    frame, _, _ = simulate(Layout(steps=40))
    begin = int(frame["start_us"].min())  # type: ignore[arg-type]  # a number
    parts = [frame.filter((pl.col("end_us") - begin) // 2_000_000 == second) for second in range(4)]
    window = Window(4.5, most=len(parts[1]) + len(parts[2]))

    assert not window.add(parts[0], "0")
    assert not window.add(parts[1], "1")
    assert window.add(parts[2], "2")
    assert len(window) == len(parts[1]) + len(parts[2])
    narrow = Window(3)
    for number in (2, 0, 1):
        narrow.add(parts[number], str(number))
    assert len(narrow) == len(parts[1]) + len(parts[2])


def test_one_broken_file_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told, and the next one is read."""
    topology = rotated(tmp_path / "in", 5, Layout(steps=40))
    (tmp_path / "in" / "a.parquet").write_bytes(b"PAR1 and then nothing")

    _, watch = alarms(tmp_path / "in", topology, 25)

    assert "a.parquet is broken or cut off" in capsys.readouterr().err
    assert len(watch.window) > 0


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    """With what it wants."""
    with pytest.raises(UnreadableFlows, match="is no folder"):
        RotatedFolder(tmp_path / "none").look()
    (tmp_path / "file").write_text("1")
    assert CliRunner().invoke(app, ["flows", "--follow", str(tmp_path / "file")]).exit_code != 0


@pytest.mark.slow
def test_alarms_are_lines_of_json_until_somebody_ends_it(tmp_path: Path) -> None:
    """The command in a process of its own, with the topology that lies beside the files; Ctrl-C is 130."""
    topology = rotated(tmp_path / "in", 5, Layout(dp=8, pp=1, steps=220, faults=(SLOW,)))
    (tmp_path / "in" / "topology.json").write_text(json.dumps(topology))
    command = [sys.executable, "-m", "bot", "flows", "--follow", str(tmp_path / "in"), "--every", "0.1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            alarm = json.loads(process.stdout.readline())
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()

    assert (alarm["schema"], alarm["state"], alarm["kind"]) == ("firstfault.flow-alarm/1", "raised", "slow_nic")
    assert alarm["subject"]["server"] == "server-3"
