"""Lists of all machines in which one stands apart."""

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes, job, lines, signs_of, steps

FAMILIAR = "NVIDIA A100-SXM4-40GB"


def listed(row: dict[int, list[str]], **manifest: object) -> Job:
    """A job of four nodes that hung, and a list of their cards that somebody wrote while it did."""
    rows = [text for node in range(4) for text in (f"node-{node}  Sat Nov 21 04:31:11 2026", *row[node])]
    return four_nodes({}, usual=steps(20), others={"gpustat.txt": rows}, end="2026-11-21T04:40:00Z", **manifest)


def cards(busy: int) -> list[str]:
    """Two rows of gpustat, of which the second card is so busy."""
    return [f"[{card}] {FAMILIAR} | 50'C, {share} % | 38211 / 40960 MB" for card, share in ((0, 100), (1, busy))]


def odd(one: Job) -> list[tuple[str, float]]:
    """The nodes that such a list tells from all others, and how much that says."""
    return [(sign.node, sign.weight) for sign in signs_of(one) if sign.channel == "odd"]


def test_the_idle_card_of_a_job_that_hung_is_told() -> None:
    """All others spin in their collective."""
    one = listed({node: cards(0 if node == 2 else 100) for node in range(4)})

    assert odd(one) == [("node-2", 0.45)]
    assert "node-2 has 0 where all others have 100" in " ".join(sign.because for sign in signs_of(one))


def test_several_numbers_say_more() -> None:
    """A card with its clock and its power halved."""
    rows = {node: [f"cn{node} 0 {340 if node == 1 else 640} {960 if node == 1 else 1950}"] for node in range(4)}

    assert odd(listed(rows)) == [("node-1", 0.55)]


def test_numbers_that_differ_on_all_tell_nothing() -> None:
    """Process ids and session numbers."""
    assert odd(listed({node: [f"started session {1000 * 3**node} of user root"] for node in range(4)})) == []


def test_lists_of_several_shapes_tell_nothing() -> None:
    """What each machine says another number of times is a log and no list."""
    assert odd(listed({node: cards(0 if node == 2 else 100) * (node + 1) for node in range(4)})) == []


def test_it_is_told_of_a_job_that_completed_if_several_numbers_agree() -> None:
    """It took longer than it needed to, which no line says."""
    rows = {node: [f"cn{node} 0 {340 if node == 1 else 640} {960 if node == 1 else 1950}"] for node in range(4)}
    one = listed(rows, status=Status.COMPLETED)

    assert [node.node for node in diagnose(one, []).nodes] == ["node-1"]


def test_a_job_of_two_nodes_is_compared_with_nobody() -> None:
    """Either may be the odd one."""
    rows = lines("node-0", *cards(100), "node-1", *cards(0))
    one = job({"node-0/a.log": lines(*steps(9)), "node-1/a.log": lines(*steps(9)), "gpustat.txt": rows})

    assert odd(one) == []


def each_says(*texts: str) -> Job:
    """A job that hung, of nodes each of which said one line of its own beside its iterations."""
    files = {f"node-{n}/rank_{n}.log": lines(*steps(5), text, *steps(20, first=6)) for n, text in enumerate(texts)}
    ranks = {f"node-{n}": (n,) for n in range(len(texts))}
    files["console.log"] = lines(at(1800, "the job is still there"))
    return job(files, node_ranks=ranks, nodes=tuple(ranks))


def test_what_each_machine_says_once_is_a_list_too() -> None:
    """The port of one came up at a fifth of the rate; so much is free on each that no two have it alike."""
    free = (7.1, 1.3, 6.4, 2.2)
    texts = [f"ib0 state=Active rate={40 if n == 2 else 200} Gb/sec /data free={free[n]}T" for n in range(4)]
    one = each_says(*texts)

    assert odd(one) == [("node-2", 0.45)]
    assert "rate=40 Gb/sec" in diagnose(one, []).headline
    assert "where all others have 200" in diagnose(one, []).headline


def preflight(rates: dict[str, int], **manifest: object) -> Job:
    """A job without clocks of whose nodes each says once what a check of its link found."""
    files = {
        f"{node}.log": lines(
            f"[preflight] {node} gpus=4 ib0 state=Active rate={rate} Gb/sec mtu=4096",
            *(f"step {n} loss 2.5" for n in range(1, 30)),
        )
        for node, rate in rates.items()
    }
    return job(files, nodes=tuple(rates), **manifest)


def test_a_slower_link_that_a_node_tells_once_is_told_of_a_job_of_unknown_pace() -> None:
    """All others agree on its speed."""
    rates = {f"node-{n}": 40 if n == 2 else 200 for n in range(4)}

    found = diagnose(preflight(rates, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "node-2 has 40 where all others have 200" in found.nodes[0].because
    assert odd(preflight({node: 100 * (n + 1) for n, node in enumerate(rates)}, status=Status.CANCELLED)) == []
