"""Diagnoses of jobs of the labelled set as they were when a model was recorded."""

import atexit
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.settings import Settings
from core.model import Diagnosis
from tests.support.places import ROOT

LAB = ROOT / "benchmarks" / "quality" / "lab.tar.xz"
KEPT = Path(__file__).parent / "kept"
_DIAGNOSIS = TypeAdapter(Diagnosis)


@cache
def labelled_jobs() -> Path:
    """The folder of the labelled jobs, unpacked; it is gone when Python ends."""
    folder = Path(tempfile.mkdtemp(prefix="recorded-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(LAB) as packed:
        packed.extractall(folder, filter="data")
    return folder / "jobs"


def diagnosis_of(job: str, *, keep: bool = False) -> Diagnosis:
    """As it is kept; made anew and kept from now on, when the calls are recorded."""
    path = KEPT / f"{job}.json"
    if keep:
        diagnosis = investigate(Request(job, jobs=str(labelled_jobs()), use_cache=False), Settings()).diagnosis
        path.write_bytes(_DIAGNOSIS.dump_json(diagnosis, indent=1) + b"\n")
    return _DIAGNOSIS.validate_json(path.read_bytes())
