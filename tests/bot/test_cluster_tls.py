"""A Dask scheduler that proves who it is: with certificates that the test makes, as cluster.md names them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.dask_cluster import Cluster, needs_dask
from benchmarks.support.patience import PATIENCE
from tests.support.certificates import make_certificates
from tests.support.places import ROOT

EXAMPLES = ROOT / "examples"


def check(scheduler: str, certificates: dict[str, str], home: Path) -> subprocess.CompletedProcess[str]:
    """``firstfault check``, which asks the scheduler and a worker for what they would read."""
    settings = {"JOBS": str(EXAMPLES), "LIBRARY": str(home / "library"), "SCHEDULER": scheduler}
    environment = os.environ | {f"FIRSTFAULT_{name}": value for name, value in settings.items()} | certificates
    command = [sys.executable, "-m", "bot", "check"]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def secured(certificates: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One worker, and nobody without a certificate is let in."""
    cluster = Cluster(tmp_path_factory.mktemp("dask"), certificates=certificates)
    cluster.add_worker("one")
    yield cluster
    cluster.close()


@needs_dask
@pytest.mark.slow
def test_a_scheduler_with_certificates_needs_no_leave(
    secured: Cluster, certificates: dict[str, str], tmp_path: Path
) -> None:
    """By tls:// the cluster answers, and its worker sees the logs."""
    answer = check(secured.address, certificates, tmp_path)

    assert secured.address.startswith("tls://")
    assert f"{secured.address}: 1 worker (1 thread), same Firstfault and Python" in answer.stdout, answer.stdout


@needs_dask
@pytest.mark.slow
def test_without_certificates_it_is_said_what_to_name(secured: Cluster, tmp_path: Path) -> None:
    """In our words: Dask's own name nothing that a person could set."""
    answer = check(secured.address, {}, tmp_path)

    assert "wants certificates, and no certificate authority and no certificate of a client are named" in answer.stdout
    assert "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in answer.stdout


@needs_dask
@pytest.mark.slow
def test_a_certificate_of_somebody_else_is_not_taken(secured: Cluster, tmp_path: Path) -> None:
    """Whoever has another authority is told that nobody answers."""
    (tmp_path / "other").mkdir()
    answer = check(secured.address, make_certificates(tmp_path / "other"), tmp_path)

    assert f"No Dask scheduler answers at {secured.address}" in answer.stdout, answer.stdout


@needs_dask
def test_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    """Before anybody is asked."""
    certificates = {name: "/nowhere/x.pem" for name in make_certificates(tmp_path) if "TLS" in name}

    answer = check("tls://127.0.0.1:9", certificates, tmp_path)

    assert "wants certificates, and they cannot be read" in answer.stdout, answer.stdout
