"""Facts on real lines of failures and of healthy jobs: role and kind of each.

The lines stand in real_lines.tsv below their source: a public issue (repository and number) or the program that prints
them. Harmless are settings, counters, probes, retries and reports that look like failures.
"""

import pytest

from core.facts import Fact, fact_of
from core.model import Role
from tests.support.jobs import job, lines, parse
from tests.support.real_lines import HARMLESS, REAL_LINES, RealLine

ROLES = ("root", "propagated", "teardown", "stop", HARMLESS)


@pytest.mark.parametrize("role", ROLES)
def test_a_real_line_has_its_meaning(role: str) -> None:
    """What programs and platforms print when they fail is known by role and kind; the harmless points to nothing."""
    of_role = [line for line in REAL_LINES if line.role == role]
    wrong = [(line, fact) for line in of_role if not holds(line, fact := meaning(line.text))]

    assert of_role
    assert wrong == []


def holds(line: RealLine, fact: Fact | None) -> bool:
    """Whether the fact is the expected one; a harmless line may be a benign message, or one that is tried again."""
    if line.role == HARMLESS:
        return fact is None or fact.again or fact.role is Role.BENIGN
    return fact is not None and ("stop" if fact.stop else fact.role.value, fact.kind) == (line.role, line.kind)


def meaning(line: str) -> Fact | None:
    """What a line means, by its template as a job has it."""
    template = parse(job({"a.log": lines(line)})).table.templates[-1]
    return fact_of(template.sample, block=template.block)
