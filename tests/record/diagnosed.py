"""Diagnoses of example jobs as they were when a model was recorded."""

from pathlib import Path

from pydantic import TypeAdapter

from bot.investigate import Request, investigate
from bot.settings import Settings
from core.model import Diagnosis

EXAMPLES = Path(__file__).parents[2] / "examples"
KEPT = Path(__file__).parent / "kept"
_DIAGNOSIS = TypeAdapter(Diagnosis)


def diagnosis_of(job: str, *, keep: bool = False) -> Diagnosis:
    """As it is kept; made anew and kept from now on, when the calls are recorded."""
    path = KEPT / f"{job}.json"
    if keep:
        diagnosis = investigate(Request(job, use_cache=False), Settings()).diagnosis
        path.write_bytes(_DIAGNOSIS.dump_json(diagnosis, indent=1) + b"\n")
    return _DIAGNOSIS.validate_json(path.read_bytes())
