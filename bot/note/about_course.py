"""Claims about the course of the job: stage, iterations, how its end lies behind the first sign."""

from collections.abc import Iterator

from bot.note.about_suspects import MIN_DISTANCE
from bot.note.claim import Claim
from bot.note.claim_source import ClaimSource, claim, distance
from bot.note.wordings import say
from bot.text import wording
from core.model import Scope, Stage

MAX_ITERATIONS = 3


def claims_of_course(about: ClaimSource) -> Iterator[Claim]:
    """Where the job was when it failed."""
    diagnosis = about.diagnosis
    for iteration in diagnosis.iterations[:MAX_ITERATIONS]:
        yield from claim(
            f"{iteration.id}.at", "happened", about.clean(iteration.because), [iteration.id], ground=not about.roots
        )
    if diagnosis.stage is not Stage.UNKNOWN and diagnosis.scope is not Scope.NONE:
        yield from claim("D1.stage", "happened", say("course.stage", stage=diagnosis.stage), ["D1"])
    first = wording.first_sign(diagnosis)
    last = max((bar.last for bar in diagnosis.pictures.nodes if bar.last is not None), default=None)
    if first is not None and last is not None and last - first >= MIN_DISTANCE:
        yield from claim("J1.ended", "happened", say("course.ended", distance=distance(last - first)), ["J1"])
