"""``firstfault watch``: says what a running job does wrong, and diagnoses it when it has ended."""

import json as jsonlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.commandline.job_commands import as_text
from bot.commandline.output import READER_LEFT, progress_bar
from bot.commandline.watch.findings import SCHEMA, finding_json, finding_lines, status_line
from bot.fetch.jobs import Request, fetch
from bot.investigate import Answer, draft, investigate
from bot.jobs.job_watch import JobWatch
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from bot.settings import Settings, load_settings
from core.errors import FirstfaultError
from core.live.findings import LiveFinding, LiveKind

# Exit codes, as docs/reference/command-line.md has them; 130 is 128 and the number of SIGINT.
COMPLETED, FAILED, INTERRUPTED = 0, 1, 130


@dataclass(frozen=True, slots=True)
class Output:
    """How findings are printed, and whether a language model drafts the note."""

    json: bool
    use_model: bool
    version: str


def watch(request: Request, *, every: float, output: Output) -> int:
    """Watch a job to its end; the exit code."""
    settings = load_settings()
    job_watch = JobWatch(lambda: fetch(request, settings)[0], every=every)
    try:
        with _status_line() as status:
            ended = _until_the_end(job_watch, request.job, output, status, lambda: _so_far(request, settings, output))
        if ended.kind is LiveKind.COMPLETED:
            return COMPLETED
        _diagnose(request, settings, output)
    except KeyboardInterrupt:
        sys.stderr.write("\nNot watched any more; the job goes on.\n")
        return INTERRUPTED
    except BrokenPipeError:
        return READER_LEFT
    return FAILED


class _Status:
    """One line on standard error that is drawn over and over; nothing where nobody sees it."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def show(self, job: str, job_watch: JobWatch) -> None:
        if self._shown:
            line = status_line(job, job_watch.standing(), shutil.get_terminal_size().columns)
            sys.stderr.write(f"\r\x1b[2K{line}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


@contextmanager
def _status_line() -> Iterator[_Status]:
    status = _Status()
    try:
        yield status
    finally:
        status.clear()


def _until_the_end(
    job_watch: JobWatch, job: str, output: Output, status: _Status, diagnose: Callable[[], None]
) -> LiveFinding:
    """Look and print until the job is over and has said all that it had to say.

    Args:
        diagnose: is called when an alarm stands.
    """
    while True:
        for finding in job_watch.look():
            status.clear()
            _print(finding, job, output)
            if finding.kind is LiveKind.STANDS:
                diagnose()
        ended = job_watch.over
        if ended is not None and (ended.kind is LiveKind.COMPLETED or job_watch.settled()):
            return ended
        status.show(job, job_watch)
        time.sleep(job_watch.pause())


def _print(finding: LiveFinding, job: str, output: Output) -> None:
    text = finding_json(finding, job) if output.json else "".join(f"{line}\n" for line in finding_lines(finding))
    sys.stdout.write(text)
    sys.stdout.flush()  # whoever reads it waits for it


def _so_far(request: Request, settings: Settings, output: Output) -> None:
    """The diagnosis of a job that runs; when there is none, the watch goes on all the same."""
    try:
        _diagnose(request, settings, output)
    except FirstfaultError as trouble:
        sys.stderr.write(f"No diagnosis of the job as it stands: {trouble.message}\n")


def _diagnose(request: Request, settings: Settings, output: Output) -> None:
    with progress_bar() as progress:
        answer = draft(investigate(request, settings, progress), settings, use_model=output.use_model)
    sys.stdout.write(_as_json(answer) if output.json else "\n" + as_text(answer, output.version))
    sys.stdout.flush()


def _as_json(answer: Answer) -> str:
    diagnosis = jsonlib.loads(to_json(to_contract(answer.diagnosis, answer.known, answer.note)))
    fields = {"schema": SCHEMA, "job": answer.diagnosis.job, "kind": "diagnosis", "diagnosis": diagnosis}
    return jsonlib.dumps(fields) + "\n"
