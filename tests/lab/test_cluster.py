"""Nodes come up and leave nothing behind; one real job, where torch is."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from lab.check import check
from lab.cluster import Cluster, Node, ip, may_use_namespaces, sweep
from lab.make import Order, make

NAMES = ("n-1", "n-2")


def wait_for(path: Path) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if path.exists() and path.read_text(encoding="utf-8").endswith("\n"):
            return path.read_text(encoding="utf-8").strip()
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not written in time")


@pytest.mark.parametrize("netns", [False, True])
def test_a_cluster_leaves_nothing_behind(netns: bool, tmp_path: Path) -> None:
    """After close no process and no namespace of the cluster is left, whatever a node was doing."""
    if netns and not may_use_namespaces():
        pytest.skip("network namespaces need root and iproute2")
    cluster = Cluster(NAMES, 0, netns=netns)
    try:
        cluster.open(tmp_path / "log")
        for node in cluster.nodes:
            script = f"echo up > {tmp_path}/{node.name}; sleep 300"
            cluster.spawn(node, ["bash", "-c", script], {}, out=subprocess.DEVNULL)
        for node in cluster.nodes:
            assert wait_for(tmp_path / node.name) == "up"
        assert cluster.pids(cluster.nodes[0])
    finally:
        cluster.close()

    assert cluster.pids() == []
    assert not netns or cluster.token not in ip("netns list")


@pytest.fixture
def two_nodes(tmp_path: Path) -> tuple[Cluster, Path]:
    """A cluster in network namespaces, closed after the test."""
    return Cluster(NAMES, 1, netns=True), tmp_path


def reaches(cluster: Cluster, node: Node) -> str:
    script = (
        "import socket\ntry:\n socket.create_connection(('10.77.0.1', 9), 1)\n"
        "except ConnectionRefusedError:\n print('reached')\nexcept OSError:\n print('lost')"
    )
    return cluster.run(node, [sys.executable, "-c", script], {}).strip()


@pytest.mark.skipif(not may_use_namespaces(), reason="network namespaces need root and iproute2")
def test_cables_can_be_pulled(two_nodes: tuple[Cluster, Path]) -> None:
    """A node whose link is down, or that is isolated, does not reach the switch; the others do."""
    cluster, folder = two_nodes
    first, second = cluster.nodes
    try:
        cluster.open(folder / "log")
        before = reaches(cluster, first)
        cluster.link(first, up=False)
        down = reaches(cluster, first)
        cluster.link(first, up=True)
        cluster.isolate(first)
        alone = reaches(cluster, first)
        other = reaches(cluster, second)
    finally:
        cluster.close()

    assert (before, down, alone, other) == ("reached", "lost", "lost", "reached")


@pytest.mark.skipif(not may_use_namespaces(), reason="network namespaces need root and iproute2")
def test_a_node_has_its_own_name_and_processes(two_nodes: tuple[Cluster, Path]) -> None:
    """A program sees its node's host name, mounts and processes; when the first process dies, all are gone."""
    cluster, folder = two_nodes
    first, second = cluster.nodes
    first.mounts.append("mount -t tmpfs tmpfs /mnt; touch /mnt/own")
    first.shell.append("export LIMIT=7")
    try:
        cluster.open(folder / "log")
        said = cluster.run(first, ["bash", "-c", "hostname; ls /mnt; echo $LIMIT; ls -d /proc/[0-9]* | wc -l"], {})
        other = cluster.run(second, ["hostname"], {})
        script = f"echo up > {folder}/up; exec sleep 300"
        sleeping = cluster.spawn(first, ["bash", "-c", script], {}, out=subprocess.DEVNULL)
        wait_for(folder / "up")
        os.kill(first.holder, signal.SIGKILL)
        code = sleeping.wait(PATIENCE)
    finally:
        cluster.close()

    assert said.split()[:3] == ["n-1", "own", "7"]
    assert int(said.split()[3]) < 10
    assert other.strip() == "n-2"
    assert code == -signal.SIGKILL


@pytest.mark.skipif(not may_use_namespaces(), reason="network namespaces need root and iproute2")
def test_what_a_killed_lab_left_is_swept() -> None:
    """Namespaces of a lab whose process is gone are removed with all that runs in them, those of others stay."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = f"lab{gone.pid}x1-n0", f"lab{os.getpid()}x1-n0"
    for name in (dead, alive):
        subprocess.run(["ip", "netns", "add", name], check=True)
    orphan = subprocess.Popen(["nsenter", f"--net=/run/netns/{dead}", "sleep", "300"])
    while str(orphan.pid) not in ip(f"netns pids {dead}"):
        time.sleep(0.05)
    try:
        sweep()
        left = ip("netns list")
    finally:
        subprocess.run(["ip", "netns", "del", alive], check=True)

    assert orphan.wait(PATIENCE) == -signal.SIGKILL
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
    assert [truth["kind"] for truth in truths] == ["none", "rank_sigkill", "rank_sigkill"]
    assert check(tmp_path) == ()
