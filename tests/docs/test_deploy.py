"""The files of docs/deploy and the pages about the bot name what there is: settings, commands, paths."""

import re
from configparser import ConfigParser
from pathlib import Path

import pytest
import typer

from bot.cli import app
from bot.settings import Settings
from tests.test_house import MAY_IMPORT, ROOT

DEPLOY = ROOT / "docs" / "deploy"
PAGES = [*sorted(DEPLOY.iterdir()), *(ROOT / "docs" / name for name in ("slack.md", "operations.md"))]
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]  # a group


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    """Nobody sets a variable that nothing reads."""
    named = set(re.findall(r"FIRSTFAULT_[A-Z_]*[A-Z]", page.read_text(encoding="utf-8")))
    assert named
    assert {name.removeprefix("FIRSTFAULT_").lower() for name in named} <= set(Settings.model_fields)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    """``firstfault serve`` and the like, in code blocks and in code spans."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", text)
    parts = [*blocks, *spans]
    called = {word for part in parts for word in re.findall(r"(?:^|\s)firstfault ([a-z]+)\b", part, re.MULTILINE)}
    assert called <= COMMANDS


def test_the_service_may_write_where_it_is_told_to() -> None:
    """State, library and cache lie in the folders that systemd makes; all else is read-only."""
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]  # systemd's names have capitals
    unit.read_string((DEPLOY / "firstfault.service").read_text(encoding="utf-8"))
    service = unit["Service"]
    written = re.findall(
        r"^Environment=FIRSTFAULT_(?:STATE|LIBRARY|CACHE)=(\S+)$",
        (DEPLOY / "firstfault.service").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    allowed = (f"/var/lib/{service['StateDirectory']}/", f"/var/cache/{service['CacheDirectory']}")
    assert len(written) == 3
    assert all(path.startswith(allowed) for path in written)
    assert service["ProtectSystem"] == "strict"
    assert service["ExecStart"].endswith("/firstfault serve")


def test_the_image_holds_every_package() -> None:
    """A new folder of the house is copied into the image too."""
    copied = set(re.findall(r"^COPY (\w+) \1$", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE))
    assert copied == {*MAY_IMPORT, "examples"}
