"""Which model the settings name."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.chat.model import ChatMessage
from bot.chat.model_choice import OPENAI_URL, model_from
from bot.chat.openai_model import OpenAIModel
from bot.settings import Settings, load_settings
from core.errors import BadSettings
from tests.bot.chat.conftest import Connect
from tests.support.model_endpoint import only, says
from tests.support.places import ROOT


class Finding(BaseModel):
    """What the tests ask for."""

    ids: list[str]


KEY = "sk-very-secret-0123456789"


def host_of(settings: Settings) -> str:
    model = model_from(settings)
    assert isinstance(model, OpenAIModel)
    model.close()
    return model.host


def test_without_a_name_there_is_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a key nor an endpoint that other programs use is reason enough to call it."""
    assert model_from(Settings()) is None
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert model_from(Settings()) is None


def test_a_local_endpoint_needs_no_key() -> None:
    """A name and a URL are enough."""
    assert host_of(Settings(model="toy", model_url="http://localhost:8000/v1")) == "localhost:8000"


def test_a_key_alone_means_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variables that OpenAI's own tools use."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert host_of(Settings(model="toy")) in OPENAI_URL
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8001/v1")
    assert host_of(Settings(model="toy")) == "localhost:8001"
    monkeypatch.setenv("FIRSTFAULT_MODEL_URL", "http://localhost:8002/v1")
    assert host_of(Settings(model="toy")) == "localhost:8002"


def test_a_name_without_an_endpoint_is_told() -> None:
    """A model that is configured by half is a mistake, not a choice."""
    with pytest.raises(BadSettings, match="nothing says where"):
        model_from(Settings(model="toy"))


def test_a_key_that_no_request_can_carry_is_told_but_not_shown() -> None:
    """A dash that a text processor made, a line break in the middle."""
    for key in (f"{KEY}\N{EN DASH}", f"{KEY}\n1"):
        with pytest.raises(BadSettings) as caught:
            model_from(Settings.model_validate({"model": "toy", "model_key": key}))
        assert KEY not in caught.value.message + caught.value.hint


def test_the_settings_reach_the_endpoint(connect: Connect, tmp_path: Path) -> None:
    """Key, time-out and cache folder: the next process does not try again what this endpoint does not know."""
    _, endpoint = connect(only(lambda body: "response_format" not in body, says('{"ids": []}'), "unknown"))
    settings = Settings.model_validate(
        {"model": "toy", "model_url": endpoint.url, "model_key": f"{KEY}\n", "model_timeout": 7, "cache": tmp_path}
    )
    calls = []

    for _ in range(2):
        model = model_from(settings)
        assert isinstance(model, OpenAIModel)
        calls.append(model.answer([ChatMessage("user", "Well?")], schema=Finding, max_tokens=5).usage.calls)
        assert model._client.timeout == model._client._client.timeout
        assert getattr(model._client.timeout, "read", None) == 7
        model.close()

    assert calls == [3, 1]
    assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {KEY}"}


def test_the_key_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings can be logged."""
    monkeypatch.setenv("FIRSTFAULT_MODEL_KEY", KEY)
    settings = load_settings()
    assert settings.model_key.get_secret_value() == KEY
    assert KEY not in f"{settings} {settings!r} {settings.model_dump()} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    ("name", "value"),
    [("MODEL_URL", "localhost:8000"), ("MODEL_TIMEOUT", "0"), ("RUNS", "0"), ("RUNS", "many")],
)
def test_a_setting_that_makes_no_sense_is_told_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The error names the variable."""
    monkeypatch.setenv(f"FIRSTFAULT_{name}", value)
    with pytest.raises(BadSettings, match=f"FIRSTFAULT_{name} "):
        load_settings()


def test_no_model_loads_no_client() -> None:
    """Who has no model does not wait for the openai package."""
    script = (
        "import sys; from bot.chat.model_choice import model_from; from bot.settings import Settings;"
        "assert model_from(Settings()) is None; print('openai' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
