"""The local Slack as the demo starts it: a child process that ends with the demo, whatever ends that.

A process of its own, because ``bot`` imports nothing of ``slacksim``: the bot of the demo is the bot that people run.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO

from bot.jobs.child_process import with_own_code
from core.errors import FirstfaultError

# Of the workspace that slacksim plays when it is told nothing else (slacksim/workspace.py); a test holds them.
CHANNEL, APPROVER, APPROVER_NAME = "C0ALERTS", "U0ALICE", "alice"
LINES = 6  # that it prints when it is ready
ENDS_IN = 5.0  # seconds; it takes milliseconds
_PAIR = re.compile(r"\s*(SLACK_\w+)=(\S+)")
_PAGE = re.compile(r"Open in a browser:\s*(\S+)")


class NoLocalSlack(FirstfaultError):
    """The local Slack did not start."""


@dataclass(frozen=True)
class LocalSlack:
    """Where it is. page: for a browser; api_url and tokens: for the bot."""

    page: str
    api_url: str
    bot_token: str
    app_token: str


@contextmanager
def local_slack(port: int = 0) -> Iterator[LocalSlack]:
    """Run one; port 0 takes any free one.

    Raises:
        NoLocalSlack: it does not start.
    """
    process = subprocess.Popen(  # noqa: S603 our own program
        [sys.executable, "-P", "-m", "slacksim", "--attached", "--port", str(port)],
        stdin=subprocess.PIPE,  # closes with this process: then it ends too
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the demo, which ends it when the bot has ended
        env=with_own_code(os.environ),
    )
    with process:
        try:
            yield _read(process)
        finally:
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()
            try:
                process.wait(ENDS_IN)
            except subprocess.TimeoutExpired:
                process.kill()


def _read(process: subprocess.Popen[str]) -> LocalSlack:
    lines = list(islice(_open(process.stdout), LINES))
    found = {pair[1]: pair[2] for line in lines if (pair := _PAIR.match(line))}
    page = next((address[1] for line in lines if (address := _PAGE.match(line))), "")
    try:
        return LocalSlack(page, found["SLACK_API_URL"], found["SLACK_BOT_TOKEN"], found["SLACK_APP_TOKEN"])
    except KeyError as error:
        texts = _open(process.stderr).read().strip().splitlines()[-1:]  # it has ended, or it would not be silent
        raise NoLocalSlack(
            f"The local Slack did not start: {' '.join(texts) or 'it said nothing'}", "Try another --port, or none."
        ) from error


def _open(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise NoLocalSlack("The local Slack has no pipe.")  # never: all three are asked for
    return pipe
