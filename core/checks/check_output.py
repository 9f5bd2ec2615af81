"""What the output of a check says: an outcome, the words for it, and a number where it is one."""

import json
import math
import re
from collections.abc import Mapping
from statistics import median

from core.checks.catalogue import Check
from core.checks.check_verdict import MAJORITY_OF, CheckOutcome, Ran, read_ran

Reading = tuple[CheckOutcome, str, float | None]  # the number, where one was read
_TOLD = 80  # characters of a value that are shown
_NUMBER = re.compile(r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")


def read_check(ran: Ran, check: Check) -> Reading:
    """What a finished command says of its node, by the check alone; ``among`` sets numbers against each other."""
    if check.read not in ("number", "json"):
        return *read_ran(ran, check.read, check.fail), None
    if ran.code is None or ran.code in (126, 127):
        return CheckOutcome.UNKNOWN, ran.trouble or "could not be started", None
    value = _found(ran.output, check)
    if value is None:
        return CheckOutcome.UNKNOWN, f"its output has no {check.find[:_TOLD]}", None
    if check.equals:
        outcome = CheckOutcome.PASSED if value == check.equals else CheckOutcome.FAILED
        return outcome, "" if outcome is CheckOutcome.PASSED else f"{check.find} is {value[:_TOLD]}", None
    return _limited(value, check)


def _limited(value: str, check: Check) -> Reading:
    number = float(value) if _NUMBER.fullmatch(value.strip()) else math.nan
    if not math.isfinite(number):
        return CheckOutcome.UNKNOWN, f"{value[:_TOLD]} is no number", None
    if check.least is not None and number < check.least:
        return CheckOutcome.FAILED, f"{number:g} is below {check.least:g}", number
    if check.most is not None and number > check.most:
        return CheckOutcome.FAILED, f"{number:g} is above {check.most:g}", number
    return CheckOutcome.PASSED, "", number


def among(read: Mapping[str, Reading], check: Check) -> dict[str, tuple[CheckOutcome, str]]:
    """Outcomes of all nodes: numbers that passed alone are set against the middle of all; of two nobody knows."""
    numbers = [number for _, _, number in read.values() if number is not None]
    middle = median(numbers) if numbers else 0.0
    outcomes = {}
    for node, (outcome, says, number) in read.items():
        outcomes[node] = outcome, says
        if outcome is not CheckOutcome.PASSED or number is None or not check.among_peers:
            continue
        if len(numbers) < MAJORITY_OF:
            outcomes[node] = CheckOutcome.UNKNOWN, f"{number:g}, and fewer than {MAJORITY_OF} nodes to set it against"
        elif check.least_of_peers is not None and number < check.least_of_peers * middle:
            outcomes[node] = (
                CheckOutcome.FAILED,
                f"{number:g}, below {check.least_of_peers:g} times the middle, {middle:g}",
            )
        elif check.most_of_peers is not None and number > check.most_of_peers * middle:
            outcomes[node] = (
                CheckOutcome.FAILED,
                f"{number:g}, above {check.most_of_peers:g} times the middle, {middle:g}",
            )
    return outcomes


def _found(output: str, check: Check) -> str | None:
    if check.read == "number":
        match = re.search(check.find, output)
        return match[1] if match else None
    try:
        value = json.loads(output[output.index("{") :])
        for name in check.find.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return str(value) if isinstance(value, str | int | float) else None
