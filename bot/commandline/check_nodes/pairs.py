"""Pairs of nodes and the bitwise step, asked for from the programs on the nodes."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bot.commandline.check_nodes.run import Node, each
from bot.commandline.check_nodes.sessions import GRACE_S, Answer, Session, Sessions
from core.checks.check_verdict import (
    CheckOutcome,
    Pair,
    given_up,
    judge_bits,
    judge_pairs,
    neighbours,
    with_good,
    with_passed,
)
from core.checks.links import Link, bad_links, circle

FURTHER = 5  # rounds at most for those that met too few that passed
AGAIN = 3  # times that a link which seems bad is tried again: a busy machine is slow once, and hardly four times
MOST_FOR_ALL = 64  # nodes of which all pairs are run: 63 rounds
BITS_S = 120.0  # of one step: a second, and much of it on a busy machine


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
    met few who passed. What nobody knows of is tried again, and so is a link that seems bad, from its other end too.

    Args:
        names: of the nodes, all of one fabric: another one would hide what fails on this.
        rounds: runs pairs.
        every: all pairs, in as many rounds as that takes.
    """
    done = _all_pairs(names, rounds) if every else rounds(1, neighbours(names))
    if not every:
        done += rounds(2, with_good(names, done))
    if lost := [pair.nodes for pair in done if pair.unknown]:
        done += rounds(done[-1].round + 1, lost)
    for _ in range(FURTHER):
        if not (more := with_passed(names, done)):
            break
        done += rounds(done[-1].round + 1, more)
    links, tried = bad_links(done), done
    for _ in range(AGAIN):
        if links:
            tried = [*tried, *rounds(tried[-1].round + 1, [_turned(link.nodes, tried) for link in links])]
            links = bad_links(tried)
    return judge_pairs(names, done), links


def _all_pairs(names: Sequence[str], rounds: Rounds) -> list[Pair]:
    done: list[Pair] = []
    for number, pairs in enumerate(circle(names), 1):
        over = given_up(done)
        done += rounds(number, [nodes for nodes in pairs if not over.intersection(nodes)])
    return done


def _turned(nodes: tuple[str, str], tried: Sequence[Pair]) -> tuple[str, str]:
    """Two nodes the other way round than the last time."""
    last = next(pair.nodes for pair in reversed(tried) if {*pair.nodes} == {*nodes})
    return last[1], last[0]


def gathers(nodes: Sequence[Node], sessions: Sessions, how: PairSettings, at_once: int) -> Rounds:
    """Rounds of all-gathers between two nodes; at_once: nodes that are busy with it."""
    known = {node.name: node for node in nodes}

    def rounds(number: int, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        done: list[Pair] = []
        for wave in waves(pairs, at_once):
            answering = sessions.of([known[name] for nodes in wave for name in nodes])
            done += each(partial(_gather, number, known, answering, how), wave)
        return done

    return rounds


def check_bits(nodes: Sequence[Node], sessions: Sessions, at_once: int) -> Mapping[str, tuple[CheckOutcome, str]]:
    """The same step on every node, so many at once; gradients bit by bit."""
    digests: dict[str, tuple[str, str] | None] = {}
    for place in range(0, len(nodes), at_once):
        names = [node.name for node in nodes[place : place + at_once]]
        answering = sessions.of(nodes[place : place + at_once])
        digests |= zip(names, each(_bits, [answering.get(name) for name in names]), strict=True)
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


def _gather(
    number: int, known: Mapping[str, Node], answering: Mapping[str, Session], how: PairSettings, nodes: tuple[str, str]
) -> Pair:
    """One pair. Unknown where one of the two does not answer: then nobody knows what the other waited for."""
    first, second = (answering.get(name) for name in nodes)
    if first is None or second is None:
        return Pair(number, nodes, None, unknown=True)
    limit = 2 * how.seconds + GRACE_S
    until = time.monotonic() + limit + GRACE_S
    wanted = {"megabytes": how.megabytes, "seconds": how.seconds, "backend": how.backend}
    served = first.ask("serve", limit, own=known[nodes[0]].address, **wanted)
    begun = first.answer(served, until) or {}
    if not isinstance(begun.get("port"), int):
        return Pair(number, nodes, None, unknown=True)
    where = {"host": known[nodes[0]].address, "port": begun["port"]}
    joined = second.ask("join", limit, own=known[nodes[1]].address, **where, **wanted)
    return _pair(number, nodes, [_result(first, served, until), _result(second, joined, until)])


def _pair(number: int, nodes: tuple[str, str], results: Sequence[Answer]) -> Pair:
    """What the words of both nodes come to; where one of them told no result, nobody knows."""
    times = [result.get("seconds") for result in results]
    known = [float(value) for value in times if isinstance(value, int | float) and 0 < value < math.inf]
    failed = ["failed" in result for result in results]
    if len(known) + sum(failed) < len(results):
        return Pair(number, nodes, None, unknown=True)
    right = not any(failed) and all(result.get("right") is True for result in results)
    return Pair(number, nodes, max(known) if right else None)


def _bits(session: Session | None) -> tuple[str, str] | None:
    """What a step ran on, and the hash of its gradients; None where nobody knows."""
    if session is None:
        return None
    result = _result(session, session.ask("bits", BITS_S), time.monotonic() + BITS_S + GRACE_S)
    on, digest = result.get("on"), result.get("digest")
    return (on, digest) if isinstance(on, str) and isinstance(digest, str) else None


def _result(session: Session, test: int, until: float) -> Answer:
    """All that was said of a test until its process was over; nothing of one that crashed or was ended."""
    found: Answer = {}
    while (answer := session.answer(test, until)) is not None:
        if "over" in answer:
            return found if answer["over"] == "" else {}
        found |= answer
    return {}
