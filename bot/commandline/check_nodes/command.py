"""What ``firstfault check-nodes`` does and answers: what would run, or what it came to; as text and as JSON."""

import shlex
import sys
from collections.abc import Sequence
from typing import Final

from bot.commandline.check_nodes.checking import Checking
from bot.commandline.check_nodes.node_checks import ALL_PAIRS, BITS, PAIRS, Chosen, NodeChecks, Results, chosen
from bot.commandline.check_nodes.node_file import fabrics_of
from bot.commandline.check_nodes.run import filled
from bot.commandline.check_nodes.verdicts import VERDICTS, verdicts_of
from bot.commandline.output import as_json, patient_reader
from bot.text.harmless import harmless
from core.checks.check_verdict import CheckOutcome, too_many
from core.checks.links import Link

SCHEMA: Final = "firstfault.checks/1"
PASSED, NOT_PASSED = 0, 1  # exit codes, as docs/reference/command-line.md has them


def check_nodes(wanted: NodeChecks, *, run: bool, json: bool) -> int:
    """Say what would run, or run it; the exit code."""
    checks = chosen(wanted)
    for check in checks.checks:  # a name that cannot be filled in is told before anything runs
        for node in wanted.nodes:
            filled(check, node, peer=wanted.nodes[-1], group=wanted.nodes)
    results: Results = {}
    if checks.verdicts and (reports := verdicts_of(wanted.nodes, wanted.runner, wanted.verdicts, run=run)):
        results[VERDICTS] = reports
    links = Checking(wanted).all(checks, results) if run else ()
    with patient_reader() as reader:
        if json:
            sys.stdout.write(json_of(wanted, checks, results, links, run=run))
        else:
            lines = told_of(wanted, results, links) if run else plan_of(wanted, checks, results)
            sys.stdout.write("".join(f"{line}\n" for line in lines))
    passed = not links and all(
        outcome is CheckOutcome.PASSED for reports in results.values() for outcome, _ in reports.values()
    )
    return reader.exit_code or (PASSED if passed or not run else NOT_PASSED)


def plan_of(wanted: NodeChecks, checks: Chosen, results: Results) -> list[str]:
    """What would run, where, and for how long at most; and what schedulers say already."""
    count = len(wanted.nodes)
    lines = [f"Nothing was run. With --run, on {count} node{'s' * (count != 1)}:"]
    for check in checks.checks:
        peer = wanted.nodes[min(1, count - 1)]
        words = wanted.runner.words(wanted.nodes[0], filled(check, wanted.nodes[0], peer=peer, group=wanted.nodes))
        of = "" if check.scope == "node" else f"a {check.scope}; "
        lines.append(
            f"  {check.name:<14} at most {check.timeout_s:>5.0f} s, load {check.load:<5}  {of}{shlex.join(words)}"
        )
    seconds = wanted.how.seconds
    rounds = f"all pairs in {count - 1 + count % 2} rounds" if wanted.meets_all and count > 1 else "two rounds"
    about = {
        PAIRS: f"all-gather of {wanted.how.megabytes:g} MB by two ({wanted.how.backend}), {rounds} of {seconds:g} s",
        ALL_PAIRS: f"the same, each node with each other, {count - 1} rounds or one more",
        BITS: "one training step of fixed data, gradients bit by bit; among at least three equal nodes",
    }
    fabrics = fabrics_of(wanted.nodes)
    apart = f", apart on {', '.join(fabrics)}" if fabrics != ("",) else ""
    lines += [f"  {name:<14} load light; {about[name]}{apart * (name != BITS)}" for name in checks.own]
    lines.append("Checks of load light and heavy are left out on nodes whose GPUs are in use.")
    if wanted.side_by_side < count:
        lines.append(f"They run on {wanted.side_by_side} nodes at a time (--at-once).")
    for name, (outcome, says) in results.get(VERDICTS, {}).items():
        if outcome is not CheckOutcome.PASSED:
            lines.append(f"{name}  its scheduler says: {says}")
    return [harmless(line, 400) for line in lines]


def told_of(wanted: NodeChecks, results: Results, links: Sequence[Link]) -> list[str]:
    """What did not pass, by node; and what passed, in a line."""
    failed = _with(results, CheckOutcome.FAILED)
    lines = []
    for outcome in (CheckOutcome.FAILED, CheckOutcome.UNKNOWN):
        found = _with(results, outcome)
        for node, outcomes in found.items():
            lines += [harmless(f"{outcome.value:<8}{node}  {name}: {says}", 300) for name, says in outcomes]
    lines += [harmless(f"{'link':<8}{link.nodes[0]} - {link.nodes[1]}  {link.says}", 300) for link in links]
    left = {
        node
        for outcomes in results.values()
        for node, (result, _) in outcomes.items()
        if result is not CheckOutcome.PASSED
    }
    passed = [node.name for node in wanted.nodes if node.name not in left]
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


def json_of(wanted: NodeChecks, checks: Chosen, results: Results, links: Sequence[Link], *, run: bool) -> str:
    """One object, ``firstfault.checks/1``."""
    told = ("name", "scope", "timeout_s", "load", "command")
    planned = [{name: getattr(check, name) for name in told} for check in checks.checks]
    nodes = [
        {"check": name, "node": node, "outcome": outcome.value, "says": harmless(says, 300)}
        for name, by_node in results.items()
        for node, (outcome, says) in by_node.items()
    ]
    failed = len({entry["node"] for entry in nodes if entry["outcome"] == CheckOutcome.FAILED.value})
    document = {
        "schema": SCHEMA,
        "run": run,
        "nodes": [node.name for node in wanted.nodes],
        "at_once": min(wanted.side_by_side, len(wanted.nodes)),
        "checks": [*planned, *({"name": name} for name in checks.own)],
        "results": nodes,
        "links": [{"nodes": list(link.nodes), "says": link.says} for link in links],
        "shared_cause_likely": too_many(failed, len(wanted.nodes)),
    }
    return as_json(document)


def _with(results: Results, outcome: CheckOutcome) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name, outcomes in results.items():
        for node, (result, says) in outcomes.items():
            if result is outcome:
                found.setdefault(node, []).append((name, says))
    return found
