"""How a job came to its end, read from its lines and its job.json."""

from collections import defaultdict

import numpy as np

from bot.note.about_outcome import Outcome
from bot.note.claim_source import clock
from bot.outcome.exit_codes import codes_of, described
from bot.outcome.savings import savings
from core.course.job_clock import moment
from core.history.job_attempts import attempts_of
from core.logs.lines import NO_TIME
from core.model import Diagnosis
from core.parsed import Parsed

MAX_BYTES = 256 << 20  # of logs that are searched for checkpoints without being asked; some two seconds


def outcome_of(parsed: Parsed, diagnosis: Diagnosis) -> Outcome:
    """What is known of the end; of large logs only checkpoints that are told to be complete are known."""
    iterations, spoke = parsed.iterations, parsed.table.spoke
    course, known = iterations.course, spoke.last[spoke.last != NO_TIME]
    end = moment(parsed.job.manifest.end)
    saved, looked, doubtful = _saved(parsed, diagnosis)
    return Outcome(
        last=iterations.last,
        planned=iterations.total,
        moved=int(course.times[-1]) if len(course) else None,
        saved=saved,
        looked=looked,
        doubtful=doubtful,
        ended=int(known.max()) if np.any(known) else None,
        stopped=clock(end) if end is not None else "",
        codes=_codes(parsed),
    )


def _saved(parsed: Parsed, diagnosis: Diagnosis) -> tuple[int | None, bool, tuple[int, ...]]:
    """The last saved iteration, whether lines were searched for one, and who is missing in it."""
    attempts = attempts_of(parsed, diagnosis)
    done = attempts[-1].checkpoints if attempts else ()
    small = diagnosis.coverage.bytes <= MAX_BYTES
    saved = savings(parsed) if small else None
    missing = saved.missing if saved else ()
    if done and (saved is None or saved.step is None or saved.step <= done[-1]):
        return done[-1], True, missing if saved and saved.step == done[-1] else ()
    if saved and (saved.step is not None or not saved.found.lines):
        return saved.step, True, missing
    return None, False, ()


def _codes(parsed: Parsed) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Exit codes with who had them, those of fewest first: what is usual tells least."""
    owners: dict[int, list[str]] = defaultdict(list)
    for name, code in codes_of(parsed.job.manifest).items():
        owners[code].append(name)
    ordered = sorted(owners.items(), key=lambda item: (len(item[1]), item[0]))
    return tuple((described(code), tuple(names)) for code, names in ordered)
