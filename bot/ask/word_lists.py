"""The lists beside this code: ways of asking, topics, words of one meaning, codes, translations, labelled questions."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as package_files
from typing import Any


@cache
def word_lists(name: str) -> Mapping[str, Any]:
    """A file of lists, by its name without its ending."""
    return tomllib.loads(package_files("bot.ask").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def stop_words() -> frozenset[str]:
    """Words that are not worth a search."""
    return frozenset(word_lists("words")["search"]["stop"].split())
