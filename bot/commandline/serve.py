"""``firstfault serve``: the Slack bot until somebody ends it."""

import json
import logging
import signal
import sys
import threading
import time

from bot.app import Bot
from bot.commandline.end_signals import end_signals
from bot.settings import Settings

_EXTRA = ("run", "job", "seconds", "reference", "outcome")  # fields of our log records
_LOG = logging.getLogger(__name__)


def serve(settings: Settings, *, version: str) -> int:
    """Run the bot until SIGTERM or SIGINT; the exit code."""
    log_as_json()
    with end_signals(signal.SIGTERM, signal.SIGINT) as wait_for_the_end:
        bot = Bot(settings, version=version)
        try:
            bot.start()
            _LOG.info("%s", _listening(bot, settings, version))
            wait_for_the_end()
            _LOG.info("stopping: nothing new is taken, what runs may end")
        finally:
            bot.stop()
    _LOG.info("stopped")
    return 0


def _listening(bot: Bot, settings: Settings, version: str) -> str:
    """What a person looks for first when something is odd."""
    way = f"HTTP on port {bot.request_port}" if settings.slack_transport == "http" else "Socket Mode"
    health = f"health on port {bot.health_port}" if bot.health_port else "no health port"
    model = f"model {settings.model}" if settings.model else "no model"
    return f"listening: firstfault {version}, {way}, {health}, jobs {settings.jobs}, {model}, state {settings.state}"


def log_as_json() -> None:
    """One JSON object a line on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # A crowd is no trouble: the acknowledgements are counted.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_thread


def _log_thread(args: threading.ExceptHookArgs) -> None:
    """A thread that ends by an error: a line of the log like all others."""
    name = args.thread.name if args.thread else "?"
    trace = (args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
    _LOG.critical("the thread %s has ended", name, exc_info=trace)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: value for name in _EXTRA if (value := getattr(record, name, "")) != ""}
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields)
