"""Names that a coordinator lists when it begins: what it tells of one of them is of that machine."""

import pytest

from tests.support.wrapped_logs import layers, shown

NAMES = ("ash", "birch", "cedar", "elm", "fir")


def hub(first: str, clock: str = "") -> bytes:
    """The log of one that writes for all, in turns."""
    rounds = [f"{clock}hub: gate {n}: {name} in" for n in range(1, 9) for name in NAMES]
    steps = [f"{clock}hub: s{n}" for n in range(1, 30)]
    return ("\n".join((f"{clock}{first}", *steps, *rounds)) + "\n").encode()


def test_the_one_that_a_line_names_is_whose_it_is() -> None:
    """Lines that name none are the coordinator's own; so is the list."""
    log = hub("hub: expecting ash, birch, cedar, elm, fir; 2 gpus each")

    assert layers(log) == ["listed names"]
    assert shown(log)[0] == "hub: expecting ash, birch, cedar, elm, fir; 2 gpus each"
    assert shown(log)[30:32] == ["ash: hub: gate 1: in", "birch: hub: gate 1: in"]


@pytest.mark.parametrize(
    "log",
    [
        hub("hub: phases ash, birch, cedar, elm, fir"),  # nothing says that these are machines
        hub(
            "hub: expecting ash, birch, cedar, elm, fir", clock="2026-11-21 04:00:01 "
        ),  # a scheduler's lines stay its own
        hub("hub: expecting oak, pine, yew"),  # of which no line tells
    ],
    ids=["no machines", "a clock", "others"],
)
def test_other_lists_are_none(log: bytes) -> None:
    """Words of a program may take turns as well."""
    assert "listed names" not in layers(log)
