"""``firstfault check-nodes``: nothing without --run; and for real, between nodes with networks of their own."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks.support.patience import PATIENCE
from bot.commandline.check_nodes.node_file import nodes_in
from bot.commandline.check_nodes.run import Node, NodeAccess, NodeRunner
from bot.commandline.cli import app
from core.errors import FirstfaultError
from lab.cluster import Cluster, ip, may_use_namespaces

TORCH = os.environ.get("LAB_PYTHON", sys.executable)  # an interpreter that has torch
SECONDS = 20.0  # of CPU; measured: .3 on a busy machine
NAMES = tuple(f"n-{number}" for number in range(8))
# The flipped bit: the low one of one gradient, between the step and its hash.
ENTER = """
import os, sys
node, bad, *words = sys.argv[1:]
if node == bad:
    step = "value.square().mean().backward()"
    flip = "; weights[0].grad.view(torch.int32)[0, 0] ^= 1"
    words = [word.replace(step, step + flip) for word in words]
os.execvp("ip", ["ip", "netns", "exec", node, *words])
"""


def ran(*words: object) -> Result:
    return CliRunner().invoke(app, ["check-nodes", *map(str, words)])


def names_file(folder: Path, text: str) -> Path:
    path = folder / "nodes.txt"
    path.write_text(text, encoding="utf-8")
    return path


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_nothing_runs_without_run(tmp_path: Path) -> None:
    """What would run is told with its command and time; the way to the node is never walked."""
    trace = tmp_path / "trace"
    tool(tmp_path, "way", f"echo walked >> {trace}")
    nodes = names_file(tmp_path, "node-1\nnode-2 10.0.0.2  # rack 3\n")

    answer = ran(nodes, "--through", f"{tmp_path}/way {{node}}")
    document = json.loads(ran(nodes, "--through", f"{tmp_path}/way {{node}}", "--json").stdout)

    assert answer.exit_code == 0
    assert "Nothing was run. With --run, on 2 nodes:" in answer.stdout
    assert "diagnostics-3" not in answer.stdout
    assert (document["run"], document["results"]) == (False, [])
    assert not trace.exists()


def test_checks_run_and_what_is_not_there_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port is down on one node, a tool is missing, and one node is in use: failed, unknown, left out."""
    tool(tmp_path, "way", f'export PATH={tmp_path}; NODE="$1"; export NODE; shift; exec "$@"')
    tool(tmp_path, "ibstat", '[ "$NODE" = n2 ] && echo "State: Down" || echo "State: Active"')
    tool(tmp_path, "nvidia-smi", '[ "$NODE" = n3 ] && echo 4711; exit 0')
    tool(tmp_path, "alltoall_perf", "echo Out of bounds values : 0 OK")
    nodes = names_file(tmp_path, "n1\nn2\nn3\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    answer = ran(
        *(nodes, "--run", "--through", f"{tmp_path}/way {{node}}", "--json"),
        *("--check", "links", "--check", "node-health", "--check", "all-to-all"),
    )

    found = {(result["check"], result["node"]): result["outcome"] for result in json.loads(answer.stdout)["results"]}
    assert answer.exit_code == 1
    assert [found["links", node] for node in ("n1", "n2", "n3")] == ["passed", "failed", "passed"]
    assert {found["node-health", node] for node in ("n1", "n2", "n3")} == {"unknown"}
    assert [found["all-to-all", node] for node in ("n1", "n2", "n3")] == ["passed", "passed", "unknown"]


def test_names_never_become_part_of_a_line_for_a_shell() -> None:
    """Words stay words; what ssh hands to a shell on the node is quoted; a name is no option."""
    node = Node("n1;reboot", "n1")
    command = ("echo", "a b", "$(reboot)")

    assert NodeRunner(NodeAccess.LOCAL).words(node, command) == list(command)
    assert NodeRunner(NodeAccess.SSH).words(node, command)[-3:] == ["--", "n1;reboot", "echo 'a b' '$(reboot)'"]
    assert NodeRunner(NodeAccess.SRUN).words(node, command)[-4:] == ["--", *command]
    assert NodeRunner(NodeAccess.KUBECTL).words(node, command) == ["kubectl", "exec", "n1;reboot", "--", *command]
    assert NodeRunner(prefix=("in", "{node}")).words(node, command) == ["in", "n1;reboot", *command]


@pytest.mark.parametrize(
    "words",
    [["--through", "carrier-pigeon"], ["--through", "'{node}"], ["--check", "nothing"], ["--backend", "mpi"]],
)
def test_wrong_use_is_told(words: list[str], tmp_path: Path) -> None:
    """An unknown way, check or backend; and a name that would be an option."""
    answer = ran(names_file(tmp_path, "n1\n"), *words)
    assert answer.exit_code != 0
    assert isinstance(answer.exception, SystemExit | FirstfaultError)
    assert ran(names_file(tmp_path, "-oProxyCommand=x\n")).exit_code != 0


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started() -> None:
    """Its children too; the answer is that it is unknown."""
    ended = NodeRunner().run(Node("n", "n"), ["sh", "-c", "sleep 300 & echo $!; wait"], 1.0)

    assert ended.code is None
    until = time.monotonic() + PATIENCE
    while _lives(int(ended.output)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _lives(int(ended.output))


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Eight nodes with networks of their own, 200 Mbit/s each."""
    if not may_use_namespaces():
        pytest.skip("network namespaces need root and iproute2")
    if subprocess.run([TORCH, "-c", "import torch"], check=False, capture_output=True).returncode:
        pytest.skip("no interpreter with torch: LAB_PYTHON names one")
    found = Cluster(NAMES, 3, netns=True)
    try:
        found.open(tmp_path / "log")
        for node in found.nodes:
            shape(node.namespace, 200)
        yield found
    finally:
        found.close()


def shape(namespace: str, megabits: int) -> None:
    words = f"tc qdisc replace dev eth0 root tbf rate {megabits}mbit burst 128kb latency 200ms"
    subprocess.run(["ip", "netns", "exec", namespace, *words.split()], check=True, capture_output=True)


def cut_link(namespace: str, address: str) -> None:
    """What one node sends to this address goes to a card that nobody has."""
    ip(f"-n {namespace} neigh replace {address} lladdr 02:00:00:00:00:99 nud permanent dev eth0")


@pytest.mark.slow
def test_a_slow_node_a_dead_link_and_a_flipped_bit_are_found(cluster: Cluster, tmp_path: Path) -> None:
    """Real gloo between eight nodes: exactly the slow one and the one that is cut off fail the pairs.

    Two well ones that do not reach each other are a link, and neither is accused.
    """
    slow, cut, flipped = (cluster.nodes[place] for place in (2, 5, 6))
    nodes = names_file(tmp_path, "".join(f"{node.namespace} {node.address}\n" for node in cluster.nodes))
    enter = tmp_path / "enter.py"
    enter.write_text(ENTER, encoding="utf-8")
    way = f"{sys.executable} {enter} {{node}} {flipped.namespace}"
    asked = ("--check", "pairs", "--check", "bits", "--python", TORCH, "--megabytes", "4", "--seconds", "25")
    checks = (*asked, "--at-once", "all", "--json")

    healthy = ran(nodes, "--run", "--through", f"{sys.executable} {enter} {{node}} nobody", *checks)
    shape(slow.namespace, 40)
    ip(f"-n {cut.namespace} link set eth0 down")
    first, second = cluster.nodes[:2]
    cut_link(first.namespace, second.address)
    cut_link(second.namespace, first.address)
    broken = ran(nodes, "--run", "--through", way, *checks)

    assert {result["outcome"] for result in json.loads(healthy.stdout)["results"]} == {"passed"}, healthy.stdout
    results = json.loads(broken.stdout)["results"]
    failed = {(result["check"], result["node"]) for result in results if result["outcome"] == "failed"}
    assert json.loads(healthy.stdout)["links"] == []
    assert [link["nodes"] for link in json.loads(broken.stdout)["links"]] == [[first.namespace, second.namespace]]
    assert failed == {("pairs", slow.namespace), ("pairs", cut.namespace), ("bits", flipped.namespace)}, broken.stdout


def test_a_file_of_fifty_thousand_nodes_is_read_at_once(tmp_path: Path) -> None:
    """Each name was compared with each other one: minutes of CPU, for a file that a program wrote."""
    path = names_file(tmp_path, "".join(f"node-{number}\n" for number in range(50_000)))
    began = time.process_time()

    assert len(nodes_in(path)) == 50_000
    assert time.process_time() - began < SECONDS


def test_a_name_that_no_machine_can_have_is_refused(tmp_path: Path) -> None:
    """Three million characters without a blank were a node, and all of them were printed."""
    result = ran(names_file(tmp_path, "a" * 3_000_000))

    assert result.exit_code != 0
    assert isinstance(result.exception, FirstfaultError)
    assert len(result.exception.message) < 1_000
