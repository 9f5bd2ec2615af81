"""A Dask cluster of processes of its own, for tests."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[2]
needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'firstfault[cluster]'",
)


class Cluster:
    """A scheduler and its workers, as `dask scheduler` and `dask worker` start them."""

    def __init__(self, folder: Path, python_path: Path = ROOT, certificates: Mapping[str, str] | None = None) -> None:
        """python_path: where the scheduler finds packages. certificates: Dask's settings of TLS, as environment."""
        self._folder = folder
        self._certificates = dict(certificates or {})
        self._processes: list[subprocess.Popen[str]] = []
        self.scheduler, text = self._start(
            *("scheduler", "--port", "0", "--host", "127.0.0.1", "--protocol", "tls" if certificates else "tcp"),
            python_path=python_path,
        )
        found = re.search(r"(?:tcp|tls)://[0-9.]+:[0-9]+", text)
        assert found, text
        self.address = found[0]

    def add_worker(self, name: str, python_path: Path = ROOT) -> int:
        """Start a worker and wait until it is known; its process."""
        words = ("worker", self.address, "--name", name, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1")
        process, _ = self._start(*words, python_path=python_path)
        return process.pid

    def close(self) -> None:
        """Kill what was started."""
        for process in self._processes:
            process.kill()
            process.communicate()

    def _start(self, *words: str, python_path: Path = ROOT) -> tuple[subprocess.Popen[str], str]:
        """Start a process of Dask; it, and what it said until it was ready."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--no-dashboard"],
            cwd=self._folder,
            env=os.environ | {"PYTHONPATH": str(python_path), "PYTHONSAFEPATH": "1", **self._certificates},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        assert process.stderr is not None
        text = ""
        for line in process.stderr:
            text += line
            if re.search(r"(?:Scheduler at|Registered to): +t(?:cp|ls):", line):
                break
        Thread(target=process.stderr.read, daemon=True).start()  # what is not read fills the pipe
        return process, text
