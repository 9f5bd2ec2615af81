"""What a diagnosis says in Slack, section by section in reading order, each with its worth when room is short."""

from collections.abc import Collection, Iterator, Sequence

from bot.slack.actions import LINES, MORE_LINES, LinesClick
from bot.slack.blocks import Block, actions, button, context, menu, section
from bot.slack.brief import checks_left, known_title, left_to_say, told_in_brief, vouched
from bot.slack.budget import Part
from bot.slack.text import code, literal, prose
from bot.text import wording
from bot.text.known_fault import KnownFault
from bot.text.wording import counted, sentence
from core.model import Diagnosis, EventEvidence, Evidence, IterationEvidence, NodeEvidence, Role, Scope

MOST = {"suspect": 3, "check": 3, "event": 4}  # of a message; core names 3 suspects
MAX_WHY, MAX_SKIPPED, MAX_MENU = 2, 3, 25  # chosen: the parent message has the first reasons, the report has all
MAX_SENTENCE, MAX_LINE, MAX_FIX = 400, 140, 400  # characters; a line of a phone has about 45
MAX_NODE = 40  # characters: a line of a phone
LIBRARY_STEP = "fault library"  # as bot.library.session says what the library could not do


def beside_the_verdict(diagnosis: Diagnosis) -> Iterator[Part]:
    """Suspects, what to check first, more reasons; without what the parent message has said."""
    in_brief = told_in_brief(diagnosis)
    more = left_to_say(wording.why(diagnosis), in_brief)
    yield from _suspects(diagnosis, in_brief)
    yield from _checks(checks_left(diagnosis))
    if more and diagnosis.scope is not Scope.NONE:  # least strong: it may name another node than the suspects
        yield Part(section("*Also*", *(prose(sentence(character), MAX_SENTENCE) for character in more[:MAX_WHY])), 97)


def _suspects(diagnosis: Diagnosis, in_brief: Collection[str]) -> Iterator[Part]:
    total = wording.node_total(diagnosis.coverage)
    of = f" of {counted(total, 'node')}" if total else ""
    for number, suspect in enumerate(diagnosis.nodes):
        title = f"*Suspects* {len(diagnosis.nodes):,}{of}" if len(diagnosis.nodes) > 1 and not number else ""
        label = "" if len(diagnosis.nodes) > 1 else f"*Suspect* 1{of}: "
        ranks = f", {wording.ranks(suspect.ranks)}" if suspect.ranks and not suspect.node.startswith("rank") else ""
        head = f"{label}{code(suspect.node, MAX_NODE) or 'unknown'}{ranks}"
        left = left_to_say(suspect.reasons or (suspect.because,), in_brief)
        because = prose(" ".join(left), MAX_SENTENCE) if left else ""
        lines = (head, because + cites(suspect.events)) if left else (head + cites(suspect.events),)
        yield Part(section(title, *lines), 90 - number, "suspect")


def _checks(checks: Sequence[str]) -> Iterator[Part]:
    shown = [f"{number}. {prose(check, MAX_SENTENCE)}" for number, check in enumerate(checks[: MOST["check"]], start=1)]
    if shown:
        yield Part(section("*Check first*", *shown, expand=True), 98)


def cites(ids: Sequence[str]) -> str:
    """Ids of evidence after a sentence: " [E1, E2]"; what is no evidence is called by what it is."""
    called = {"D": "verdict", "C": "checks", "J": "logs read"}
    names = dict.fromkeys(called.get(evidence_id[:1], literal(evidence_id, 8)) for evidence_id in ids)
    return f" [{', '.join(prose(name, 12) for name in names)}]" if names else ""


def known_fault(fault: KnownFault) -> list[str]:
    """Title, who vouches for it, the fix."""
    return [known_title(fault, MAX_SENTENCE), f"{vouched(fault, capital=True)}.", f"*Fix* {prose(fault.fix, MAX_FIX)}"]


def nothing_similar(diagnosis: Diagnosis, known: Sequence[KnownFault]) -> Iterator[Part]:
    """That no fault like this is known; a library that could not answer in full is not the same as none."""
    if known or diagnosis.scope is Scope.NONE:
        return
    trouble = [skip.reason for skip in diagnosis.skipped if skip.step == LIBRARY_STEP]
    text = f"Nothing similar was found. {prose(trouble[0], MAX_SENTENCE)}" if trouble else "Nothing similar is known."
    yield Part(section(f"*Similar faults* {text}"), 60)


def evidence(diagnosis: Diagnosis, run: str, *, said_above: Collection[str] = ()) -> Iterator[Part]:
    """Events that point at the failure, each with a button for its raw lines; ``said_above``: sentences."""
    events = [event for event in diagnosis.events if event.role is not Role.BENIGN]
    yield Part(section("*Evidence*") if events else ())
    clocks = wording.clocks([event.first_time for event in events])
    for number, (event, clock) in enumerate(zip(events, clocks, strict=True)):
        lines = _event(event, clock, diagnosis.coverage.nodes, said_above)
        opener = lines_button(event, run) if event.lines else None
        yield Part(section(*lines, accessory=opener), (80 if event.role is Role.ROOT else 50) - number, "event")
    benign = [event.id for event in diagnosis.events if event.role is Role.BENIGN]
    if benign:
        yield Part(context(wording.benign(benign)), 20)


def _event(event: EventEvidence, clock: str, nodes: int, in_brief: Collection[str]) -> list[str]:
    """Id, role, place, time and number; what it says; why it counts or what it means, unless that was told."""
    seen = [str(event.role), prose(wording.where(event, nodes), 90), wording.times(event.count)]
    if event.first_time is not None:
        seen.insert(2, clock)
    new = event.because if event.role is Role.ROOT else sentence(f"{event.says}.") if event.says else ""
    because = prose(new, MAX_SENTENCE) if new not in in_brief else ""
    return [f"*{event.id}* {', '.join(seen)}", code(wording.cited_text(event), MAX_LINE), because]


def lines_button(evidence: Evidence, run: str) -> Block:
    """Opens the raw lines of one piece of evidence."""
    return button("Lines", LINES, str(LinesClick(run, evidence.id)), spoken=f"Raw lines of {evidence.id}")


def more_lines(diagnosis: Diagnosis, run: str, shown: Sequence[str]) -> Iterator[Part]:
    """A menu for the raw lines of all evidence that has no button of its own."""
    every: tuple[Evidence, ...] = (*diagnosis.nodes, *diagnosis.iterations, *diagnosis.events)
    left = [evidence for evidence in every if evidence.lines and evidence.id not in shown][:MAX_MENU]
    choices = [
        (f"{evidence.id} {literal(_called(evidence), 60)}", str(LinesClick(run, evidence.id))) for evidence in left
    ]
    yield Part(actions(menu("More raw lines", MORE_LINES, choices)), 30)


def with_button(diagnosis: Diagnosis) -> list[str]:
    """Ids of the events that a message shows with a button of their own."""
    return [event.id for event in diagnosis.events if event.role is not Role.BENIGN][: MOST["event"]]


def _called(evidence: Evidence) -> str:
    match evidence:
        case NodeEvidence():
            return evidence.node
        case IterationEvidence():
            return f"iteration {evidence.iteration:,}"
        case EventEvidence():
            return f"{evidence.role}, {wording.cited_text(evidence)}"
    return evidence.because


def small_print(diagnosis: Diagnosis) -> Iterator[Part]:
    """What was read, what it was compared with, what could not run."""
    coverage = diagnosis.coverage
    weak = wording.weak_baseline(coverage)
    yield Part(section(f"*Weak comparison* {weak}" if weak and diagnosis.scope is not Scope.NONE else ""))
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
