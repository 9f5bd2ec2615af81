"""Where the time of a diagnosis goes: the table names functions that are there."""

import ast

import pytest

from benchmarks.whole.steps import STEPS
from tests.support.places import ROOT


@pytest.mark.parametrize(("label", "file", "function"), STEPS, ids=[label for label, _, _ in STEPS])
def test_every_step_is_a_function(label: str, file: str, function: str) -> None:
    """What was moved or renamed would count as no time at all, and nobody would see it."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert function in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}, label


def test_every_step_of_the_story_is_timed() -> None:
    """What ``core.diagnose`` calls, one line a step, is in the table."""
    story = ast.parse((ROOT / "core/diagnose.py").read_text(encoding="utf-8"))
    steps = next(one for one in story.body if isinstance(one, ast.FunctionDef) and one.name == "diagnose_parsed")
    called = {one.func.id for one in ast.walk(steps) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    no_steps = {"diagnose_l4", "suspects", "Findings", "partial", "is_about_numbers"}
    assert called - no_steps <= {function for _, _, function in STEPS}
