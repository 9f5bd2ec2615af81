"""What the commands do once their words are understood; loaded by ``bot.commandline.cli`` only when a command runs."""

import json as jsonlib
import sys
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from rich.console import Console

from bot.ask.answer import Reply
from bot.commandline.event_rows import as_jsonl, as_table
from bot.commandline.output import check_writable, patient_reader, write
from bot.commandline.progress import progress_bar
from bot.commandline.terminal import print_diagnosis
from bot.fetch.jobs import Request
from bot.investigate import Answer, draft, follow_up, investigate, list_events, page
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from bot.settings import load_settings
from bot.text.harmless import harmless, storable
from bot.text.wording import first_line
from core.model import Scope

DIAGNOSED, INCONCLUSIVE = 0, 1


def diagnose(request: Request, *, json: bool, html: Path | None, use_model: bool, version: str) -> int:
    """Diagnose a job and answer in the wanted form; the exit code (docs/reference/json.md)."""
    settings = load_settings()
    if html is not None:
        check_writable(html)
    with progress_bar() as progress:
        answer = investigate(request, settings, progress)
        if progress and use_model and settings.model:
            progress(f"{settings.model} drafts the note", 0, 1)
        answer = draft(answer, settings, use_model=use_model)
        report = page(answer, version=version) if html is not None else ""
    with patient_reader() as reader:
        if html is not None:
            write(html, report)
            sys.stdout.write(first_line(answer.diagnosis) + "\n")
            sys.stderr.write(f"Report: {html}\n")
        elif json:
            sys.stdout.write(to_json(to_contract(answer.diagnosis, answer.known, answer.note)))
        else:
            sys.stdout.write(_text(answer, version))
    return reader.exit_code or _verdict(answer)


def ask(request: Request, question: str, *, json: bool) -> int:
    """Answer a question about a job; 1 when the logs do not tell."""
    settings = load_settings()
    with progress_bar() as progress:
        reply = follow_up(question, request, settings, progress=progress)
    with patient_reader() as reader:
        sys.stdout.write(_reply_json(reply) if json else "".join(f"{line}\n" for line in reply.lines))
    if reply.unavailable:
        sys.stderr.write(f"The model did not answer: {harmless(reply.unavailable, 300)}\n")
    return reader.exit_code or (DIAGNOSED if reply.answered else INCONCLUSIVE)


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
        _write_blocks(blocks)
    return reader.exit_code


def _text(answer: Answer, version: str) -> str:
    """The answer as wide and as coloured as standard output is."""
    console = Console()
    with console.capture() as capture:
        print_diagnosis(answer.diagnosis, console, known=answer.known, note=answer.note, version=version)
    return capture.get()


def _reply_json(reply: Reply) -> str:
    fields = {
        "lines": [storable(line) for line in reply.lines],
        "author": reply.author,
        "model": reply.model,
        "looks": list(reply.looks),
        "refused": list(reply.refused),
    }
    return jsonlib.dumps(fields, indent=2) + "\n"


def _verdict(answer: Answer) -> int:
    return INCONCLUSIVE if answer.diagnosis.scope is Scope.UNKNOWN else DIAGNOSED


def _write_blocks(blocks: Iterable[str]) -> None:
    for block in blocks:
        sys.stdout.write(block)
