"""The house (docs: who may import whom) is held by reading the imports of every file."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.places import ROOT

MAY_IMPORT = {
    "core": set[str](),
    "sources": {"core"},
    "faultlib": {"core"},
    "prompts": set[str](),
    "slacksim": set[str](),
    "bot": {"core", "sources", "faultlib", "prompts"},
    "lab": set[str](),
}
ONLY_IN = {
    "chromadb": "faultlib",
    "sentence_transformers": "faultlib",
    "onnxruntime": "faultlib",
    "tokenizers": "faultlib",
    "tomli_w": "faultlib",
    "slack_bolt": "bot",
    "slack_sdk": "bot",
    "openai": "bot",
    "drain3": "core",
}
# The rooms of bot/, each after all that it imports; what stands loose at the top is a room too.
CORE_ROOMS = (
    "cache", "safe_import", "errors", "checks", "job", "failure_kinds", "model", "naming", "phrases", "quantiles",
    "rules", "shares", "version", "logs", "memory", "outcomes", "processes", "replay", "events", "system_messages",
    "facts", "course", "parsing", "baseline", "parsed", "history", "judge", "occurrences", "live", "nodes", "dumps",
    "flows", "metrics", "answer", "l4", "next", "diagnose",
)  # fmt: skip
BOT_ROOMS = (
    "text", "setting_files", "outgoing", "settings", "fetch", "chat", "note", "outcome", "ask", "report", "history",
    "state", "repeating_thread", "library", "investigate", "follow_up", "slack", "jobs", "app", "commandline",
    "__main__",
)  # fmt: skip
# Other programs read these names in the schemas of docs/: two documents may call a part alike.
NAMED_IN_SCHEMAS = {"GroupDocument", "SkippedDocument"}
HEAVY = (
    "aiobotocore", "botocore", "chromadb", "dask", "distributed", "dtaidistance", "drain3", "matplotlib", "moto",
    "numba", "numpy", "onnxruntime", "openai", "pandas", "polars", "prometheus_client", "s3fs", "scipy",
    "sentence_transformers", "sklearn", "slack_bolt", "slack_sdk", "tokenizers", "torch",
)  # fmt: skip


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def tree(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file; each is read once, however many rules it is held against."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> frozenset[str]:
    """Top-level names of everything that a file imports, at any depth; a relative import counts as its own package."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in tree(path):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield path.relative_to(ROOT).parts[0] if node.level else (node.module or "").split(".")[0]
        elif isinstance(node, ast.Call) and _imports_by_name(node) and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value).split(".")[0]


def _imports_by_name(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"import_module", "__import__"} and bool(call.args)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_the_house_allows(package: str) -> None:
    """Core imports nothing of ours, sources and faultlib only core, bot all but slacksim."""
    allowed = {package, *MAY_IMPORT[package]}

    trespasses = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        for name in imports(path)
        if name in MAY_IMPORT and name not in allowed
    ]

    assert trespasses == []


@pytest.mark.parametrize(("library", "owner"), ONLY_IN.items())
def test_a_library_that_we_may_want_to_replace_has_one_owner(library: str, owner: str) -> None:
    """Chroma and the embeddings stay in faultlib, Slack and the model client in bot, drain3 in core."""
    users = {package for package in MAY_IMPORT for path in modules(package) if library in imports(path)}

    assert users <= {owner}


def test_one_file_of_core_imports_drain3() -> None:
    """Drain could be replaced by editing a single file."""
    users = [path.name for path in modules("core") if "drain3" in imports(path)]

    assert len(users) == 1


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_no_module_stands_on_itself(package: str) -> None:
    """Each file can be read after those that it stands on; lazy imports count as imports."""
    named = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in modules(package)}
    named = {name.removesuffix(".__init__"): path for name, path in named.items()}

    TopologicalSorter({name: set(stands_on(path)) & named.keys() for name, path in named.items()}).prepare()


@pytest.mark.parametrize(("package", "order"), [("core", CORE_ROOMS), ("bot", BOT_ROOMS)])
def test_the_rooms_of_a_package_import_one_way(package: str, order: Sequence[str]) -> None:
    """Whoever reads it from first to last meets nothing that comes later; no module is loose but the named."""
    rooms = {
        path: room_of(package, ".".join(path.relative_to(ROOT).with_suffix("").parts)) for path in modules(package)
    }
    assert set(rooms.values()) - {""} == set(order)

    upward = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, room in rooms.items()
        for name in stands_on(path)
        if room and (other := room_of(package, name)) in order and order.index(other) > order.index(room)
    ]

    assert upward == []


def room_of(package: str, module: str) -> str:
    """The room of a module: ``note`` of ``bot.note.plan``; empty for the package itself and for others."""
    first, _, inside = module.partition(".")
    return inside.partition(".")[0].replace("__init__", "") if first == package else ""


def test_no_class_name_stands_twice_in_bot() -> None:
    """A name means one thing: whoever searches for a class finds one."""
    names = [
        node.name
        for path in modules("bot")
        for node in ast.iter_child_nodes(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]

    assert sorted({name for name in names if names.count(name) > 1} - NAMED_IN_SCHEMAS) == []


LONGEST_FILE, LONGEST_FUNCTION = 400, 60  # lines, with docstrings; what is longer is split by meaning
# What such a file holds is told by no folder: it has a noun of the field beside it, or in its place.
SAY_NOTHING = {
    "beside", "choose", "data", "done", "found", "general", "given", "held", "helpers", "hold", "kept", "kinds", "look",
    "meant", "misc", "parts", "pick", "read", "reading", "rows", "said", "say", "stuff", "told", "utils", "wanted",
    "whole", "words",
}  # fmt: skip


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_no_file_is_called_by_a_word_that_says_nothing(package: str) -> None:
    """Folder and file say what is in it: whoever looks for something finds it by names alone."""
    assert [path for path in modules(package) if path.stem in SAY_NOTHING] == []


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_files_and_functions_are_short(package: str) -> None:
    """A function fits on a screen, and a file can be read at once: else it holds two things."""
    files = [path for path in modules(package) if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE]
    functions = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in modules(package)
        for node in tree(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]

    assert (files, functions) == ([], [])


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_number_says_where_it_is_from(package: str) -> None:
    """A constant has a comment beside it, or above its block: a limit, a measurement, a choice."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and _is_number(node.value) and not _is_explained(path, node)
    ]

    assert silent == []


def _is_number(value: ast.expr) -> bool:
    """Whether it is one, computed of some, or a row of them."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_number, value.elts))
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    return (
        isinstance(value, ast.Constant) and isinstance(value.value, int | float) and not isinstance(value.value, bool)
    )


def _is_explained(path: Path, node: ast.Assign) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    if any("# " in line for line in lines[node.lineno - 1 : node.end_lineno]):
        return True
    above = node.lineno - 2
    while lines[above].strip() and not lines[above].startswith("#"):
        above -= 1
    return lines[above].startswith("#")


def stands_on(path: Path) -> Iterator[str]:
    """The modules that a file imports, and whatever is imported from them, in case it is a module too."""
    for node in tree(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [f"{node.module}.{name.name}" for name in node.names]
            yield from found
            if not all((ROOT / name.replace(".", "/")).with_suffix(".py").exists() for name in found):
                yield node.module


def test_nothing_of_the_house_imports_its_tests() -> None:
    """What is installed works without tests/ and benchmarks/."""
    for package in MAY_IMPORT:
        for path in modules(package):
            assert not {"tests", "benchmarks"} & set(imports(path)), path


def test_every_test_tells_its_promise() -> None:
    """A reader learns what is promised from the docstrings of the tests alone."""
    silent = [
        f"{path.relative_to(ROOT)}::{node.name}"
        for path in modules("tests")
        for node in tree(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if not ast.get_docstring(node)
    ]

    assert silent == []


def test_help_loads_no_heavy_package() -> None:
    """`firstfault --help` answers at once, because it loads none of the packages that take a second each."""
    script = f"""
import sys
from bot.commandline.cli import main
sys.argv = ["firstfault", "--help"]
try:
    main()
finally:
    print("loaded:", *sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)
"""

    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert "Usage" in run.stdout
    assert run.stderr.splitlines()[-1].split() == ["loaded:"]


def test_benchmarks_import_no_tests() -> None:
    """What both need stands in benchmarks/support/: a change of a test breaks no measurement."""
    for path in modules("benchmarks"):
        assert "tests" not in imports(path), path


def test_what_lies_among_the_tests_are_tests() -> None:
    """What tests share lies in tests/support/; tests/docs and tests/record are programs that write documents."""
    others = [
        str(path.relative_to(ROOT))
        for path in modules("tests")
        if not path.name.startswith("test_") and path.name != "conftest.py"
        if path.relative_to(ROOT).parts[1] not in {"support", "docs", "record"} and path.name != "audit.py"
    ]

    assert others == []
