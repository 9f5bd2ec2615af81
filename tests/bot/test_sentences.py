"""Every sentence of an answer over the labelled jobs: names as they are written, numbers that a person can read."""

from pathlib import Path

import pytest

from core.naming import figure, sentence
from tests.support.labelled_jobs import check_archive, settings_in
from tests.support.sentences import faults_of


@pytest.mark.slow
def test_jobs_of_another_author_are_told_in_sentences(tmp_path: Path) -> None:
    """A blind set; examples, jobs of the lab and of others are held to it in tests/bot/slack/test_every_job.py."""
    settings = settings_in(tmp_path / "home")
    wrong = check_archive("blind-y.tar.xz", settings, lambda answer: faults_of(answer.diagnosis), tmp_path, every=12)

    assert wrong == {}


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
