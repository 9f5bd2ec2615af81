"""What results of checks come to. A check that timed out, is missing or crashed is unknown, and never failed."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

SLOW = 2.0  # times the middle of all pairs, by a node's best round (DLRover's network check)
SURE = 4  # nodes that passed, with which a node has to fail: one may be on a bad link, and a busy machine slow thrice
MAJORITY_OF = 3  # equal nodes; two that differ accuse nobody
MAX_DEPTH = 12  # of a report in JSON
_TOLD = 160  # characters of an output that are shown


class CheckOutcome(StrEnum):
    """Whether a node passed a check; UNKNOWN where the check did not run, or says neither."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished command. code: its exit code, None where it never ended in time or could not be started."""

    code: int | None
    output: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of nodes in one round. seconds: None where it failed; unknown: nobody knows whether the pair ran."""

    round: int
    nodes: tuple[str, str]
    seconds: float | None
    unknown: bool = False


def read_ran(ran: Ran, how: str, fail: str = "") -> tuple[CheckOutcome, str]:
    """What a command says: outcome, and the words for it.

    Args:
        ran: the command.
        how: ``exit code``, ``text`` or ``dcgm``.
        fail: of ``text``, what must not stand in the output.
    """
    if ran.code is None or ran.code in (126, 127):
        return CheckOutcome.UNKNOWN, ran.trouble or "could not be started"
    if how == "dcgm":
        return _dcgm(ran)
    if how == "text":
        found = re.search(fail, ran.output)
        if found:
            return CheckOutcome.FAILED, found[0][:_TOLD]
        return (CheckOutcome.PASSED, "") if ran.code == 0 else (CheckOutcome.UNKNOWN, f"exit code {ran.code}")
    return (CheckOutcome.PASSED, "") if ran.code == 0 else (CheckOutcome.FAILED, f"exit code {ran.code}")


def _dcgm(ran: Ran) -> tuple[CheckOutcome, str]:
    """Every test of the report counts, not the exit code or the last word."""
    try:
        report = json.loads(ran.output[ran.output.index("{") :])
    except (ValueError, RecursionError):
        return CheckOutcome.UNKNOWN, "its output is no JSON"
    results = list(_results(report, "", 0))
    failed = [name for name, word in results if word in ("fail", "failed", "failure")]
    if failed:
        return CheckOutcome.FAILED, ", ".join(dict.fromkeys(failed))[:_TOLD]
    passed = any(word in ("pass", "passed", "healthy") for _, word in results)
    return (CheckOutcome.PASSED, "") if passed else (CheckOutcome.UNKNOWN, "no test of it passed")


def _results(value: Any, name: str, depth: int) -> list[tuple[str, str]]:
    """All status words below a value, with the name of the test around them."""
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, list):
        return [found for entry in value for found in _results(entry, name, depth + 1)]
    if not isinstance(value, dict):
        return []
    own = str(value.get("name", name))
    found = [
        (own, word.strip().lower())
        for key, word in value.items()
        if isinstance(word, str) and key.lower() in ("status", "result", "overall health")
    ]
    return found + [inner for key, entry in value.items() for inner in _results(entry, own or str(key), depth + 1)]


def neighbours(nodes: Sequence[str]) -> list[tuple[str, str]]:
    """Round 1: pairs of neighbours; of an odd number the last one has the one before it once more."""
    pairs = list(zip(nodes[::2], nodes[1::2], strict=False))
    return pairs if len(nodes) % 2 == 0 or len(nodes) < 2 else [*pairs, (nodes[-1], nodes[0])]


def with_good(nodes: Sequence[str], first: Sequence[Pair]) -> list[tuple[str, str]]:
    """Round 2: the slowest or failed with the fastest (DLRover), so that each suspect meets one that passed."""
    best = best_times(first)
    order = sorted(nodes, key=lambda node: (best.get(node, float("inf")), node))
    met = {frozenset(pair.nodes) for pair in first}
    pairs, free = [], list(order)
    while len(free) > 1:
        slow = free.pop()
        partner = next((node for node in free if frozenset((slow, node)) not in met), free[0])
        free.remove(partner)
        pairs.append((partner, slow))
    if free:
        pairs.append((order[0] if order[0] != free[0] else order[1], free[0]))
    return pairs


def with_passed(nodes: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """A further round: who failed with fewer than four that passed, with one more of those.

    One bad link, or one bad partner, decides about nobody.
    """
    verdicts = judge_pairs(nodes, pairs)
    good = [node for node in nodes if verdicts[node][0] is CheckOutcome.PASSED]
    met: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for node in pair.nodes if not pair.unknown else ():
            met[node] |= {*pair.nodes} - {node}
    found: list[tuple[str, str]] = []
    for node in nodes:
        if verdicts[node][0] is CheckOutcome.FAILED and len(met[node].intersection(good)) < SURE:
            partner = next((text for text in good if text not in met[node] and text not in dict(found)), None)
            found += [(partner, node)] if partner is not None else []
    return found


def given_up(pairs: Sequence[Pair]) -> set[str]:
    """Nodes of which no pair ended, with four that passed with others: more of their pairs tell nothing new."""
    best, met = best_times(pairs), defaultdict(set)
    for pair in pairs:
        for node, other in (pair.nodes, pair.nodes[::-1]):
            if not pair.unknown and other in best:
                met[node].add(other)
    return {node for node, others in met.items() if node not in best and len(others) >= SURE}


def judge_pairs(nodes: Sequence[str], pairs: Sequence[Pair]) -> Mapping[str, tuple[CheckOutcome, str]]:
    """Who failed or was slow in every round. A node that no round tells of is unknown."""
    ran: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        for node in pair.nodes:
            if not pair.unknown:
                ran[node].append(pair)
    best = best_times(pairs)
    usual = median(best.values()) if best else 0.0
    verdicts = {}
    for node in nodes:
        rounds = {pair.round for pair in ran[node]}
        if len(rounds) < 2:
            text = "it ran in fewer than two rounds"
            verdicts[node] = (
                (CheckOutcome.PASSED, "") if best.get(node, 2e9) <= SLOW * usual else (CheckOutcome.UNKNOWN, text)
            )
        elif node not in best:
            met = sorted({other for pair in ran[node] for other in pair.nodes if other != node})
            text = f"no all-gather ended, with {', '.join(met)}"
            verdicts[node] = (CheckOutcome.FAILED, text) if len(met) > 1 else (CheckOutcome.UNKNOWN, f"{text} alone")
        elif best[node] > SLOW * usual:
            verdicts[node] = (CheckOutcome.FAILED, f"best {best[node]:.3g} s, the middle of all is {usual:.3g} s")
        else:
            verdicts[node] = (CheckOutcome.PASSED, "")
    return verdicts


def best_times(pairs: Sequence[Pair]) -> dict[str, float]:
    """The fastest pair of each node, in seconds; without the nodes of which no pair ended."""
    best: dict[str, float] = {}
    for pair in pairs:
        for node in pair.nodes if pair.seconds is not None else ():
            best[node] = min(best.get(node, float("inf")), pair.seconds or 0.0)
    return best


def judge_bits(digests: Mapping[str, tuple[str, str] | None]) -> Mapping[str, tuple[CheckOutcome, str]]:
    """Whose gradients differ from those of most equal nodes.

    Args:
        digests: by node what it computes on (device, library, threads), and the hash of its gradients; None unknown.
    """
    verdicts: dict[str, tuple[CheckOutcome, str]] = {
        node: (CheckOutcome.UNKNOWN, "no result") for node, printed in digests.items() if printed is None
    }
    cohorts: dict[str, dict[str, str]] = defaultdict(dict)
    for node, printed in digests.items():
        if printed is not None:
            cohorts[printed[0]][node] = printed[1]
    for kind, members in cohorts.items():
        counts: dict[str, int] = defaultdict(int)
        for digest in members.values():
            counts[digest] += 1
        most = max(counts, key=lambda digest: (counts[digest], digest))
        alone = len(members) < MAJORITY_OF or counts[most] * 2 <= len(members)
        for node, digest in members.items():
            if alone and len(counts) == 1:
                verdicts[node] = (CheckOutcome.UNKNOWN, f"fewer than {MAJORITY_OF} equal nodes ({kind})")
            elif alone:
                verdicts[node] = (CheckOutcome.UNKNOWN, f"no majority among equal nodes ({kind})")
            else:
                told_of = f"its gradients differ from those of {counts[most]} equal nodes"
                verdicts[node] = (CheckOutcome.PASSED, "") if digest == most else (CheckOutcome.FAILED, told_of)
    return verdicts


def too_many(failed: int, total: int) -> bool:
    """Whether a shared cause or a wrong check is likelier than so many broken nodes (two, or a tenth)."""
    return failed > max(2, 0.1 * total)
