"""What the commands do once their words are understood; loaded by ``bot.commandline.cli`` only when a command runs."""

import sys
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from rich.console import Console

from bot.commandline.event_rows import as_jsonl, as_table
from bot.commandline.output import check_writable, patient_reader, printed, progress_bar, write
from bot.commandline.terminal import print_diagnosis
from bot.fetch.jobs import Request
from bot.investigate import Answer, draft, investigate, list_events, page, phone
from bot.report.speedscope import to_speedscope
from bot.report.trace import has_timeline, to_trace
from bot.settings import load_settings
from bot.text.wording import first_line
from core.model import Scope

DIAGNOSED, INCONCLUSIVE = 0, 1  # exit codes, as docs/reference/command-line.md has them


@dataclass(frozen=True, slots=True)
class Files:
    """What is written beside the answer; None: not."""

    html: Path | None = None
    pdf: Path | None = None
    perfetto: Path | None = None
    speedscope: Path | None = None

    def wanted(self) -> list[Path]:
        """The files that somebody asked for."""
        return [file for file in (self.html, self.pdf, self.perfetto, self.speedscope) if file is not None]


def diagnose(request: Request, *, json: bool, files: Files, use_model: bool, version: str) -> int:
    """Diagnose a job and answer in the wanted form; the exit code (docs/reference/json.md)."""
    settings = load_settings()
    for file in files.wanted():
        check_writable(file)
    with progress_bar() as progress:
        answer = investigate(request, settings, progress)
        if progress and use_model and settings.model:
            progress(f"{settings.model} drafts the note", 0, 1)
        answer = draft(answer, settings, use_model=use_model)
        reports = _reports(answer, files, version)
    with patient_reader() as reader:
        if files.wanted():
            for (title, file), report in reports.items():
                write(file, report)
                sys.stderr.write(f"{title}: {file}\n" if report else f"{title}: there is none, {file} is empty\n")
            sys.stdout.write(first_line(answer.diagnosis) + "\n")
        elif json:
            from bot.report.contract import to_contract  # noqa: PLC0415 its models take 40 ms, and few ask for them
            from bot.report.json_document import to_json  # noqa: PLC0415 as above

            sys.stdout.write(to_json(to_contract(answer.diagnosis, answer.known, answer.note)))
        else:
            sys.stdout.write(as_text(answer, version))
    return reader.exit_code or (INCONCLUSIVE if answer.diagnosis.scope is Scope.UNKNOWN else DIAGNOSED)


def events(request: Request, *, jsonl: bool) -> int:
    """List every line of a job with its event; the exit code."""
    settings = load_settings()
    with progress_bar() as progress:
        job, rows = list_events(request, settings, progress)
        begun = list(islice(rows, 1))  # the work is done when the first row comes
    every = chain(begun, rows)
    width = Console().width if sys.stdout.isatty() else None
    names = [log.name for log in job.logs]
    blocks = as_jsonl(every) if jsonl else as_table(every, names, job.manifest.nodes, width=width)
    with patient_reader() as reader:
        sys.stdout.writelines(blocks)
    return reader.exit_code


def _reports(answer: Answer, files: Files, version: str) -> dict[tuple[str, Path], bytes]:
    """The content of each wanted file, by its title and path; empty where the job has nothing of the kind."""
    found: dict[tuple[str, Path], bytes] = {}
    if files.html is not None:
        found["Report", files.html] = page(answer, version=version).encode()
    if files.pdf is not None:
        found["Report for a phone", files.pdf] = phone(answer, version=version)
    if files.perfetto is not None:
        timeline = to_trace(answer.diagnosis) if has_timeline(answer.diagnosis) else ""
        found["Timeline", files.perfetto] = timeline.encode()
    if files.speedscope is not None:
        found["Stacks", files.speedscope] = to_speedscope(answer.diagnosis).encode()
    return found


def as_text(answer: Answer, version: str) -> str:
    """The answer for a person at a terminal."""
    return printed(partial(print_diagnosis, answer.diagnosis, known=answer.known, note=answer.note, version=version))
