"""Points of progress from the exports of dashboards."""

import os
import subprocess
from pathlib import Path

import pytest

from core.errors import UnreadableLog
from sources.named_files import read_given
from sources.reports.report_files import read_incidents
from sources.tables import read_progress

POINTS = ((1795300000500, 1), (1795300010500, 2))


@pytest.mark.parametrize(
    "text",
    [
        "time,iteration\n2026-11-21T22:26:40.5Z,1\n2026-11-21T22:26:50.5+00:00,2\n",
        "_step,_timestamp,loss\n1,1795300000.5,2.3\n2,1795300010.5,2.2\n",  # W&B
        "key,value,timestamp,step\nloss,2.3,1795300000500,1\nloss,2.2,1795300010500,2\n",  # MLflow: milliseconds
        "Wall time,Step,Value\n1795300000.5,1,2.3\n1795300010.5,2,2.2\n",  # TensorBoard
    ],
)
def test_points_of_each_export_are_the_same(text: str, tmp_path: Path) -> None:
    """Plain columns, W&B, MLflow and TensorBoard."""
    path = tmp_path / "export.csv"
    path.write_text(text, encoding="utf-8")

    assert read_progress(str(path)) == POINTS


@pytest.mark.parametrize("text", ["", "loss\n2.3\n", "time,iteration\nnoon,one\n"])
def test_a_table_without_points_is_refused(text: str, tmp_path: Path) -> None:
    """It has to have a time and an iteration in one row at least."""
    path = tmp_path / "export.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableLog):
        read_progress(str(path))


@pytest.mark.parametrize(
    "row", ["nan,1", "inf,2", "1e308,1", "-5,2", "1795300000,99999999999999999999", "1795300000," + "9" * 5000]
)
def test_numbers_that_are_no_time_or_no_iteration_are_left_out(row: str, tmp_path: Path) -> None:
    """Each of them ended ``firstfault history`` with a traceback."""
    path = tmp_path / "export.csv"
    path.write_text(f"time,iteration\n1795300000.5,1\n{row}\n1795300010.5,2\n", encoding="ascii")

    assert read_progress(str(path)) == POINTS


def test_incidents_need_a_moment(tmp_path: Path) -> None:
    """One that began never, or beyond all calendars, is none."""
    path = tmp_path / "incidents.csv"
    path.write_text("start,end,node\nnan,nan,a\n1e308,,b\n1795300000,inf,c\n", encoding="ascii")

    assert [(one.node, one.until) for one in read_incidents(str(path))] == [("c", None)]


def test_what_never_ends_or_never_begins_is_told(tmp_path: Path) -> None:
    """A device without an end took all memory, and a pipe without a writer waited for ever."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)

    with pytest.raises(UnreadableLog, match="larger than"):
        read_progress("/dev/zero")
    with pytest.raises(UnreadableLog, match="no row"):
        read_progress(str(pipe))


def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    """``firstfault history`` of a shell's <(...): later words are waited for."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = subprocess.Popen(["sh", "-c", f"exec >{pipe}; echo one; sleep .3; echo two"])
    keep = os.open(pipe, os.O_RDONLY)  # so that the writer is there when it is opened again
    try:
        assert read_given(pipe).endswith(b"two\n")
    finally:
        os.close(keep)
        child.wait()
