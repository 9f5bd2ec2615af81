"""What a real model answered, played again through the whole client; `python -m tests.record` records it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bot.note.check import check
from bot.note.evidence import collect
from vcr.errors import CannotOverwriteExistingCassetteException  # type: ignore[import-untyped]  # it brings no types

from bot.chat.model import Message, ScriptedModel
from bot.note.note import Author
from bot.note.write import write_note
from tests.bot.chat.conftest import KEY, Connect
from tests.bot.chat.endpoint import fails, says
from tests.record.asks import QUESTIONS, replayed
from tests.record.calls import AND_THEN, CALLS
from tests.record.cassette import CASSETTES, MODEL, URL, cassette
from tests.record.diagnosed import diagnosis_of

MAX_BYTES = 100_000
_PRIVATE = re.compile(
    r"sk-[\w-]{8}|bearer|authorization|cookie|stainless|user-agent|127\.0\.0\.1|localhost|/(?:home|root|work|Users|tmp)/",
    re.IGNORECASE,
)
AUTHORS = {"note-f02": Author.CODE, "note-s01": Author.MODEL, "note-f07": Author.REPAIRED}  # how far its words held
ANSWERS = Path(__file__).parent / "golden" / "recorded"


@pytest.mark.parametrize("name", CALLS)
def test_a_recorded_call_gives_the_recorded_answer(name: str, golden: Callable[[Path, str], None]) -> None:
    """The prompt is the one that was recorded, byte by byte, and the real answer is read as it should be."""
    with cassette(name) as tape:
        reply = CALLS[name](URL, MODEL, False)

    golden(ANSWERS / f"{name}.txt", f"{reply.text}\n\n{reply.usage}\n")
    assert tape.all_played
    assert reply.usage.completion_tokens > 0


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith("note-")])
def test_what_a_real_model_wrote_is_shown_only_as_far_as_the_evidence_holds_it(name: str) -> None:
    """Whatever of its answer is left in the note passes the check, and the note says who wrote it."""
    diagnosis = diagnosis_of(name.removeprefix("note-"))
    with cassette(name):
        answers = CALLS[name](URL, MODEL, False).text.split(AND_THEN)

    note = write_note(diagnosis, model=ScriptedModel(*answers, name=MODEL))

    assert check(note.draft(), collect(diagnosis), diagnosis) == ()
    assert note.author is AUTHORS[name]
    assert note.model == MODEL


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_real_model_answers_is_shown_only_as_far_as_it_is_held(
    question: str, golden: Callable[[Path, str], None]
) -> None:
    """What a reader is shown of its answer, who speaks, and what was refused of it."""
    with cassette(f"ask-{question}"):
        words = CALLS[f"ask-{question}"](URL, MODEL, False).text

    answer = replayed(question, words)

    refused = [f"refused: {reason}" for reason in answer.refused]
    golden(ANSWERS / f"shown-{question}.txt", "\n".join((f"by {answer.author}", *answer.lines, *refused)) + "\n")
    assert answer.author == "logs" or not answer.refused


def test_every_cassette_is_played() -> None:
    """None is kept for nobody."""
    assert sorted(path.stem for path in CASSETTES.iterdir()) == sorted(CALLS)


@pytest.mark.parametrize("path", sorted(CASSETTES.iterdir()), ids=lambda path: path.stem)
def test_a_cassette_is_small_and_holds_nothing_private(path: Path) -> None:
    """No key, host, cookie, client header or home folder."""
    text = path.read_text(encoding="utf-8")
    assert len(text) < MAX_BYTES
    assert _PRIVATE.findall(text) == []


def test_recording_leaves_secrets_out(connect: Connect, tmp_path: Path) -> None:
    """A key, a cookie and an address are on the wire, and not on the tape."""
    model, endpoint = connect(says("Yes."))

    with cassette("new", record=True, folder=tmp_path):
        model.answer([Message("user", "Well?")], max_tokens=5)
    tape = (tmp_path / "new.yaml").read_text(encoding="utf-8")

    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "Well?" in tape
    assert _PRIVATE.findall(tape) == []


def test_a_prompt_that_changed_is_noticed(connect: Connect, tmp_path: Path) -> None:
    """A cassette answers the question that was recorded, and no other."""
    model, _ = connect(says("Yes."), fails(500))
    with cassette("new", record=True, folder=tmp_path):
        model.answer([Message("user", "Well?")], max_tokens=5)

    with cassette("new", folder=tmp_path), pytest.raises(CannotOverwriteExistingCassetteException):
        model.answer([Message("user", "And now?")], max_tokens=5)
    with cassette("new", folder=tmp_path):
        assert model.answer([Message("user", "Well?")], max_tokens=5).text == "Yes."
