"""What a child process can do: the whole table. A task gets its order and a voice; what it returns is the end."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from bot.jobs.messages import Ask, Diagnose, Draw, Embed
from bot.state.answers import SavedAnswer
from bot.state.errors import OutOfDate
from bot.text.known_fault import KnownFault
from core.elsewhere import elsewhere
from core.model import Diagnosis

LOAD = "load"  # not done for anybody: it makes a child ready for the others
_NAMES = ("diagnose", "draw", "ask", "embed", LOAD)
TASKS: Mapping[str, str] = MappingProxyType({name: f"bot.jobs.tasks:{name}" for name in _NAMES})
UNHURRIED = 10  # niceness of what nobody waits for
REPORT, PLOT = "report.html", "plot.png"


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


def draw(order: Draw, _output: TaskOutput) -> SavedAnswer:
    """Draw report and plot of an answer; the job is opened again for the lines around those that are cited."""
    from bot.fetch.jobs import Request, fetch  # noqa: PLC0415 as above
    from bot.investigate import Answer, page  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    found = order.answer
    if found.diagnosis is None:
        raise OutOfDate("There is no diagnosis that could be drawn.", "Ask again when it is there.")
    job, _ = fetch(Request(found.job), load_settings())
    answer = Answer(job, found.diagnosis, found.known, found.note)
    drawn = page(answer, version=order.version, redacted=True)
    report = kept(Path(order.folder, REPORT), drawn.encode())
    plot, plot_text = _plot(found.diagnosis, Path(order.folder, PLOT))
    return replace(found, report=report, plot=plot, plot_text=plot_text)


def load() -> None:
    """What takes long in a diagnosis and in a reply: their imports; nothing of any job is read."""
    import sklearn.ensemble  # noqa: PLC0415 half of all
    import sklearn.feature_extraction.text  # noqa: PLC0415 questions
    import sklearn.pipeline  # noqa: PLC0415
    import sklearn.svm  # noqa: F401, PLC0415

    import bot.investigate  # noqa: F401, PLC0415


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
    from bot.ask.choose import Turn  # noqa: PLC0415
    from bot.fetch.jobs import Request  # noqa: PLC0415
    from bot.investigate import follow_up  # noqa: PLC0415
    from bot.outgoing.redact import Redactor  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    found = order.answer
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
    """Make the vectors that the fault library lacks, and those of the questions from which replies learn."""
    from bot.ask.classify import prepare_questions  # noqa: PLC0415
    from bot.fetch.cache import FolderCache  # noqa: PLC0415
    from bot.library.session import open_fault_library  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415
    from bot.text.wording import counted  # noqa: PLC0415
    from faultlib.models import embedder_for  # noqa: PLC0415

    os.nice(UNHURRIED)
    settings = load_settings()
    with open_fault_library(settings) as library:
        made = library.embed_missing()
    prepare_questions(embedder_for(settings.embeddings), FolderCache(settings.cache))
    return f"{counted(made, 'vector')} made"
