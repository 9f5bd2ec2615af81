"""What the program says of itself: settings, errors, help, and its folders."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer
from typer.testing import CliRunner

from bot.commandline.cli import app
from bot.settings import Settings
from bot.slack.health import Metrics
from core import errors
from tests.docs.markdown import code, codes, table
from tests.support.places import ROOT
from tests.test_house import BOT_ROOMS, CORE_ROOMS, MAY_IMPORT, ONLY_IN

WIDTH = 100  # columns of the help texts
# What stands in for a default that differs from machine to machine, or that nobody can read.
COMPUTED = {
    "jobs": "the `examples/` that come with Firstfault",
    "cache": "`firstfault` in the user's cache folder",
    "library": "`firstfault/library` in the user's data folder",
    "state": "`firstfault/state` in the user's data folder",
    "memory": "256 MiB",
    "workers": "the cores that this process may use",
}


def settings() -> str:
    """Every setting, its default and its meaning."""
    prefix = Settings.model_config["env_prefix"]
    rows = []
    for name, field in Settings.model_fields.items():
        variable = field.validation_alias if isinstance(field.validation_alias, str) else f"{prefix}{name}"
        default = COMPUTED[name] if field.default_factory or name in COMPUTED else _default(field.default)
        rows.append((code(variable.upper()), default, field.description or ""))
    return table("variable", "default", "meaning", rows=rows)


def _default(value: object) -> str:
    """A default as text; what is empty or secret is not set, a switch is off."""
    shown = "off" if value is False else str(value or "")
    return code(shown) or "not set"


def error_tree() -> str:
    """The tree as ``core.errors`` draws it."""
    return f"```text\n{(errors.__doc__ or '').split(chr(10) * 2)[1].strip()}\n```\n"


def error_classes() -> list[tuple[str, str, str]]:
    """Every error of ours: name, docstring, file; those of core first, in the order of the file."""
    packages = ("core", *(name for name in MAY_IMPORT if name not in ("core", "slacksim")))
    paths = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    return [
        (node.name, ast.get_docstring(node) or "", str(path.relative_to(ROOT)))
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "FirstfaultError" for base in node.bases)
    ]


def error_table() -> str:
    """Each error with its docstring and where it is."""
    rows = ((code(name), " ".join(said.split()), code(file)) for name, said, file in error_classes())
    return table("error", "meaning", "where", rows=rows)


def command_help() -> str:
    """The help of the program, of each command, and of the commands below a command."""
    return "\n".join(_help(*words) for words in _commands(typer.main.get_command(app)))


def _commands(command: object, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, *words, name)


def metrics() -> str:
    """Every metric of the bot, its kind and its meaning."""
    rows = [
        (code(family.name + ("_total" if family.type == "counter" else "")), family.type, family.documentation)
        for family in Metrics().registry.collect()
    ]
    return table("metric", "kind", "meaning", rows=rows)


def _help(*words: str) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="firstfault", terminal_width=WIDTH)
    return f"## {' '.join(('firstfault', *words))}\n\n```text\n{shown.stdout.strip()}\n```\n"


def packages() -> str:
    """The folders that hold the program, and who may import whom."""
    rows = [
        (
            code(f"{name}/"),
            _first_sentence(ROOT / name / "__init__.py"),
            codes(sorted(allowed)) or "nothing",
            codes(library for library, owner in ONLY_IN.items() if owner == name),
        )
        for name, allowed in MAY_IMPORT.items()
        if (ROOT / name / "__init__.py").is_file()
    ]
    return table("folder", "what it is", "imports of ours", "the only one that may import", rows=rows)


def rooms_of_bot() -> str:
    """The rooms of bot/, each after all that it imports."""
    return _rooms("bot", BOT_ROOMS)


def rooms_of_core() -> str:
    """The same of core/."""
    return _rooms("core", CORE_ROOMS)


def _rooms(package: str, rooms: Iterable[str]) -> str:
    rows = []
    for room in rooms:
        folder, file = ROOT / package / room, ROOT / package / f"{room}.py"
        place = f"{package}/{room}/" if folder.is_dir() else f"{package}/{room}.py"
        said = _first_sentence(folder / "__init__.py" if folder.is_dir() else file).replace("``", "`")
        rows.append((code(place), said))
    return table("room", "what it is", rows=rows)


def _first_sentence(path: Path) -> str:
    found = re.match(r'r?"""(.+?)(?:"""|\n)', path.read_text(encoding="utf-8"))
    return found[1] if found else ""
