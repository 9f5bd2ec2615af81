"""Numbers of one table that fell into several messages, and tables of several gauges that fell into one."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.timings import may_be_duration
from core.diagnose import diagnose
from core.job import Job
from core.nodes import told_subjects
from core.nodes.rank_values import CLOCK
from core.nodes.told_subjects import NAMED_RANK, Number, numbers_of
from tests.support.jobs import at, four_nodes, signs_of

STEPS = [at(n, f"step {n} loss 2.5") for n in range(1, 21)] + [
    at(20 + 3 * n, f"step {20 + n} loss 2.5") for n in range(1, 21)
]
# NVIDIA/dcgm-exporter, etc/default-counters.csv, in Prometheus' text format
GAUGE = 'DCGM_FI_DEV_{name}{{gpu="{card}",UUID="GPU-2002{node}{card}",Hostname="node-{node}"}} {value}'


def exported(node: int, *, slow: bool) -> list[str]:
    """What an exporter of two cards said forty times, whose clock and power fell in the middle."""
    said = []
    for n in range(40):
        low = slow and n >= 20
        for card in range(2):
            said.append(GAUGE.format(name="SM_CLOCK", card=card, node=node, value=(900 if low else 1800) + n % 3))
            said.append(GAUGE.format(name="POWER_USAGE", card=card, node=node, value=(300 if low else 600) + n % 5))
            said.append(GAUGE.format(name="GPU_TEMP", card=card, node=node, value=50 + n % 4))
    return said


def with_gauges(slow: tuple[int, ...]) -> Job:
    """A job of four nodes that became slow, and what exporters of each said."""
    others = {f"dcgm/node-{node}.prom": exported(node, slow=node in slow) for node in range(4)}
    return four_nodes({}, usual=STEPS, others=others)


def by_numbers(found: Job) -> list[str]:
    """Nodes to which numbers point that nobody knows."""
    return [sign.node for sign in signs_of(found) if sign.channel == "series"]


def test_who_alone_falls_to_half_in_a_gauge_a_line_is_named_by_the_gauge() -> None:
    """Half of the usual clock is far less than what a single reading may be off by."""
    found = diagnose(with_gauges((2,)), ())
    assert found.nodes[0].node == "node-2"
    assert "SM_CLOCK" in found.nodes[0].because or "POWER_USAGE" in found.nodes[0].because


def test_gauges_that_fall_everywhere_name_nobody() -> None:
    """All wait: each card draws less."""
    assert not by_numbers(with_gauges((0, 1, 2, 3)))


def test_a_gauge_has_the_name_of_its_metric_and_no_labels() -> None:
    """What stands in braces tells of what it is."""
    assert numbers_of(GAUGE.format(name="SM_CLOCK", card=1, node=3, value=1842)) == [
        Number(0, "DCGM_FI_DEV_SM_CLOCK", 1842.0)
    ]


def test_a_state_that_changes_with_a_number_does_not_split_its_series() -> None:
    """``cap=off`` is another message than ``cap=on``, and the same table."""

    def told(node: int) -> list[str]:
        low = [node == 1 and n >= 20 for n in range(40)]
        return [
            f"in_w={2400 if is_low else 4800 + n % 7} fans={4000 if is_low else 8000} cap={'on' if is_low else 'off'}"
            for n, is_low in enumerate(low)
        ]

    found = four_nodes({}, usual=STEPS, others={f"bmc/node-{node}.log": told(node) for node in range(4)})
    assert by_numbers(found) == ["node-1"]


def plainly(text: str, *, names_rank: bool) -> list[Number]:
    """What ``numbers_of`` gives, of the text itself and not by its shape."""
    text = CLOCK.sub(" ", text)
    text = told_subjects._COORDINATES.sub(" ", NAMED_RANK.sub(" ", text, count=1) if names_rank else text)
    found, name, times = list[Number](), "", Counter[str]()
    for token in told_subjects._TOKEN.finditer(text):
        if token["word"]:
            name = token["word"]
            continue
        unit = re.match(r" ?(m?s)\b", text[token.end() :])
        name = f"{name} {unit[1]}" if unit and name and not may_be_duration(name) else name
        found.append(Number(times[name], name, float(token["number"])))
        times[name] += 1
        name = ""
    return found


PARTS = ("2026-11-21 04:15:18,066", "04:15:18", "rank 3", "rank=12:", "Rank", "(1, 2)", "[0,3]", "gpu-7", "gpu-17",
         "p07", "loss", "8.25", "1e-05", "77", "12", "4", " ms", " s", "s", "10.0.0.7:29500", "-", ":", "=", ",",
         "v1.2.3", "\u0663", "\u00e9", " ")  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(["", " "]), st.booleans())
@pytest.mark.parametrize("length", [0, 600])
def test_lines_of_one_shape_have_their_numbers_at_the_same_places(
    length: int, parts: list[str], between: str, names_rank: bool
) -> None:
    """What is found by a line's shape is what is found by the line, however long, whichever its digits are."""
    text = between.join([*parts, "x" * length])
    for shifted in (text, text.translate(str.maketrans("0123456789", "9876543210"))):
        assert numbers_of(shifted, names_rank=names_rank) == plainly(shifted, names_rank=names_rank)
