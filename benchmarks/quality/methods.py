"""Every method that is measured, under the name that the table shows: a job that was read in, a diagnosis out."""

from collections.abc import Callable, Mapping

from benchmarks.quality.rivals import error_count, error_time, silence
from core.diagnose import diagnose_parsed
from core.model import Diagnosis
from core.parsed import Parsed

Method = Callable[[Parsed], Diagnosis]
OURS, PAPER = "firstfault", "l4"


def l4(parsed: Parsed) -> Diagnosis:
    """The paper as it stands."""
    return diagnose_parsed(parsed, method="l4")


METHODS: Mapping[str, Method] = {
    "Error_time": error_time,
    "Error_count": error_count,
    "silence": silence,
    PAPER: l4,
    OURS: diagnose_parsed,
}
