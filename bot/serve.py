"""``firstfault serve``: the Slack bot until somebody ends it."""

import json
import logging
import signal
import sys
import threading
import time
from types import FrameType

from bot.settings import Settings
from bot.slack.bot import Bot

_EXTRA = ("run", "reference", "outcome")  # fields of our log records
_LOG = logging.getLogger(__name__)


def serve(settings: Settings, *, version: str) -> int:
    """Run the bot until SIGTERM or SIGINT; the exit code."""
    log_as_json()
    bot = Bot(settings, version=version)
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    bot.start()
    _LOG.info("listening")
    ended.wait()
    _LOG.info("stopping")
    bot.stop()
    return 0


def log_as_json() -> None:
    """One JSON object a line on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("slack_bolt").setLevel(logging.WARNING)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: getattr(record, name) for name in _EXTRA if hasattr(record, name)}
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields)
