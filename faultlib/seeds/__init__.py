"""Well-known faults from public facts, a file each; marked as seeds, because nobody of the team has confirmed them."""

from functools import cache
from importlib.resources import files

from faultlib.pattern import Pattern
from faultlib.pattern_text import read_pattern


@cache  # read at each opening of a library otherwise, which takes longer than all else of it
def read_seeds() -> tuple[Pattern, ...]:
    """All seed patterns, in the order of their ids; that their examples are right is held by the tests."""
    folder = files("faultlib.seeds")
    texts = sorted((file.name, file) for file in folder.iterdir() if file.name.endswith(".toml"))
    return tuple(read_pattern(file.read_text(encoding="utf-8"), name, check_examples=False) for name, file in texts)
