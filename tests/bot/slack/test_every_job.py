"""What Slack shows of every labelled job of the tree: short, each fact once, and nothing that Slack refuses."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.investigate import Answer
from bot.outgoing.clean import cleaned
from bot.settings import Settings
from bot.slack.blocks import Message, without_blocks
from bot.slack.brief import MAX_LINES
from bot.slack.parent_message import AnswerContent, answer_message, lines_of
from bot.slack.thread import details_message, faults_message
from slacksim.blocks import problems_of_message
from tests.support import sentences
from tests.support.labelled_jobs import check, check_archive, settings_in
from tests.support.places import ROOT
from tests.support.slack_payloads import violations
from tests.support.slack_samples import every_name, every_shown, run

# Of so many jobs one, beside all examples, which have the most kinds of answers: all of them take eight minutes.
ARCHIVES = {"lab.tar.xz": 6, "other.tar.xz": 48}
MOST = 1_400  # characters of a parent message: two screens of a phone
_HALF_QUOTED = re.compile(r"`['\"(\[]`|`[,.;:]+`")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(tmp_path_factory.mktemp("home"))


def shown_of(answer: Answer) -> AnswerContent:
    found = cleaned(answer.diagnosis)
    return AnswerContent(
        run(job=answer.job.manifest.job_id), "0", diagnosis=found, known=answer.known, note=answer.note, revision=1
    )


def messages_of(shown: AnswerContent) -> Iterator[Message]:
    assert shown.diagnosis is not None
    yield answer_message(shown)
    yield details_message(shown.run, shown.diagnosis, shown.note, shown.known, shown.version)
    yield faults_message(shown.run.id, shown.known)


def faults_of(shown: AnswerContent) -> list[str]:
    """What is wrong with the messages about a job."""
    parent, details, known = messages_of(shown)
    parent_text = without_blocks(parent)
    wrong = [f"{lines_of(parent.blocks)} lines"] if lines_of(parent.blocks) > MAX_LINES else []
    wrong += [f"{len(parent_text)} characters"] if len(parent_text) > MOST else []
    wrong += [f"said twice: {text}" for text in _twice(parent_text, without_blocks(details))]
    wrong += ["no gist"] if "Next: " not in parent.text and "*Next*" in parent_text else []
    for message in (parent, details, known):
        wrong += [*violations(message.arguments()), *problems_of_message(list(message.blocks))]
        wrong += [f"half a quote: {text}" for text in _HALF_QUOTED.findall(without_blocks(message))]
    return wrong


def all_faults_of(answer: Answer) -> list[str]:
    """The same, and what is wrong with the sentences of the diagnosis."""
    return faults_of(shown_of(answer)) + sentences.faults_of(answer.diagnosis)


def _twice(parent: str, details: str) -> list[str]:
    """Lines of the parent message that the thread says again."""
    lines = [re.sub(r"^(?:\*\w+\*|\d\.) ", "", line) for line in parent.splitlines()[1:]]
    return [line for line in lines if len(line) > 30 and line in details]


@pytest.mark.slow
def test_the_example_jobs_are_told_in_short_and_in_sentences(settings: Settings) -> None:
    """41, 55: eight lines, each fact once, the gist in the text; nothing that Slack would refuse, no bad sentence."""
    assert check(ROOT / "examples", settings, all_faults_of) == {}


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES)
def test_labelled_jobs_are_told_in_short_and_in_sentences(archive: str, settings: Settings, tmp_path: Path) -> None:
    """41, 55: the same for labelled jobs; at once, for to diagnose them takes long."""
    assert check_archive(archive, settings, all_faults_of, tmp_path, every=ARCHIVES[archive]) == {}


@pytest.mark.parametrize("name", every_name())
def test_every_state_is_taken_by_an_independent_schema(name: str) -> None:
    """Each state of each kind of answer, hostile ones too."""
    assert violations(answer_message(every_shown(name)).arguments()) == []


def test_the_schema_refuses_what_slack_refuses() -> None:
    """An empty text, a null, an unknown field, a header that is too long."""
    for block in (
        {"type": "section", "text": {"type": "mrkdwn", "text": ""}},
        {"type": "section", "text": None},
        {"type": "divider", "colour": "red"},
        {"type": "header", "text": {"type": "plain_text", "text": "x" * 151}},
    ):
        assert violations({"text": "x", "blocks": [block]})
