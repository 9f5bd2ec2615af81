"""A note in Slack: whose words they are comes first, and every sentence carries the ids that it stands on."""

from collections.abc import Iterator, Sequence

from bot import wording
from bot.known import KnownFault
from bot.note.note import GUESS, TITLES, Note
from bot.note.sentence import Sentence
from bot.slack.blocks import Blocks, context, section
from bot.slack.budget import Part
from bot.slack.forms import Form
from bot.slack.sections import MAX_FIX, MOST, cites, shown_why
from bot.slack.text import person, prose
from bot.wording import sentence
from core.model import Diagnosis

MAX_STORY, MAX_ADVICE = 3, 2  # sentences in the parent message; the thread has all
_SAME = 60  # characters by which a fix of a pattern is known again; who vouches for it may stand behind it
MAX_SAID = 700  # characters of a sentence: a pattern's cause is told whole, and the longest has 600
ALSO = "Check also"
_CHECKS = (ALSO, TITLES["check_first"])
MAX_EDITED = 1_000  # of a field that a person wrote; the form has all of it


def note_parts(
    note: Note | None,
    diagnosis: Diagnosis | None,
    *,
    form: Form | None,
    edited_by: str,
    known: Sequence[KnownFault] = (),
) -> Iterator[Part]:
    """The note as the parent message shows it: in short, or as a person has edited it.

    Args:
        known: what stands above it with its fix, which need not be read twice.
    """
    if form:
        yield Part(_edited(form, edited_by), 96)
        return
    if note is None:
        return
    yield Part(section(label(note), f"*Cause* {said(note.cause)}", expand=True), 96)
    told = (
        {f"C{number}" for number in range(1, len(diagnosis.checks[: MOST["check"]]) + 1)} if diagnosis else set[str]()
    )
    new = [one for one in note.check_first if not set(one.cites) & told]
    for place, (title, sentences) in enumerate(
        (("What happened", _story(note, diagnosis)), (ALSO, new[:MAX_ADVICE]), ("Fix", _fixes(note, known)))
    ):
        yield Part(_list(title, sentences), 75 - place)
    yield Part(guess(note), 45)


def told_by(note: Note | None, diagnosis: Diagnosis) -> frozenset[str]:
    """The sentences of a note that need not be said again below it."""
    return frozenset(one.text for one in (note.cause, *_story(note, diagnosis))) if note else frozenset()


def whole_note(note: Note) -> Blocks:
    """All of a note, for the thread."""
    blocks = [
        *section(label(note), f"*{said(note.headline)}*" if _unmarked(note) else said(note.headline), expand=True)
    ]
    blocks += section(f"*Cause* {said(note.cause)}", expand=True)
    for name, title in TITLES.items():
        blocks += _list(title, getattr(note, name))
    return (*blocks, *section(f"*Category* {note.category}", *_trouble(note)), *guess(note))


def guess(note: Note) -> Blocks:
    """The model's reading, small and grey, under what it is; nothing when there is none."""
    if not note.reading:
        return ()
    return context(f"*{GUESS}*", *(f"• {prose(one, MAX_SAID)}" for one in note.reading))


def label(note: Note) -> str:
    """Whose words these are."""
    silent = "; the language model gave no answer" if note.unavailable else ""
    return f"*Note* _{sentence(prose(wording.drafted(note.author, note.model) + silent, 200))}_"


def said(one: Sentence) -> str:
    """A sentence with what it stands on."""
    return prose(one.text, MAX_SAID) + cites(one.cites)


def _story(note: Note, diagnosis: Diagnosis | None) -> tuple[Sentence, ...]:
    """What happened, without what stands above it: as the cause, about a suspect, behind the verdict."""
    above = {note.cause.text}
    if diagnosis:
        above.update(suspect.because for suspect in diagnosis.nodes)
        above.update(shown_why(diagnosis))
    return tuple(one for one in note.happened if one.text not in above)[:MAX_STORY]


def _fixes(note: Note, known: Sequence[KnownFault]) -> list[Sentence]:
    """What the note advises beyond the fixes of known faults."""
    told = {fault.id: fault.fix[:_SAME] for fault in known}
    new = [one for one in note.fix if not any(told.get(name) == one.text[:_SAME] for name in one.cites)]
    return new[:MAX_ADVICE]


def _list(title: str, sentences: Sequence[Sentence]) -> Blocks:
    if not sentences:
        return ()
    shown = [said(one) for one in sentences]
    if title in _CHECKS:
        shown = [one.removesuffix(" [checks]") for one in shown]  # the title says so
    if len(shown) == 1:
        return section(f"*{title}* {shown[0]}", expand=True)
    return section(f"*{title}*", *(f"• {one}" for one in shown), expand=True)


def _edited(form: Form, by: str) -> Blocks:
    fix = f"*Fix* {prose(form.fix, MAX_FIX)}" if form.fix else ""
    return section(
        f"*Note* _edited by_ {person(by)}",
        f"*Title* {prose(form.title, 200)}",
        f"*Cause* {prose(form.cause, MAX_EDITED)}",
        fix,
        f"*How confirmed* {prose(form.confirmation, MAX_FIX)}" if form.confirmation else "",
        expand=True,
    )


def _unmarked(note: Note) -> bool:
    return "`" not in said(note.headline)


def _trouble(note: Note) -> list[str]:
    """That a model was silent."""
    return [f"The language model gave no answer: {prose(note.unavailable, MAX_SAID)}"] if note.unavailable else []
