"""What ``firstfault check-nodes`` does: says what would run, and runs it when it is told to."""

import sys

from bot.commandline.check_nodes.checking import Checking
from bot.commandline.check_nodes.checks_answer import NOT_PASSED, PASSED, json_of, plan_of, told_of
from bot.commandline.check_nodes.node_checks import NodeChecks, Results, chosen
from bot.commandline.check_nodes.run import filled
from bot.commandline.check_nodes.verdicts import VERDICTS, verdicts_of
from bot.commandline.output import patient_reader
from core.checks.check_verdict import CheckOutcome


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
