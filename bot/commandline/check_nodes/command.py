"""What ``firstfault check-nodes`` does: says what would run, and runs it when it is told to."""

import json as jsonlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot.commandline.check_nodes.pairs import MOST_FOR_ALL, PairSettings, check_bits, check_pairs
from bot.commandline.check_nodes.run import Node, NodeRunner, each
from bot.commandline.output import patient_reader
from bot.text.harmless import harmless
from core.checks.catalogue import Check, catalogue
from core.checks.links import Link
from core.checks.verdict import Outcome, Ran, read_ran, too_many
from core.errors import BadSettings
from sources.given import read_given

SCHEMA: Final = "firstfault.checks/1"
PAIRS, ALL_PAIRS, BITS = "pairs", "all-pairs", "bits"
PASSED, NOT_PASSED = 0, 1
_BUSY = ("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader")
_BUSY_S = 20.0


@dataclass(frozen=True, slots=True)
class NodeChecks:
    """Which checks on which nodes. names: of checks, empty for all; heavy: those that take a node for long too."""

    nodes: tuple[Node, ...]
    runner: NodeRunner
    names: tuple[str, ...] = ()
    heavy: bool = False
    how: PairSettings = field(default_factory=PairSettings)


Results = dict[str, dict[str, tuple[Outcome, str]]]  # by check and node


def check_nodes(wanted: NodeChecks, *, run: bool, json: bool) -> int:
    """Say what would run, or run it; the exit code."""
    checks, own = _chosen(wanted)
    results: Results = {}
    links = _run(wanted, checks, own, results) if run else ()
    with patient_reader() as reader:
        if json:
            sys.stdout.write(_json(wanted, checks, own, results, links, run=run))
        else:
            lines = _told(wanted, results, links) if run else _plan(wanted, checks, own)
            sys.stdout.write("".join(f"{line}\n" for line in lines))
    passed = not links and all(one is Outcome.PASSED for told in results.values() for one, _ in told.values())
    return reader.exit_code or (PASSED if passed else NOT_PASSED)


def nodes_in(path: Path) -> tuple[Node, ...]:
    """A node a line: its name, and its address where that is another word. Raises BadSettings."""
    try:
        lines = read_given(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}.", "A node a line, perhaps with its address.") from error
    words = [line.partition("#")[0].split() for line in lines]
    nodes = tuple(Node(word[0], word[1] if len(word) > 1 else word[0]) for word in words if word)
    if not nodes or any(node.name.startswith("-") or node.address.startswith("-") for node in nodes):
        raise BadSettings(f"{path} names no nodes, or one that begins with a minus.", "A node a line.")
    return tuple(dict.fromkeys(nodes))


def _chosen(wanted: NodeChecks) -> tuple[list[Check], list[str]]:
    known = catalogue()
    usual = {check.name for check in known} | {PAIRS, BITS}
    names = usual | {ALL_PAIRS}
    if strange := sorted(set(wanted.names) - names):
        raise BadSettings(f"There is no check {strange[0]}.", f"There are: {', '.join(sorted(names))}.")
    asked = set(wanted.names) or usual
    if ALL_PAIRS in asked and len(wanted.nodes) > MOST_FOR_ALL:
        raise BadSettings(f"All pairs are for {MOST_FOR_ALL} nodes at most.", "Name the nodes of one suspect group.")
    checks = [check for check in known if check.name in asked and (wanted.heavy or check.load != "heavy")]
    return checks, [name for name in (PAIRS, ALL_PAIRS, BITS) if name in asked]


def _run(wanted: NodeChecks, checks: Sequence[Check], own: Sequence[str], results: Results) -> tuple[Link, ...]:
    """Passive checks on all nodes, then the others on those whose GPUs nobody uses; fills results, gives bad links."""
    links: set[Link] = set()
    busy: set[str] | None = None
    for check in checks:
        if check.load != "none" and busy is None:
            busy = _busy(wanted)
        sys.stderr.write(f"{check.name}: {check.what}\n")
        results[check.name] = _one(wanted, check, busy or set())
    busy = _busy(wanted) if busy is None and own else busy or set()
    idle = [node for node in wanted.nodes if node.name not in busy]
    for name in own:
        sys.stderr.write(f"{name}\n")
        told: Mapping[str, tuple[Outcome, str]] = {}
        if name == BITS:
            told = check_bits(idle, wanted.runner, wanted.how)
        elif len(idle) > 1:
            told, bad = check_pairs(idle, wanted.runner, wanted.how, every=name == ALL_PAIRS)
            links |= set(bad)
        results[name] = {node.name: told.get(node.name, _ALONE if node in idle else _IN_USE) for node in wanted.nodes}
    return tuple(sorted(links, key=lambda link: link.nodes))


_IN_USE = Outcome.UNKNOWN, "its GPUs are in use"
_ALONE = Outcome.UNKNOWN, "a pair needs two idle nodes"


def _one(wanted: NodeChecks, check: Check, busy: set[str]) -> dict[str, tuple[Outcome, str]]:
    def run(node: Node) -> tuple[Outcome, str]:
        if check.load != "none" and node.name in busy:
            return _IN_USE
        return read_ran(wanted.runner.run(node, check.command, check.timeout_s), check.read, check.fail)

    return dict(zip((node.name for node in wanted.nodes), each(run, wanted.nodes), strict=True))


def _busy(wanted: NodeChecks) -> set[str]:
    """Nodes with a process on a GPU."""
    ran: list[Ran] = each(lambda node: wanted.runner.run(node, _BUSY, _BUSY_S), wanted.nodes)
    used = [any(line.strip().isdigit() for line in one.output.splitlines()) and one.code == 0 for one in ran]
    return {node.name for node, is_used in zip(wanted.nodes, used, strict=True) if is_used}


def _plan(wanted: NodeChecks, checks: Sequence[Check], own: Sequence[str]) -> list[str]:
    """What would run, where, and for how long at most."""
    count = len(wanted.nodes)
    lines = [f"Nothing was run. With --run, on {count} node{'s' * (count != 1)}:"]
    for check in checks:
        words = wanted.runner.words(wanted.nodes[0], check.command)
        lines.append(f"  {check.name:<14} at most {check.timeout_s:>5.0f} s, load {check.load:<5}  {shlex.join(words)}")
    seconds = wanted.how.seconds
    about = {
        PAIRS: f"all-gather of {wanted.how.megabytes:g} MB by two ({wanted.how.backend}), two rounds of {seconds:g} s",
        ALL_PAIRS: f"the same, each node with each other, {len(wanted.nodes) - 1} rounds or one more",
        BITS: "one training step of fixed data, gradients bit by bit; among at least three equal nodes",
    }
    lines += [f"  {name:<14} load light; {about[name]}" for name in own]
    lines.append("Checks of load light and heavy are left out on nodes whose GPUs are in use.")
    return [harmless(line, 400) for line in lines]


def _told(wanted: NodeChecks, results: Results, links: Sequence[Link]) -> list[str]:
    """What did not pass, by node; and what passed, in a line."""
    failed = _with(results, Outcome.FAILED)
    lines = []
    for outcome in (Outcome.FAILED, Outcome.UNKNOWN):
        found = _with(results, outcome)
        for node, told in found.items():
            lines += [harmless(f"{outcome.value:<8}{node}  {name}: {says}", 300) for name, says in told]
    lines += [harmless(f"{'link':<8}{link.nodes[0]} - {link.nodes[1]}  {link.says}", 300) for link in links]
    passed = [
        node.name for node in wanted.nodes if all(told[node.name][0] is Outcome.PASSED for told in results.values())
    ]
    lines.append(f"{len(passed)} of {len(wanted.nodes)} nodes passed all {len(results)} checks.")
    if too_many(len(failed), len(wanted.nodes)):
        lines.append(
            f"{len(failed)} nodes failed: a shared cause or a wrong check is likelier than so many broken nodes."
        )
    elif failed:
        lines.append("Advice: take the failed ones out; nothing was done to them. What is unknown is not failed.")
    if links:
        lines.append("Advice: look at cables, ports and switches between the two nodes of a link; neither is at fault.")
    return lines


def _with(results: Results, outcome: Outcome) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name, told in results.items():
        for node, (one, says) in told.items():
            if one is outcome:
                found.setdefault(node, []).append((name, says))
    return found


def _json(
    wanted: NodeChecks,
    checks: Sequence[Check],
    own: Sequence[str],
    results: Mapping[str, Mapping[str, tuple[Outcome, str]]],
    links: Sequence[Link],
    *,
    run: bool,
) -> str:
    planned = [
        {"name": check.name, "timeout_s": check.timeout_s, "load": check.load, "command": list(check.command)}
        for check in checks
    ]
    told = [
        {"check": name, "node": node, "outcome": outcome.value, "says": harmless(says, 300)}
        for name, by_node in results.items()
        for node, (outcome, says) in by_node.items()
    ]
    failed = len({one["node"] for one in told if one["outcome"] == Outcome.FAILED.value})
    return (
        jsonlib.dumps(
            {
                "schema": SCHEMA,
                "run": run,
                "nodes": [node.name for node in wanted.nodes],
                "checks": [*planned, *({"name": name} for name in own)],
                "results": told,
                "links": [{"nodes": list(link.nodes), "says": link.says} for link in links],
                "shared_cause_likely": too_many(failed, len(wanted.nodes)),
            },
            indent=2,
        )
        + "\n"
    )
