"""``firstfault check``: which of all that is configured answer; a line each, with what to do."""

import json
import sys
import time
from collections.abc import Callable, Iterator

from pydantic import BaseModel, ValidationError

from bot.chat.endpoint_json import strict_schema
from bot.chat.model import ChatMessage, ChatModel
from bot.chat.model_choice import model_from
from bot.commandline.check.finding import CheckResult, CheckState, missing, off, ok
from bot.commandline.output import patient_reader
from bot.fetch.cluster import look_at_cluster
from bot.library.session import open_fault_library
from bot.settings import Settings
from bot.text.wording import counted
from core.errors import FirstfaultError
from core.job import LogFile
from faultlib.pattern import Origin
from faultlib.pattern import Status as PatternStatus
from prompts import render
from sources.jobs import open_source

WORKS, DOES_NOT = 0, 1  # exit codes, as docs/reference/command-line.md has them
MAX_TOKENS = 1_024  # of an answer of four words: a model that thinks needs room for that
_TOKENS = ("slack_bot_token", "slack_app_token", "slack_signing_secret")


def check(settings: Settings, *, channel: str | None = None) -> int:
    """Print a line as soon as each part has answered; the exit code."""
    states = set()
    with patient_reader() as reader:
        for finding in findings(settings, channel=channel):
            states.add(finding.state)
            sys.stdout.write(f"{finding}\n")
            sys.stdout.flush()
        sys.stdout.write(f"\n{_summary(states)}\n")
    return reader.exit_code or (DOES_NOT if CheckState.MISSING in states else WORKS)


def findings(settings: Settings, *, channel: str | None = None) -> Iterator[CheckResult]:
    """Everything, the parts first that all commands need."""
    yield _looked("job source", _jobs, settings)
    if settings.scheduler:  # most need none, and no word about it
        yield _looked("scheduler", _scheduler, settings)
    yield _looked("fault library", _library, settings)
    yield _looked("language model", _model, settings)
    if not any(getattr(settings, name).get_secret_value() for name in _TOKENS):
        yield off("Slack", "No token is set: docs/how-to/slack.md has every click. firstfault demo needs none.")
        return
    from bot.commandline.check.slack import slack_findings  # noqa: PLC0415 who has no Slack need not load its packages

    yield from slack_findings(settings, channel=channel)


def _looked(name: str, look: Callable[[str, Settings], CheckResult], settings: Settings) -> CheckResult:
    """The line of a part; whatever trouble it has is what is missing."""
    try:
        return look(name, settings)
    except FirstfaultError as trouble:
        return missing(name, trouble)


def _jobs(name: str, settings: Settings) -> CheckResult:
    source = open_source(settings.jobs, links=settings.follow_links)
    ids = source.job_ids()
    if not ids:
        return missing(name, f"There are no jobs in {settings.jobs}. Set FIRSTFAULT_JOBS.")
    last = source.manifest(ids[-1])
    return ok(name, f"{counted(len(ids), 'job')} in {settings.jobs}; {last.job_id} reads ({last.status})")


def _scheduler(name: str, settings: Settings) -> CheckResult:
    sample = _any_log(settings)
    workers, threads = look_at_cluster(settings.scheduler, sample, insecure=settings.scheduler_insecure)
    there = f"{counted(workers, 'worker')} ({counted(threads, 'thread')}), same Firstfault and Python"
    return ok(name, f"{settings.scheduler}: {there}" + (f", and they read {sample.name}" if sample else ""))


def _any_log(settings: Settings) -> LogFile | None:
    """A log of the newest job, for workers to read; None where the line of the job source tells what is wrong."""
    try:
        source = open_source(settings.jobs, links=settings.follow_links)
        return next((source.job(job_id).logs[0] for job_id in source.job_ids()[-1:]), None)
    except FirstfaultError:
        return None


def _library(name: str, settings: Settings) -> CheckResult:
    with open_fault_library(settings) as library:
        stats = library.stats()
    approved, seeds = stats.by_status.get(PatternStatus.APPROVED, 0), stats.by_origin.get(Origin.SEED, 0)
    own = sum(stats.by_origin.values()) - seeds
    sentence = f"{counted(approved, 'pattern')} in use ({seeds:,} public, {own:,} of your team) in {settings.library}"
    if not stats.writable:
        return missing(name, f"{sentence}, but nothing can be written there. Let the bot's user write to that folder.")
    return ok(name, f"{sentence}; {stats.index_state}")


class _Ready(BaseModel):
    ready: bool


def _model(name: str, settings: Settings) -> CheckResult:
    model = model_from(settings)
    if model is None:
        return off(name, "FIRSTFAULT_MODEL is not set: code writes the notes. Everything else works.")
    return _asked(model, name)


def _asked(model: ChatModel, name: str) -> CheckResult:
    began = time.monotonic()
    try:
        question = render("json", schema=json.dumps(strict_schema(_Ready)))
        reply = model.answer([ChatMessage("user", question)], schema=_Ready, max_tokens=MAX_TOKENS)
        _Ready.model_validate_json(reply.text)
    except ValidationError:
        return missing(name, f"{model.name} answers, but not as it was asked to. Try a larger model.")
    finally:
        getattr(model, "close", int)()  # one with connections has it
    return ok(name, f"{model.name} answered as JSON in {time.monotonic() - began:.1f} s")


def _summary(states: set[CheckState]) -> str:
    if CheckState.MISSING in states:
        return "Something that is configured does not work."
    if CheckState.OFF in states:
        return "Everything that is configured works; what is off is not needed for the rest."
    return "Everything works."
