"""What machines measure of themselves: one that ends far from all others."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes, signs_of

# procps vmstat 4.0
HEAD = [
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----",
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st",
]
WELL = "7 {n}      0 621963703  10432 210034000    0    0    20    41 61022 120331  7  2 91  0  0"
SWAPS = "6 1{n} 51387938 121699  10432 2223706 60148 100960 79799 110926 61022 120331  7 28 40 25  0"


def measured(of_node: dict[int, list[str]], **manifest: object) -> Job:
    """A job of four nodes that stood still, and what ``vmstat`` printed on each, without a clock."""
    tables = {f"vmstat/node-{node}": [*HEAD, *rows] for node, rows in of_node.items()}
    others = tables | {"console.log": [at(1800, "still there")]}
    return four_nodes({}, usual=[at(n, f"step {n} loss 2.5") for n in range(1, 31)], others=others, **manifest)


def rows(text: str, count: int) -> list[str]:
    return [text.format(n=n % 3) for n in range(count)]


def test_who_swaps_alone_is_told_by_the_name_of_the_column() -> None:
    """From the middle on, which no clock tells."""
    one = measured({node: rows(WELL, 20) + rows(SWAPS if node == 1 else WELL, 20) for node in range(4)})
    found = diagnose(one, [])

    assert [node.node for node in found.nodes] == ["node-1"]
    assert "its swpd is 51,387,938, that of all others 0" in found.headline


@pytest.mark.parametrize(
    ("of_node", "manifest"),
    [
        ({node: rows(SWAPS if node in (1, 2) else WELL, 40) for node in range(4)}, {}),
        ({node: rows(SWAPS if node == 1 else WELL, 20) + rows(WELL, 20) for node in range(4)}, {}),
        ({node: rows(SWAPS if node == 1 else WELL, 40) for node in range(4)}, {"status": Status.COMPLETED}),
        ({node: rows(SWAPS, 40) if node == 1 else rows(WELL, 3) for node in range(4)}, {}),
    ],
    ids=["two of four", "no longer at the end", "the job completed", "the others hardly measured"],
)
def test_other_measurements_accuse_nobody(of_node: dict[int, list[str]], manifest: dict[str, object]) -> None:
    """What two have is no machine's own, and what passed ended nothing."""
    assert [sign for sign in signs_of(measured(of_node, **manifest)) if sign.channel == "odd"] == []


def cards(last: dict[int, list[str]]) -> Job:
    """A job of four nodes that stood still, with a row of ``nvidia-smi`` for each of four cards every ten seconds."""
    form = "{clock}, {card}, {busy} %, 300.12 W"
    tables = {}
    for node in range(4):
        busy = ["98", "97", "99", "98", "97", "99", *last.get(node, [])]
        tables[f"node-{node}/cards.csv"] = [
            form.format(clock=f"2026/11/21 04:{n // 6:02d}:{10 * (n % 6):02d}.500", card=card, busy=own)
            for n, own in enumerate(busy)
            for card in range(4)
        ]
    usual = [at(n, f"step {n} loss 2.5") for n in range(1, 31)]
    return four_nodes({}, usual=usual, others=tables | {"console.log": [at(1800, "still there")]})


def test_a_sample_more_of_one_machine_is_of_another_time() -> None:
    """Its cards idle because the job is over."""
    assert "odd" not in {sign.channel for sign in signs_of(cards({2: ["7", "6"]}))}


def test_a_card_that_idles_now_and_then_is_not_apart() -> None:
    """Its middle is odd by chance; who idles in all of the last samples is."""
    now_and_then = {node: ["98"] * 8 for node in range(4)} | {2: ["0", "98", "0", "0", "98", "0", "0", "98"]}
    idle = now_and_then | {2: ["3"] * 8}

    assert not {"odd", "gauge"} & {sign.channel for sign in signs_of(cards(now_and_then))}
    assert {sign.node for sign in signs_of(cards(idle))} == {"node-2"}
