"""For all questions: a real job whose evidence is asked about."""

import pytest

from bot.ask.subject import Subject
from core.diagnose import diagnose_parsed
from core.parsed import parse_job
from tests.support.jobs import example


@pytest.fixture(scope="module")
def broken() -> Subject:
    """Job f07, whose gpu018 lost its link."""
    parsed = parse_job(example("f07"), (example("s01"),), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))
