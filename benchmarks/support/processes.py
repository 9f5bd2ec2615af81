"""Whether processes run, what time of the processor they took, and how a connection to the local Slack is closed."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from slack_sdk.socket_mode import SocketModeClient

from bot.slack.connect import close_twice
from slacksim import Slack


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def cpu_seconds() -> float:
    """Processor time of this process and of all its children, living and ended; Linux only."""
    ticks = sum(sum(map(int, _stat(pid)[11:15])) for pid in (os.getpid(), *_below(os.getpid())))
    return ticks / os.sysconf("SC_CLK_TCK")


def children_rest() -> bool:
    """Whether no thread of a child runs, or would if it were given a processor."""
    return not any(_states(Path("/proc", str(pid), "task").glob("*/stat")) & {"R", "D"} for pid in _below(os.getpid()))


def _states(files: Iterator[Path]) -> set[str]:
    states = set()
    for file in files:
        try:
            states.add(file.read_text(encoding="ascii").rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return states


def _stat(pid: int) -> list[str]:
    """The fields behind the name (proc(5)): the state first, user and system time and those of ended children at 11."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X", *"0" * 20]


def _below(pid: int) -> Iterator[int]:
    """Its living children, and theirs."""
    for file in Path("/proc", str(pid), "task").glob("*/children"):
        try:
            children = [int(child) for child in file.read_text(encoding="ascii").split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            yield child
            yield from _below(child)


def hang_up(slack: Slack, client: SocketModeClient) -> None:
    """Close a client at once: by itself slack_sdk waits three seconds for a read and one for its queue to end."""
    client.auto_reconnect_enabled = False
    slack.drop_sockets()
    closing = threading.Thread(target=close_twice, args=(client.close,))
    closing.start()
    while closing.is_alive():
        client.message_queue.put("{}")
        closing.join(0.01)
