"""``firstfault check-nodes``: a site's own checks, fabrics, schedulers' verdicts, a tenth of the nodes at a time."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.commandline.check_nodes.node_file import nodes_in
from bot.commandline.check_nodes.pairs import judge_rounds, waves
from bot.commandline.check_nodes.run import Node
from bot.commandline.cli import app
from core.checks.check_verdict import CheckOutcome, Pair
from core.errors import BadSettings

SITE = """
[[check]]
name = "site-ping"
what = "packets between two nodes"
command = ["ping", "{node}", "{peer_address}"]
timeout_s = 20
load = "light"
scope = "pair"
read = "exit code"

[[check]]
name = "site-speed"
what = "speed of the local disk"
command = ["speed"]
timeout_s = 20
load = "light"
read = "number"
find = '(\\d+) MB/s'
least_of_peers = 0.5

[[check]]
name = "site-root"
what = "needs root"
command = ["true"]
timeout_s = 20
load = "none"
needs = ["root"]
read = "exit code"
"""


def ran(*words: object) -> Result:
    return CliRunner().invoke(app, ["check-nodes", *map(str, words)])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site whose ``ping`` fails to and from n3, whose n2 is slow, and that lets nobody be root on n1."""
    way = tmp_path / "way"
    way.write_text(
        '#!/bin/sh\nNODE=$1; shift\ncase "$1" in\n'
        "nvidia-smi) exit 0;;\n"
        'ping) case "$2$3" in *n3*) exit 1;; esac;;\n'
        "speed) [ $NODE = n2 ] && echo 10 MB/s || echo 90 MB/s;;\n"
        "id) [ $NODE = n1 ] && echo 1000 || echo 0;;\n"
        "esac\nexit 0\n",
        encoding="utf-8",
    )
    way.chmod(way.stat().st_mode | stat.S_IXUSR)
    catalogue = tmp_path / "site.toml"
    catalogue.write_text(SITE, encoding="utf-8")
    monkeypatch.setenv("FIRSTFAULT_CHECKS", str(catalogue))
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("".join(f"n{number}\n" for number in range(1, 7)), encoding="utf-8")
    return tmp_path


def outcomes(answer: Result, check: str) -> dict[str, str]:
    document: dict[str, Any] = json.loads(answer.stdout)
    return {result["node"]: result["outcome"] for result in document["results"] if result["check"] == check}


def test_a_sites_own_checks_run_on_nodes_and_pairs(site: Path) -> None:
    """Who fails with every partner has failed, who is slow among its peers too, and without root nobody knows."""
    checks = [word for name in ("site-ping", "site-speed", "site-root") for word in ("--check", name)]
    answer = ran(site / "nodes.txt", "--run", "--through", f"{site}/way {{node}}", "--json", *checks)

    assert answer.exit_code == 1
    assert [node for node, outcome in outcomes(answer, "site-ping").items() if outcome != "passed"] == ["n3"]
    assert [node for node, outcome in outcomes(answer, "site-speed").items() if outcome != "passed"] == ["n2"]
    assert outcomes(answer, "site-root")["n1"] == "unknown"
    assert outcomes(answer, "site-root")["n2"] == "passed"


def test_a_catalogue_is_the_users_setting_and_never_a_file_that_lies_about(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that begins in the working directory is refused; so is a name that is there already."""
    monkeypatch.chdir(site)
    for text, name in ((SITE, "site.toml"), (SITE.replace("site-ping", "links"), str(site / "site.toml"))):
        (site / "site.toml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("FIRSTFAULT_CHECKS", name)
        assert isinstance(ran(site / "nodes.txt").exception, BadSettings)
    monkeypatch.delenv("FIRSTFAULT_CHECKS")
    assert "site-" not in ran(site / "nodes.txt").stdout


def test_a_name_that_a_command_may_take_for_more_is_not_filled_in(site: Path) -> None:
    """Before anything runs."""
    (site / "nodes.txt").write_text("n1\nn2;reboot\n", encoding="utf-8")

    answer = ran(site / "nodes.txt", "--run", "--through", f"{site}/way {{node}}", "--check", "site-ping")

    assert isinstance(answer.exception, BadSettings)


def test_schedulers_are_read_first(site: Path) -> None:
    """Who is out is failed, without a run only told; who is not named by them has no row."""
    report = site / "sinfo.txt"
    report.write_text(
        "REASON               USER      TIMESTAMP           NODELIST\n"
        "Not responding       slurm     2026-11-18T10:00:00 n[2,5]\n",
        encoding="utf-8",
    )
    words = (site / "nodes.txt", "--verdicts", report, "--check", "verdicts")

    assert "n2  its scheduler says: out: Not responding" in ran(*words).stdout
    answer = ran(*words, "--run", "--through", f"{site}/way {{node}}", "--json")
    assert outcomes(answer, "verdicts") == {"n2": "failed", "n5": "failed"}


def test_a_tenth_of_the_nodes_is_busy_at_a_time(site: Path) -> None:
    """Two at least; more where a person says so."""
    assert "They run on 2 nodes at a time" in ran(site / "nodes.txt").stdout
    assert "at a time" not in ran(site / "nodes.txt", "--at-once", "all").stdout
    (site / "nodes.txt").write_text("".join(f"n{number}\n" for number in range(45)), encoding="utf-8")
    assert json.loads(ran(site / "nodes.txt", "--json").stdout)["at_once"] == 4
    assert ran(site / "nodes.txt", "--at-once", "46").exit_code == 2
    assert [len(wave) for wave in waves([("a", "b"), ("c", "d"), ("e", "f")], 4)] == [2, 1]


def test_fabrics_are_kept_apart(site: Path) -> None:
    """A node has an address a fabric, each is planned by itself; nccl, which chooses itself, is refused."""
    nodes = site / "fabrics.txt"
    nodes.write_text("n1 ethernet=10.0.0.1 ib=10.1.0.1\nn2 ethernet=10.0.0.2 ib=10.1.0.2\n", encoding="utf-8")

    assert nodes_in(nodes)[0] == Node("n1", "10.0.0.1", (("ethernet", "10.0.0.1"), ("ib", "10.1.0.1")))
    assert "apart on ethernet, ib" in ran(nodes).stdout
    assert isinstance(ran(nodes, "--backend", "nccl").exception, BadSettings)


def test_what_fails_on_one_fabric_is_not_hidden_by_another() -> None:
    """A node that only reaches nobody over InfiniBand has failed there: results of fabrics are never joined."""
    names = ["a", "b", "c", "d"]

    def over(broken: str) -> dict[str, CheckOutcome]:
        def rounds(number: int, pairs: Any) -> list[Pair]:
            return [Pair(number, pair, None if broken in pair else 1.0) for pair in pairs]

        return {node: outcome for node, (outcome, _) in judge_rounds(names, rounds)[0].items()}

    assert over("c")["c"] is CheckOutcome.FAILED
    assert set(over("nobody").values()) == {CheckOutcome.PASSED}
