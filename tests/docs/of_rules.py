"""What the rule files say (core/rules): facts, iteration dialects, stage packs."""

from collections.abc import Mapping
from typing import Any

from core.facts import fact_of
from core.phrases import read_rules, rule_files
from tests.docs.markdown import code, codes, table

UNKNOWN = ("SomeError: what no fact knows", "ERROR what no fact knows", "WARNING what no fact knows")


def facts() -> str:
    """Every fact in the order in which they are tried, then what is judged without one."""
    rows = [(str(number), *_meaning(rule)) for number, rule in enumerate(_facts(), start=1)]
    for line in UNKNOWN:
        if (guess := fact_of(line, block=False)) is not None:
            words = {name: getattr(guess, name) for name in ("role", "kind", "strength", "blame", "says", "check")}
            rows.append(("-", *_meaning({**words, "kind": f"unknown {guess.kind}"})))
    return table("no.", "role", "kind", "strength", "blames", "order", "says", "check", rows=rows)


def patterns() -> str:
    """The words by which each fact is recognized, and who prints them."""
    return "\n".join(
        f"{number}. {rule.get('kind', rule['role'])}\n" + "".join(map(_printed, rule["said"]))
        for number, rule in enumerate(_facts(), start=1)
    )


def processes() -> str:
    """How lines tell which process they are about."""
    return "".join(_printed(said) for rule in read_rules("processes.toml")["process"] for said in rule["said"])


def _facts() -> list[dict[str, Any]]:
    return [rule for file in rule_files("facts") for rule in read_rules(file)["fact"]]


def _printed(said: Mapping[str, Any]) -> str:
    return f"    - {said['program']} ({said['source']}): {codes(match for match, _ in said['lines'])}\n"


def dialects() -> str:
    """How frameworks print that an iteration is complete."""
    rules = read_rules("iterations.toml")["dialect"]
    rows = ((it["name"], str(it["weight"]), code(it["marker"]), code(it["read"])) for it in rules)
    return table("dialect", "weight", "found in the template by", "read in the raw line by", rows=rows)


def series() -> str:
    """The numbers that are read from such lines."""
    rows = ((it["name"], code(it["read"]), f"{it.get('scale', 1):g}") for it in read_rules("iterations.toml")["series"])
    return table("series", "read in the raw line by", "times", rows=rows)


def stages() -> str:
    """Which words open which stage, by framework."""
    return "\n".join(f"### {pack['framework']}\n\n{_by_stage(pack)}" for pack in read_rules("stages.toml")["pack"])


def frames() -> str:
    """Which functions of a traceback name which stage."""
    return _by_stage(read_rules("stages.toml")["frames"])


def _meaning(rule: Mapping[str, Any]) -> tuple[str, ...]:
    kind = f"{rule.get('kind', '-')}{' (hardware)' if rule.get('hardware') else ''}"
    words = (rule.get("blame", "nobody"), rule.get("ending", "-"), rule.get("says", "-"), rule.get("check", "-"))
    return rule["role"], kind, str(rule.get("strength", "-")), *words


def _by_stage(pack: Mapping[str, Any]) -> str:
    return "".join(f"- {stage}: {codes(found)}\n" for stage, found in pack.items() if stage != "framework")
