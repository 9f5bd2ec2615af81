"""What the parent message says of a diagnosis: what somebody reads on a phone at 3 a.m.; the thread has the rest.

Each fact once, a line each: how sure and on what grounds, since when, what to do, what it is known as. Where there is
no room for all of them the least telling goes.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.slack.archive import Form
from bot.slack.text import ELLIPSIS, day, person, prose
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.model import Action, Confidence, Diagnosis, NextStep, Role, Scope, Stage
from core.next.decision_table import NOT_TOLD, UNTIL_PUT_RIGHT

MAX_LINES = 8  # of a parent message with headline and buttons: what a phone shows without scrolling
GROUNDS = 2  # sentences that say why
MAX_LINE = 200  # characters: five lines of a phone
MAX_HOW, MAX_CONFIRMATION = 80, 400  # of how a known fault was confirmed, here and in the thread
MAX_FIX = 120  # of a known fault's fix beside its title; the thread has it whole
QUIET = (Scope.NONE, Scope.UNKNOWN)  # without a fault that "confidence" and "suspect" would be about
_HUNG = re.compile(r"It made no progress for ([^;]{1,40}) before it ended")  # as core.answer.findings says it
_OUTLIER = re.compile(r"\(Isolation Forest\)\.?$")  # as core.answer.findings says it: it speaks against the answer
_QUOTE = re.compile("\u201c([^\u201d]{1,200})\u201d")
# As core.next.decision_table says them: the place in the code behind the cause, and that it may be either.
_PLACE = re.compile(r"^ \(([^()]{1,120})\):\s*(\w?)")
_EITHER = "programs cause this as well as machines, and the logs do not tell which"
_GENERIC = re.compile(
    rf"(?:{re.escape(UNTIL_PUT_RIGHT)}|{re.escape(NOT_TOLD)}[^.]{{0,100}}|{re.escape(_EITHER)})\.?", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:.]")


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
    step = f" Next: {sentence}" if (sentence := next_brief(diagnosis)) else ""
    return f"{wording.first_line(diagnosis).rstrip('.')}.{sure}{step}"


def grounds(diagnosis: Diagnosis) -> list[str]:
    """The sentences for the verdict that the parent message shows; how long it hung stands with the moment."""
    if diagnosis.scope is Scope.NONE:
        return []
    return [reason for reason in diagnosis.why if not (_HUNG.match(reason) or _OUTLIER.search(reason))][:GROUNDS]


def checks_left(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What to look at beyond what the parent message says to do next."""
    check, sentence = _check(diagnosis), next_brief(diagnosis)
    shown = bool(check) and len(sentence) <= MAX_LINE and check in sentence
    return diagnosis.checks[1:] if shown else diagnosis.checks


def told_in_brief(diagnosis: Diagnosis) -> frozenset[str]:
    """The sentences that the parent message says, as ``left_to_say`` knows them again."""
    hung = [reason for reason in diagnosis.why if _HUNG.match(reason)]
    return frozenset(_same(text) for text in (*grounds(diagnosis), *hung))


def left_to_say(sentences: Sequence[str], said_above: Collection[str]) -> list[str]:
    """Those that were not told yet; the first letter and the stop make no difference."""
    return [sentence for sentence in sentences if _same(sentence) not in said_above]


def known_best(known: Sequence[KnownFault]) -> KnownFault | None:
    """The one known fault that the parent message names: what the team has confirmed before public facts.

    Of public facts only what this is; what is merely seen with it is told in the thread.
    """
    shown = [fault for fault in known if fault.exact or (fault.known and not fault.seed)]
    return min(shown, key=lambda fault: (not fault.agrees, fault.seed, not fault.exact), default=None)


def known_line(fault: KnownFault) -> str:
    """What it is, who vouches for it since when, and how they made sure."""
    return f"{known_title(fault, MAX_LINE)}: {vouched(fault, how=MAX_HOW)}"


def known_title(fault: KnownFault, limit: int) -> str:
    """What it is called, and its id in this answer."""
    lead = "Seen with" if fault.fit == "seen with" else "Known fault"
    return f"*{lead}* {prose(fault.title, limit)} ({fault.id})"


def vouched(fault: KnownFault, *, capital: bool = False, how: int = MAX_CONFIRMATION) -> str:
    """Who vouches for it, since when, and in at most so many characters how they made sure."""
    since = "" if fault.seed else day(fault.confirmed_at)
    by = prose(wording.vouched(replace(fault, confirmed_at="") if since else fault), 120)
    shown = wording.sentence(by) if capital else by
    return f"_{shown}_{', ' if since else ''}{since}{prose(wording.how_confirmed(fault), how)}"


def next_brief(diagnosis: Diagnosis) -> str:
    """The action, what to look at, and what it costs; of its reason what the headline has not said.

    Of a job that did not fail the check alone, and nothing where there is none.
    """
    step, check = diagnosis.next, _check(diagnosis)
    if diagnosis.scope is Scope.NONE:
        return check
    if step is None:
        return ""
    because = _because(step)
    if step.action in (Action.FIX, Action.CHECK) and check:
        because = _GENERIC.sub(lambda _: check, because)
    elif step.action is Action.NONE and step.unless and _echoes(because, wording.first_line(diagnosis)):
        return f"nothing, unless {step.unless}"
    elif step.action is Action.EVICT and check and diagnosis.confidence is not Confidence.ESTABLISHED:
        return f"check, then {wording.next_line(replace(step, because=check))}"
    line = wording.next_line(replace(step, because=because or "-"))
    return line if because else line.replace(": -", ".", 1)


def _because(step: NextStep) -> str:
    """Why, without the cause that the headline says."""
    because = step.because.strip()
    if step.cause and because.casefold().startswith(step.cause.casefold()):
        without_cause = _PLACE.sub(lambda found: f" {found[1]}. {found[2].upper()}", because[len(step.cause) :])
        return re.sub(r"^(?:[\s,;:.]|and\b){1,9}", "", without_cause)
    return because


def _echoes(because: str, headline: str) -> bool:
    """Whether a reason begins with what the headline says."""
    return _CLAUSE.split(because, maxsplit=1)[0].casefold() in headline.casefold()


def _check(diagnosis: Diagnosis) -> str:
    """What to look at first, a sentence; empty where nothing is known."""
    first = next((check.strip() for check in diagnosis.checks), "")
    return first if not first or first.endswith((".", "!", "?")) else f"{first}."


def since(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """Since when, how long it hung, stage and iteration where the headline has not said them: labels and words."""
    sign, zone = wording.first_sign(diagnosis), wording.clock_zone(diagnosis)
    zone = ", log time" if zone == wording.ZONE_OF_LOGS else f" {zone}"
    first_told = _first_told(diagnosis) if sign is None else None
    first = sign if first_told is None else first_told
    before = "" if first_told is None else "before "
    clock = "" if first is None else f"{before}{wording.dated(first)}{zone}"
    hung = next((found[1] for reason in diagnosis.why if (found := _HUNG.match(reason))), "")
    parts = (("Since", clock), ("Hung", f"for {hung}" if hung else ""), ("Stage", _place(diagnosis)))
    return [(label, words) for label, words in parts if words]


def _place(diagnosis: Diagnosis) -> str:
    """Stage and iteration, where the headline names neither."""
    headline, stage = wording.first_line(diagnosis), diagnosis.stage
    if stage is Stage.UNKNOWN or stage.value in headline:
        return ""
    iteration = next((f"iteration {evidence.iteration}" for evidence in diagnosis.iterations), "")
    return stage.value if not iteration or "iteration" in headline else f"{stage.value}, {iteration}"


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
    headline = wording.first_line(diagnosis)
    nodes = tuple(suspect.node for suspect in diagnosis.nodes if " " not in suspect.node)  # "rank 3" is no name
    sentences = [_without_echo(ground, headline) for ground in grounds(diagnosis)]
    shown = [prose(text if text.startswith(nodes) else wording.sentence(text), MAX_LINE) for text in sentences]
    return [
        BriefLine(text if len(shown) == 1 else f"{at}. {text}", 9 - 3 * at) for at, text in enumerate(shown, start=1)
    ]


def _without_echo(ground: str, headline: str) -> str:
    """A sentence that says "this" of what the headline quotes, which may be shorter."""
    for quoted in _QUOTE.findall(headline):
        ground = re.sub(f"\u201c{re.escape(quoted.rstrip(ELLIPSIS))}[^\u201d]*\u201d", "this", ground, count=1)
    return ground


def _edited(form: Form, by: str) -> list[BriefLine]:
    cause = BriefLine(f"*Cause* {prose(form.cause, MAX_LINE)} (_edited by_ {person(by)})", 9)
    return [cause, *([BriefLine(f"*Fix* {prose(form.fix, MAX_LINE)}", 4)] if form.fix else [])]


def _since(diagnosis: Diagnosis) -> list[BriefLine]:
    if diagnosis.scope is Scope.NONE and not diagnosis.events:
        return []
    parts = [f"*{label}* {prose(words, MAX_LINE)}" for label, words in since(diagnosis)]
    return [BriefLine("; ".join(parts), 5)] if parts else []


def _gaps(diagnosis: Diagnosis) -> list[BriefLine]:
    """What is missing of the logs weakens every other line."""
    missing = "; ".join(wording.missing(diagnosis.coverage))
    return [BriefLine(f"*Missing* {prose(missing, MAX_LINE)}", 4)] if missing else []


def _next(diagnosis: Diagnosis) -> list[BriefLine]:
    sentence = next_brief(diagnosis)
    return [BriefLine(f"*Next* {prose(sentence, MAX_LINE)}", 8)] if sentence else []


def _known(diagnosis: Diagnosis, known: Sequence[KnownFault], *, edited: bool) -> list[BriefLine]:
    """What it is known as, and of the team's own what helped, where that does not stand above.

    Args:
        edited: a person's fix does.
    """
    best = known_best(known)
    if best is None or diagnosis.scope is Scope.NONE:
        return []
    if best.seed or edited or not best.fix or best.fix.rstrip(".") in next_brief(diagnosis):
        return [BriefLine(known_line(best), 2 if best.seed else 8)]
    lead = "Fix" if best.exact else "What helped there"
    return [BriefLine(f"{known_line(best)}. *{lead}* {prose(best.fix, MAX_FIX)}", 8)]
