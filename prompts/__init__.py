"""Every word that a language model is told: text files with $placeholders, a file a question."""

from hashlib import blake2b
from importlib.resources import files
from string import Template

_SUFFIX = ".md"
_MARK = "mark"  # the placeholder that no caller fills


class BadPrompt(Exception):
    """A prompt that is not there, or values that do not fit it: a defect of the caller."""


def render(name: str, **values: str) -> str:
    """The prompt of that name with its values.

    ``$mark`` is filled here, by a hash of all values: a fence around data whose end the data cannot contain.

    Raises:
        BadPrompt: no such prompt, a value is missing, or a value is not used.
    """
    template = Template(_text(name))
    wanted = set(template.get_identifiers()) - {_MARK}
    missing, unused = sorted(wanted - set(values)), sorted(set(values) - wanted)
    if missing or unused:
        raise BadPrompt(f"The prompt {name} misses values for {missing} and has no place for {unused}.")
    return template.substitute(values, **{_MARK: _mark(values)}).strip()


def names() -> tuple[str, ...]:
    """The names of all prompts."""
    folder = files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in folder if file.name.endswith(_SUFFIX)))


def _text(name: str) -> str:
    if name not in names():
        raise BadPrompt(f"There is no prompt {name!r}; there are {', '.join(names())}.")
    return (files(__name__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def _mark(values: dict[str, str]) -> str:
    whole = "\0".join(f"{name}\0{values[name]}" for name in sorted(values))
    return blake2b(whole.encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
