"""Whole commands whose standard streams are closed or full, and in the poorest locale."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture
def command(tmp_path: Path) -> str:
    """A diagnosis of a small job."""
    (tmp_path / "job" / "logs").mkdir(parents=True)
    log = "".join(f"iteration {n} loss 0.5\n" for n in range(50)) + "RuntimeError: CUDA error: an illegal access\n"
    (tmp_path / "job" / "logs" / "rank_0.log").write_text(log)
    return f"{sys.executable} -P -m bot diagnose {tmp_path}/job --no-model --no-cache"


def _run(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_closed_streams_end_nothing(command: str) -> None:
    """It ended in an AttributeError of None, with 1 for "nothing conclusive"."""
    ran = _run(f"{command} >&- <&-")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_what_is_wrong_is_2_without_an_ear(tmp_path: Path) -> None:
    """It was 1, as if the job had been read."""
    assert _run(f"{sys.executable} -P -m bot diagnose {tmp_path}/nosuch 2>&-").returncode == 2


def test_a_full_disk_below_the_answer_is_told(command: str) -> None:
    """It ended in a traceback, with 120."""
    ran = _run(f"{command} --json >/dev/full")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: The answer cannot be written to standard output: no space left on device.")


def test_the_poorest_locale_reads_our_own_files(command: str) -> None:
    """Rules are UTF-8, whatever the machine writes: it ended in a UnicodeDecodeError."""
    ran = _run(command, LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (ran.returncode, ran.stderr) == (0, "")
