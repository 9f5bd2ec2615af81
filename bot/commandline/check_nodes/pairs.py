"""Pairs of nodes and the bitwise step, with the programs of ``scripts``."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.commandline.check_nodes.run import Node, NodeRunner, each
from core.checks.check_verdict import (
    CheckOutcome,
    Pair,
    Ran,
    judge_bits,
    judge_pairs,
    neighbours,
    with_good,
    with_passed,
)
from core.checks.links import Link, bad_links, circle

SCRIPTS = Path(__file__).parent / "scripts"
# Each pair has its own port, so that nothing of the one before is met; below those that Linux gives out by itself.
PORT, PORTS, APART = 29_400, 3_000, 331
FURTHER = 3  # rounds at most for those that met only others that failed
MOST_FOR_ALL = 64  # nodes of which all pairs are run: 63 rounds
START_S = 120.0  # to load torch from a busy file system


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs are run. python: on the nodes, with torch; megabytes: of a gather; seconds: until it has failed."""

    python: str = "python3"
    backend: str = "gloo"
    megabytes: float = 16.0
    seconds: float = 30.0


Rounds = Callable[[int, Sequence[tuple[str, str]]], list[Pair]]  # runs the pairs of one round, by its number


def judge_rounds(
    names: Sequence[str], rounds: Rounds, *, every: bool = False
) -> tuple[Mapping[str, tuple[CheckOutcome, str]], tuple[Link, ...]]:
    """What nodes and links between well ones come to.

    Two rounds: neighbours, then each slow or failed one with one that was fast; further ones for those that failed and
    met nobody who passed. A link that seems bad is tried again.

    Args:
        names: of the nodes, all of one fabric: another one would hide what fails on this.
        rounds: runs pairs.
        every: all pairs, in as many rounds as that takes.
    """
    if every:
        done = [pair for number, pairs in enumerate(circle(names), 1) for pair in rounds(number, pairs)]
    else:
        first = rounds(1, neighbours(names))
        done = [*first, *rounds(2, with_good(names, first))]
    for _ in range(FURTHER):
        if not (more := with_passed(names, done)):
            break
        done += rounds(done[-1].round + 1, more)
    again = [link.nodes for link in bad_links(done)]
    links = bad_links([*done, *rounds(done[-1].round + 1, again)]) if again else ()
    return judge_pairs(names, done), links


def gathers(nodes: Sequence[Node], runner: NodeRunner, how: PairSettings, at_once: int) -> Rounds:
    """Rounds of all-gathers between two nodes; at_once: nodes that are busy with it."""
    known = {node.name: node for node in nodes}

    def rounds(number: int, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        return _round(number, pairs, known, runner, how, at_once)

    return rounds


def check_bits(
    nodes: Sequence[Node], runner: NodeRunner, how: PairSettings, at_once: int
) -> Mapping[str, tuple[CheckOutcome, str]]:
    """The same step on every node, so many at once; gradients bit by bit."""
    source = (SCRIPTS / "bits.py").read_text(encoding="utf-8")
    ran = each(lambda node: runner.run(node, [how.python, "-c", source], START_S), nodes, at_once)
    digests: dict[str, tuple[str, str] | None] = {}
    for node, item in zip(nodes, ran, strict=True):
        found = _last(item, "digest") if item.code == 0 else None
        digests[node.name] = (str(found["kind"]), str(found["digest"])) if found and "kind" in found else None
    return judge_bits(digests)


def waves(pairs: Sequence[tuple[str, str]], at_once: int) -> list[list[tuple[str, str]]]:
    """Pairs that may run side by side: no node twice in a wave, and no more nodes than may be busy at once."""
    found: list[list[tuple[str, str]]] = []
    for pair in pairs:
        free = next(
            (
                wave
                for wave in found
                if 2 * len(wave) + 2 <= at_once and not {*pair} & {name for other in wave for name in other}
            ),
            None,
        )
        if free is None:
            found.append([pair])
        else:
            free.append(pair)
    return found


def _round(
    number: int,
    pairs: Sequence[tuple[str, str]],
    known: Mapping[str, Node],
    runner: NodeRunner,
    how: PairSettings,
    at_once: int,
) -> list[Pair]:
    source = (SCRIPTS / "pair.py").read_text(encoding="utf-8")
    done: list[Pair] = []
    for wave in waves(pairs, at_once):
        jobs = [
            (known[pair[rank]], rank, known[pair[0]], PORT + (APART * number + len(done) + place) % PORTS)
            for place, pair in enumerate(wave)
            for rank in (0, 1)
        ]

        def run(job: tuple[Node, int, Node, int]) -> Ran:
            node, rank, host, port = job
            words = [
                str(rank),
                host.address,
                node.address,
                str(port),
                str(how.megabytes),
                str(how.seconds),
                how.backend,
            ]
            return runner.run(node, [how.python, "-c", source, *words], START_S + how.seconds)

        ran = each(run, jobs)
        done += [_pair(number, pair, ran[2 * place], ran[2 * place + 1]) for place, pair in enumerate(wave)]
    return done


def _pair(number: int, nodes: tuple[str, str], one: Ran, other: Ran) -> Pair:
    """Unknown where one of the two never was ready: then nobody knows what the other waited for."""
    if any(_last(ran, "ready") is None for ran in (one, other)):
        return Pair(number, nodes, None, unknown=True)
    results = [_last(ran, "seconds") if ran.code == 0 else None for ran in (one, other)]
    if any(found is None or found.get("right") is not True for found in results):
        return Pair(number, nodes, None)
    return Pair(number, nodes, max(float(found["seconds"]) for found in results if found))


def _last(ran: Ran, key: str) -> dict[str, Any] | None:
    """The last line of JSON that holds a key; whatever else stands in the output is not looked at."""
    for line in reversed(ran.output.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict) and key in found:
                return found
    return None
