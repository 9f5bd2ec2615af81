"""Catalogues of checks: ours, and those of sites; what makes no sense is told with its place."""

import pytest

from core.checks.catalogue import Check, catalogue, read_catalogue
from core.checks.check_output import among, read_check
from core.checks.check_verdict import CheckOutcome, Ran
from core.errors import BadSettings

CHECK = """
[[check]]
name = "clock"
what = "clock of the GPU"
command = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
timeout_s = 20
load = "none"
read = "number"
find = '(\\d{1,6})'
"""


def test_our_own_catalogue_is_one() -> None:
    """Nine checks, each of a node, the heaviest last."""
    assert [check.name for check in catalogue()][-1] == "diagnostics-3"
    assert {check.scope for check in catalogue()} == {"node"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no [[check]]"),
        ("check = 5", "has no [[check]]"),
        ("[[check", "is no TOML"),
        (CHECK, "needs a limit"),
        (CHECK + "least = 1\nleast_of = 2", "a key that no check has"),
        (CHECK + "least = 'many'", "least is a number"),
        (CHECK.replace("timeout_s = 20", "") + "least = 1", "lacks timeout_s"),
        (CHECK.replace("20", "0") + "least = 1", "timeout_s is above 0"),
        (CHECK.replace("(", "") + "least = 1", "an expression with one group"),
        (CHECK + "least = 1\nscope = 'pair'", "pairs need idle nodes"),
        (CHECK + "least_of_peers = 0.9\nscope = 'group'", "peers are for scope node"),
        (CHECK + "least = 1\nneeds = ['luck']", "needs knows root and idle"),
        (CHECK.replace('"clock"', '"a b"') + "least = 1", "a name has small letters"),
        (CHECK.replace('["nvidia-smi"', "[5") + "least = 1", "command is a list of words"),
        (CHECK + "least = 1\n" + CHECK + "least = 1\n", "two checks called clock"),
        (CHECK.replace('"number"', '"json"') + "find = ''", "is no TOML"),
    ],
)
def test_a_catalogue_that_makes_no_sense_is_told(text: str, says: str) -> None:
    """Which check, and what of it."""
    with pytest.raises(BadSettings) as refused:
        read_catalogue(text, "site.toml")
    assert says in refused.value.message


def check(**told: object) -> Check:
    known = {"name": "c", "what": "", "command": ("c",), "timeout_s": 1.0, "load": "none", "read": "number"}
    return Check(**known | {"find": r"(\S+) GB/s"} | told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "told", "outcome"),
    [
        ("9.5 GB/s", {"least": 9}, CheckOutcome.PASSED),
        ("8.5 GB/s", {"least": 9}, CheckOutcome.FAILED),
        ("8.5 GB/s", {"most": 8}, CheckOutcome.FAILED),
        ("nan GB/s", {"least": 9}, CheckOutcome.UNKNOWN),
        ("no number", {"least": 9}, CheckOutcome.UNKNOWN),
        ('x {"a": [{"b": 7}]}', {"read": "json", "find": "a.0.b", "most": 7}, CheckOutcome.PASSED),
        ('{"a": "sick"}', {"read": "json", "find": "a", "equals": "well"}, CheckOutcome.FAILED),
        ('{"a": true}', {"read": "json", "find": "a", "equals": "true"}, CheckOutcome.PASSED),
        ('{"a": {}}', {"read": "json", "find": "a", "equals": "well"}, CheckOutcome.UNKNOWN),
        ("{" * 100_000, {"read": "json", "find": "a", "equals": "well"}, CheckOutcome.UNKNOWN),
    ],
)
def test_a_number_has_limits_and_a_value_has_to_be_equal(
    output: str, told: dict[str, object], outcome: CheckOutcome
) -> None:
    """What cannot be read is unknown, and not failed."""
    assert read_check(Ran(0, output), check(**told))[0] is outcome


def test_a_command_that_never_ran_is_unknown_whatever_it_printed() -> None:
    """Timed out, and not installed."""
    for code in (None, 127):
        assert read_check(Ran(code, "1 GB/s", "late"), check(least=9))[:2] == (CheckOutcome.UNKNOWN, "late")


def test_numbers_are_set_against_those_of_the_other_nodes() -> None:
    """Below .8 of the middle is failed; of two nodes either may be the odd one; what failed before stays failed."""
    slow = check(least_of_peers=0.8)
    read = {
        node: read_check(Ran(0, f"{speed} GB/s"), slow) for node, speed in zip("abcd", (10, 10, 7, 11), strict=True)
    }

    told = among({**read, "e": (CheckOutcome.UNKNOWN, "late", None)}, slow)

    assert [told[node][0].value for node in "abcde"] == ["passed", "passed", "failed", "passed", "unknown"]
    assert told["c"][1] == "7, below 0.8 times the middle, 10"
    assert {outcome for outcome, _ in among({node: read[node] for node in "ac"}, slow).values()} == {
        CheckOutcome.UNKNOWN
    }
