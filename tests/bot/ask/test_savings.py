"""Lines that report a saved checkpoint."""

import pytest

from bot.ask.savings import savings
from bot.ask.subject import Subject
from core.diagnose import diagnose_parsed
from tests.support.jobs import job, parse


@pytest.mark.parametrize("word", ["saved", "wrote", "written", "stored", "dumped", "complete", "completed", "done"])
def test_savings_are_found_by_a_word_of_theirs(word: str) -> None:
    """Whichever word a program reports a saved checkpoint with, its line is found."""
    said = f"Checkpoint at step 7 {word}" if word in ("complete", "completed", "done") else f"{word} model state 7"
    parsed = parse(job({"logs/rank_0.log": f"step 1\n{said.upper()}\n"}))

    assert [line.text for line in savings(Subject(parsed, diagnose_parsed(parsed))).found.lines] == [said.upper()]
