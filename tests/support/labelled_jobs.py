"""Answers to the labelled jobs of the tree, each held against rules that hold for every answer."""

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

from bot.fetch.jobs import Request
from bot.investigate import Answer, draft, investigate
from bot.settings import Settings
from tests.support.places import ROOT

FaultsOf = Callable[[Answer], list[str]]


def settings_in(home: Path) -> Settings:
    """With a cache and a fault library of their own."""
    return Settings(cache=home / "cache", library=home / "library")


def check(jobs: Path, settings: Settings, faults_of: FaultsOf, *, every: int = 1) -> dict[str, list[str]]:
    """The faults of each job of a folder that has some; ``every``: of so many jobs one is looked at."""
    found = {}
    for job in sorted(path.name for path in jobs.iterdir() if path.is_dir())[::every]:
        answer = draft(investigate(Request(job, jobs=str(jobs)), settings), settings, use_model=False)
        if wrong := faults_of(answer):
            found[job] = wrong
    return found


def check_archive(
    archive: str, settings: Settings, faults_of: FaultsOf, folder: Path, *, every: int
) -> dict[str, list[str]]:
    """The same for jobs of benchmarks/quality, unpacked into a folder; FIRSTFAULT_EVERY=1 looks at all of them."""
    with tarfile.open(ROOT / "benchmarks" / "quality" / archive) as packed:
        packed.extractall(folder, filter="data")
    return check(folder / "jobs", settings, faults_of, every=int(os.environ.get("FIRSTFAULT_EVERY", every)))
