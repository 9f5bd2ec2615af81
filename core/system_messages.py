"""What the system says of an error in any language, in English (rules/system_messages.toml)."""

import tomllib
from functools import cache
from importlib.resources import files as package_files


def with_english(text: str) -> str:
    """A message with the English text behind it, where it holds a translation of one; else as it is."""
    lower = text.lower()
    for said, english in _translations()[text.isascii()]:
        if said in lower:
            return f"{text}: {english}"
    return text


@cache
def _translations() -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Translations in lower case with their English text: all of them, and those that ASCII can write."""
    rules = tomllib.loads(package_files("core.rules").joinpath("system_messages.toml").read_text("utf-8"))
    known = tuple((said.lower(), english) for english, rule in rules.items() for said in rule["said"])
    return known, tuple(entry for entry in known if entry[0].isascii())
