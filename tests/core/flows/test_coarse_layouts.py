"""Groups of two, stages and experts in records of five to ten milliseconds, where transfers run together."""

import pytest

from tests.core.flows.test_layouts import (
    ACTIVATION,
    EXPERTS,
    GRADIENTS,
    LENGTH,
    PIPELINE,
    RING,
    STEPS,
    TOKENS,
    Row,
    both,
    groups,
    job,
    sent,
)

EMBEDDING = 4  # a port
UNLIKE = (1.3, 2.6, 1.9, 2.2)  # activations of a record, eight together
TWO_BY_TWO = {"dp": {(0, 1), (2, 3)}, "pp": {(0, 2), (1, 3)}}


def two_stages(*, tied: float = 0.0, experts: tuple[float, ...] = (), forward: bool = False) -> list[Row]:
    """Two stages (0 and 1, then 2 and 3) of two replicas.

    Args:
        tied: above 0 the stages share an embedding, and this is how much later an activation comes back.
        experts: tokens as many as gradients between replicas, and how much later they come back on either pair.
        forward: eight activations come back one by one, and go forward in four records of other sizes.
    """
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for near, far in ((0, 2), (1, 3)):
            if forward:
                for place in range(4):
                    size = round(UNLIKE[(place + step) % 4] * ACTIVATION)
                    rows.append(sent(clock + 0.02 * place, near, far, size, port=PIPELINE))
                back = (clock + 0.12 + 0.02 * place for place in range(8))
                rows += [sent(begin, far, near, ACTIVATION, port=PIPELINE) for begin in back]
            for place in range(0 if forward else 6):
                begin = clock + 0.04 * place
                rows.append(sent(begin, near, far, ACTIVATION, port=PIPELINE))
                rows.append(sent(begin + (tied or 0.02), far, near, ACTIVATION, port=PIPELINE))
            if tied:
                rows += both(clock + 0.32, near, far, ACTIVATION, port=EMBEDDING)
        for pair, (near, far) in enumerate(((0, 1), (2, 3))):
            for place in range(6 * bool(experts)):
                rows.append(sent(clock + 0.03 + 0.04 * place, near, far, 3 * TOKENS, port=EXPERTS))
                rows.append(sent(clock + 0.03 + 0.04 * place + experts[pair], far, near, 3 * TOKENS, port=EXPERTS))
            rows += both(clock + 0.3, near, far, GRADIENTS, port=RING)
    return rows


@pytest.mark.parametrize("later", [0.001, 0.003])
def test_stages_beside_a_tied_embedding_are_no_experts(later: float) -> None:
    """In coarse records they are at once for most of their time, as experts are; both ends reduce more elsewhere."""
    found = groups(job(two_stages(tied=later)))

    assert {kind: found[kind] for kind in ("dp", "pp")} == TWO_BY_TWO
    assert "ep" not in found


def test_experts_that_send_more_than_gradients_are_told_by_the_pairs_together() -> None:
    """One pair is at once for less of its time than experts mostly are; the pairs of a job are alike."""
    found = groups(job(two_stages(experts=(0.0005, 0.0024))))

    assert found == TWO_BY_TWO | {"ep": {(0, 1), (2, 3)}}


def test_stages_whose_activations_run_together_one_way_are_a_pipeline() -> None:
    """Forward no size is usual; what comes back is whole, comes often, and never while anything goes forward."""
    assert groups(job(two_stages(forward=True))) == TWO_BY_TWO


def test_stages_whose_activations_run_together_both_ways_are_as_the_other_pair() -> None:
    """Between 1 and 3 no record tells; they send as much as 0 and 2, about as often, and have no NIC in common."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for place in range(8):
            rows.append(sent(clock + 0.03 * place, 0, 2, ACTIVATION, port=PIPELINE))
            rows.append(sent(clock + 0.015 + 0.03 * place, 2, 0, ACTIVATION, port=PIPELINE))
        for place in range(4):
            size = round(UNLIKE[(place + step) % 4] * ACTIVATION)
            rows += both(clock + 0.05 * place, 1, 3, size, port=PIPELINE)
        for near, far in ((0, 1), (2, 3)):
            rows += both(clock + 0.3, near, far, GRADIENTS, port=RING)

    assert groups(job(rows)) == TWO_BY_TWO


def test_ring_that_gathers_twice_what_it_scatters_is_no_pipeline() -> None:
    """A slow link keeps it from sending at once; but what stages send comes back, as much one way as the other."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for nic in range(3):
            far = (nic + 1) % 3
            rows.append(sent(clock + 0.03 * nic, nic, far, GRADIENTS, port=RING, lasts=0.02))
            rows += [
                sent(clock + 0.12 + 0.1 * part + 0.03 * nic, far, nic, GRADIENTS, port=RING, lasts=0.02)
                for part in (0, 1)
            ]

    assert groups(job(rows)) == {"dp": {(0, 1, 2)}}
