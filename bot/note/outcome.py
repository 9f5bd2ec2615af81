"""How a job came to its end, beside its diagnosis: how far it was, what it had saved, who ended with what, and when."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the lines and job.json tell of the end of a job; times in microseconds of its clock, None where unknown.

    last, planned: iterations. moved: when the last one was complete. saved: the iteration of the last checkpoint that
    lines tell of, None where none does; looked: whether lines were searched for one; doubtful: who did not report their
    part. ended: the last line of all. stopped: the end by job.json, a time of day. codes: exit codes with who had them.
    """

    last: int | None = None
    planned: int | None = None
    moved: int | None = None
    saved: int | None = None
    looked: bool = False
    doubtful: tuple[int, ...] = ()
    ended: int | None = None
    stopped: str = ""
    codes: tuple[tuple[str, tuple[str, ...]], ...] = ()
