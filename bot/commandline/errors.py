"""What went wrong, told to the person at the terminal."""

import typer

from bot.text.harmless import harmless
from core.errors import FirstfaultError

_MAX_LINES, _MAX_LINE = 20, 1_000  # characters


def print_error(error: FirstfaultError) -> None:
    """The message and what to try, on standard error."""
    for line in error.message.split("\n")[:_MAX_LINES]:
        typer.echo(f"error: {harmless(line, _MAX_LINE)}", err=True)
    if error.hint:
        typer.echo(f"hint: {harmless(error.hint, _MAX_LINE)}", err=True)
