"""What a real model answered, played again through the whole client; `python -m tests.record` records it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from vcr.errors import CannotOverwriteExistingCassetteException  # type: ignore[import-untyped]  # it brings no types

from bot.chat.model import ChatMessage
from bot.note.note import GUESS, Author, plain
from bot.note.write import write_note
from tests.bot.chat.conftest import KEY, Connect
from tests.record.calls import CALLS, Finding
from tests.record.cassette import CASSETTES, MODEL, URL, cassette
from tests.record.diagnosed import diagnosis_of
from tests.support.model_endpoint import fails, says
from tests.support.scripted_model import ScriptedModel

MAX_BYTES = 100_000
_PRIVATE = re.compile(
    r"sk-[\w-]{8}|bearer|authorization|cookie|stainless|user-agent|127\.0\.0\.1|localhost|/(?:home|root|work|Users|tmp)/",
    re.IGNORECASE,
)
FOUND = '{"headline": "", "ids": []}'
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
def test_what_a_real_model_planned_is_shown_in_words_of_code(name: str, golden: Callable[[Path, str], None]) -> None:
    """What a reader is shown of its plan: claims, and its own sentences in their block."""
    diagnosis = diagnosis_of(name.removeprefix("note-"))
    with cassette(name):
        planned = CALLS[name](URL, MODEL, False).text

    note = write_note(diagnosis, model=ScriptedModel(planned, name=MODEL))

    block = [f"{GUESS}: {sentence}" for sentence in note.reading]
    golden(ANSWERS / f"shown-{name}.txt", "\n".join((*plain(note), *block)) + "\n")
    assert note.author is Author.MODEL
    assert note.headline.text.startswith(diagnosis.headline)


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
    model, endpoint = connect(says(FOUND))

    with cassette("new", record=True, folder=tmp_path):
        model.answer([ChatMessage("user", "Well?")], schema=Finding, max_tokens=5)
    tape = (tmp_path / "new.yaml").read_text(encoding="utf-8")

    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "Well?" in tape
    assert _PRIVATE.findall(tape) == []


def test_a_prompt_that_changed_is_noticed(connect: Connect, tmp_path: Path) -> None:
    """A cassette answers the question that was recorded, and no other."""
    model, _ = connect(says(FOUND), fails(500))
    with cassette("new", record=True, folder=tmp_path):
        model.answer([ChatMessage("user", "Well?")], schema=Finding, max_tokens=5)

    with cassette("new", folder=tmp_path), pytest.raises(CannotOverwriteExistingCassetteException):
        model.answer([ChatMessage("user", "And now?")], schema=Finding, max_tokens=5)
    with cassette("new", folder=tmp_path):
        assert model.answer([ChatMessage("user", "Well?")], schema=Finding, max_tokens=5).text == FOUND
