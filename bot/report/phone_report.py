"""The report for a phone: what the page holds, in the order in which it is read, without what needs a wide screen.

Slack shows an uploaded page as its code; a PDF it opens on any phone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.note.note import Note
from bot.report.citations import citations
from bot.report.pdf_sheets import Item, Paragraph, Plate, to_pdf
from bot.report.picture import draw_picture
from bot.text import wording
from bot.text.harmless import harmless
from bot.text.known_fault import KnownFault
from bot.text.wording import sentence
from core.logs.context import Excerpt, Place
from core.model import Diagnosis, EventEvidence, Role, Scope, Stage

MAX_SENTENCE, MAX_SAID, MAX_LINE = 500, 400, 300  # characters; chosen: a third of a sheet at most
MAX_EVENTS, MAX_ROWS = 8, 9  # events, the benign left out, and raw lines of one of them; the page has all
_COLOUR = {Role.ROOT: "root", Role.PROPAGATED: "ink", Role.TEARDOWN: "muted", Role.BENIGN: "muted"}


def render_phone(
    diagnosis: Diagnosis,
    excerpts: Mapping[Place, Excerpt],
    *,
    known: Sequence[KnownFault] = (),
    note: Note | None = None,
    version: str,
    clean: Callable[[str], str] = str,
) -> bytes:
    """The diagnosis as a PDF of narrow sheets; the same input gives the same bytes.

    clean: takes secrets out of each text; no later look could, for a PDF is no text.
    """
    items = [
        *_verdict(diagnosis),
        *_checks(diagnosis),
        *_faults(known),
        *_note(note),
        *_why(diagnosis),
        *_suspects(diagnosis),
        *_plot(diagnosis),
        *_evidence(diagnosis, excerpts),
        *_read(diagnosis, version),
    ]
    cleaned = [replace(item, text=clean(item.text)) if isinstance(item, Paragraph) else item for item in items]
    return to_pdf(cleaned, title=clean(wording.first_line(diagnosis)))


def _verdict(diagnosis: Diagnosis) -> Iterator[Item]:
    facts = [diagnosis.facts[name] for name in ("status", "model", "framework") if name in diagnosis.facts]
    yield Paragraph(harmless("  ·  ".join((diagnosis.job, *facts)), 160), size=9, colour="muted", above=0)
    yield Paragraph(harmless(diagnosis.headline, 300) or wording.SCOPE[diagnosis.scope], size=15, bold=True)
    if diagnosis.scope not in (Scope.NONE, Scope.UNKNOWN):
        yield _field("Confidence", wording.CONFIDENCE[diagnosis.confidence])
    yield _field("Scope", f"{diagnosis.scope}: {wording.SCOPE[diagnosis.scope]}")
    if diagnosis.stage is not Stage.UNKNOWN or diagnosis.iterations:
        at = f", iteration {diagnosis.iterations[0].iteration:,}" if diagnosis.iterations else ""
        yield _field("Stage", f"{diagnosis.stage}{at}")
    first = wording.first_sign(diagnosis)
    if first is not None:
        when = f"{wording.day([first])} {wording.clocks([first])[0]}, {wording.clock_zone(diagnosis)}"
        yield _field("First sign", when)
    if diagnosis.next is not None:
        action, reason = wording.next_action(diagnosis.next), sentence(wording.next_reason(diagnosis.next))
        yield _field("Next", f"{action}. {reason}")


def _checks(diagnosis: Diagnosis) -> Iterator[Item]:
    if diagnosis.checks:
        yield _title("Check first")
    for number, check in enumerate(diagnosis.checks, start=1):
        yield _words(f"{number}. {check}")


def _faults(known: Sequence[KnownFault]) -> Iterator[Item]:
    if known:
        yield _title("Known faults like this")
    for fault in known:
        yield _head(f"{fault.id} {fault.title} ({wording.likeness(fault)})")
        yield _words(f"{sentence(wording.vouched(fault))}{wording.how_confirmed(fault)}. {fault.because}")
        yield _field("Cause", fault.cause)
        yield _field("Fix", fault.fix)


def _note(note: Note | None) -> Iterator[Item]:
    if note is None or not note.model:
        return
    yield _title(f"Note, {wording.drafted(note.author, note.model)}")
    yield _words(note.cause.text)


def _why(diagnosis: Diagnosis) -> Iterator[Item]:
    if reasons := wording.why(diagnosis):
        yield _title("Why")
        for reason in reasons:
            yield _words(f"• {reason}")


def _suspects(diagnosis: Diagnosis) -> Iterator[Item]:
    if diagnosis.nodes:
        yield _title("Suspects")
    for suspect in diagnosis.nodes:
        ranks = f", {wording.ranks(suspect.ranks)}" if suspect.ranks else ""
        yield _head(f"{suspect.id} {suspect.node}{ranks}", colour="root")
        yield _words(suspect.because)


def _plot(diagnosis: Diagnosis) -> Iterator[Item]:
    picture = draw_picture(diagnosis)
    if picture is not None:
        yield Plate(picture.png)


def _evidence(diagnosis: Diagnosis, excerpts: Mapping[Place, Excerpt]) -> Iterator[Item]:
    telling = [event for event in diagnosis.events if event.role is not Role.BENIGN]
    if telling:
        yield _title("Evidence")
    shown: set[Place] = set()
    for event in telling[:MAX_EVENTS]:
        yield from _event(event, diagnosis)
        for citation in citations(event, excerpts, shown)[:1]:
            yield Paragraph(f"{citation.file}:{citation.numbers}", size=8, colour="muted", above=4)
            near = next(at for at, row in enumerate(citation.rows) if row.cited) - MAX_ROWS // 2
            for row in citation.rows[max(0, near) : max(0, near) + MAX_ROWS]:
                text = f"{row.number} {row.text[:MAX_LINE]}"
                colour = "ink" if row.cited else "muted"
                yield Paragraph(text, size=7.5, fixed=True, bold=row.cited, colour=colour, above=0)
    if len(telling) > MAX_EVENTS:
        yield _words(f"And {wording.counted(len(telling) - MAX_EVENTS, 'more event')}: the page has them.")


def _event(event: EventEvidence, diagnosis: Diagnosis) -> Iterator[Item]:
    when = f", {wording.clocks([event.first_time])[0]}" if event.first_time is not None else ""
    where = wording.where(event, diagnosis.coverage.nodes)
    yield _head(f"{event.id} {event.role}: {where}{when}, {wording.times(event.count)}", colour=_COLOUR[event.role])
    yield _words(event.because)
    yield Paragraph(harmless(wording.cited_text(event), MAX_SAID), size=8, fixed=True, indent=0.1)


def _read(diagnosis: Diagnosis, version: str) -> Iterator[Item]:
    yield _title("What was read")
    yield _words(f"{sentence(wording.read(diagnosis.coverage))}. {sentence(wording.compared(diagnosis.coverage))}.")
    for missing in wording.missing(diagnosis.coverage):
        yield _words(f"{sentence(missing)}.")
    for skipped in diagnosis.skipped:
        yield _words(f"Not done: {skipped.step}, {skipped.reason}.")
    yield Paragraph(f"Firstfault {version}", size=8, colour="muted", above=8)


def _title(text: str) -> Paragraph:
    return Paragraph(harmless(text, 120), size=12.5, bold=True, above=14)


def _head(text: str, colour: str = "ink") -> Paragraph:
    return Paragraph(harmless(text, 200), bold=True, colour=colour, above=7)


def _field(name: str, text: str) -> Paragraph:
    return _words(f"{name}: {text}")


def _words(text: str) -> Paragraph:
    return Paragraph(harmless(text, MAX_SENTENCE))
