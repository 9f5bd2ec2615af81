"""``firstfault audit``: who decided what and when, as text for whoever keeps it."""

import sys

from bot.app import DATABASE
from bot.commandline.output import patient_reader
from bot.settings import Settings
from bot.state.audit import as_jsonl
from bot.state.errors import StateUnavailable
from bot.state.state import open_state


def export(settings: Settings, *, after: int) -> int:
    """Print every entry behind the one of that number; the exit code.

    Raises:
        StateUnavailable: there is no state, or it cannot be read.
    """
    path = settings.state / DATABASE
    if not path.is_file():  # to open it would make it
        raise StateUnavailable(f"There is no state in {settings.state}.", "Set FIRSTFAULT_STATE as for the bot.")
    state = open_state(path)
    try:
        with patient_reader() as reader:
            for line in as_jsonl(state.audit.entries(after=after)):
                sys.stdout.write(line)
        return reader.exit_code
    finally:
        state.close()
