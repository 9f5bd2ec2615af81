"""Claims about how a job went and came to its end: where it was, what it had saved, exit codes, when it was over."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.note.about_suspects import MIN_DISTANCE
from bot.note.claim import Claim
from bot.note.claim_source import NAME, ClaimSource, claim, clock, distance, listed
from bot.note.wordings import say
from bot.text import wording
from bot.text.wording import counted, names, ranks
from core.model import EventEvidence, Role, Scope, Stage


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


MAX_CODES = 4  # different exit codes that are told
MAX_TIMED = 4  # events whose time is told
_PROCESS = re.compile(
    r"local_rank: ([0-9]{1,6}) \(pid: ([0-9]{1,10})\)|(?:\bpid|Killed process)[ =:]{1,2}([0-9]{1,10})\b"
)


def claims_of_outcome(about: ClaimSource, outcome: Outcome) -> Iterator[Claim]:
    """Claims about how the job ended."""
    yield from _progress(outcome)
    yield from _saved(outcome)
    yield from _codes(about, outcome)
    if outcome.ended is not None:
        end = say("outcome.over", clock=clock(outcome.ended))
        stopped = f" {say('outcome.stopped', clock=outcome.stopped)}" if outcome.stopped else ""
        yield from claim("J1.over", "happened", f"{end}{stopped}", ["J1"], at=outcome.ended)
    yield from _times(about)
    for event in about.roots[:MAX_TIMED]:
        if process := _process(about, event):
            yield from process
            break


def _progress(outcome: Outcome) -> list[Claim]:
    if outcome.last is None:
        return claim("J1.reached", "happened", say("outcome.never"), ["J1"])
    of = f" of {outcome.planned:,} planned" if outcome.planned else ""
    at = f", complete at {clock(outcome.moved)}" if outcome.moved is not None else ""
    return claim(
        "J1.reached", "happened", say("outcome.reached", last=f"{outcome.last:,}{of}{at}"), ["J1"], at=outcome.moved
    )


def _saved(outcome: Outcome) -> Iterator[Claim]:
    """The last checkpoint and what is lost, and from where to go on."""
    if outcome.last is None or not outcome.looked or (outcome.planned and outcome.last >= outcome.planned):
        return
    lost = counted(max(0, outcome.last - (outcome.saved or 0)), "iteration")
    if outcome.saved is None:
        yield from claim("J1.saved", "happened open", say("outcome.unsaved", lost=lost), ["J1"])
        return
    if outcome.saved > outcome.last:
        return
    doubt = f" {say('outcome.doubtful', who=ranks(outcome.doubtful))}" if outcome.doubtful else ""
    sentence = say("outcome.saved", saved=f"{outcome.saved:,}", lost=lost)
    yield from claim("J1.saved", "happened open", f"{sentence}{doubt}", ["J1"])
    resume = say("outcome.check" if outcome.doubtful else "outcome.resume", saved=f"{outcome.saved:,}")
    yield from claim("J1.resume", "check", resume, ["J1"])


def _codes(about: ClaimSource, outcome: Outcome) -> list[Claim]:
    """Who ended with which code."""
    parts = [
        f"{code}: {listed([about.clean(who, NAME) for who in whose])}" for code, whose in outcome.codes[:MAX_CODES]
    ]
    return claim("J1.codes", "happened", say("outcome.codes", codes="; ".join(parts)), ["J1"]) if parts else []


def _times(about: ClaimSource) -> Iterator[Claim]:
    """When each event of the evidence came first, where its other claims do not say so."""
    events = [
        event for event in about.diagnosis.events if event.role is not Role.BENIGN and event.first_time is not None
    ]
    for event in events[:MAX_TIMED]:
        sentence = say("outcome.time", id=event.id, clock=clock(event.first_time or 0), who=about.who(event))
        yield from claim(f"{event.id}.time", "happened", sentence, [event.id], at=event.first_time)


def _process(about: ClaimSource, event: EventEvidence) -> list[Claim]:
    """The process that an event is about, as a launcher or the kernel tells it."""
    match = next((found for line in event.lines if (found := _PROCESS.search(line.text))), None)
    if match is None or len(event.nodes) > 1:
        return []
    where = names([about.clean(node, NAME) for node in event.nodes]) or about.suspect
    if not where:
        return []
    pid, local = match[2] or match[3], match[1]
    own = next((suspect.ranks for suspect in about.suspects if suspect.node in event.nodes), ())
    known = local is not None and int(local) < len(own) and _is_whole(about, own)
    rank = (
        f" (local rank {local}, rank {own[int(local)]})"
        if known and local
        else f" (local rank {local})"
        if local
        else ""
    )
    return claim(
        f"{event.id}.process",
        "happened",
        say("outcome.process", id=event.id, pid=pid, rank=rank, where=where),
        [event.id],
    )


def _is_whole(about: ClaimSource, own: tuple[int, ...]) -> bool:
    """Whether all ranks of a node are known and follow each other, so that a local rank names one of them."""
    expected = about.diagnosis.coverage.ranks_expected
    return bool(
        expected
        and about.total
        and len(own) * about.total == expected
        and own == tuple(range(own[0], own[0] + len(own)))
    )


MAX_ITERATIONS = 3  # as plots mark (bot/report/iterations.py, MAX_MARKS)


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
