"""``firstfault demo``: the whole bot in a local Slack, in the browser, on the example jobs; nothing else is needed."""

import logging
import os
import signal
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.app import Bot
from bot.commandline.end_signals import end_signals
from bot.commandline.local_slack import APPROVER, APPROVER_NAME, CHANNEL, LocalSlack, local_slack
from bot.settings import Settings, load_settings
from bot.slack import actions as act
from bot.slack.blocks import Message, button, headline, section
from bot.slack.connect import make_client
from bot.slack.text import escape
from core.errors import BadSettings

FIRST, SECOND = "f01", "f42"  # two real jobs with the same fault: a process was killed
QUESTION = "what did tr-03 log?"
LOG = "bot.log"
GRACE = 0.5  # seconds for what still runs: nobody will read it
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


def demo(*, port: int, browser: bool, keep: Path | None, version: str) -> int:
    """Run it until Ctrl-C; the exit code."""
    # Ctrl-C, a closed terminal and SIGTERM all end it in order
    signals = end_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with _work_folder(keep) as folder, signals as wait_for_the_end, local_slack(port) as slack:
        _say("Starting the bot in a local Slack ...")
        settings = _settle(slack, folder)
        _log_to(folder / LOG)
        bot = Bot(settings, version=version)
        try:
            bot.start()
            greeting = greeting_message()
            make_client(slack.bot_token, slack.api_url).chat_postMessage(channel=CHANNEL, **greeting.to_post())
            _say(tour(slack.page, settings, keep))
            if browser and _has_display():
                webbrowser.open(slack.page)
            wait_for_the_end()
            _say("\nEnding.")
        finally:
            bot.stop(GRACE)
    return 0


def tour(page: str, settings: Settings, keep: Path | None) -> str:
    """What to do in the browser, for the terminal."""
    steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(_steps(), start=1))
    author = f"by {settings.model}" if settings.model else "by code: FIRSTFAULT_MODEL names no language model"
    kept = f"kept in {keep}" if keep else "gone when this ends; --keep FOLDER keeps it"
    return (
        f'\nOpen  {page}\n\n{steps}\n\nYou are {APPROVER_NAME}, who may approve; the others may not ("Acting as").'
        f"\nNotes are written {author}.\nThe fault library is {kept}. Ctrl-C ends the demo.\n"
    )


def greeting_message() -> Message:
    """The same in the channel, with buttons for who does not type."""
    first = f"Try it: two jobs that failed the same way, {FIRST} and {SECOND}"
    opening, *between, last = [f"{number}. {escape(step)}" for number, step in enumerate(_steps(mark="`"), start=1)]
    instead = [button(f"Diagnose {job}", act.DIAGNOSE, job) for job in (FIRST, SECOND)]
    return Message(
        first,
        (
            *headline(first),
            *section(opening, accessory=instead[0]),
            *section(*between),
            *section(last, accessory=instead[1]),
        ),
    )


def _steps(mark: str = "") -> tuple[str, ...]:
    def typed(words: str) -> str:
        return f"{mark}{words}{mark}"

    return (
        f"Type {typed(f'{act.COMMAND} {FIRST}')} in #training-alerts, and read where to look.",
        f"Reply in its thread: {typed(QUESTION)}",
        "Press “Approve and archive”: the note becomes a fault pattern of your team.",
        f"Type {typed(f'{act.COMMAND} {SECOND}')}: another job, the same fault, answered with what you approved.",
    )


def _settle(slack: LocalSlack, folder: Path) -> Settings:
    """Settings for this process and the children that read logs: all of Slack and of the state is the demo's own.

    Jobs are the examples, for the steps name them. What the user has set of the model and the cache stays.
    """
    jobs = str(Settings.model_fields["jobs"].get_default(call_default_factory=True))
    if not (Path(jobs) / FIRST).is_dir():
        raise BadSettings(f"The example jobs are not at {jobs}.", "Run the demo from a checkout: make demo.")
    os.environ.update(
        FIRSTFAULT_JOBS=jobs,
        FIRSTFAULT_LIBRARY=str(folder / "library"),
        # one a demo: an old one speaks of messages that were in another local Slack
        FIRSTFAULT_STATE=str(folder / time.strftime("state-%Y%m%d-%H%M%S")),
        FIRSTFAULT_SLACK_API_URL=slack.api_url,
        FIRSTFAULT_SLACK_BOT_TOKEN=slack.bot_token,
        FIRSTFAULT_SLACK_APP_TOKEN=slack.app_token,
        FIRSTFAULT_SLACK_TRANSPORT="socket",
        FIRSTFAULT_APPROVERS=APPROVER,
        FIRSTFAULT_HEALTH="127.0.0.1:0",
    )
    # slack_sdk sends even what is for this machine through a proxy; the client of a model reads ALL_PROXY as well.
    proxies = [os.environ.pop(name) for name in _PROXIES if name in os.environ]
    if proxies:
        os.environ.setdefault("ALL_PROXY", proxies[0])
    return load_settings()


@contextmanager
def _work_folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="firstfault-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / LOG).touch()
    except OSError as error:
        raise BadSettings(f"Cannot write to {keep}: {error.strerror}.", "Choose another --keep FOLDER.") from error
    yield keep.resolve()


def _log_to(file: Path) -> None:
    """Write the bot's log to a file: the terminal is for the tour."""
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def _has_display() -> bool:
    """Without one ``webbrowser`` may start a text browser in this terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
