"""Everything runs with no setting, and a bad one is told by name."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings import load_settings
from core.errors import BadSettings


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No .env of the checkout is read."""
    monkeypatch.chdir(tmp_path)


def test_nothing_needs_to_be_set() -> None:
    """Defaults: the examples, a folder below the user's cache, all cores."""
    settings = load_settings()
    assert settings.jobs.endswith("examples")
    assert settings.cache.name == "firstfault"
    assert settings.workers >= 1


def test_the_environment_comes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """FIRSTFAULT_* wins over .env; an empty value counts as not set."""
    (tmp_path / ".env").write_text("FIRSTFAULT_JOBS=/from/file\nFIRSTFAULT_WORKERS=3\nUNRELATED=1\n")
    monkeypatch.setenv("FIRSTFAULT_JOBS", "s3://from/environment")
    monkeypatch.setenv("FIRSTFAULT_WORKERS", "")
    settings = load_settings()
    assert (settings.jobs, settings.workers) == ("s3://from/environment", 3)


def test_folders_that_links_may_lead_into_stand_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word none is allowed."""
    assert load_settings().follow_links == ()
    monkeypatch.setenv("FIRSTFAULT_FOLLOW_LINKS", "/scratch/runs, /data,")
    assert load_settings().follow_links == (Path("/scratch/runs"), Path("/data"))


@pytest.mark.parametrize("value", ["on", "1", "runs", "/runs,../x"])
def test_where_links_may_lead_is_said_from_the_root_on(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """It is not enough to say yes, and what is meant does not hang on where the bot was started."""
    monkeypatch.setenv("FIRSTFAULT_FOLLOW_LINKS", value)
    with pytest.raises(BadSettings, match="FIRSTFAULT_FOLLOW_LINKS makes no sense"):
        load_settings()


@pytest.mark.parametrize("value", ["none", "0", "-1"])
def test_a_setting_that_makes_no_sense_is_told_by_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """The error names the variable."""
    monkeypatch.setenv("FIRSTFAULT_WORKERS", value)
    with pytest.raises(BadSettings, match="FIRSTFAULT_WORKERS"):
        load_settings()


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    """A .env in another encoding is an error with a hint, no traceback."""
    (tmp_path / ".env").write_bytes(b"FIRSTFAULT_JOBS=\xff\xfe\n")
    with pytest.raises(BadSettings, match=r"\.env"):
        load_settings()


def test_settings_do_not_change() -> None:
    """One frozen object."""
    with pytest.raises(ValidationError):
        load_settings().workers = 2  # type: ignore[misc]
