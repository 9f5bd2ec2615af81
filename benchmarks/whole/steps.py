"""Where the time of a diagnosis goes: CPU seconds of each step, all threads in one, as cProfile counts them.

A step holds all that it calls; the steps that are set in are parts of the one above them.
"""

import cProfile
import pstats
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from unittest.mock import patch

from core.logs import log_files

T = TypeVar("T")

# label, file, function
STEPS = (
    ("read the job, or find it read", "core/parsing/parse.py", "read_job"),
    ("- scan: bytes to columns", "core/logs/scan.py", "scan_file"),
    ("- join: messages, tallies, narrow rows", "core/logs/file_rows.py", "join"),
    ("- write down where all is", "core/logs/read_cache.py", "write_kept"),
    ("- find what was kept", "core/logs/read_cache.py", "read_kept"),
    ("- origins of voices", "core/logs/origins.py", "find_origins"),
    ("profiles of good jobs", "core/baseline.py", "profile_job"),
    ("templates (Drain)", "core/parsing/templates.py", "recall_templates"),
    ("rows that are held", "core/events/rows_in_memory.py", "hold"),
    ("the table", "core/parsing/parse.py", "table"),
    ("last words", "core/course/last_words.py", "settle_last_words"),
    ("iterations", "core/course/iterations.py", "find_iterations"),
    ("stages", "core/course/stages.py", "find_stages"),
    ("what is normal", "core/baseline.py", "normal"),
    ("candidates (4.2)", "core/judge/candidates.py", "find_candidates"),
    ("how processes ended", "core/judge/exits.py", "find_exits"),
    ("roles", "core/judge/roles/assign.py", "assign_roles"),
    ("whose words are unnamed", "core/judge/speaker.py", "name_speakers"),
    ("spans of work", "core/judge/work_spans.py", "find_spans"),
    ("how long work took", "core/judge/durations.py", "find_durations"),
    ("how progress ended", "core/judge/ending.py", "find_ending"),
    ("what is no number any more", "core/course/broken_number.py", "find_broken"),
    ("memory that grows", "core/course/leak.py", "find_leak"),
    ("dumps", "core/dumps/dump_signs.py", "find_dump_evidence"),
    ("metrics", "core/metrics/evidence.py", "find_metric_evidence"),
    ("what is only said at last", "core/judge/late_lines.py", "find_late"),
    ("rank", "core/judge/ranking.py", "rank_candidates"),
    ("stage of the failure (4.4)", "core/judge/ranking.py", "stage_of_failure"),
    ("odd iterations (4.4)", "core/judge/temporal.py", "find_odd_iterations"),
    ("what the network saw", "core/flows/evidence.py", "find_flow_evidence"),
    ("signs of nodes (4.3)", "core/nodes/suspicion.py", "find_signs"),
    ("ranks in different collectives", "core/judge/collective_mismatch.py", "find_mismatch"),
    ("ranks that Horovod misses", "core/judge/missing_ranks.py", "find_parted"),
    ("a rank at work alone", "core/judge/alone_at_work.py", "find_alone_at_work"),
    ("verdict, and the paper's comparison", "core/answer/verdict.py", "decide"),
    ("since when a node stands apart", "core/answer/since.py", "with_onsets"),
    ("what began with a slowdown", "core/answer/at_onset.py", "with_onset"),
    ("the line in which a finding shows", "core/answer/finding_lines.py", "with_finding_lines"),
    ("numbers taken out again", "core/answer/build_diagnosis.py", "as_told"),
    ("present", "core/answer/build_diagnosis.py", "present"),
    ("with what the network saw", "core/flows/evidence.py", "with_network"),
    ("what to do next", "core/next/advise.py", "with_next_step"),
)
LEAST = 0.005  # seconds; what takes less is not listed


class _Here(ThreadPoolExecutor):
    """Runs everything in the thread that asks, where one profile sees it."""

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Run it now."""
        future: Future[T] = Future()
        future.set_result(function(*arguments, **named))
        return future


def profiled(work: Callable[[], T]) -> tuple[T, Sequence[tuple[str, float]]]:
    """The result of some work, and the seconds of its steps; what threads would do is done in this one."""
    profile = cProfile.Profile(time.thread_time, builtins=False)  # millions of calls that would cost the most
    with patch.object(log_files, "ThreadPoolExecutor", _Here):
        result = profile.runcall(work)
    stats = pstats.Stats(profile)
    seconds = {key: cumulative for key, (_, _, _, cumulative, _) in stats.stats.items()}  # type: ignore[attr-defined]
    found = [(label, _of(seconds, file, function)) for label, file, function in STEPS]
    accounted = sum(spent for label, spent in found if not label.startswith("-"))
    total = stats.total_tt  # type: ignore[attr-defined]
    listed = [(label, spent) for label, spent in found if spent >= LEAST]
    return result, (*listed, ("everything else", total - accounted))


def _of(seconds: dict[tuple[str, int, str], float], file: str, function: str) -> float:
    return sum(spent for (path, _, name), spent in seconds.items() if name == function and path.endswith(f"/{file}"))
