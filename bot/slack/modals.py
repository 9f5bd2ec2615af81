"""The forms and the window of raw lines: what they show, and what a submitted form says, or why it cannot be taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any

from bot.note.note import GUESS
from bot.report.citations import Citation
from bot.slack import actions as act
from bot.slack.archive import SYMPTOMS_ONLY, Form, choosable
from bot.slack.blocks import (
    MAX_INPUT,
    MAX_VIEW_BLOCKS,
    Block,
    Blocks,
    boxes,
    context,
    field,
    menu,
    modal,
    preformatted,
    section,
    writing,
)
from bot.slack.text import code, literal, person, prose
from bot.text import wording
from bot.text.harmless import harmless
from core.model import Diagnosis, Evidence
from faultlib.draft import MAX_TITLE
from faultlib.likely_patterns import shows_a_cause
from faultlib.names import Names
from faultlib.pattern import Category

VALUE = "value"  # the action id of every field
TITLE, CATEGORY, CAUSE, FIX, CONFIRMATION, EVENTS, GUESSES, REASON, HOW = (
    "title", "category", "cause", "fix", "confirmation", "events", "guesses", "reason", "how",
)  # fmt: skip
MAX_REASON = 1_000  # ours: an SRE writes a line or two, and all of it is shown in the thread
MAX_HOW = 300  # one line: it stands behind "confirmed by ..." in every answer
MAX_CITED, MAX_NEAR, MAX_LINES = 600, 160, 200  # characters of a cited raw line and of its neighbours; lines in all
_WHOSE = {
    Category.HARDWARE: "Hardware",
    Category.USER: "User: code, settings, data",
    Category.FRAMEWORK: "Framework",
    Category.PLATFORM: "Platform: scheduler, storage, network service",
    Category.UNKNOWN: "Not known",
}


@dataclass(frozen=True, slots=True)
class FieldErrors:
    """What is wrong, by field; Slack shows it inline."""

    fields: Mapping[str, str] = field_of(default_factory=dict)

    def response(self) -> dict[str, Any]:
        """What the acknowledgement of the submission says."""
        return {"response_action": "errors", "errors": dict(self.fields)}


def wait_modal(title: str, form: str, about: str) -> Block:
    """What is opened at once, for Slack gives three seconds; ``views.update`` fills it."""
    return modal(title, section("One moment …"), form=form, about=about)


def edit_modal(
    run: str, revision: int, diagnosis: Diagnosis, form: Form, guesses: Sequence[str] = (), *, above: Blocks = ()
) -> Block:
    """The note as a form; submitting it approves and archives what stands in it.

    Args:
        guesses: what a model thinks; one that is ticked is added to the root cause, as the approver's own words.
        above: what is to be read first.
    """
    events = [
        (_event_choice(event.id, event.role, wording.cited_text(event)), event.id) for event in choosable(diagnosis)
    ]
    categories = [(label, category.value) for category, label in _WHOSE.items()]
    blocks = (
        *above,
        *section(f"Job {code(diagnosis.job, 80)}. What you save is shown to others as *confirmed*, with your name."),
        *context("" if shows_a_cause(diagnosis) else SYMPTOMS_ONLY[1]),
        *field(TITLE, "Title", writing(VALUE, value=_lines(form.title), limit=MAX_TITLE, multiline=False)),
        *field(CATEGORY, "Whose fault it is", menu("Pick one", VALUE, categories, chosen=form.category.value)),
        *field(CAUSE, "Root cause", writing(VALUE, value=_lines(form.cause), limit=MAX_INPUT)),
        *field(FIX, "What fixes it", writing(VALUE, value=_lines(form.fix), limit=MAX_INPUT)),
        *field(
            CONFIRMATION,
            "How it was confirmed",
            writing(
                VALUE, value=_lines(form.confirmation), limit=MAX_INPUT, placeholder="Cable reseated; it runs again"
            ),
            optional=True,
        ),
        *field(
            EVENTS,
            "Events that give this fault away",
            boxes(VALUE, events, ticked=form.events),
            hint="All of them must be in a job to match it. Without any, the fault is only found by its looks.",
            optional=True,
        ),
        *_guesses(guesses),
    )
    about = str(act.DraftClick(run, revision))
    return modal("Edit the note", blocks, form=act.EDIT_FORM, about=about, submit="Approve and archive", close="Cancel")


def changed_meanwhile(by: str, theirs: Form, mine: Form | None = None) -> Blocks:
    """Somebody saved the note meanwhile: what they wrote, beside the form that keeps what one wrote (``mine``)."""
    mine = mine or Form("", theirs.category, "", "")
    both = (
        ("title", theirs.title, mine.title), ("root cause", theirs.cause, mine.cause), ("fix", theirs.fix, mine.fix),
        ("confirmation", theirs.confirmation, mine.confirmation),
    )  # fmt: skip
    differs = [f"*Their {name}*: {prose(words, 400)}" for name, words, own in both if words and words != own]
    sentence = (
        f"{person(by)} changed the note meanwhile. Below stands what you wrote; if you submit it again, it counts."
    )
    return section(sentence, *differs)


def read_edit(view: Mapping[str, Any], diagnosis: Diagnosis, guesses: Sequence[str] = ()) -> Form | FieldErrors:
    """What a person has entered, or what is wrong with it; ``guesses``: those that could be ticked."""
    title, cause, fix = _text(view, TITLE), _text(view, CAUSE), _text(view, FIX)
    ticked = _ticked(view, GUESSES)
    own = (
        Names.of(diagnosis).out_of(harmless(guess)) for at, guess in enumerate(guesses, start=1) if str(at) in ticked
    )
    cause = " ".join((cause, *own)) if cause else ""
    confirmation, category = _text(view, CONFIRMATION), _value(_state(view, CATEGORY).get("selected_option"))
    wrong = {
        TITLE: _complaint(title, MAX_TITLE, "a title"),
        CAUSE: _complaint(cause, MAX_INPUT, "the root cause, or what is known of it"),
        FIX: _complaint(fix, MAX_INPUT, "what fixes it, or that it is not known yet"),
        CONFIRMATION: _too_long(confirmation, MAX_INPUT),
        CATEGORY: "" if category in set(Category) else "Pick one.",
    }
    if errors := {name: words for name, words in wrong.items() if words}:
        return FieldErrors(errors)
    known = {event.id for event in choosable(diagnosis)}
    events = tuple(text for text in _ticked(view, EVENTS) if text in known)
    return Form(" ".join(title.split()), Category(category), cause, fix, confirmation, events)


def _guesses(guesses: Sequence[str]) -> Blocks:
    """The model's sentences in full, and a box for each."""
    if not guesses:
        return ()
    numbered = [(f"Guess {number}", str(number)) for number in range(1, len(guesses) + 1)]
    return (
        *context(f"*{GUESS}*", *(f"{number}. {prose(guess, 400)}" for number, guess in enumerate(guesses, start=1))),
        *field(
            GUESSES,
            "Take over into the root cause",
            boxes(VALUE, numbered),
            hint="What you tick is archived as your words, under your name.",
            optional=True,
        ),
    )


def reject_modal(run: str, revision: int, job: str, *, reason: str = "", above: Blocks = ()) -> Block:
    """Asks why; ``reason``: what was written before, ``above``: what is to be read first."""
    blocks = (
        *above,
        *section(f"Job {code(job, 80)}. The note will not enter the fault library; the reason is kept."),
        *field(
            REASON,
            "Why is it wrong?",
            writing(VALUE, value=_lines(reason), limit=MAX_REASON, placeholder="The link was down for maintenance"),
        ),
    )
    about = str(act.DraftClick(run, revision))
    return modal("Reject the note", blocks, form=act.REJECT_FORM, about=about, submit="Reject", close="Cancel")


def read_reject(view: Mapping[str, Any]) -> str | FieldErrors:
    """The reason, or that there is none."""
    reason = _text(view, REASON)
    wrong = _complaint(reason, MAX_REASON, "a reason: it helps the next reader")
    return FieldErrors({REASON: wrong}) if wrong else reason


def explain_modal(run: str, revision: int, job: str) -> Block:
    """Asks how a note that is archived already was confirmed; whoever closes it may say so later."""
    blocks = (
        *section(f"The note of {code(job, 80)} is archived. Whoever meets this fault next reads this line."),
        *field(
            HOW,
            "How was it confirmed?",
            writing(VALUE, limit=MAX_HOW, multiline=False, placeholder="Cable reseated; it runs again"),
        ),
    )
    about = str(act.DraftClick(run, revision))
    return modal("How was it confirmed?", blocks, form=act.EXPLAIN_FORM, about=about, submit="Save", close="Later")


def read_explain(view: Mapping[str, Any]) -> str | FieldErrors:
    """How it was confirmed, in one line, or that nothing was said."""
    how = " ".join(_text(view, HOW).split())
    wrong = _complaint(how, MAX_HOW, "it in one line, or choose Later")
    return FieldErrors({HOW: wrong}) if wrong else how


def lines_modal(run: str, evidence: Evidence, cited: Sequence[Citation]) -> Block:
    """The raw lines of one piece of evidence with what is around them; an arrow marks the cited ones."""
    blocks = section(prose(evidence.because, 600))
    room = MAX_LINES
    for citation in cited:
        if room <= 0 or len(blocks) >= MAX_VIEW_BLOCKS - 4:
            break
        blocks += section(f"{code(citation.file, 200)} line {citation.numbers}")
        blocks += preformatted(_rows(citation)[:room])
        blocks += context(prose(citation.missing, 300))
        room -= len(citation.rows)
    if not cited:
        blocks += section("The raw lines cannot be read any more.")
    elif room <= 0:
        blocks += context("More lines are in the report in the thread.")
    return modal(f"{evidence.id}: raw lines", blocks, form=act.LINES_FORM, about=str(act.LinesClick(run, evidence.id)))


def message_modal(title: str, *lines: str) -> Block:
    """A modal that says what a modal could not do: who was faster, who may, what is gone."""
    return modal(title, section(*(prose(line, 600) for line in lines)), form=act.LINES_FORM)


def _rows(citation: Citation) -> list[str]:
    width = max((len(str(row.number)) for row in citation.rows), default=1)
    rows = []
    for row in citation.rows:
        rows += ["  ⋮"] if row.gap else []
        text = harmless(row.text, MAX_CITED if row.cited else MAX_NEAR)
        rows.append(f"{'▶' if row.cited else ' '} {row.number:>{width}}  {text}".rstrip())
    return rows


def _event_choice(name: str, role: str, text: str) -> str:
    return f"{name} {role}: {literal(text, 55)}"


def _lines(text: str) -> str:
    """Several lines of foreign text, each harmless."""
    return "\n".join(harmless(line) for line in text.splitlines()).strip()


def _state(view: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The state of one field; whatever else a payload holds there counts as nothing."""
    found: Any = view
    for step in ("state", "values", name, VALUE):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(view: Mapping[str, Any], name: str) -> str:
    value = _state(view, name).get("value")
    return _lines(value) if isinstance(value, str) else ""


def _ticked(view: Mapping[str, Any], name: str) -> list[str]:
    options = _state(view, name).get("selected_options")
    return [_value(option) for option in options] if isinstance(options, list) else []


def _value(option: Any) -> str:
    value = option.get("value") if isinstance(option, Mapping) else None
    return value if isinstance(value, str) else ""


def _complaint(text: str, limit: int, wanted: str) -> str:
    return _too_long(text, limit) if text else f"Write {wanted}."


def _too_long(text: str, limit: int) -> str:
    return f"{len(text):,} characters; {limit:,} are allowed." if len(text) > limit else ""
