"""Whether a process runs, and how a connection to the local Slack is closed at once."""

import threading
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


def hang_up(slack: Slack, client: SocketModeClient) -> None:
    """Close a client at once: by itself slack_sdk waits three seconds for a read and one for its queue to end."""
    client.auto_reconnect_enabled = False
    slack.drop_sockets()
    closing = threading.Thread(target=close_twice, args=(client.close,))
    closing.start()
    while closing.is_alive():
        client.message_queue.put("{}")
        closing.join(0.01)
