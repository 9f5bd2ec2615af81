"""Markdown out of values: code spans and tables."""

from collections.abc import Iterable


def code(text: str) -> str:
    """A code span; nothing for an empty text."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else ""


def codes(texts: Iterable[str]) -> str:
    """Code spans in a row."""
    return ", ".join(code(text) for text in texts)


def table(*head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table; a bar in a cell is no border, not even inside a code span."""
    lines = (head, ("---",) * len(head), *rows)
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
