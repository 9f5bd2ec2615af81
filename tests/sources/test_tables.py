"""Points of progress from the exports of dashboards."""

from pathlib import Path

import pytest

from core.errors import UnreadableLog
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
