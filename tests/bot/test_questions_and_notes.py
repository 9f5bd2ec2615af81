"""Notes and questions from the command line, and from the story behind it."""

import dataclasses
import json
from pathlib import Path

import pytest

from bot.chat.model import ModelUnavailable
from bot.fetch.jobs import Request
from bot.follow_up import follow_up
from bot.investigate import Answer, draft, investigate, page
from bot.jobs import tasks
from bot.jobs.messages import Ask, Diagnose, Draw
from bot.note.claims import claims_of
from bot.note.note import Author
from bot.settings import Settings
from bot.state.answers import SavedAnswer, answer_text
from tests.bot.conftest import Run
from tests.bot.test_cli import jobs, run  # noqa: F401 fixtures
from tests.support.notes.plans import answer as planned
from tests.support.notes.plans import step
from tests.support.scripted_model import ScriptedModel

SILENT = ModelUnavailable("The model gave no answer in 60 s.")


@pytest.fixture
def settings(tmp_path: Path, jobs: str) -> Settings:  # noqa: F811 the fixture
    """No model, and everything below a folder of the test."""
    return Settings(jobs=jobs, cache=tmp_path / "cache", library=tmp_path / "library")


def _with_model(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel) -> None:
    for story in ("investigate", "follow_up"):
        monkeypatch.setattr(f"bot.{story}.model_from", lambda _settings: model)


def _answer(settings: Settings) -> Answer:
    return investigate(Request("bad"), settings)


def test_the_json_holds_a_note_of_code(run: Run, jobs: str) -> None:  # noqa: F811
    """Without a model there is a note too; every sentence says what it stands on."""
    note = json.loads(run("diagnose", "bad", "--jobs", jobs, "--json")[1])["note"]
    assert (note["author"], note["model"], note["refused"], note["unavailable"]) == ("code", "", [], "")
    sentences = [note["headline"], note["cause"], *note["happened"], *note["check_first"], *note["fix"]]
    assert all(sentence["cites"] for sentence in sentences)


def test_the_terminal_shows_a_note_only_of_a_model(
    run: Run,  # noqa: F811
    jobs: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    """What code would say stands above it anyway; of a model that was silent the reason is told."""
    assert "\nNote\n" not in run("diagnose", "bad", "--jobs", jobs)[1]
    _with_model(monkeypatch, ScriptedModel(_true_draft(settings), name="some-model"))
    shown = run("diagnose", "bad", "--jobs", jobs)[1]
    assert "in the order of some-model; not" in shown
    assert "The model's guess, not checked:\n    ? The disk may be broken.\n" in shown
    _with_model(monkeypatch, ScriptedModel(SILENT, name="some-model"))
    assert "No draft: The model gave no answer in 60 s." in run("diagnose", "bad", "--jobs", jobs)[1]


def test_no_model_is_asked_when_none_is_wanted(run: Run, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """--no-model sends nothing anywhere."""
    model = ScriptedModel()
    _with_model(monkeypatch, model)
    assert run("diagnose", "bad", "--jobs", jobs, "--no-model")[0] == 0
    assert model.asked == []


def test_a_draft_that_holds_is_the_models(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its choice of claims is shown, with its name."""
    _with_model(monkeypatch, ScriptedModel(_true_draft(settings), name="some-model"))
    note = draft(_answer(settings), settings).note
    assert note is not None
    assert (note.author, note.model) == (Author.MODEL, "some-model")


def test_a_model_that_cannot_be_asked_costs_only_its_words(settings: Settings) -> None:
    """A setting that makes no sense is told in the note; the diagnosis stands."""
    broken = settings.model_copy(update={"model": "some-model"})
    note = draft(_answer(broken), broken).note
    assert note is not None
    assert note.author is Author.CODE
    assert "nothing says where it answers" in note.unavailable


def test_a_question_is_answered_from_the_lines(run: Run, jobs: str) -> None:  # noqa: F811
    """Exit code 0 with lines and their places; JSON for programs."""
    code, out, _ = run("ask", "bad", "what", "did", "node-1", "log?", "--jobs", jobs)
    assert code == 0
    assert out.startswith("node-1 wrote ")
    assert "OSError: [Errno 5] Input/output error (logs/node-1/rank_1.log:14)" in out
    reply = json.loads(run("ask", "bad", "node-1?", "--jobs", jobs, "--json")[1])
    assert (reply["author"], reply["looks"]) == ("logs", ["suspect", "last"])


def test_what_is_not_in_the_logs_is_exit_code_1(run: Run, jobs: str) -> None:  # noqa: F811
    """A script can tell that the logs do not say."""
    code, out, _ = run("ask", "bad", "any Xid?", "--jobs", jobs)
    assert code == 1
    assert out.startswith("I looked for “Xid” in every line, ")


def test_a_question_about_no_job_is_exit_code_2(run: Run, jobs: str) -> None:  # noqa: F811
    """As for a diagnosis."""
    assert run("ask", "nosuch", "why?", "--jobs", jobs)[0] == 2


def test_a_silent_model_is_told_beside_the_answer(run: Run, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """On standard error; the lines are the answer."""
    _with_model(monkeypatch, ScriptedModel(SILENT))
    code, out, err = run("ask", "bad", "input output", "--jobs", jobs)
    assert code == 0
    assert "Input/output error" in out
    assert err == "The model did not answer: The model gave no answer in 60 s.\n"


def test_a_follow_up_uses_what_was_found_before(settings: Settings) -> None:
    """In a thread the diagnosis that people see is asked, not a new one."""
    answer = _answer(settings)
    other = dataclasses.replace(answer.diagnosis, headline="Look at the moon")
    reply = follow_up("why?", Request("bad"), settings, found=(other, ()))
    assert reply.lines[0].startswith("Look at the moon")


def _true_draft(settings: Settings) -> str:
    """A plan as a model could have made it."""
    assert any(claim.id == "E1.said" for claim in claims_of(_answer(settings).diagnosis).every)
    return planned(["D1.look"], [step("E1.said")], [], ["C1"], ["The disk may be broken."])


SECRET = "hf_" + "Ab3dEf6hIj9lMn2pQr5tUv8x"


@pytest.fixture
def leaking(jobs: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:  # noqa: F811
    """A job whose failing line and its neighbour hold a token, for a child that reads its settings."""
    log = Path(jobs) / "bad" / "logs" / "node-1" / "rank_1.log"
    log.write_text(log.read_text().replace("OSError:", f"token={SECRET}\nOSError: token={SECRET}"))
    monkeypatch.setenv("FIRSTFAULT_JOBS", jobs)
    monkeypatch.setenv("FIRSTFAULT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIRSTFAULT_LIBRARY", str(tmp_path / "library"))
    return jobs


class _Voice:
    """Hears what a task tells."""

    def __init__(self) -> None:
        self.told: list[SavedAnswer] = []

    def progress(self, step: str, done: int, total: int) -> None:
        """Not of interest."""

    def tell(self, answer: SavedAnswer) -> None:
        self.told.append(answer)


def test_no_secret_leaves_in_the_report_or_in_a_reply(leaking: str, tmp_path: Path) -> None:
    """What a child hands over to be kept, the page for a thread and a reply are redacted; the page at home is not."""
    voice = _Voice()
    found = tasks.diagnose(Diagnose("bad"), voice)
    assert found.diagnosis is not None
    tasks.draw(Draw(found, str(tmp_path)), voice)
    for answer in (*voice.told, found):
        assert answer.diagnosis is None or (answer.diagnosis.events and SECRET not in answer_text(answer))
    assert SECRET not in (tmp_path / tasks.REPORT).read_text()
    reply = tasks.ask(Ask('"Input/output error"', found), voice)
    assert "Input/output error" in reply
    assert SECRET not in reply
    settings = Settings(jobs=leaking, cache=tmp_path / "cache", library=tmp_path / "library")
    assert SECRET in page(investigate(Request("bad"), settings), version="0")


def test_a_report_that_the_disk_does_not_take_costs_the_report_alone(leaking: str, tmp_path: Path) -> None:
    """The answer stands without it, and nothing half written is left to be posted."""
    assert leaking
    found = tasks.diagnose(Diagnose("bad"), _Voice())
    drawn = tasks.draw(Draw(found, str(tmp_path / "not-there")), _Voice())
    assert drawn == found
    assert found.note is not None
    assert (found.report, found.plot, found.plot_text) == ("", "", "")
