"""Commands that run the bot and look after it: serve, demo, check, audit; as ``bot.commandline.cli``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from bot.commandline.version import version


def serve(
    *,
    follow: Annotated[
        str, typer.Option("--follow", metavar="JOBS", help="Diagnose what fails in this folder, unasked.")
    ] = "",
    channel: Annotated[str, typer.Option("--channel", metavar="ID", help="Where that is posted.")] = "",
) -> None:
    """Run the Slack bot until it is told to end.

    \b
    firstfault check && firstfault serve
    firstfault serve --follow /shared/jobs --channel C0123456789
    FIRSTFAULT_SLACK_TRANSPORT=http FIRSTFAULT_LISTEN=0.0.0.0:3000 firstfault serve

    docs/how-to/slack.md has the set-up with every click. SIGTERM or Ctrl-C ends it: what runs may end, the rest waits
    for the next start. The log goes to standard error, one JSON object a line. Exit codes: 0 ended when told to, 2
    could not start.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.end_signals import end_process  # noqa: PLC0415 loads what --help must not
    from bot.commandline.serve import serve as run  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    given = {"FIRSTFAULT_JOBS": follow, "FIRSTFAULT_FOLLOW_CHANNEL": channel}  # the worker's processes read them too
    os.environ.update({name: value for name, value in given.items() if value})
    end_process(run(load_settings(), version=version()))


def demo(
    *,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="Else any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the fault library and the log there.")
    ] = None,
) -> None:
    """Try the bot in a local Slack in the browser.

    \b
    firstfault demo
    firstfault demo --no-browser --port 8080
    FIRSTFAULT_MODEL=qwen3 FIRSTFAULT_MODEL_URL=http://localhost:8000/v1 firstfault demo

    The whole bot on the example jobs, without an account, a model or a network. Everything listens on this machine
    only. Ctrl-C ends it.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.demo import demo as run  # noqa: PLC0415 loads what --help must not
    from bot.commandline.end_signals import end_process  # noqa: PLC0415

    end_process(run(port=port, browser=browser, keep=keep, version=version()))


def check(
    *,
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="ID", help="Also: is the bot in this channel? C0123ABCD")
    ] = None,
) -> None:
    """Say what answers: jobs, library, model, Slack.

    \b
    firstfault check
    firstfault check --channel C0123ABCD

    One line each: OK, missing with what to do, or off. Exit codes: 0 everything that is configured works, 1 something
    does not, 2 wrong use.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.check.command import check as run  # noqa: PLC0415 loads what --help must not
    from bot.settings import load_settings  # noqa: PLC0415

    raise typer.Exit(run(load_settings(), channel=channel))


def audit(
    *,
    after: Annotated[
        int, typer.Option("--after", min=0, metavar="N", help="Only what came after entry N, to go on with an export.")
    ] = 0,
) -> None:
    """Print who decided what and when.

    \b
    firstfault audit > audit.jsonl
    firstfault audit --after 1200 >> audit.jsonl

    Approvals, edits, rejections and undoings, one JSON object a line. Exit codes: 0 printed, 2 there is no state.
    """  # noqa: D301 click reads the control byte
    from bot.commandline.audit import export  # noqa: PLC0415 loads what --help must not
    from bot.settings import load_settings  # noqa: PLC0415

    raise typer.Exit(export(load_settings(), after=after))
