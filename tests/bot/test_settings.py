"""Everything runs with no setting, and a bad one is told by name."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.setting_files import ENV_FILE, MAX_BYTES, user_file
from bot.settings import load_settings
from core.errors import BadSettings
from tests.support.places import ROOT

KEY = "sk-very-secret-0123456789"
# What a library would read here, and what is in it: matplotlib would start LaTeX, chromadb import what .env names,
# numba unpickle.
TRAPS = {
    "matplotlibrc": "text.usetex: True\n",
    ".env": "CHROMA_SERVER_HOST=evil\n",
    ".numba_config.yaml": "cache_dir: trap\n",
}
# Programs that say of each library whether it was obeyed; matplotlib obeys when it is loaded, which two commands do.
OF_A_DIAGNOSIS = f"""
import sys, tempfile; from pathlib import Path; from bot.commandline.cli import main
sys.argv = ["firstfault", "diagnose", {str(ROOT / "examples" / "f07")!r}, "--html", "page", "--no-baseline"]
sys.stdout = sys.stderr
try: main()
except SystemExit as ended: print("matplotlib" if ended.code else "nobody", file=sys.__stdout__)
sys.stdout = sys.__stdout__
from faultlib import chroma
client = chroma._client(Path(tempfile.mkdtemp()))
print("chromadb" if client._system.settings.chroma_server_host else "nobody")
from core.logs import kernel; import numba; numba.core.config.reload_config()
print("numba" if numba.core.config.CACHE_DIR else "nobody")"""
OF_A_HISTORY = """
import sys; from pathlib import Path; from bot.commandline.cli import main
Path("points.csv").write_text("time,iteration\\n1795300000,1\\n1795300010,2\\n1795300020,3\\n")
sys.argv = ["firstfault", "history", "./points.csv", "--html", "page"]
sys.stdout = sys.stderr
try: main()
except SystemExit as ended: print("matplotlib" if ended.code else "nobody", file=sys.__stdout__)
except RuntimeError: print("matplotlib", file=sys.__stdout__)"""


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The working directory of each test: the folder of a job that may be hostile."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    user_file().parent.mkdir(parents=True)
    return user_file()


def test_nothing_needs_to_be_set() -> None:
    """Defaults: the examples, a folder below the user's cache, all cores."""
    settings = load_settings()
    assert settings.jobs.endswith("examples")
    assert settings.cache.name == "firstfault"
    assert settings.workers >= 1


def test_places_have_an_order(monkeypatch: pytest.MonkeyPatch, here: Path, own: Path) -> None:
    """The environment before --env-file, that before the user's own file; an empty value counts as not set."""
    named = here / "named.env"
    own.write_text("FIRSTFAULT_JOBS=/own\nFIRSTFAULT_WORKERS=3\nFIRSTFAULT_RUNS=5\nUNRELATED=1\n")
    named.write_text("FIRSTFAULT_JOBS=/named\nFIRSTFAULT_WORKERS=4\n")
    monkeypatch.setenv(ENV_FILE, str(named))
    monkeypatch.setenv("FIRSTFAULT_JOBS", "s3://from/environment")
    monkeypatch.setenv("FIRSTFAULT_WORKERS", "")
    settings = load_settings()
    assert (settings.jobs, settings.workers, settings.runs) == ("s3://from/environment", 4, 5)


def test_a_name_of_another_program_counts_by_its_place(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """OPENAI_BASE_URL of the environment comes before FIRSTFAULT_MODEL_URL of a file."""
    own.write_text("FIRSTFAULT_MODEL_URL=http://own/v1\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    assert load_settings().model_url == "http://environment/v1"


@pytest.mark.parametrize("name", [".env", "settings.env", "firstfault/settings.env", ".config/firstfault/settings.env"])
def test_the_working_directory_sets_nothing(here: Path, name: str) -> None:
    """It may be the folder of a hostile job, which would name an address for the user's key."""
    place = here / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("FIRSTFAULT_MODEL_URL=http://evil/v1\nFIRSTFAULT_SCHEDULER=tcp://evil:1\nFIRSTFAULT_MODEL=x\n")
    settings = load_settings()
    assert (settings.model_url, settings.scheduler, settings.model) == ("", "", "")


def test_a_key_goes_only_to_an_address_from_its_own_place(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """Of an address and a key in two places one may be hostile: told, with both places, and without the key."""
    own.write_text("FIRSTFAULT_MODEL_URL=http://own/v1\n")
    monkeypatch.setenv("FIRSTFAULT_MODEL_KEY", KEY)
    with pytest.raises(BadSettings, match="FIRSTFAULT_MODEL_KEY stands in the environment") as refused:
        load_settings()
    assert str(own) in refused.value.message
    assert KEY not in refused.value.message + refused.value.hint

    own.write_text("FIRSTFAULT_MODEL_URL=http://own/v1\nFIRSTFAULT_MODEL_KEY=of-the-file\n")
    assert load_settings().model_key.get_secret_value() == "of-the-file"


def test_a_key_of_other_programs_is_left_to_them(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    """OPENAI_API_KEY in the shell is not sent to the team's own endpoint, which wants none."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert load_settings().model_key.get_secret_value() == KEY
    own.write_text("FIRSTFAULT_MODEL_URL=http://own/v1\n")
    assert load_settings().model_key.get_secret_value() == ""


@pytest.mark.parametrize("token", ["FIRSTFAULT_SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
def test_tokens_go_only_to_a_slack_from_their_own_place(monkeypatch: pytest.MonkeyPatch, own: Path, token: str) -> None:
    """As keys of a model do; Slack's own address needs nobody to name it."""
    monkeypatch.setenv(token, KEY)
    load_settings()
    own.write_text("SLACK_API_URL=http://evil/api/\n")
    with pytest.raises(BadSettings, match=token):
        load_settings()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
def test_a_file_that_is_none_is_told_at_once(own: Path, kind: str) -> None:
    """A pipe would keep every command waiting, /dev/zero would fill the memory."""
    if kind == "pipe":
        os.mkfifo(own)
    elif kind == "device":
        own.symlink_to("/dev/zero")
    elif kind == "folder":
        own.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(own.parent):
            listener.bind(own.name)
    with pytest.raises(BadSettings, match="cannot be read") as refused:
        load_settings()
    assert str(own) in refused.value.message


def test_a_file_can_be_named_on_the_command_line(here: Path) -> None:
    """From where one is, for this command and all that it starts."""
    (here / "team.env").write_text("FIRSTFAULT_STATE=/nowhere/of-the-team\n")
    command = [sys.executable, "-m", "bot", "--env-file", "team.env", "audit"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 2
    assert "There is no state in /nowhere/of-the-team." in ran.stderr


def test_a_file_that_was_named_has_to_be_there(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    """A misspelt --env-file is no empty one."""
    monkeypatch.setenv(ENV_FILE, str(here / "nosuch.env"))
    with pytest.raises(BadSettings, match="it is not there"):
        load_settings()


@pytest.mark.slow
@pytest.mark.parametrize("trap", ["file", "pipe"])
@pytest.mark.parametrize(("script", "libraries"), [(OF_A_DIAGNOSIS, 3), (OF_A_HISTORY, 1)], ids=["diagnose", "history"])
def test_no_library_obeys_the_working_directory(here: Path, script: str, libraries: int, trap: str) -> None:
    """Neither matplotlib nor chromadb nor numba takes a setting from a job's folder, and none waits for a pipe."""
    for name, content in TRAPS.items():
        if trap == "pipe":
            os.mkfifo(here / name)
        else:
            (here / name).write_text(content)
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.split()) == (0, ["nobody"] * libraries), ran.stderr


def test_folders_that_links_may_lead_into_stand_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word none is allowed."""
    assert load_settings().follow_links == ()
    monkeypatch.setenv("FIRSTFAULT_FOLLOW_LINKS", "/scratch/runs, /data,")
    assert load_settings().follow_links == (Path("/scratch/runs"), Path("/data"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("FIRSTFAULT_WORKERS", value) for value in ("none", "0", "-1")),
        # it is not enough to say yes, and what is meant does not hang on where the bot was started
        *(("FIRSTFAULT_FOLLOW_LINKS", value) for value in ("on", "1", "runs", "/runs,../x")),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The error names the variable."""
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=f"{name} makes no sense"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "says"), [(b"#" * (MAX_BYTES + 1), "more than"), (b"FIRSTFAULT_JOBS=\xff\xfe\n", "not UTF-8")]
)
def test_a_file_that_is_something_else_is_told(own: Path, content: bytes, says: str) -> None:
    """An error with a hint, no traceback."""
    own.write_bytes(content)
    with pytest.raises(BadSettings, match=says):
        load_settings()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("FIRSTFAULT_RUNS=2\nFIRSTFAULT_JOBS: /data\n", 2),
        ('FIRSTFAULT_RUNS=2\n\n\nFIRSTFAULT_MODEL_URL="http://own/v1\n', 4),
        ("FIRSTFAULT_APPROVERS\n", 1),
        ("\0" * 512, 1),
        ("FIRSTFAULT_MODEL_KEY='x\\'\n" * 1000, 1),
    ],
)
def test_a_line_that_sets_nothing_is_told(own: Path, content: str, line: int, caplog: pytest.LogCaptureFixture) -> None:
    """What was left out without a word may be the address that a key is for; its text is not told."""
    own.write_text(content)
    with pytest.raises(BadSettings, match=f"line {line} sets nothing") as refused:
        load_settings()
    assert str(own) in refused.value.message
    assert "http" not in refused.value.message
    assert not caplog.records


def test_lines_in_every_usual_form_are_read(own: Path) -> None:
    """A mark of Windows at the start, its ends of lines, export, comments, quotes, and values over several lines."""
    own.write_bytes(
        b"\xef\xbb\xbfFIRSTFAULT_JOBS=/data\r\n# a comment\r\n\r\nexport FIRSTFAULT_RUNS = 3 # three\r\n"
        b"FIRSTFAULT_STATE='/a b'\r\nFIRSTFAULT_MODEL=\r\nFIRSTFAULT_APPROVERS=\"U1,\nU2\"\r\n"
    )
    settings = load_settings()
    assert (settings.jobs, settings.runs, str(settings.state)) == ("/data", 3, "/a b")
    assert settings.approvers == "U1,\nU2"


def test_settings_do_not_change() -> None:
    """One frozen object."""
    with pytest.raises(ValidationError):
        load_settings().workers = 2  # type: ignore[misc]
