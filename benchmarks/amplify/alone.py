"""Diagnose one job in a process of its own, so that time and memory are those of this job.

python -m benchmarks.amplify.alone JOBS ID      prints one JSON object
"""

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

from core.baseline import choose_baseline
from core.diagnose import diagnose
from core.errors import FirstfaultError
from core.model import Diagnosis
from sources.jobs import open_source

_STATUS = Path("/proc/self/status")  # getrusage also counts what the process was before it became this program
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
_KILOBYTE = 1024


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """What the diagnosis says, and what it took. peak: bytes of memory, seconds: by the clock, cpu: of one core."""

    scope: str
    nodes: tuple[str, ...]
    headline: str
    lines: int
    read: int
    seconds: float
    cpu: float
    peak: int


def diagnose_alone(jobs: Path, job_id: str) -> MeasuredAnswer:
    """The answer to a job of a folder, compared with the successful jobs beside it.

    Raises:
        FirstfaultError: there is no answer.
    """
    source = open_source(str(jobs))
    manifests = [source.manifest(other) for other in source.job_ids()]
    started, cpu = perf_counter(), process_time()
    job = source.job(job_id)
    baseline = [source.job(other) for other in choose_baseline(job.manifest, manifests)]
    diagnosis = diagnose(job, baseline)
    return _answer(diagnosis, perf_counter() - started, process_time() - cpu)


def _answer(diagnosis: Diagnosis, seconds: float, cpu: float) -> MeasuredAnswer:
    return MeasuredAnswer(
        scope=diagnosis.scope.value,
        nodes=tuple(node.node for node in diagnosis.nodes),
        headline=diagnosis.headline,
        lines=diagnosis.coverage.lines,
        read=diagnosis.coverage.bytes,
        seconds=seconds,
        cpu=cpu,
        peak=_peak(_STATUS.read_text(encoding="ascii")),
    )


def _peak(status: str) -> int:
    match = _PEAK.search(status)
    return int(match[1]) * _KILOBYTE if match else 0


def main() -> int:
    """Print the answer to one job."""
    try:
        answer = diagnose_alone(Path(sys.argv[1]), sys.argv[2])
    except FirstfaultError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(asdict(answer)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
