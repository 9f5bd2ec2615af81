"""What a child process can do: the whole table. A task gets its order and an output; what it returns is the end."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from bot.jobs.messages import Ask, Diagnose, Draw, Embed, TellHistory
from bot.state.answers import SavedAnswer, ToldFact
from bot.state.errors import OutOfDate
from bot.text.known_fault import KnownFault
from core.model import Diagnosis
from core.safe_import import elsewhere

if TYPE_CHECKING:  # numpy
    from core.history.history import History

LOAD = "load"  # not done for anybody: it makes a child ready for the others
FOLLOW = "follow"
_NAMES = ("diagnose", "history", "draw", "ask", "embed", LOAD)
TASKS: Mapping[str, str] = MappingProxyType(
    {name: f"bot.jobs.tasks:{name}" for name in _NAMES} | {FOLLOW: "bot.jobs.job_followers:follow"}
)
UNHURRIED = 10  # niceness of what nobody waits for
REPORT, SHEETS, PLOT = "report.html", "report.pdf", "plot.png"


class TaskOutput(Protocol):
    """How a task speaks while it works."""

    def progress(self, step: str, done: int, total: int) -> None:
        """How far a step is; may be called as often as one likes."""

    def tell(self, answer: SavedAnswer) -> None:
        """The answer has grown."""


def diagnose(order: Diagnose, output: TaskOutput) -> SavedAnswer:
    """Diagnose a job; the evidence is told before the note is there, for which a model may take its time."""
    from bot.fetch.jobs import Request  # noqa: PLC0415 heavy, and only for this task
    from bot.investigate import draft, investigate  # noqa: PLC0415 heavy, and only for this task
    from bot.outgoing.clean import cleaned  # noqa: PLC0415 as above
    from bot.settings import load_settings  # noqa: PLC0415

    def matched(known: tuple[KnownFault, ...]) -> None:
        output.tell(SavedAnswer(order.job, None, known))

    settings = load_settings()
    answer = investigate(Request(order.job), settings, output.progress, matched)
    answer = replace(answer, diagnosis=cleaned(answer.diagnosis))  # from here on: in the state, in Slack, in the report
    found = SavedAnswer(answer.diagnosis.job, answer.diagnosis, answer.known)
    output.tell(found)
    if settings.model:
        output.progress(f"{settings.model} drafts the note", 0, 1)
    return replace(found, note=draft(answer, settings).note)


def history(order: TellHistory, output: TaskOutput) -> SavedAnswer:
    """Tell where the time of a run of training went, over all its attempts; no secret of a log is in it."""
    from bot.history.lines import brief  # noqa: PLC0415 heavy, and only for this task
    from bot.outgoing.redact import Redactor  # noqa: PLC0415

    redactor, run_history = Redactor(), _history(order.job, output)
    facts = tuple(ToldFact(about, redactor.redact(says)) for about, says in brief(run_history))
    return SavedAnswer(order.job, None, history=facts)


def draw(order: Draw, output: TaskOutput) -> SavedAnswer:
    """Draw report and plot of an answer; the job is opened again for the lines around those that are cited."""
    if order.answer.history:
        return _draw_history(order, output)
    from bot.fetch.jobs import Request, fetch  # noqa: PLC0415 as above
    from bot.investigate import Answer, page, phone  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    found = order.answer
    if found.diagnosis is None:
        raise OutOfDate("There is no diagnosis that could be drawn.", "Ask again when it is there.")
    job, _ = fetch(Request(found.job), load_settings())
    answer = Answer(job, found.diagnosis, found.known, found.note)
    drawn = page(answer, version=order.version, redacted=True)
    report = kept(Path(order.folder, REPORT), drawn.encode())
    sheets = kept(Path(order.folder, SHEETS), phone(answer, version=order.version, redacted=True))
    plot, plot_text = _plot(found.diagnosis, Path(order.folder, PLOT))
    return replace(found, report=report, sheets=sheets, plot=plot, plot_text=plot_text)


def _history(name: str, output: TaskOutput) -> "History":
    from bot.history.gather import HistoryRequest, gather  # noqa: PLC0415 as above
    from bot.settings import load_settings  # noqa: PLC0415
    from core.history.history import history as told_of  # noqa: PLC0415

    run = gather(HistoryRequest(name), load_settings(), output.progress)
    return told_of(run.name, run.attempts, problems=run.problems)


def _draw_history(order: Draw, output: TaskOutput) -> SavedAnswer:
    with elsewhere():
        from bot.history.page import render  # noqa: PLC0415 matplotlib
    from bot.outgoing.door import clean_file  # noqa: PLC0415

    page = render(_history(order.answer.job, output), version=order.version)
    return replace(order.answer, report=kept(Path(order.folder, REPORT), clean_file(page.encode())))


def load() -> None:
    """What takes long in a diagnosis and in a reply: their imports; nothing of any job is read."""
    import sklearn.feature_extraction.text  # noqa: PLC0415 questions; a forest is seldom grown
    import sklearn.pipeline  # noqa: PLC0415
    import sklearn.svm  # noqa: F401, PLC0415

    import bot.follow_up  # noqa: F401, PLC0415 and with it bot.investigate


def kept(file: Path, content: bytes) -> str:
    """Where it is; empty where the disk does not take it, for an answer without its report is better than none."""
    try:
        file.write_bytes(content)
    except OSError as error:
        sys.stderr.write(f"{file} was not written: {error.strerror}\n")
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return ""
    return str(file)


def _plot(diagnosis: Diagnosis, file: Path) -> tuple[str, str]:
    """Where the plot is, and what it shows in words; two empty texts when there is nothing to plot."""
    with elsewhere():
        from bot.report.picture import draw_picture  # noqa: PLC0415 matplotlib

    picture = draw_picture(diagnosis)
    if picture is None:
        return "", ""
    place = kept(file, picture.png)
    return place, picture.text if place else ""


def ask(order: Ask, output: TaskOutput) -> str:
    """Reply to a follow-up question from the evidence and the raw lines; at most five lines."""
    from bot.ask.model_intent import Turn  # noqa: PLC0415
    from bot.fetch.jobs import Request  # noqa: PLC0415
    from bot.follow_up import follow_up  # noqa: PLC0415
    from bot.outgoing.redact import Redactor  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    found = order.answer
    if found.history:
        raise OutOfDate(
            "I answer questions about a job, not about a history.", "Diagnose one of its jobs, and ask there."
        )
    if found.diagnosis is None:
        raise OutOfDate("There is no diagnosis yet that could be asked about.", "Ask again when it is there.")
    reply = follow_up(
        order.text,
        Request(found.job),
        load_settings(),
        found=(found.diagnosis, found.known),
        thread=[Turn(turn.text, turn.reply) for turn in order.conversation],
        progress=output.progress,
    )
    redactor = Redactor()  # what a thread shows has left the house
    return "\n".join(redactor.redact(line) for line in reply.lines)


def embed(_order: Embed, _output: TaskOutput) -> str:
    """Make the vectors that the fault library lacks."""
    from bot.library.session import open_fault_library  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415
    from bot.text.wording import counted  # noqa: PLC0415

    os.nice(UNHURRIED)
    settings = load_settings()
    with open_fault_library(settings) as library:
        made = library.embed_missing()
    return f"{counted(made, 'vector')} made"
