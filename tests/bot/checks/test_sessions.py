"""Programs on nodes that answer, talk nonsense, end, or never come up: what is not known accuses nobody."""

import json
import random
import stat
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.commandline.check_nodes.pairs import judge_rounds
from bot.commandline.cli import app
from core.checks.check_verdict import CheckOutcome, Pair

# In place of the program on a node: it answers as that one does, by the name of its node.
NODE = """#!{python}
import json, os, sys, time

node = os.environ["NODE"]
if node == "n3":
    sys.exit("ModuleNotFoundError: No module named 'torch'")
print("welcome to", node)
print(json.dumps({{"ready": "2.13"}}), flush=True)
for line in sys.stdin:
    wanted = json.loads(line)
    test = wanted["test"]
    lived = "{folder}/" + node
    if node == "n4" and not os.path.exists(lived):  # its connection is lost once
        open(lived, "w").close()
        sys.exit()
    print("[" * 9000, json.dumps({{"test": test + 1, "seconds": 9}}), "{{", "{{" * 300, sep="\\n")
    slow = 5.0 if node == "n5" else 1.0
    says = {{"bits": {{"on": "cpu", "digest": "b" if node == "n6" else "a"}},
            "serve": {{"seconds": slow, "right": True}}, "join": {{"seconds": slow, "right": node != "n7"}}}}
    if wanted["kind"] == "serve":
        print(json.dumps({{"test": test, "port": 4711}}), flush=True)
        open("{folder}/" + node + "-serves", "w").write(str(slow))
    if wanted["kind"] == "join":
        time.sleep(0.05)
    print(json.dumps({{"test": test, **says[wanted["kind"]]}}))
    print(json.dumps({{"test": test, "over": ""}}), flush=True)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Nodes n0 to n6 behind a way that only sets their names."""
    for name, text in (
        ("python", NODE.format(python=sys.executable, folder=tmp_path)),
        ("way", '#!/bin/sh\nNODE="$1"; export NODE; shift; exec "$@"\n'),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "nodes.txt").write_text("".join(f"n{number}\n" for number in range(7)), encoding="utf-8")
    return tmp_path


def test_what_nodes_say_is_read_and_what_they_do_not_say_is_unknown(site: Path) -> None:
    """Noise between answers, a connection that is lost once, no torch, a slow node and other gradients."""
    words = ["check-nodes", str(site / "nodes.txt"), "--run", "--through", f"{site}/way {{node}}", "--json"]
    checks = ["--check", "pairs", "--check", "bits", "--python", str(site / "python"), "--at-once", "all"]

    answer = CliRunner().invoke(app, [*words, *checks])

    document = json.loads(answer.stdout)
    found = {(entry["check"], entry["node"]): entry for entry in document["results"]}
    assert answer.exit_code == 1
    assert {key for key, entry in found.items() if entry["outcome"] == "failed"} == {("pairs", "n5"), ("bits", "n6")}
    assert {key for key, entry in found.items() if entry["outcome"] == "unknown"} == {("pairs", "n3"), ("bits", "n3")}
    assert "No module named 'torch'" in found["pairs", "n3"]["says"]
    assert document["links"] == []


class Noisy:
    """Pairs on a busy machine: each takes up to five times as long by chance, and one in fifty never ends."""

    def __init__(self, seed: int, slow: str, dead: str, link: tuple[str, str]) -> None:
        self._chance, self._slow, self._dead, self._link = random.Random(seed), slow, dead, {*link}
        self.tried = 0

    def rounds(self, number: int, pairs: list[tuple[str, str]]) -> list[Pair]:
        """A round."""
        self.tried += len(pairs)
        return [Pair(number, nodes, self._seconds(nodes)) for nodes in pairs]

    def _seconds(self, nodes: tuple[str, str]) -> float | None:
        busy = 1 + min(4.0, self._chance.expovariate(2.0))
        if self._dead in nodes or {*nodes} == self._link or self._chance.random() < 0.02:
            return None
        return busy * (5.0 if self._slow in nodes else 1.0)


@pytest.mark.parametrize("every", [False, True])
def test_a_busy_machine_makes_no_node_slow_and_no_link_dead(every: bool) -> None:
    """400 runs of eight nodes: nobody else is accused; the slow and the dead one are found in nearly all."""
    names = [f"n{number}" for number in range(8)]
    accused, missed, false_links, links = [], 0, 0, 0
    for seed in range(400):
        slow, dead, left, right = random.Random(seed).sample(names, 4)
        verdicts, bad = judge_rounds(names, Noisy(seed, slow, dead, (left, right)).rounds, every=every)  # type: ignore[arg-type]
        failed = {node for node, (outcome, _) in verdicts.items() if outcome is CheckOutcome.FAILED}
        accused += sorted(failed - {slow, dead})
        missed += len({slow, dead} - failed)
        false_links += sum({*link.nodes} != {left, right} for link in bad)
        links += any({*link.nodes} == {left, right} for link in bad)
    assert accused == []
    assert missed <= 4
    assert false_links == 0
    assert links >= 396 or not every


def test_who_reaches_nobody_is_not_tried_with_all() -> None:
    """Each such pair costs a time-out: four that are well with others suffice."""
    names = [f"n{number}" for number in range(8)]
    tried: list[tuple[str, str]] = []

    def rounds(number: int, pairs: list[tuple[str, str]]) -> list[Pair]:
        tried.extend(pairs)
        return [Pair(number, nodes, None if "n4" in nodes else 1.0) for nodes in pairs]

    verdicts, _ = judge_rounds(names, rounds, every=True)  # type: ignore[arg-type]

    assert [node for node, (outcome, _) in verdicts.items() if outcome is CheckOutcome.FAILED] == ["n4"]
    assert sum("n4" in nodes for nodes in tried) <= 5
