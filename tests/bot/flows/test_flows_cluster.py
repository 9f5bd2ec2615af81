"""The jobs of a capture judged by the workers of a real Dask cluster: the same bytes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.flow_sets import Fault, Layout, simulate
from benchmarks.support.dask_cluster import Cluster, needs_dask
from bot.commandline.flows.command import Forms, flows
from core.errors import BadSettings

pytestmark = [pytest.mark.slow, needs_dask]


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of two workers."""
    (tmp_path / "dask").mkdir()
    started = Cluster(tmp_path / "dask")
    for name in ("one", "two"):
        started.add_worker(name)
    yield started
    started.close()


def capture(folder: Path) -> tuple[Path, Path]:
    """Three jobs, one of them with a slow accelerator."""
    slow = Layout(dp=4, pp=2, faults=(Fault("compute", 15, 30, 1.6, 0, 1),))
    frame, topology, _ = simulate(slow, Layout(dp=3, first_server=20, seed=1), Layout(dp=2, first_server=40, seed=2))
    frame.write_parquet(folder / "flows.parquet")
    (folder / "topology.json").write_text(json.dumps(topology))
    return folder / "flows.parquet", folder / "topology.json"


def test_workers_give_the_same_bytes(tmp_path: Path, dask: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """Each job is judged from the records of its NICs alone, wherever that is."""
    file, topology = capture(tmp_path)

    texts = []
    for scheduler in (None, dask.address):
        code = flows(file, topology, Forms(json=True), version="0", scheduler=scheduler, insecure=True)
        assert code == 0
        texts.append(capsys.readouterr().out)

    here, there = texts
    assert here == there
    assert len(json.loads(here)["jobs"]) == 3


def test_scheduler_that_proves_nothing_is_refused(tmp_path: Path) -> None:
    """As where logs are read."""
    file, topology = capture(tmp_path)

    with pytest.raises(BadSettings, match="proves nothing"):
        flows(file, topology, Forms(json=True), version="0", scheduler="tcp://127.0.0.1:8786")
