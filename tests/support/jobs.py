"""Small jobs for tests: built in memory from a few lines, or taken from examples/."""

import gzip
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from core.diagnose import diagnose
from core.job import Job, LogFile, Manifest, Status
from core.judge.candidates import Candidate, find_candidates
from core.judge.durations import find_durations
from core.judge.ending import find_ending
from core.judge.exits import find_exits
from core.judge.ranking import rank_candidates
from core.judge.roles.assign import assign_roles
from core.judge.work_spans import find_spans
from core.nodes.sign import Sign
from core.nodes.suspicion import find_signs
from core.parsed import Parsed, parse_job
from sources.jobs import open_source
from tests.support.places import EXAMPLES

START = datetime(2026, 11, 21, 4, 0, 0, tzinfo=UTC)


def log_file(name: str, content: str | bytes) -> LogFile:
    """A log in memory; what is called .gz is unpacked as a source would."""
    stored = content.encode() if isinstance(content, str) else content
    text = gzip.decompress(stored) if name.endswith(".gz") else stored
    return LogFile(name, len(stored), hashlib.sha256(stored).hexdigest(), partial(io.BytesIO, text))


def job(files: Mapping[str, str | bytes], **manifest: Any) -> Job:
    """A job with these files below logs/; it failed, and nothing else is known of it, unless the manifest says so."""
    known: dict[str, Any] = {"job_id": "j1", "status": Status.FAILED} | manifest
    logs = [log_file(f"logs/{name}", content) for name, content in sorted(files.items())]
    return Job(Manifest(**known), tuple(logs))


def example(job_id: str) -> Job:
    """A real lab job."""
    return open_source(str(EXAMPLES)).job(job_id)


def good_jobs(job_id: str) -> tuple[str, ...]:
    """Successful examples with the settings of an example."""
    settings = {
        path.parent.name: json.loads(path.read_text(encoding="utf-8"))["settings_id"]
        for path in sorted(EXAMPLES.glob("*/job.json"))
    }
    return tuple(name for name in settings if name[0] == "s" and name != job_id and settings[name] == settings[job_id])


def at(seconds: float, text: str) -> str:
    """A line with a time stamp, so many seconds after START."""
    clock = START + timedelta(seconds=seconds)
    return f"{clock:%Y-%m-%d %H:%M:%S},{clock.microsecond // 1000:03d} {text}"


def lines(*texts: str) -> str:
    """A file of these lines."""
    return "".join(f"{text}\n" for text in texts)


def steps(last: int, *, total: int = 100, first: int = 1, seconds: float = 1.0) -> list[str]:
    """Iterations as Megatron prints them, one each so many seconds from START on."""
    return [
        at(n * seconds, f"iteration {n:8d}/{total:8d} | elapsed time per iteration (ms): 200.0 | lm loss: 5.0E+00 |")
        for n in range(first, last + 1)
    ]


def four_nodes(
    says: Mapping[int, Sequence[str]],
    *,
    usual: Sequence[str] = (),
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
    **manifest: Any,
) -> Job:
    """Four nodes (node-0 to node-3) of one rank each; all say the usual lines, and then what is theirs alone.

    others: further files, of launchers, daemons and schedulers.
    """
    files: dict[str, str | bytes] = {f"node-{n}/rank_{n}.log": lines(*usual, *says.get(n, ())) for n in range(4)}
    files |= {name: lines(*texts) for name, texts in others.items()}
    nodes = {f"node-{n}": (n,) for n in range(4)}
    addresses = {f"node-{n}": (f"10.0.0.{n}",) for n in range(4)}
    known: dict[str, Any] = {"nodes": tuple(nodes), "node_ranks": nodes, "node_addresses": addresses, "world_size": 4}
    return job(files, **(known | manifest))


def saves(
    ends: dict[int, int], took: dict[int, float] | None = None, speaks: tuple[int, ...] = (0, 1, 2, 3)
) -> dict[int, list[str]]:
    """Steps of .2 s on all ranks; every tenth saves, which ends on each rank as often as is told, of four times."""
    said: dict[int, list[str]] = {rank: [] for rank in range(4)}
    clock = 0.0
    for n in range(1, 41):
        clock += 0.2
        for rank in range(4):
            said[rank].append(at(clock, f"INFO step {n} loss 2.5"))
        if n % 10 == 0:
            for rank in range(4):
                said[rank].append(at(clock, f"INFO dumping tensors of step {n}"))
                lasts = (took or {}).get(rank, 0.1)
                if n // 10 <= ends.get(rank, 4) and rank in speaks:
                    said[rank].append(at(clock + lasts, f"INFO dumped tensors of step {n}"))
            clock += max((took or {0: 0.1}).values())
    return said


def suspected(one: Job, *baseline: Job) -> list[str]:
    """The nodes that the diagnosis suspects, the likeliest first."""
    return [node.node for node in diagnose(one, baseline).nodes]


def parse(one: Job, *baseline: Job) -> Parsed:
    """The job as every method sees it."""
    return parse_job(one, baseline, cache=None, workers=1, progress=None)


def judged(one: Job, *baseline: Job) -> tuple[Candidate, ...]:
    """The job's candidates with roles and scores, the most telling first."""
    parsed = parse(one, *baseline)
    return rank_candidates(parsed, assign_roles(parsed, find_candidates(parsed), find_exits(parsed)))


def signs_of(one: Job, *baseline: Job) -> tuple[Sign, ...]:
    """Everything that points to nodes of the job."""
    parsed, candidates = parse(one, *baseline), judged(one, *baseline)
    spans = find_spans(parsed)
    durations = find_durations(parsed, spans)
    ending = find_ending(parsed, candidates, spans)
    return find_signs(parsed, candidates, ending, find_exits(parsed), spans, durations)


TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/train.py", line 12, in <module>',
    "    main()",
    '  File "/opt/train.py", line 7, in train_step',
    "    step()",
)


def raised(exception: str) -> list[str]:
    """A traceback that ends with this exception."""
    return [*TRACEBACK, exception]


def lost(node: int) -> list[str]:
    """A healthy rank whose connection to that node was closed."""
    return raised(f"RuntimeError: [/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.{node}]:4321")


def timed_out() -> list[str]:
    """A healthy rank that waited for somebody in vain."""
    return raised("RuntimeError: [/gloo/unbound_buffer.cc:81] Timed out waiting 25000ms for recv operation to complete")


def slurm(seconds: float, text: str) -> str:
    """What slurmctld or slurmd writes to its log."""
    clock = START + timedelta(seconds=seconds)
    return f"[{clock:%Y-%m-%dT%H:%M:%S}.{clock.microsecond // 1000:03d}] {text}"


def told_to_end(seconds: float) -> str:
    """torchrun's word that it was told to end, with SIGTERM."""
    return at(seconds, "W1121 api.py:753] Received 15 death signal, shutting down workers")


def exited(seconds: float, code: int) -> str:
    """torchrun's report of a process of its node that ended."""
    return at(seconds, f"E1121 api.py:869] failed (exitcode: {code}) local_rank: 0 (pid: 77) of binary: python")
