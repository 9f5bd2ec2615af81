"""What is taken over from detect-secrets is what that library has."""

from collections.abc import Callable
from pathlib import Path

from bot.outgoing.redact import RULES
from tests.support.vendor_rules import rules_of_the_library


def test_the_rules_are_those_of_the_library(golden: Callable[[Path, str], str]) -> None:
    """A new version of detect-secrets with other rules is seen, and taken over with --update-golden."""
    assert golden(RULES, rules_of_the_library()) == rules_of_the_library()
