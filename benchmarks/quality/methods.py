"""Every method that is measured, under the name that the table shows: a job and its baseline in, a diagnosis out."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.quality.rivals import error_count, error_time, silence
from core.cache import ByteCache
from core.diagnose import diagnose
from core.job import Job
from core.model import Diagnosis

Method = Callable[[Job, Sequence[Job], ByteCache], Diagnosis]


def l4(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Diagnosis:
    """The paper as it stands."""
    return diagnose(job, baseline, method="l4", cache=cache)


def firstfault(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Diagnosis:
    """Ours."""
    return diagnose(job, baseline, cache=cache)


METHODS: Mapping[str, Method] = {
    "Error_time": error_time,
    "Error_count": error_count,
    "silence": silence,
    "l4": l4,
    "firstfault": firstfault,
}
