"""Every sentence of an answer over the labelled jobs: names as they are written, numbers that a person can read."""

import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.settings import Settings
from bot.text import wording
from core.model import Diagnosis, Scope
from core.naming import figure, sentence
from tests.support.places import ROOT

ARCHIVES = {"lab.tar.xz": 3, "other.tar.xz": 24, "blind-y.tar.xz": 12}  # of so many jobs one
HEADLINE = 240  # characters: seven lines of a phone at the size of a headline
_QUOTED = re.compile("\u201c[^\u201d]*\u201d")
_POWER = re.compile(r"\d[eE][+]\d")
_TWICE = re.compile(r"\b([a-z]{2,20}) \1\b")
_ROW = re.compile("\u201c[^\u201da-zA-Z]*\u201d")  # a row of a table without a word in it


def said(diagnosis: Diagnosis) -> Iterator[str]:
    """All sentences of an answer that code makes."""
    yield diagnosis.headline
    yield from diagnosis.why
    yield from diagnosis.checks
    yield from (reason for suspect in diagnosis.nodes for reason in suspect.reasons)
    yield from (event.because for event in diagnosis.events)
    yield from (iteration.because for iteration in diagnosis.iterations)
    if diagnosis.next is not None:
        yield wording.next_line(diagnosis.next)


def faults_of(diagnosis: Diagnosis) -> list[str]:
    """What is wrong with the sentences of an answer."""
    names = {node for event in diagnosis.events for node in event.nodes} | {node.node for node in diagnosis.nodes}
    names = {name for name in names if " " not in name}
    wrong = []
    for text in said(diagnosis):
        words = _QUOTED.sub("\u201c\u201d", text)
        wrong += [f"power of ten: {text}"] if _POWER.search(words) else []
        wrong += [f"word twice: {text}"] if _TWICE.search(words) else []
        wrong += [f"row of a table: {text}"] if _ROW.search(text) else []
        wrong += [f"no end: {text}"] if text and text.rstrip(")")[-1] not in ".?!:" else []
        for name in names:
            spelled = re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words, re.IGNORECASE)
            wrong += [f"name in another case: {text}" for other in spelled if other != name]
    wrong += [f"long headline: {diagnosis.headline}"] if len(diagnosis.headline) > HEADLINE else []
    return wrong + contradictions_of(diagnosis)


def contradictions_of(diagnosis: Diagnosis) -> list[str]:
    """Sentences of one answer that cannot both be true."""
    headline, step = diagnosis.headline, diagnosis.next
    whole = " ".join(said(diagnosis))
    wrong = []
    if diagnosis.scope is Scope.NODE and diagnosis.nodes[0].node not in headline.replace("ranks", "rank"):
        wrong += [f"first suspect is not in: {headline}"] if not diagnosis.nodes[0].node.startswith("rank ") else []
    if diagnosis.nodes and " stands out" in headline:
        wrong.append(f"suspects, and {headline}")
    if "is nearly as likely" in whole and step is not None and "nobody else stands out" in step.because:
        wrong.append("a rival, and nobody else stands out")
    if diagnosis.scope is not Scope.NONE and "Nothing is broken" in whole:
        wrong.append("nothing is broken, and it failed")
    if "Lines that count iterations have no time" in whole and any(
        skip.step == "temporal" for skip in diagnosis.skipped
    ):
        wrong.append("lines count iterations, and none does")
    if len(diagnosis.nodes) == 1 and any(re.search(r"\bthat node\b(?! that)", check) for check in diagnosis.checks[:1]):
        wrong.append(f"which node: {diagnosis.checks[0]}")
    return wrong


def check(jobs: Path, settings: Settings, *, every: int = 1) -> dict[str, list[str]]:
    """The faults of each job of a folder that has some; ``every``: of so many jobs one is looked at."""
    found = {}
    for job in sorted(path.name for path in jobs.iterdir() if path.is_dir())[::every]:
        if wrong := faults_of(investigate(Request(job, jobs=str(jobs)), settings).diagnosis):
            found[job] = wrong
    return found


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return Settings(cache=home / "cache", library=home / "library")


def test_the_example_jobs_are_told_in_sentences(settings: Settings) -> None:
    """What a newcomer reads first has no fault that code can see."""
    assert check(ROOT / "examples", settings) == {}


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES)
def test_labelled_jobs_are_told_in_sentences(archive: str, settings: Settings, tmp_path: Path) -> None:
    """The same for labelled jobs; FIRSTFAULT_EVERY=1 looks at all of them."""
    every = int(os.environ.get("FIRSTFAULT_EVERY", ARCHIVES[archive]))
    with tarfile.open(ROOT / "benchmarks" / "quality" / archive) as packed:
        packed.extractall(tmp_path, filter="data")

    assert check(tmp_path / "jobs", settings, every=every) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a link went down", "A link went down"),
        ("bohr never complained", "bohr never complained"),
        ("node-1 is gone", "node-1 is gone"),
        ("iPhone is a name", "iPhone is a name"),
        ("\u201cx\u201d was said", "\u201cx\u201d was said"),
        ("its part is small", "Its part is small"),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_a_name_does(text: str, told: str) -> None:
    """Names of machines and columns are written as they are."""
    assert sentence(text, {"bohr"}) == told


@pytest.mark.parametrize(
    ("number", "told"), [(2150.0, "2,150"), (999.7, "1,000"), (60.0, "60"), (0.0294, "0.0294"), (18.94, "18.9")]
)
def test_a_number_is_written_as_a_person_does(number: float, told: str) -> None:
    """Three digits, and no powers of ten."""
    assert figure(number) == told
