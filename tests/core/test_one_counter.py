"""What runs, or stands, on one machine alone: counters of errors since the onset, gauges all along."""

from collections.abc import Callable

import pytest

from core.job import Job, Status
from tests.support.jobs import at, four_nodes, job, lines, signs_of

SLOW_FROM, LAST = 61, 100  # iterations
PORT = "port ib0 rate=400 symbol_errors={}"


def slowed(counted: Callable[[int, float], int], *, slow: float = 6.0) -> Job:
    """A job of four nodes whose steps take longer from an iteration on.

    Args:
        counted: what a daemon of each node counts every ten seconds, by node and time.
        slow: seconds of a step from then on; it takes two before.
    """
    clock, steps = 0.0, list[str]()
    for step in range(1, LAST + 1):
        clock += 2.0 if step < SLOW_FROM else slow
        steps.append(at(clock, f"step {step} loss 2.5"))
    others = {
        f"daemon/node-{node}.log": [
            at(10 * k + node, PORT.format(counted(node, 10.0 * k))) for k in range(int(clock) // 10)
        ]
        for node in range(4)
    }
    return four_nodes({}, usual=steps, others=others, status=Status.CANCELLED)


def since_the_onset(node: int, clock: float) -> int:
    """One error now and then on each, and very many on node 2 since it became slow."""
    return 30 + int(clock) // 60 + (int(17 * max(0.0, clock - 2 * SLOW_FROM)) if node == 2 else 0)


def test_the_machine_whose_errors_alone_run_since_the_onset_is_told() -> None:
    """In whatever words; the job does not fail, and no line complains."""
    found = [sign for sign in signs_of(slowed(since_the_onset)) if sign.channel == "gauge"]

    assert [sign.node for sign in found] == ["node-2"]
    assert "symbol_errors rose by" in found[0].because


@pytest.mark.parametrize(
    "counted",
    [
        lambda node, clock: 30 + int(17 * clock) * (node == 2),
        lambda node, clock: 30 + int(17 * max(0.0, clock - 2 * SLOW_FROM)) * (node in (1, 2)),
        lambda node, clock: 30 + int(max(0.0, clock - 2 * SLOW_FROM)) // 10 * (node == 2),
        lambda node, clock: 30 + int((2 if node == 2 else 1) * clock),
    ],
    ids=["it ran before, too", "on two machines", "some ten errors", "on all, twice as fast"],
)
def test_other_counters_accuse_nobody(counted: Callable[[int, float], int]) -> None:
    """A counter that always ran, that runs on several, or that hardly rises tells of no change."""
    assert [sign for sign in signs_of(slowed(counted)) if sign.channel == "gauge"] == []


def test_a_counter_of_a_job_that_is_not_slow_accuses_nobody() -> None:
    """Errors that hold nobody up are no fault of the job."""
    assert [sign for sign in signs_of(slowed(since_the_onset, slow=2.0)) if sign.channel == "gauge"] == []


def gauged(busy: Callable[[int], float], step: float, **manifest: object) -> Job:
    """A job of six nodes of which a daemon tells how busy each is, with so many seconds for a step."""
    nodes = {f"node-{n}": (n,) for n in range(6)}
    files = {
        f"node-{n}/rank_{n}.log": lines(*(at(step * k, f"step {k} loss 2.5") for k in range(1, 60))) for n in range(6)
    }
    files |= {
        f"daemon/node-{n}.log": lines(
            *(at(5 * k + 1, f"duty={busy(n) + k % 3:.1f} temp=6{k % 3}") for k in range(1, 40))
        )
        for n in range(6)
    }
    return job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=6, settings_id="a", **manifest)


@pytest.mark.parametrize(
    ("busy", "step", "who"),
    [
        ({3: 97.0}, 6.0, ["node-3"]),
        ({3: 97.0}, 4.0, []),
        ({3: 97.0, 4: 97.0}, 6.0, []),
        ({0: 97.0}, 6.0, []),
        ({3: 72.0}, 6.0, []),
    ],
    ids=["one is busy", "the job is as fast as good ones", "two are", "the first one is", "by little"],
)
def test_who_alone_is_busy_in_a_job_slower_than_good_ones_holds_it_up(
    busy: dict[int, float], step: float, who: list[str]
) -> None:
    """All others wait for it, and are idle for a third of the time."""
    good = gauged(lambda _: 96.0, 4.0, status=Status.COMPLETED)
    one = gauged(lambda node: busy.get(node, 64.0), step, status=Status.CANCELLED)

    assert [sign.node for sign in signs_of(one, good) if sign.channel == "gauge"] == who


@pytest.mark.parametrize(
    ("load", "beside", "who"),
    [(8.0, True, ["node-2"]), (1.5, True, []), (8.0, False, [])],
    ids=["eight times", "by half", "said by the program that trains"],
)
def test_what_a_machine_measures_alone_since_the_onset_is_told(load: float, beside: bool, who: list[str]) -> None:
    """The load of one goes up when the job becomes slow; before the job trained all were idle."""
    clock, steps = 60.0, list[tuple[float, str]]()
    for step in range(1, LAST + 1):
        clock += 2.0 if step < SLOW_FROM else 6.0
        steps.append((clock, f"step {step} loss 2.5"))
    files: dict[str, list[tuple[float, str]]] = {}
    for node in range(4):
        agent = f"node-{node}/rank_{node}.log" if not beside else f"node-{node}/agent.log"
        files[f"node-{node}/rank_{node}.log"] = list(steps)
        said = files.setdefault(agent, [])
        for k in range(int(clock) // 10):
            busy = 2.0 if k < 5 else 20.0
            busy *= load if node == 2 and 10 * k > 60 + 2 * SLOW_FROM else 1.0
            said.append((10 * k + node / 10, f"agent: queue={busy + k % 3 / 10:.2f} swap=0.0"))
    texts = {name: lines(*(at(time, text) for time, text in sorted(said))) for name, said in files.items()}
    nodes = {f"node-{n}": (n,) for n in range(4)}
    one = job(dict(texts), nodes=tuple(nodes), node_ranks=nodes, world_size=4, status=Status.CANCELLED)

    assert [sign.node for sign in signs_of(one) if sign.channel == "series"] == who
