"""The files of docs/deploy and the pages about the bot name what there is: settings, commands, paths."""

import json
import re
import shutil
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest
import typer

from bot.commandline.cli import app
from bot.settings import Settings
from tests.support.places import ROOT
from tests.test_house import MAY_IMPORT

DEPLOY = ROOT / "docs" / "deploy"
PAGES = [
    *sorted(DEPLOY.iterdir()),
    *(ROOT / "docs" / "how-to" / name for name in ("slack.md", "operate.md", "cluster.md")),
]
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


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """No option that systemd does not know, none in a wrong section, and no value that it cannot read."""
    text = (DEPLOY / "firstfault.service").read_text(encoding="utf-8")
    unit = tmp_path / "firstfault.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE), encoding="utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert "firstfault.service" not in verified.stderr
    assert verified.returncode == 0


def test_the_commands_of_the_image_can_run() -> None:
    """What it copies is there, what it starts is installed, and the folders that it writes to are in its volume."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for name in line.split()]
    assert {"pyproject.toml", "requirements.lock"} <= set(copied)
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert json.loads(re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[0]) == [
        "/opt/firstfault/.venv/bin/firstfault"
    ]
    assert set(json.loads(re.findall(r"^CMD (.*)$", text, re.MULTILINE)[0])) <= COMMANDS
    health = json.loads(re.findall(r"^\s+(\[.*urlopen.*\])$", text, re.MULTILINE)[0])
    compile(health[2], "HEALTHCHECK", "exec")
    volume = re.findall(r"^VOLUME (\S+)$", text, re.MULTILINE)[0]
    folders = re.findall(r"FIRSTFAULT_(?:STATE|LIBRARY|CACHE)=(\S+)", text)
    assert len(folders) == 3
    assert all(folder.startswith(f"{volume}/") for folder in folders)
    port = re.findall(r"FIRSTFAULT_HEALTH=\S+:(\d+)", text)[0]
    assert f"EXPOSE {port}" in text
    assert f":{port}/healthz" in health[2]


def test_the_lock_can_build_the_program() -> None:
    """The image installs without build isolation, so whatever builds must be pinned among what is installed."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    pinned = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert {re.split(r"[<>=]", name)[0] for name in built} <= set(pinned)


LOCKED = re.compile(
    r"^([a-z0-9.-]+)==\S+(?: ;[^\\]*)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_package_of_a_lock_has_its_hashes(name: str) -> None:
    """pip with --require-hashes takes nothing else."""
    text = (ROOT / name).read_text(encoding="utf-8")
    pinned = re.findall(r"^([a-z0-9.-]+)==", text, re.MULTILINE)

    assert len(pinned) > 100
    assert [found[0] for found in LOCKED.findall(text)] == pinned


def test_what_runs_is_locked_without_test_tools() -> None:
    """The image and ``make setup`` carry no browser, no fake S3 and no type checker; both locks agree on the rest."""
    locks = {name: dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
             for name in ("requirements.lock", "requirements-dev.lock")}  # fmt: skip
    runs, all_of_it = locks["requirements.lock"], locks["requirements-dev.lock"]

    assert {"playwright", "moto", "mypy", "pytest", "ruff", "bandit", "detect-secrets"} & set(runs) == set()
    assert runs.items() <= all_of_it.items()
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in image
    assert "requirements-dev" not in image


def test_the_base_of_the_image_is_pinned() -> None:
    """By a digest, for a tag can be moved; both stages stand on the same."""
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", image, re.MULTILINE)
    assert set(re.findall(r"^FROM (\S+)", image, re.MULTILINE)) == {"${BASE}"}


def test_metrics_of_the_image_are_on_loopback() -> None:
    """Whoever wants them outside says so."""
    assert re.findall(r"FIRSTFAULT_HEALTH=(\S+):", (DEPLOY / "Containerfile").read_text(encoding="utf-8")) == [
        "127.0.0.1"
    ]
    assert Settings.model_fields["health"].default.startswith("127.0.0.1:")


def test_the_image_holds_every_package() -> None:
    """A new folder of the house is copied into the image too; the fault lab is for a checkout."""
    copied = set(re.findall(r"^COPY (\w+) \1$", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE))
    assert copied == {*MAY_IMPORT, "examples"} - {"lab"}
