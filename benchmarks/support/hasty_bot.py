"""``firstfault serve`` in a process that tests may kill: children are quick, and what ends by time ends soon."""

import sys
from datetime import timedelta
from typing import Any, cast

import bot.commandline.serve
from benchmarks.support.quick import TASKS
from bot.app import Bot
from bot.settings import Settings, load_settings
from bot.state import posts

LEASE, POSTING = timedelta(seconds=3), timedelta(seconds=5)  # in place of half a minute each
GRACE = 3.0  # seconds for what runs, after SIGTERM


class HastyBot(Bot):
    """The bot, but for its patience."""

    def __init__(self, settings: Settings, *, version: str) -> None:
        super().__init__(settings, version=version, tasks=TASKS, lease=LEASE)

    def stop(self, grace_seconds: float = GRACE) -> None:
        super().stop(grace_seconds)


def main() -> None:
    cast("Any", bot.commandline.serve).Bot = HastyBot
    cast("Any", posts).POSTING = POSTING
    sys.exit(bot.commandline.serve.serve(load_settings(), version="0.1.0"))


if __name__ == "__main__":
    main()
