"""An answer with what to do next: after this failure alone, or after all attempts of its run."""

from collections.abc import Sequence
from dataclasses import replace

from core.answer.findings import Findings, Verdict
from core.history.attempt import Attempt
from core.history.job_attempts import MAX_ATTEMPTS, attempts_of
from core.history.restarts import find_restarts
from core.model import Diagnosis, Skipped
from core.next.decision_table import next_step
from core.next.earlier_attempts import past_of
from core.next.from_diagnosis import situation

TOO_MANY_ATTEMPTS = (
    f"The logs hold {MAX_ATTEMPTS:,} attempts or more: what came before the last {MAX_ATTEMPTS:,} is part of the first"
    " of them."
)


def with_next_step(answer: Diagnosis, found: Findings, verdict: Verdict, earlier: Sequence[Attempt] = ()) -> Diagnosis:
    """The answer with its next step (ByteRobust, SOSP 2025, section 4).

    Args:
        earlier: attempts of the same run in jobs before this one; those that its own logs hold are found here.
    """
    now = situation(found, verdict)
    answer = replace(answer, next=next_step(now))
    if not earlier and found.parsed.iterations.began is None and not _restarts(found):
        return answer
    attempts = attempts_of(found.parsed, answer)
    if len(attempts) >= MAX_ATTEMPTS:
        answer = replace(answer, skipped=(*answer.skipped, Skipped("temporal", TOO_MANY_ATTEMPTS)))
    *before, last = attempts or (None,)
    if last is None or not (earlier or before):
        return answer
    return replace(answer, next=next_step(replace(now, past=past_of((*earlier, *before), last))))


def _restarts(found: Findings) -> bool:
    """Whether a program began anew in the job's own logs without counting its iterations again."""
    parsed = found.parsed
    return len(find_restarts(parsed.table, parsed.iterations.marks, parsed.memory)) > 0
