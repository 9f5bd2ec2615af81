"""What the parent message says of a diagnosis: what somebody reads on a phone at 3 a.m.; the thread has the rest.

Each fact once, a line each: how sure and on what grounds, since when, what to do, what it is known as. Where there is
no room for all of them the least telling goes.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.slack.forms import Form
from bot.slack.text import day, person, prose
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.model import Diagnosis, NextStep, Role, Scope

MAX_LINES = 8  # of a parent message with headline and buttons: what a phone shows without scrolling
GROUNDS = 2  # sentences that say why
MAX_LINE = 200  # characters: five lines of a phone
MAX_HOW = 80  # of how a known fault was confirmed
MAX_FIX = 120  # of a known fault's fix beside its title; the thread has it whole
QUIET = (Scope.NONE, Scope.UNKNOWN)  # without a fault that "confidence" and "suspect" would be about
_HUNG = re.compile(r"It made no progress for ([^;]{1,40}) before it ended")  # as core.answer.verdict says it


@dataclass(frozen=True, slots=True)
class BriefLine:
    """A line, and its worth: where there are too many the least goes."""

    text: str
    worth: int


def brief(
    diagnosis: Diagnosis, known: Sequence[KnownFault], *, room: int, form: Form | None = None, edited_by: str = ""
) -> list[str]:
    """At most ``room`` lines in reading order; ``form``: what a person has made of the note, in place of grounds."""
    lines = [*_sure(diagnosis), *(_edited(form, edited_by) if form else _grounds(diagnosis))]
    lines += [*_since(diagnosis), *_gaps(diagnosis), *_next(diagnosis), *_known(diagnosis, known, edited=bool(form))]
    kept = sorted(range(len(lines)), key=lambda at: (-lines[at].worth, at))[: max(0, room)]
    return [lines[at].text for at in sorted(kept)]


def gist(diagnosis: Diagnosis) -> str:
    """What notifications show and screen readers read: where to look, how sure, what to do."""
    sure = "" if diagnosis.scope in QUIET else f" Confidence: {diagnosis.confidence}."
    step = "" if diagnosis.next is None or diagnosis.scope is Scope.NONE else f" Next: {next_brief(diagnosis.next)}"
    return f"{wording.first_line(diagnosis).rstrip('.')}.{sure}{step}"


def grounds(diagnosis: Diagnosis) -> list[str]:
    """The sentences behind the verdict that the parent message shows; how long it hung stands with the moment."""
    if diagnosis.scope is Scope.NONE:
        return []
    return [reason for reason in diagnosis.why if not _HUNG.match(reason)][:GROUNDS]


def told_in_brief(diagnosis: Diagnosis) -> frozenset[str]:
    """The sentences that the parent message says, as ``left_to_say`` knows them again."""
    hung = [reason for reason in diagnosis.why if _HUNG.match(reason)]
    return frozenset(_same(one) for one in (*grounds(diagnosis), *hung))


def left_to_say(sentences: Sequence[str], told: Collection[str]) -> list[str]:
    """Those that were not told yet; the first letter and the stop make no difference."""
    return [sentence for sentence in sentences if _same(sentence) not in told]


def known_best(known: Sequence[KnownFault]) -> KnownFault | None:
    """The one known fault that the parent message names: what the team has confirmed before public facts.

    Of public facts only what this is; what is merely seen with it is told in the thread.
    """
    shown = [fault for fault in known if fault.exact or (fault.known and not fault.seed)]
    return min(shown, key=lambda fault: (not fault.agrees, fault.seed, not fault.exact), default=None)


def known_line(fault: KnownFault) -> str:
    """What it is, who vouches for it since when, and how they made sure."""
    since = "" if fault.seed else day(fault.confirmed_at)
    by = prose(wording.vouched(replace(fault, confirmed_at="") if since else fault), 100)
    how = prose(wording.how_confirmed(fault), MAX_HOW)
    lead = "Seen with" if fault.fit == "seen with" else "Known fault"
    return f"*{lead}* {prose(fault.title, MAX_LINE)} ({fault.id}): _{by}_{', ' if since else ''}{since}{how}"


def next_brief(step: NextStep) -> str:
    """The action, what it costs, and of its reason what the headline has not said."""
    because = step.because.strip()
    if step.cause and because.casefold().startswith(step.cause.casefold()):
        because = re.sub(r"^(?:[\s,;:.]|and\b){1,9}", "", because[len(step.cause) :])
    line = wording.next_line(replace(step, because=because or "-"))
    return line if because else line.replace(": -", ".", 1)


def since(diagnosis: Diagnosis) -> str:
    """Stage and iteration, where the headline has not said them, clock with its zone, and how long it hung."""
    told = wording.first_line(diagnosis)
    said = ", ".join(
        part for part in wording.when(diagnosis).split(", ") if not re.search(rf"\b{re.escape(part)}\b", told)
    )
    sign = wording.first_sign(diagnosis)
    if sign is None and (sign := _first_told(diagnosis)) is not None:
        said = ", ".join(part for part in (said, f"first told at {wording.moment(sign):%H:%M:%S}") if part)
    clock = f" ({wording.day([sign])}, {wording.clock_zone(diagnosis)})" if sign is not None else ""
    hung = next((found[1] for reason in diagnosis.why if (found := _HUNG.match(reason))), "")
    return "; ".join(part for part in (f"{said}{clock}", f"it hung for {hung}" if hung else "") if part)


def _first_told(diagnosis: Diagnosis) -> int | None:
    """Where nobody logged the fault itself: when somebody told of it first."""
    times = [
        event.first_time for event in diagnosis.events if event.role is Role.PROPAGATED and event.first_time is not None
    ]
    return min(times, default=None)


def _same(sentence: str) -> str:
    return sentence.rstrip(".").casefold()


def _sure(diagnosis: Diagnosis) -> list[BriefLine]:
    if diagnosis.scope in QUIET:
        return []
    return [BriefLine(f"*Confidence* {wording.CONFIDENCE[diagnosis.confidence]}", 7)]


def _grounds(diagnosis: Diagnosis) -> list[BriefLine]:
    """The second one goes before all but what is merely public."""
    shown = [prose(wording.sentence(ground), MAX_LINE) for ground in grounds(diagnosis)]
    return [
        BriefLine(text if len(shown) == 1 else f"{at}. {text}", 9 - 3 * at) for at, text in enumerate(shown, start=1)
    ]


def _edited(form: Form, by: str) -> list[BriefLine]:
    cause = BriefLine(f"*Cause* {prose(form.cause, MAX_LINE)} (_edited by_ {person(by)})", 9)
    return [cause, *([BriefLine(f"*Fix* {prose(form.fix, MAX_LINE)}", 4)] if form.fix else [])]


def _since(diagnosis: Diagnosis) -> list[BriefLine]:
    said = since(diagnosis)
    return [BriefLine(f"*Since* {prose(said, MAX_LINE)}", 5)] if said and diagnosis.scope is not Scope.NONE else []


def _gaps(diagnosis: Diagnosis) -> list[BriefLine]:
    """What is missing of the logs weakens every other line."""
    missing = "; ".join(wording.missing(diagnosis.coverage))
    return [BriefLine(f"*Missing* {prose(missing, MAX_LINE)}", 4)] if missing else []


def _next(diagnosis: Diagnosis) -> list[BriefLine]:
    if diagnosis.next is None or diagnosis.scope is Scope.NONE:
        return []
    return [BriefLine(f"*Next* {prose(next_brief(diagnosis.next), MAX_LINE)}", 8)]


def _known(diagnosis: Diagnosis, known: Sequence[KnownFault], *, edited: bool) -> list[BriefLine]:
    """What it is known as, and of the team's own what helped; ``edited``: a person's fix stands above already."""
    best = known_best(known)
    if best is None or diagnosis.scope is Scope.NONE:
        return []
    if best.seed or edited or not best.fix:
        return [BriefLine(known_line(best), 2 if best.seed else 8)]
    lead = "Fix" if best.exact else "What helped there"
    return [BriefLine(f"{known_line(best)}. *{lead}* {prose(best.fix, MAX_FIX)}", 8)]
