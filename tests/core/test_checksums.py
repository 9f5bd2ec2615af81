"""Checksums that replicas tell before they give up: who alone has another one."""

import pytest

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from tests.support.jobs import at, four_nodes, raised, signs_of, steps

SHARED, OWN = "41d7ab90", "9c01ffe2"


def told(checksums: tuple[str, ...], *, raises: bool = True) -> Job:
    """Four ranks that tell a checksum each, and raise the same then."""
    end = raised("RuntimeError: replicas diverged: parameter digests differ") if raises else []
    said = {n: [at(21, f"verify: replica digest {of}"), at(22, "x"), *end] for n, of in enumerate(checksums)}
    return four_nodes(said, usual=steps(20))


def test_who_alone_has_another_checksum_is_where_to_look() -> None:
    """All raise alike; the numbers tell them apart."""
    found = diagnose(told((SHARED, SHARED, OWN, SHARED)), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert f"its checksum is {OWN} there, {SHARED} on all others" in found.headline


@pytest.mark.parametrize(
    "checksums",
    [(SHARED,) * 4, (SHARED, SHARED, OWN, OWN), (SHARED, OWN, "77aa00bb", "12cd34ef")],
    ids=["all alike", "two and two", "one each"],
)
def test_checksums_without_an_odd_one_accuse_nobody(checksums: tuple[str, ...]) -> None:
    """Nor do those that each process has for itself."""
    assert not diagnose(told(checksums), []).nodes


def test_checksums_of_a_job_that_nobody_gave_up_are_no_sign() -> None:
    """They may be of what differs from rank to rank."""
    signs = signs_of(told((SHARED, SHARED, OWN, SHARED), raises=False))

    assert not [sign for sign in signs if sign.channel == "agreement"]
