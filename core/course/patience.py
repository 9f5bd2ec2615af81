"""How long a job may make no progress before it hangs: one rule for a job that runs and for one that was ended."""

# Of the lab's successful jobs and the public ones with clocks; benchmarks/watching.py, docs/how-to/watch.md
HANG_STEPS = 40.0  # times the usual time from one progress to the next,
SLOW_STEPS, SLOW_SECONDS = 3.0, 60.0  # or three such times and a minute, if that is less: a slow job pauses no longer
END_STEPS = 5.0  # the same for one look back at the end: healthy jobs were stopped within two (docs/LOG.md)
HANG_WORDS = 5.0  # times the usual time from one arrival of news to the next: buffers, network file systems
HANG_PAUSES = 2.0  # times the longest pause that the job came through, lately or in the same stage
HANG_SECONDS = 8.0  # less is no hang, however fast a job is
ANNOUNCED_SECONDS = 900.0  # the first checkpoint, evaluation or loading of a job may take so long
MIN_STEPS = 5  # of progress, before a pace is known


def patience(step: float, usual: float, longest: float, *, steps: float = HANG_STEPS) -> float:
    """Seconds without progress that are no hang while a job trains.

    Args:
        steps: usual steps that may go by; a watch looks at every moment of a run, who looks back only at its end.
        step: usual seconds from one progress to the next.
        usual: usual seconds from one arrival of news to the next.
        longest: seconds of the longest pause that the job, or a good one like it, came through.
    """
    return max(
        HANG_SECONDS, min(steps * step, SLOW_STEPS * step + SLOW_SECONDS), HANG_WORDS * usual, HANG_PAUSES * longest
    )


def patience_in_pause(training: float, longest: float | None) -> float:
    """The same in a checkpoint, an evaluation or while loading.

    Args:
        training: patience while the job trains.
        longest: seconds of the longest such pause that the job, or a good one like it, came through; None before any.
    """
    return max(training, ANNOUNCED_SECONDS if longest is None else HANG_PAUSES * longest)
