"""The documents say what the program does: generated, run, or checked against the code."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from bot.commandline.cli import main
from bot.report import contract
from core.job import Manifest
from core.model import Confidence, Role, Scope, Stage
from tests.docs import site
from tests.docs.generate import GENERATED, PARTS, render
from tests.docs.of_program import error_classes, error_tree
from tests.support.places import ROOT
from tests.test_house import MAY_IMPORT, modules, tree

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RESULTS = ROOT / "benchmarks" / "results"
MKDOCS = ROOT / ".venv-docs" / "bin" / "mkdocs"
CONTRACT = "\n\n".join((DOCS / "reference" / name).read_text(encoding="utf-8") for name in ("json.md", "job-folder.md"))
GLOSSARY = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
MARKDOWN = sorted([*ROOT.glob("*.md"), *ROOT.glob("[!.]*/**/*.md")])
Run = Callable[[str], tuple[int, list[str]]]

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_OURS = re.compile(r"`((?:core|sources|faultlib|bot|prompts|slacksim|tests|benchmarks|lab|docs|examples)/[\w./-]*)`")
_PAGE = re.compile(r"(?<![\w./])(?:docs|benchmarks/results)/[\w/-]+\.(?:md|json)\b")
_MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|mnt)/\w|[A-Z]:\\")
_REGISTRY = re.compile(
    r"index-url|pypi|pythonhosted|artifactory|nexus|registry\.(?!py\b)|conda\.|mirror", re.IGNORECASE
)


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_generated_parts_are_up_to_date(page: Path, golden: Callable[[Path, str], None]) -> None:
    """What a page says of settings, errors, help, rules and lines is what the program says now."""
    golden(page, render(page.read_text(encoding="utf-8")))


def test_every_generated_part_is_on_a_page() -> None:
    """Nothing is generated for nobody."""
    shown = [part[2] for page in PAGES for part in GENERATED.finditer(page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(PARTS)


def test_the_index_names_every_page_once() -> None:
    """What is in docs/ can be found from docs/README.md, a line each."""
    named = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", (DOCS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    ours = [name for name in named if not name.startswith("..")]
    assert sorted(ours) == sorted(str(page.relative_to(DOCS)) for page in PAGES if page != DOCS / "README.md")


def test_the_results_have_an_index() -> None:
    """Every table of a benchmark can be found from benchmarks/results/README.md."""
    named = re.findall(
        r"^- \[[^]]+\]\(([^)]+)\): \S", (RESULTS / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(named) == sorted(page.name for page in RESULTS.glob("*.md") if page.name != "README.md")


def test_pages_that_code_names_are_there() -> None:
    """A hint or a comment that sends somebody to a page names it by its path."""
    sources = [path for name in (*MAY_IMPORT, "tests", "benchmarks") for path in (ROOT / name).rglob("*.py")]
    named = {name for path in sources for name in _PAGE.findall(path.read_text(encoding="utf-8"))}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


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
    rows = CONTRACT.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("word", [*Role, *Scope, *Confidence, *Stage])
def test_the_glossary_has_every_word_of_an_answer(word: str) -> None:
    """A reader of the JSON finds each role, scope, confidence and stage among the words."""
    assert f"`{word}`" in GLOSSARY


def test_the_glossary_is_short_and_its_words_are_in_the_code() -> None:
    """Forty words at most, each with the name under which it stands in the program."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in GLOSSARY.splitlines() if line.startswith("| ")][2:]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[2])}
    assert 20 <= len(rows) <= 40
    assert all("`" in row[2] for row in rows)
    assert named - _names_in_code() == set()


def _names_in_code() -> frozenset[str]:
    """What the program calls its classes, functions, arguments, fields and constants."""
    nodes = [node for name in MAY_IMPORT for path in modules(name) for node in tree(path)]
    names = [getattr(node, "name", None) or getattr(node, "arg", None) or getattr(node, "id", None) for node in nodes]
    return frozenset(name for name in names if isinstance(name, str))


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "explain" / "quality.md"], ids=lambda page: page.name)
def test_shares_are_those_that_were_measured(page: Path) -> None:
    """A share with two digits in a page for users stands in a result, or in the log of decisions."""
    measured = "".join(path.read_text(encoding="utf-8") for path in [*RESULTS.glob("*.md"), DOCS / "LOG.md"])
    shares = re.findall(r"(?<![\d.])[01]?(\.\d\d)(?!\d)", page.read_text(encoding="utf-8"))
    assert shares
    assert [share for share in shares if not re.search(rf"(?<!\d)[01]?{re.escape(share)}(?!\d)", measured)] == []


def test_the_site_has_every_page_once() -> None:
    """mkdocs.yml names each page of docs/ once, and none that is not there."""
    named = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted([*(str(page.relative_to(DOCS)) for page in PAGES), "results/README.md"])


def test_no_link_leads_out_of_the_site(tmp_path: Path) -> None:
    """The pages as they are laid out for the site link to pages of the site, and to headings that they have."""
    site.lay_out(tmp_path / "pages")
    dead = [
        (page.name, link)
        for page in (tmp_path / "pages").rglob("*.md")
        for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
        if "://" not in link and not link.startswith("#")
        if not (file := (page.parent / link.partition("#")[0]).resolve()).is_relative_to(tmp_path)
        or not file.is_file()
        or not _has(file, link.partition("#")[2])
    ]
    assert dead == []


@pytest.mark.skipif(not MKDOCS.exists(), reason="make docs was not run here: no mkdocs")
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Scripts, styles and pictures of every page are files of the site."""
    site.lay_out(tmp_path / "pages")
    words = [str(MKDOCS), "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "PAGES": str(tmp_path / "pages"), "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(words, cwd=ROOT, env=environment, check=True, timeout=PATIENCE)
    built = [*(tmp_path / "site").rglob("*.html")]
    loaded = [
        (page.name, address)
        for page in built
        for address in re.findall(
            r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"?([^\s\">]+)", page.read_text("utf-8")
        )
        if "://" in address or address.startswith("//")
    ]
    assert len(built) > len(PAGES)
    assert loaded == []


def test_the_site_needs_no_other_machine() -> None:
    """No font, script or picture of elsewhere is asked for by mkdocs.yml or by a page."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    loaded = re.findall(
        r"(?:src=\"|!\[[^]]*\]\()(https?:[^\s)\"]+)", "".join(page.read_text("utf-8") for page in PAGES)
    )
    assert "font: false" in settings
    assert "http" not in settings
    assert loaded == []


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
