"""What a diagnosis says in Slack, section by section in reading order, each with its worth when room is short."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from bot import wording
from bot.known import KnownFault
from bot.slack.actions import LINES, MORE_LINES, lines_of
from bot.slack.blocks import Block, actions, button, context, menu, section
from bot.slack.budget import Part
from bot.slack.text import code, day, literal, prose
from bot.wording import counted, sentence
from core.model import Diagnosis, EventEvidence, Evidence, IterationEvidence, NodeEvidence, Role, Scope

MOST = {
    "suspect": 3,
    "check": 3,
    "event": 4,
    "known fault": 2,
    "similar fault": 2,
}  # of a message; core names 3 suspects
MAX_WHY, MAX_SKIPPED, MAX_MENU = 2, 3, 25
MAX_SENTENCE, MAX_LINE, MAX_FIX = 400, 140, 400  # characters; a line of a phone has about 45
MAX_NODE = 40
LIBRARY_STEP = "fault library"  # as bot.shelf says what the library could not do
_QUIET = (Scope.NONE, Scope.UNKNOWN)  # without a fault that the words "confidence" and "suspect" would be about


def verdict(diagnosis: Diagnosis) -> Iterator[Part]:
    """What to do next; stage, iteration, first sign; how sure and why; suspects; what to check first."""
    lines = [f"*Next* {prose(wording.next_line(diagnosis.next), MAX_SENTENCE)}"] if diagnosis.next else []
    if moments := wording.when(diagnosis):
        lines.append(f"*When* {prose(moments + _clock(diagnosis), MAX_SENTENCE)}")
    if diagnosis.scope not in _QUIET:
        lines.append(f"*Confidence* {wording.CONFIDENCE[diagnosis.confidence]}")
    why = [prose(one, MAX_SENTENCE) for one in shown_why(diagnosis)]
    yield Part(section(*lines, *why, expand=True), 99)
    yield from _suspects(diagnosis)
    yield from _checks(diagnosis.checks)


def shown_why(diagnosis: Diagnosis) -> list[str]:
    """The sentences behind the verdict that a message shows."""
    return wording.why(diagnosis)[:MAX_WHY]


def _clock(diagnosis: Diagnosis) -> str:
    """Date and zone of the first sign."""
    sign = wording.first_sign(diagnosis)
    return "" if sign is None else f" ({wording.day([sign])}, {wording.clock_zone(diagnosis)})"


def _suspects(diagnosis: Diagnosis) -> Iterator[Part]:
    total = wording.node_total(diagnosis.coverage)
    of = f" of {counted(total, 'node')}" if total else ""
    for number, suspect in enumerate(diagnosis.nodes):
        title = f"*Suspects* {len(diagnosis.nodes):,}{of}" if len(diagnosis.nodes) > 1 and not number else ""
        label = "" if len(diagnosis.nodes) > 1 else f"*Suspect* 1{of}: "
        ranks = f", {wording.ranks(suspect.ranks)}" if suspect.ranks and not suspect.node.startswith("rank") else ""
        head = f"{label}{code(suspect.node, MAX_NODE) or 'unknown'}{ranks}"
        because = prose(suspect.because, MAX_SENTENCE) + cites(suspect.events)
        yield Part(section(title, head, because), 90 - number, "suspect")


def _checks(checks: Sequence[str]) -> Iterator[Part]:
    shown = [f"{number}. {prose(check, MAX_SENTENCE)}" for number, check in enumerate(checks[: MOST["check"]], start=1)]
    if shown:
        yield Part(section("*Check first*", *shown, expand=True), 98)


def cites(ids: Sequence[str]) -> str:
    """Ids of evidence after a sentence: " [E1, E2]"; what is no evidence is called by what it is."""
    called = {"D": "verdict", "C": "checks", "J": "logs read"}
    names = dict.fromkeys(called.get(one[:1], literal(one, 8)) for one in ids)
    return f" [{', '.join(prose(name, 12) for name in names)}]" if names else ""


def known_faults(known: Sequence[KnownFault]) -> Iterator[Part]:
    """Faults of the library whose whole signature is in the job, with who vouches for them and what helped."""
    for number, fault in enumerate(fault for fault in known if fault.known):
        beside = "" if fault.agrees else prose(fault.because, MAX_SENTENCE)
        yield Part(section(*known_fault(fault), beside, expand=True), 88 - number, "known fault")


def known_fault(fault: KnownFault) -> list[str]:
    """Title, who vouches for it, the fix."""
    lead = "Seen with" if fault.fit == "seen with" else "Known fault"
    return [
        f"*{lead}* {prose(fault.title, MAX_SENTENCE)} ({fault.id})",
        f"{vouched(fault, capital=True)}.",
        f"*Fix* {prose(fault.fix, MAX_FIX)}",
    ]


def vouched(fault: KnownFault, *, capital: bool = False) -> str:
    """Who vouches for it, and since when."""
    when = "" if fault.seed else day(fault.confirmed_at)
    told = prose(wording.vouched(replace(fault, confirmed_at="") if when else fault), 120)
    return f"_{sentence(told) if capital else told}_" + (f", {when}" if when else "")


def similar_faults(diagnosis: Diagnosis, known: Sequence[KnownFault]) -> Iterator[Part]:
    """What only looks alike, or that nothing does; a library that could not answer in full is not the same as none."""
    if diagnosis.scope is Scope.NONE:
        return
    alike = [fault for fault in known if not fault.known]
    for number, fault in enumerate(alike):
        title = f"{prose(fault.title, 120)} ({fault.id})"
        told = f"{wording.likeness(fault)}, {vouched(fault)}"
        yield Part(section("" if number else "*Similar faults*", f"{title}: {told}"), 40 - number, "similar fault")
    if known:
        return
    trouble = [skip.reason for skip in diagnosis.skipped if skip.step == LIBRARY_STEP]
    told = f"Nothing similar was found. {prose(trouble[0], MAX_SENTENCE)}" if trouble else "Nothing similar is known."
    yield Part(section(f"*Similar faults* {told}"), 60)


def evidence(diagnosis: Diagnosis, run: str, *, told: Collection[str] = ()) -> Iterator[Part]:
    """Events that point at the failure, each with a button for its raw lines; ``told``: sentences said before."""
    events = [event for event in diagnosis.events if event.role is not Role.BENIGN]
    yield Part(section("*Evidence*") if events else ())
    clocks = wording.clocks([event.first_time for event in events])
    for number, (event, clock) in enumerate(zip(events, clocks, strict=True)):
        lines = _event(event, clock, diagnosis.coverage.nodes, told)
        opener = lines_button(event, run) if event.lines else None
        yield Part(section(*lines, accessory=opener), (80 if event.role is Role.ROOT else 50) - number, "event")
    benign = [event.id for event in diagnosis.events if event.role is Role.BENIGN]
    if benign:
        verb = "event looks bad but is" if len(benign) == 1 else "events look bad but are"
        yield Part(context(f"{len(benign):,} {verb} benign: {wording.names(benign, 6)}"), 20)


def _event(event: EventEvidence, clock: str, nodes: int, told: Collection[str]) -> list[str]:
    """Id, role, place, time and number; what it says; of a direct trace also why it counts, unless that was told."""
    seen = [str(event.role), prose(wording.where(event, nodes), 90), wording.times(event.count)]
    if event.first_time is not None:
        seen.insert(2, clock)
    because = prose(event.because, MAX_SENTENCE) if event.role is Role.ROOT and event.because not in told else ""
    return [f"*{event.id}* {', '.join(seen)}", code(wording.said(event), MAX_LINE), because]


def lines_button(one: Evidence, run: str) -> Block:
    """Opens the raw lines of one piece of evidence."""
    return button("Lines", LINES, lines_of(run, one.id), spoken=f"Raw lines of {one.id}")


def more_lines(diagnosis: Diagnosis, run: str, shown: Sequence[str]) -> Iterator[Part]:
    """A menu for the raw lines of all evidence that has no button of its own."""
    every: tuple[Evidence, ...] = (*diagnosis.nodes, *diagnosis.iterations, *diagnosis.events)
    left = [one for one in every if one.lines and one.id not in shown][:MAX_MENU]
    choices = [(f"{one.id} {literal(_called(one), 60)}", lines_of(run, one.id)) for one in left]
    yield Part(actions(menu("More raw lines", MORE_LINES, choices)), 30)


def _called(one: Evidence) -> str:
    match one:
        case NodeEvidence():
            return one.node
        case IterationEvidence():
            return f"iteration {one.iteration:,}"
        case EventEvidence():
            return f"{one.role}, {wording.said(one)}"
    return one.because


def small_print(diagnosis: Diagnosis) -> Iterator[Part]:
    """What was read, what is missing, what it was compared with, what could not run; gaps are no small print."""
    coverage = diagnosis.coverage
    gaps = [f"*Missing* {prose(phrase, MAX_SENTENCE)}" for phrase in wording.missing(coverage)]
    weak = wording.weak_baseline(coverage)
    yield Part(section(*gaps, f"*Weak comparison* {weak}" if weak and diagnosis.scope is not Scope.NONE else ""))
    skipped = [
        f"Skipped {prose(skip.step, 60)}: {prose(skip.reason, MAX_SENTENCE)}"
        for skip in diagnosis.skipped[:MAX_SKIPPED]
        if skip.step != LIBRARY_STEP
    ]
    compared = sentence(f"compared {prose(wording.compared(coverage), MAX_SENTENCE)}.")
    yield Part(context(f"Read {prose(wording.read(coverage), MAX_SENTENCE)}. {compared}", *skipped), 70)


def left_out(dropped: dict[str, int]) -> str:
    """What a message has no room for; empty when it shows everything."""
    if not dropped:
        return ""
    counts = [counted(number, f"more {kind}") for kind, number in dropped.items()]
    return f"Not shown here: {', '.join(counts)}. The report in the thread has all."
