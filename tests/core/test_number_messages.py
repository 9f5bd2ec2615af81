"""Numbers of one table that fell into several messages, and tables of several gauges that fell into one."""

from core.diagnose import diagnose
from core.job import Job
from core.nodes.told_subjects import Number, numbers_of
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
