"""The generated parts of docs/: what the program says of itself, as Markdown. ``pytest --update-golden`` writes them.

A page holds ``<!-- generated: settings -->``, the part, and ``<!-- end -->``; the rest of it is written by hand.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import typer
from typer.testing import CliRunner

from bot.cli import app
from bot.settings import Settings
from bot.wording import iso
from core import errors
from core.facts import Fact, fact_of
from core.job import Manifest
from core.lines import Format, Segment, learn, take_apart
from core.origins import Origin, Voice, find_origins
from tests.docs import samples
from tests.test_house import MAY_IMPORT, ONLY_IN, ROOT

WIDTH = 100  # columns of the help texts
_PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# What stands in for a default that differs from machine to machine.
_COMPUTED = {
    "jobs": "the `examples/` that come with Firstfault",
    "cache": "`firstfault` in the user's cache folder",
    "workers": "the cores that this process may use",
}


def render(page: str) -> str:
    """The page with every generated part made anew."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", page)


def parts_of(page: str) -> list[str]:
    """Names of the generated parts of a page."""
    return [part[2] for part in _PART.finditer(page)]


def _settings() -> str:
    fields = Settings.model_fields.items()
    return _table(
        ("variable", "default", "meaning"),
        (
            (
                _code(str(field.validation_alias or f"FIRSTFAULT_{name.upper()}")),
                _COMPUTED[name] if field.default_factory else _code(str(field.default)) if field.default else "not set",
                field.description or "",
            )
            for name, field in fields
        ),
    )


def _error_tree() -> str:
    tree = (errors.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0]
    return f"```text\n{tree}\n```\n"


def _errors() -> str:
    base = errors.FirstfaultError
    return _table(
        ("error", "exit code", "what it says"),
        ((_code(error.__name__), str(error.exit_code), error.__doc__ or "") for error in (base, *base.__subclasses__())),
    )


def _help() -> str:
    command = typer.main.get_command(app)
    names = list(command.commands) if isinstance(command, click.Group) else []
    return "\n".join(_help_of(words) for words in ([], *([name] for name in names)))


def _help_of(words: list[str]) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="firstfault", terminal_width=WIDTH, color=False)
    return f"## {' '.join(['firstfault', *words])}\n\n```text\n{shown.output.strip()}\n```\n"


def _facts() -> str:
    known = [
        (str(number), rule["role"], _kind(rule), str(rule.get("strength", "")), *_meaning(rule))
        for number, rule in enumerate(_rules("facts")["fact"], start=1)
    ]
    guesses = (fact_of(line, block=False) for line in samples.UNKNOWN)
    guessed = [("-", f"{one.role}", one.kind, str(one.strength), *_meaning(vars_of(one))) for one in guesses if one]
    return _table(("no.", "role", "kind", "strength", "blames", "says", "check"), [*known, *guessed])


def vars_of(fact: Fact) -> dict[str, str]:
    """The words of a fact, as facts.toml has them."""
    return {"blame": fact.blame, "says": fact.says, "check": fact.check}


def _kind(rule: Mapping[str, Any]) -> str:
    return f"{rule.get('kind', '-')}{' (hardware)' if rule.get('hardware') else ''}"


def _meaning(rule: Mapping[str, Any]) -> tuple[str, str, str]:
    return rule.get("blame", "nobody"), rule.get("says", "-"), rule.get("check", "-")


def _patterns() -> str:
    rules = _rules("facts")["fact"]
    return "".join(f"{n}. {_kind(rule)}: {_codes(rule['pattern'])}\n" for n, rule in enumerate(rules, start=1))


def _dialects() -> str:
    rows = ((rule["name"], str(rule["weight"]), _code(rule["marker"]), _code(rule["read"])) for rule in _iteration())
    return _table(("dialect", "weight", "marker, in the template", "read, in the raw line"), rows)


def _iteration(kind: str = "dialect") -> Iterable[Mapping[str, Any]]:
    rules: list[Mapping[str, Any]] = _rules("iterations")[kind]
    return rules


def _series() -> str:
    rows = ((rule["name"], _code(rule["read"]), str(rule.get("scale", 1))) for rule in _iteration("series"))
    return _table(("series", "read, in the raw line", "times"), rows)


def _stages() -> str:
    packs = _rules("stages")["pack"]
    return "\n".join(f"### {pack['framework']}\n\n{_by_stage(pack)}" for pack in packs)


def _by_stage(pack: Mapping[str, Any]) -> str:
    return "".join(f"- {stage}: {_codes(found)}\n" for stage, found in pack.items() if stage != "framework")


def _layouts() -> str:
    voices = [Voice(file, b"") for file in samples.FILES]
    origins = find_origins(voices, Manifest("sample", nodes=samples.NODES, node_ranks=samples.NODE_RANKS))
    rows = ((_code(voice.file), *_who(origin)) for voice, origin in zip(voices, origins, strict=True))
    return _table(("file", "program", "node", "rank", "local rank"), rows)


def _prefixes() -> str:
    rows = []
    for line in samples.PREFIXES:
        prefix = _read(line).prefix
        (origin,) = find_origins([Voice("logs/all.log", prefix)], Manifest("sample"))
        rows.append((_code(line), _code(prefix.decode().strip()), *_who(origin)[1:]))
    return _table(("line", "prefix", "node", "rank", "local rank"), rows)


def _who(origin: Origin) -> tuple[str, str, str, str]:
    node, rank, local = ("-" if it is None else str(it) for it in (origin.node, origin.rank, origin.local_rank))
    return origin.program.value, node, rank, local


def _clocks() -> str:
    times = ((line, _read(line).time) for line in samples.CLOCKS)
    return _table(("line", "time"), ((_code(line), "none" if time < 0 else f"{iso(time)}") for line, time in times))


def _masks() -> str:
    rows = ((_code(line), _code(_read(line).body.decode())) for line in samples.MASKS)
    return _table(("line", "what is left of it"), rows)


def _read(line: str) -> Segment:
    learned = learn("\n".join([line] * 5).encode(), (), samples.YEAR)
    return take_apart(line.encode(), Format(learned.task_labels, learned.hosts, samples.YEAR))


def _packages() -> str:
    owners = {name: [library for library, owner in ONLY_IN.items() if owner == name] for name in MAY_IMPORT}
    there = {name: ROOT / name / "__init__.py" for name in MAY_IMPORT if (ROOT / name / "__init__.py").is_file()}
    return _table(
        ("folder", "what it is", "imports of ours", "alone imports"),
        (
            (_code(f"{name}/"), _first_sentence(path), _codes(sorted(MAY_IMPORT[name])) or "nothing", _codes(owners[name]))
            for name, path in there.items()
        ),
    )


def _first_sentence(path: Path) -> str:
    found = re.match(r'r?"""(.+?)(?:"""|\n)', path.read_text(encoding="utf-8"))
    return found[1] if found else ""


def _rules(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "core" / "rules" / f"{name}.toml").read_text(encoding="utf-8"))


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else ""


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(_code(text) for text in texts)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


PARTS: Mapping[str, Callable[[], str]] = {
    "clocks": _clocks,
    "dialects": _dialects,
    "error-tree": _error_tree,
    "errors": _errors,
    "facts": _facts,
    "frames": lambda: _by_stage(_rules("stages")["frames"]),
    "help": _help,
    "layouts": _layouts,
    "masks": _masks,
    "packages": _packages,
    "patterns": _patterns,
    "prefixes": _prefixes,
    "series": _series,
    "settings": _settings,
    "stages": _stages,
}
