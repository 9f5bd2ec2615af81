"""A diagnosis for a tired person at a terminal: where to look, how sure, who, what to check, then the evidence.

Plain lines without boxes; colour repeats what the words say, so nothing is lost without it. Every foreign text goes
through ``harmless``, and nothing is read as rich markup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from bot.note.note import GUESS, Author, Note, plain
from bot.text import wording
from bot.text.harmless import harmless
from bot.text.known_fault import KnownFault
from bot.text.wording import counted
from core.model import Confidence, Diagnosis, EventEvidence, Line, NodeEvidence, Role, Scope

# Chosen so that an answer fits two screens; --html and --json have all.
MAX_EVENTS = 8
MAX_SUSPECTS = 5
MAX_CHECKS = 5
MAX_WHY = 4
MAX_METRICS = 4
MAX_SHOWN = 2  # lines of a suspect: its own, and one of the others
MAX_SENTENCE = 400  # characters: five lines of the narrowest usual terminal
_MAX_WIDTH = 110  # longer lines are hard to read
_MIN_WIDTH = 40  # columns; narrower ones would break every path and id
_FULL_WIDTH = 80  # below it a quoted line may take a row more
_SAME_FILE = 2  # further line numbers of one file that are shown
_LABEL = 12  # columns of "Confidence  "
_INDENT = 4  # columns of "E1  "

_ROLE_STYLE = {Role.ROOT: "bold red", Role.PROPAGATED: "yellow", Role.TEARDOWN: "dim", Role.BENIGN: "dim"}
_CONFIDENCE_STYLE = {Confidence.ESTABLISHED: "bold", Confidence.SUPPORTED: "", Confidence.WEAK: "yellow"}


def print_diagnosis(
    diagnosis: Diagnosis,
    console: Console,
    *,
    known: Sequence[KnownFault] = (),
    note: Note | None = None,
    version: str = "",
) -> None:
    """Write the diagnosis, the known faults like it and the note to the console, as wide as that is."""
    width = max(_MIN_WIDTH, min(console.width, _MAX_WIDTH))
    for line in _Page(diagnosis, known, note, console, width, version).lines():
        line.rstrip()
        console.print(line, soft_wrap=True, markup=False, highlight=False, emoji=False)


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of one diagnosis at one width, section by section in reading order."""

    diagnosis: Diagnosis
    known: Sequence[KnownFault]
    note: Note | None
    console: Console
    width: int
    version: str

    def lines(self) -> Iterator[Text]:
        yield from self._wrapped(Text(wording.first_line(self.diagnosis), "bold"))
        yield Text()
        yield from self._verdict()
        yield from self._suspects()
        yield from self._checks()
        yield from self._known_faults()
        yield from self._drafted()
        yield from self._events()
        yield from self._metrics()
        yield Text()
        yield from self._small_print()

    # --- sections -------------------------------------------------------------------------------------------------

    def _verdict(self) -> Iterator[Text]:
        diagnosis = self.diagnosis
        confidence = Text(wording.CONFIDENCE[diagnosis.confidence], _CONFIDENCE_STYLE[diagnosis.confidence])
        if diagnosis.scope not in (Scope.UNKNOWN, Scope.NONE):
            yield from self._labelled("Confidence", confidence)
        yield from self._labelled("Scope", Text(f"{diagnosis.scope}: {wording.SCOPE[diagnosis.scope]}"))
        if diagnosis.next is not None and diagnosis.scope is not Scope.NONE:  # then the headline says it
            yield from self._labelled("Next", Text(wording.next_line(diagnosis.next)))
        if moments := wording.when(diagnosis):
            yield from self._labelled("When", Text(moments))
        for number, sentence in enumerate(wording.why(diagnosis)[:MAX_WHY]):
            yield from self._labelled("" if number else "Why", self._sentence(sentence))
        about = [
            harmless(diagnosis.facts[name], 60) for name in ("model", "framework", "status") if name in diagnosis.facts
        ]
        if about:
            yield from self._labelled("Job", Text(", ".join(about)))

    def _suspects(self) -> Iterator[Text]:
        suspects, total = self.diagnosis.nodes, wording.node_total(self.diagnosis.coverage)
        if not suspects:
            return
        of = f" of {counted(total, 'node')}" if total else ""
        yield from self._title(f"Suspects: {len(suspects):,}{of}")
        for suspect in suspects[:MAX_SUSPECTS]:
            name = Text(harmless(suspect.node, 40), "bold")
            if suspect.ranks and not suspect.node.startswith("rank"):
                name.append(f"  {wording.ranks(suspect.ranks)}", "not bold")
            yield from self._numbered(suspect.id, self._with_end(name, f"score {suspect.score:.2f}"))
            cited = f" ({', '.join(suspect.events)})" if suspect.events else ""
            yield from self._indented(Text(_whole_sentences(suspect)).append(cited))
            for line in suspect.lines[:MAX_SHOWN] if not suspect.events else ():  # an event quotes its own
                quoted = Text(harmless(line.text, 2 * (self.width - _INDENT)))
                yield from self._wrapped(quoted, Text(" " * _INDENT + "> ", "dim"))
        yield from self._left_out(len(suspects) - MAX_SUSPECTS, "suspect")

    def _checks(self) -> Iterator[Text]:
        if not self.diagnosis.checks:
            return
        yield from self._title("Check first")
        for number, check in enumerate(self.diagnosis.checks[:MAX_CHECKS], start=1):
            yield from self._numbered(f"{number}.", self._sentence(check))

    def _known_faults(self) -> Iterator[Text]:
        if not self.known:
            return
        yield from self._title("Known faults like this")
        for fault in self.known:
            likeness = wording.likeness(fault)
            title = Text(harmless(fault.title, self.width - _INDENT - len(likeness) - 2), "bold")
            yield from self._numbered(fault.id, self._with_end(title, likeness))
            vouched = f"{wording.sentence(wording.vouched(fault))}{wording.how_confirmed(fault)}"
            yield from self._indented(self._sentence(f"{vouched}. {fault.because}"))
            for label, text in (("Cause", fault.cause), ("Fix", fault.fix)):
                yield from self._indented(Text(f"{label}: ", "dim").append(self._sentence(text)))

    def _drafted(self) -> Iterator[Text]:
        """What a model made of the evidence; a note by code says nothing that does not stand here anyway."""
        note = self.note
        if note is None or not note.model:
            return
        if note.author is not Author.CODE:
            yield from self._title("Note")
            yield from self._indented(Text(f"({wording.drafted(note.author, note.model)})", "dim"))
            for line in plain(note)[1:]:
                yield from self._indented(self._sentence(line))
        elif note.unavailable:
            yield from self._title("Note")
            yield from self._indented(Text(harmless(f"No draft: {note.unavailable}", MAX_SENTENCE), "yellow"))
        if note.reading:
            yield Text()
            yield from self._indented(Text(f"{GUESS}:", "dim"))
            for sentence in note.reading:
                yield from self._wrapped(
                    Text(harmless(sentence, MAX_SENTENCE), "dim"), Text(" " * _INDENT + "? ", "dim")
                )

    def _events(self) -> Iterator[Text]:
        events = self.diagnosis.events
        shown = [event for event in events if event.role is not Role.BENIGN][:MAX_EVENTS]
        benign = [event.id for event in events if event.role is Role.BENIGN]
        if shown or benign:
            yield from self._title("Evidence")
        clocks = wording.clocks([event.first_time for event in shown])
        for number, (event, clock) in enumerate(zip(shown, clocks, strict=True)):
            if number and Role.ROOT in (event.role, shown[number - 1].role):
                yield Text()
            yield from self._event(event, clock)
        left = len(events) - len(benign) - len(shown)
        if shown and (left or benign):
            yield Text()
        yield from self._left_out(left, "event")
        if benign:
            yield from self._indented(Text(wording.benign(benign), "dim"))

    def _event(self, event: EventEvidence, clock: str) -> Iterator[Text]:
        """A root event in full, the others in short."""
        root = event.role is Role.ROOT
        head = Text(f"{event.role:<12}", _ROLE_STYLE[event.role])
        place = wording.where(event, self.diagnosis.coverage.nodes)
        head.append(f"{_column(place, 19)} {clock}  {wording.times(event.count)}", "not bold not dim default")
        yield from self._numbered(event.id, head)
        if root and event.because:
            yield from self._indented(self._sentence(event.because))
        rows = (1 if event.role is Role.TEARDOWN else 2) + (self.width < _FULL_WIDTH)
        room = (self.width - _INDENT - 2) * rows - 4 * (rows - 1)  # words that wrap leave some columns empty
        yield from self._wrapped(Text(harmless(wording.cited_text(event), room)), Text(" " * _INDENT + "> ", "dim"))
        if event.lines:
            for line in _places(event.lines, self.width - _INDENT):
                yield Text(" " * _INDENT).append(line, "cyan")

    def _metrics(self) -> Iterator[Text]:
        metrics = self.diagnosis.metrics
        if metrics:
            yield from self._title("Metrics")
        for metric in metrics[:MAX_METRICS]:
            yield from self._numbered(metric.id, self._sentence(metric.because))
            for line in _places(metric.lines, self.width - _INDENT):
                yield Text(" " * _INDENT).append(line, "cyan")
        yield from self._left_out(len(metrics) - MAX_METRICS, "metric")

    def _small_print(self) -> Iterator[Text]:
        for label, sentence in _small_print(self.diagnosis):
            yield from self._labelled(label, Text(sentence), "dim")
        version = f"Firstfault {self.version}".strip()
        yield from self._labelled("By", Text(f"{version}, method {self.diagnosis.method}"), "dim")

    # --- lines ----------------------------------------------------------------------------------------------------

    def _sentence(self, sentence: str) -> Text:
        return Text(harmless(sentence, MAX_SENTENCE))

    def _title(self, title: str) -> Iterator[Text]:
        yield Text()
        yield Text(title, "bold")

    def _labelled(self, label: str, text: Text, style: str = "") -> Iterator[Text]:
        text.style = text.style or style
        yield from self._wrapped(text, Text(f"{label:<{_LABEL}}", "dim"))

    def _numbered(self, number: str, text: Text) -> Iterator[Text]:
        yield from self._wrapped(text, Text(f"{number:<{_INDENT - 1}} "))

    def _indented(self, text: Text) -> Iterator[Text]:
        yield from self._wrapped(text, Text(" " * _INDENT))

    def _left_out(self, number: int, noun: str) -> Iterator[Text]:
        if number > 0:
            yield from self._indented(Text(f"and {counted(number, f'more {noun}')}; --html or --json shows all", "dim"))

    def _with_end(self, text: Text, end: str) -> Text:
        """The text with something at the right margin, or behind it when there is no room."""
        gap = self.width - _INDENT - cell_len(text.plain) - cell_len(end)
        return text.append(" " * gap if gap > 1 else "  ").append(end, "not bold dim")

    def _wrapped(self, text: Text, first: Text | None = None) -> Iterator[Text]:
        """Lines that hang below the first one, which starts with ``first``."""
        first = first or Text()
        indent = cell_len(first.plain)
        for number, line in enumerate(text.wrap(self.console, max(20, self.width - indent), justify="left")):
            line.rstrip()
            yield Text.assemble(first if number == 0 else Text(" " * indent), line)


def _whole_sentences(suspect: NodeEvidence) -> str:
    """What points to a suspect, the most telling first, as many sentences as there is room for and none cut off."""
    shown = [harmless(reason, MAX_SENTENCE) for reason in suspect.reasons or (suspect.because,)]
    while len(shown) > 1 and len(" ".join(shown)) > MAX_SENTENCE:
        shown.pop()
    return " ".join(shown)


def _small_print(diagnosis: Diagnosis) -> Iterable[tuple[str, str]]:
    """What was read, compared, left unread and skipped, as (label, sentence)."""
    coverage = diagnosis.coverage
    yield "Read", wording.read(coverage)
    for number, missing in enumerate(wording.missing(coverage)):
        yield "" if number else "Missing", missing
    yield "Compared", wording.compared(coverage)
    for skip in diagnosis.skipped:
        yield "Skipped", harmless(skip.reason, 400)
    if day := wording.day(event.first_time for event in diagnosis.events):
        yield "Clock", f"{day}, {wording.clock_zone(diagnosis)}"


def _places(lines: tuple[Line, ...], width: int) -> list[str]:
    """``file:line`` of the first line, the other lines of the same file, and how many there are elsewhere."""
    first = lines[0]
    same = sorted({line.line for line in lines if line.file == first.file} - {first.line})
    elsewhere = len({(line.file, line.line) for line in lines if line.file != first.file})
    more = "".join(f", {number}" for number in same[:_SAME_FILE])
    if len(same) > _SAME_FILE:
        more += f" and {len(same) - _SAME_FILE:,} more"
    if elsewhere:
        more += f"; {elsewhere:,} elsewhere"
    return _folded(f"{harmless(first.file, MAX_SENTENCE)}:{first.line}{more}", width)


def _folded(path: str, width: int) -> list[str]:
    """A path in lines that end at slashes where that is possible."""
    lines = [""]
    for part in re.split(r"(?<=[/ ])", path):
        for piece in chop_cells(part, width):
            if cell_len(lines[-1] + piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def _column(text: str, width: int) -> str:
    text = harmless(text, width)
    return text + " " * (width - cell_len(text))
