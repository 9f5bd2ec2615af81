"""Nodes come up and leave nothing behind; one real job, where torch is."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.check import check
from lab.cluster import Cluster, Node, may_use_namespaces, sweep
from lab.make import Order, make

NAMES = ("n-1", "n-2")


def wait_for(path: Path) -> str:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if path.exists() and path.read_text(encoding="utf-8").endswith("\n"):
            return path.read_text(encoding="utf-8").strip()
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not written in time")


def namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("netns", [False, True])
def test_a_cluster_leaves_nothing_behind(netns: bool, tmp_path: Path) -> None:
    """After close no process and no namespace of the cluster is left, whatever a node was doing."""
    if netns and not may_use_namespaces():
        pytest.skip("network namespaces need root and iproute2")
    cluster = Cluster(NAMES, 0, netns=netns)
    try:
        cluster.open()
        for node in cluster.nodes:
            cluster.spawn(node, ["bash", "-c", f"echo up > {tmp_path}/{node.name}; sleep 300"], {}, tmp_path / "out")
        for node in cluster.nodes:
            assert wait_for(tmp_path / node.name) == "up"
        assert cluster.pids(cluster.nodes[0])
    finally:
        cluster.close()

    assert cluster.pids() == []
    assert not netns or cluster.token not in namespaces()


@pytest.fixture
def two_nodes(tmp_path: Path) -> tuple[Cluster, Path]:
    """A cluster in network namespaces, closed after the test."""
    return Cluster(NAMES, 1, netns=True), tmp_path


def reaches(cluster: Cluster, node: Node, out: Path) -> str:
    script = (
        "import socket\ntry:\n socket.create_connection(('10.77.0.1', 9), 1)\n"
        "except ConnectionRefusedError:\n print('reached')\nexcept OSError:\n print('lost')"
    )
    out.unlink(missing_ok=True)
    cluster.spawn(node, [sys.executable, "-c", script], {}, out)
    return wait_for(out)


@pytest.mark.skipif(not may_use_namespaces(), reason="network namespaces need root and iproute2")
def test_cables_can_be_pulled(two_nodes: tuple[Cluster, Path]) -> None:
    """A node whose link is down, or that is isolated, does not reach the scheduler; the others do."""
    cluster, folder = two_nodes
    first, second = cluster.nodes
    try:
        cluster.open()
        before = reaches(cluster, first, folder / "a")
        cluster.link(first, up=False)
        down = reaches(cluster, first, folder / "b")
        cluster.link(first, up=True)
        cluster.isolate(first)
        alone = reaches(cluster, first, folder / "c")
        other = reaches(cluster, second, folder / "d")
    finally:
        cluster.close()

    assert (before, down, alone, other) == ("reached", "lost", "lost", "reached")


@pytest.mark.skipif(not may_use_namespaces(), reason="network namespaces need root and iproute2")
def test_what_a_killed_lab_left_is_swept() -> None:
    """Namespaces of a lab whose process is gone are removed, those of others stay."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = f"lab{gone.pid}x1-n0", f"lab{os.getpid()}x1-n0"
    for name in (dead, alive):
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        sweep()
        left = namespaces()
    finally:
        subprocess.run(["ip", "netns", "del", alive], check=True)

    assert dead not in left
    assert alive in left


@pytest.mark.slow
def test_a_real_job_is_made_and_labelled(tmp_path: Path) -> None:
    """On the loopback device, without any rights, a rank is killed in a real job and the labels are sound."""
    python = Path(os.environ.get("LAB_PYTHON", sys.executable))
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
        pytest.skip("torch is not installed here: LAB_PYTHON names an interpreter that has it")
    order = Order(tmp_path, 1, 3, ("rank_sigkill",), ("plain-ranks",), python, 1, loopback=True)

    given_up = make(order)

    truths = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((tmp_path / "truth").glob("*.json"))]
    assert given_up == 0
    assert [truth["kind"] for truth in truths] == ["none", "none", "rank_sigkill"]
    assert check(tmp_path) == ()
