"""The documents say what the program does: generated, run, or checked against the code."""

import ast
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path

import pytest

from bot.commandline.cli import main
from bot.report import contract
from core.job import Manifest
from core.model import Confidence, Role, Scope, Stage
from tests.docs.generate import GENERATED, PARTS, render
from tests.docs.of_program import error_classes, error_tree
from tests.test_house import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
CONTRACT = DOCS / "contract.md"
MARKDOWN = sorted([*ROOT.glob("*.md"), *ROOT.glob("[!.]*/**/*.md")])
Run = Callable[[str], tuple[int, list[str]]]

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_OURS = re.compile(r"`((?:core|sources|faultlib|bot|prompts|slacksim|tests|benchmarks|lab|docs|examples)/[\w./-]*)`")
_MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|mnt)/\w|[A-Z]:\\")
_REGISTRY = re.compile(r"index-url|pypi|pythonhosted|artifactory|nexus|registry\.|conda\.|mirror", re.IGNORECASE)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run a command where examples/ is, in a folder that may be written to: exit code and what was printed."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)

    def command(line: str) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), "".join(capsys.readouterr()).splitlines()

    return command


def console_examples() -> Iterator[tuple[str, list[str], int]]:
    """Commands in console blocks, the lines shown below each, and the exit code: 0, or what ``$ echo $?`` shows."""
    for path in MARKDOWN:
        for kind, block in _FENCED.findall(path.read_text(encoding="utf-8")):
            if kind != "console":
                continue
            steps = [step.splitlines() for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
            for (command, *shown), (following, *code) in pairwise([*steps, [""]]):
                if command.startswith("firstfault "):
                    yield command, shown, int(code[0]) if following == "echo $?" else 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_are_up_to_date(page: Path, golden: Callable[[Path, str], None]) -> None:
    """What a page says of settings, errors, help, rules and lines is what the program says now."""
    golden(page, render(page.read_text(encoding="utf-8")))


def test_every_generated_part_is_on_a_page() -> None:
    """Nothing is generated for nobody."""
    shown = [part[2] for page in PAGES for part in GENERATED.finditer(page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(PARTS)


def test_the_index_names_every_page_once() -> None:
    """What is in docs/ can be found from docs/README.md, a line each."""
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", index, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in DOCS.iterdir() if path.is_file() and path.name != "README.md")


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that is there, and a heading that it has."""
    dead = []
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        target, _, heading = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if "://" not in link and not (file.is_relative_to(ROOT) and file.exists() and _has(file, heading)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_ours_are_where_a_page_says(page: Path) -> None:
    """A file or folder of the program that a sentence names is there, also where it is no link."""
    named = _OURS.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    assert [name for name in named if not (ROOT / name).exists()] == []


def _has(file: Path, heading: str) -> bool:
    if not heading:
        return True
    titles = re.findall(r"^#+ (.+)$", _FENCED.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
    return heading in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*MARKDOWN, *DOCS.glob("*.json")], ids=lambda page: str(page.relative_to(ROOT)))
def test_no_machine_and_no_registry_is_named(page: Path) -> None:
    """Documents are the same wherever they were written."""
    text = page.read_text(encoding="utf-8")
    assert not _MACHINE.findall(text)
    assert not _REGISTRY.findall(text)
    assert str(ROOT) not in text


@pytest.mark.parametrize(
    ("command", "shown", "code"), [*console_examples()], ids=lambda it: it if isinstance(it, str) else ""
)
def test_examples_run(run: Run, command: str, shown: list[str], code: int) -> None:
    """A command in a document ends with the shown exit code and prints the shown lines, ``...`` being any."""
    ended, printed = run(command)
    left = iter(printed)
    for line in shown:
        pattern = ".*".join(map(re.escape, line.split("...")))
        assert line == "..." or any(re.fullmatch(pattern, other) for other in left), f"not printed: {line}"
    assert ended == code


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("field of job.json", {field.name for field in fields(Manifest)} - {"extra"} | {"software"}),
        ("field of the diagnosis", {"schema", *contract.DiagnosisDocument.model_fields} - {"schema_"}),
        ("field of an event", set(contract.EventDocument.model_fields)),
        ("field of a node", set(contract.NodeDocument.model_fields)),
        ("field of an iteration", set(contract.IterationDocument.model_fields)),
        ("field of a line", set(contract.LineDocument.model_fields)),
        ("field of a skipped step", set(contract.SkippedDocument.model_fields)),
        ("field of the coverage", set(contract.CoverageDocument.model_fields)),
    ],
)
def test_every_field_is_explained(heading: str, names: set[str]) -> None:
    """The contract explains each field that there is, and none that there is not."""
    assert sorted(documented(heading)) == sorted(names)


def documented(heading: str) -> list[str]:
    """The names in the first column of the table with that heading."""
    rows = CONTRACT.read_text(encoding="utf-8").partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("word", [*Role, *Scope, *Confidence, *Stage])
def test_the_glossary_has_every_word_of_an_answer(word: str) -> None:
    """A reader of the JSON finds each role, scope, confidence and stage among the words."""
    glossary = CONTRACT.read_text(encoding="utf-8").partition("## Words")[2].partition("\n## ")[0]
    assert f"`{word}`" in glossary


def test_the_error_tree_is_drawn_in_full() -> None:
    """Whoever adds an error draws it; those of core in their order, with a star where askers read it whole."""
    drawn = re.findall(r"[├└]── (\w+)( \*)?", error_tree())
    classes = error_classes()
    of_core = [name for name, _, file in classes if file == "core/errors.py"]
    assert [name for name, _ in drawn][: len(of_core)] == of_core
    assert sorted(name for name, _ in drawn) == sorted(name for name, _, _ in classes)
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for _, _, file in classes}
    starred = [
        node.name
        for text in sources.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and "audience = Audience.ASKER" in map(ast.unparse, node.body)
    ]
    assert sorted(name for name, star in drawn if star) == sorted(starred)


def test_both_commands_speak_of_the_same_events(run: Run) -> None:
    """An event of the diagnosis stands at its cited lines in the listing, whatever the number of workers."""
    before = _stamps()
    answer = json.loads("\n".join(run("firstfault diagnose f07 --json")[1]))
    rows = [json.loads(line) for line in run("firstfault events f07 --jsonl --workers 3")[1]]
    assert sorted(documented("field of a row")) == sorted(rows[0])
    event_at = {(row["file"], row["line"]): row["event"] for row in rows}
    cited = [(event["event"], line) for event in answer["events"] for line in event["lines"]]
    assert {event_at[line["file"], line["line"]] == event for event, line in cited} == {True}
    assert before == _stamps()


def _stamps() -> list[tuple[str, int, int]]:
    """What changes when anything is written into the examples."""
    found = islice((ROOT / "examples").rglob("*"), 10_000)
    return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in found)
