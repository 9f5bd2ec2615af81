"""``make test-pythons`` says what it tested: a Python that is not here is not tested, and is never told to be."""

import os
import subprocess
from pathlib import Path

from tests.support.places import ROOT

NOTHING_TESTED = 3


def asked_for(versions: str, path: str) -> "subprocess.CompletedProcess[str]":
    """The script, for some versions."""
    environment = os.environ | {"FIRSTFAULT_PYTHONS": versions, "PATH": path}
    command = ["bash", str(ROOT / "tests" / "pythons.sh")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_who_is_not_here_is_not_tested(tmp_path: Path) -> None:
    """Neither a version that nobody has, nor a program of that name that is another Python; the exit code tells."""
    other = tmp_path / "python3.99"
    other.write_text("#!/bin/sh\necho 3.11.7\n", encoding="ascii")
    other.chmod(0o755)

    done = asked_for("9.99 3.99 /no/such/python", f"{tmp_path}:{os.environ['PATH']}")

    assert done.returncode == NOTHING_TESTED
    assert done.stdout.splitlines() == [
        "tested: none", "failed: none", "not tested here: 9.99; 3.99; /no/such/python"
    ]  # fmt: skip


def test_what_cannot_be_installed_failed(tmp_path: Path) -> None:
    """A Python that breaks is told, and is a failure."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\n[ $# = 2 ] && echo 3.98.1 || exit 1\n", encoding="ascii")
    broken.chmod(0o755)

    done = asked_for(str(broken), os.environ["PATH"])

    assert done.returncode == 1
    assert "failed: 3.98.1 (packages could not be installed)" in done.stdout
    assert "tested: none" in done.stdout
