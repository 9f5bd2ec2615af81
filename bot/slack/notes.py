"""A note in Slack: whose words they are comes first, and every sentence carries the ids that it stands on."""

from collections.abc import Iterator, Sequence

from bot.note.note import GUESS, TITLES, Note, Sentence
from bot.slack.blocks import Blocks, context, section
from bot.slack.brief import left_to_say, told_in_brief
from bot.slack.budget import Part
from bot.slack.sections import MOST, cites, with_button
from bot.slack.text import prose
from bot.text import wording
from bot.text.known_fault import KnownFault
from bot.text.wording import sentence
from core.model import Diagnosis, NodeEvidence

MAX_STORY, MAX_ADVICE = 3, 2  # sentences in the thread; the report has all
_SAME = 60  # characters by which a fix of a pattern is known again; who vouches for it may stand before or behind it
MAX_SAID = 700  # characters of a sentence: a pattern's cause is told whole, and the longest has 600
ALSO = "Check also"
_CHECKS = (ALSO, TITLES["check_first"])


def note_parts(note: Note | None, diagnosis: Diagnosis, *, known: Sequence[KnownFault] = ()) -> Iterator[Part]:
    """The note without what stands above it.

    Args:
        known: what stands below it with its fix, which need not be read twice.
    """
    if note is None:
        return
    story = _story(note, diagnosis)
    left = _left_of_cause(note, diagnosis)
    cause = f"*Cause* {with_citations(left)}" if left.text and not _told(left, diagnosis, known) else ""
    checks = {f"C{number}" for number in range(1, len(diagnosis.checks[: MOST["check"]]) + 1)}
    new = [advice for advice in note.check_first if not set(advice.cites) & checks]
    lists = (("What happened", story), (ALSO, new[:MAX_ADVICE]), ("Fix", _fixes(note, known)))
    if cause or any(sentences for _, sentences in lists) or note.unavailable or note.reading:
        yield Part(section(label(note), cause, *_trouble(note), expand=True), 96)
    for place, (title, sentences) in enumerate(lists):
        yield Part(_list(title, sentences), 75 - place)
    yield Part(guess(note), 45)


def told_by(note: Note | None, diagnosis: Diagnosis) -> frozenset[str]:
    """The sentences that need not be said again below a note, whether it says them or what stands above it."""
    reasons = {text for suspect in diagnosis.nodes for text in (suspect.because, *suspect.reasons)}
    said_before = {item.text for item in (note.cause, *_story(note, diagnosis))} if note else set[str]()
    return frozenset(said_before | reasons | set(diagnosis.why))


def guess(note: Note) -> Blocks:
    """The model's reading, small and grey, under what it is; nothing when there is none."""
    if not note.reading:
        return ()
    return context(f"*{GUESS}*", *(f"• {prose(item, MAX_SAID)}" for item in note.reading))


def label(note: Note) -> str:
    """Whose words these are."""
    silent = "; the language model gave no answer" if note.unavailable else ""
    return f"*Note* _{sentence(prose(wording.drafted(note.author, note.model) + silent, 200))}_"


def with_citations(cited: Sentence) -> str:
    """A sentence with what it stands on."""
    return prose(cited.text, MAX_SAID) + cites(cited.cites)


def _left_of_cause(note: Note, diagnosis: Diagnosis) -> Sentence:
    """The cause without what stands above it about a suspect."""
    text = note.cause.text
    for reason in (*diagnosis.why, *(reason for suspect in diagnosis.nodes for reason in suspect.reasons)):
        text = text.replace(sentence(reason), "").replace(reason, "")
    return note.cause.model_copy(update={"text": " ".join(text.split())})


def _told(item: Sentence, diagnosis: Diagnosis, known: Sequence[KnownFault]) -> bool:
    """Whether a sentence stands in the parent message, about a suspect, or below it as that of a known fault."""
    above = told_in_brief(diagnosis) | {text for suspect in diagnosis.nodes for text in _of(suspect)}
    below = any(fault.cause[:_SAME] == item.text[:_SAME] for fault in known if fault.id in item.cites)
    return below or not left_to_say([item.text], above)


def _of(suspect: NodeEvidence) -> Iterator[str]:
    yield from (text.rstrip(".").casefold() for text in (suspect.because, *suspect.reasons))


def _story(note: Note, diagnosis: Diagnosis) -> tuple[Sentence, ...]:
    """What happened, without what stands elsewhere: as the cause, above, or below as a piece of evidence."""
    shown = {*with_button(diagnosis), *(suspect.id for suspect in diagnosis.nodes)}
    new = [item for item in note.happened if item.text != note.cause.text and not shown.intersection(item.cites)]
    return tuple(item for item in new if not _told(item, diagnosis, ()))[:MAX_STORY]


def _fixes(note: Note, known: Sequence[KnownFault]) -> list[Sentence]:
    """What the note advises beyond the fixes of known faults."""
    fixes = {fault.id: fault.fix[:_SAME] for fault in known if fault.fix}
    new = [item for item in note.fix if not any(fixes[name] in item.text for name in item.cites if name in fixes)]
    return new[:MAX_ADVICE]


def _list(title: str, sentences: Sequence[Sentence]) -> Blocks:
    if not sentences:
        return ()
    shown = [with_citations(item) for item in sentences]
    if title in _CHECKS:
        shown = [text.removesuffix(" [checks]") for text in shown]  # the title says so
    if len(shown) == 1:
        return section(f"*{title}* {shown[0]}", expand=True)
    return section(f"*{title}*", *(f"• {item}" for item in shown), expand=True)


def _trouble(note: Note) -> list[str]:
    """A line that says that a model gave no answer; none where it did."""
    return [f"The language model gave no answer: {prose(note.unavailable, MAX_SAID)}"] if note.unavailable else []
