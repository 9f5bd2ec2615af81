"""Nodes that do other work than most: a server among workers."""

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from core.nodes.peers import other_work
from tests.support.jobs import at, job, lines, parse

WORKERS = ("w-1", "w-2", "w-3", "w-4")


def rounds(last: dict[str, int], server: int = 9) -> Job:
    """Workers that fit and answer in each round, and a hub that samples and gathers; then silence until a stop."""
    files = {
        f"{name}/out.log": [
            text
            for n in range(1, last.get(name, 9) + 1)
            for text in (
                at(4 * n, f"round {n}: received parameters"),
                at(4 * n + 1, f"round {n}: fit, rmse 0.5{n}"),
                at(4 * n + 2, f"round {n}: sent the reply"),
            )
        ]
        for name in WORKERS
    }
    files["hub/out.log"] = [
        text
        for n in range(1, server + 1)
        for text in (at(4 * n, f"sampled 4 clients of 4 in {n}"), at(4 * n + 3, f"aggregated {n} from 4 results"))
    ]
    logs = {name: lines(*said) for name, said in files.items()}
    return job(logs, nodes=(*WORKERS, "hub"), start="2026-11-21T04:00:00", end="2026-11-21T04:03:00")


def test_a_server_does_other_work_than_its_workers() -> None:
    """It says what none of them says, again and again, and little of what they say."""
    assert other_work(parse(rounds({}))) == {"hub"}


def test_a_worker_that_failed_at_once_does_the_same_work() -> None:
    """It says little, but nothing of its own; what points to a failure is not counted."""
    one = rounds({"w-3": 1})

    assert other_work(parse(one)) == {"hub"}


def test_a_server_is_not_held_against_its_workers() -> None:
    """It never says what they say: the worker that did not answer is named, and not the hub that waits for it."""
    found = diagnose(rounds({"w-3": 8}, server=8), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["w-3"])
