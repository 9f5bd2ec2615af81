"""The words of claims (wordings.toml) with their slots: what is missing or left over is a defect of the caller."""

import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter


class BadWording(Exception):
    """A wording that is not there, or values that do not fit its slots: a defect of the caller."""


def say(name: str, **slots: object) -> str:
    """The wording of that name ("event.said") with its slots filled.

    Raises:
        BadWording: no such wording, a slot without a value, or a value without a slot.
    """
    template = wordings().get(name)
    if template is None:
        raise BadWording(f"There is no wording {name!r}.")
    wanted = {field for _, field, _, _ in Formatter().parse(template) if field}
    if wanted != set(slots):
        raise BadWording(f"The wording {name} has the slots {sorted(wanted)}, not {sorted(slots)}.")
    return template.format(**slots)


@cache
def wordings() -> dict[str, str]:
    """All wordings by name."""
    sections = tomllib.loads((files(__package__) / "wordings.toml").read_text(encoding="utf-8"))
    return {f"{group}.{name}": text for group, texts in sections.items() for name, text in texts.items()}
