"""Where settings come from: the environment, the file of ``--env-file``, the user's own file, in this order.

Never from the working directory: that may be the folder of a hostile job. And a key is worth what the address is worth
that it is sent to: of two places, the one that names the address has to name the key.
"""

import io
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dotenv.parser import parse_stream
from platformdirs import user_config_path

from core.errors import BadSettings

ENV_FILE = "FIRSTFAULT_ENV_FILE"  # what --env-file sets, so that child processes read the same file
USER_FILE = "settings.env"
MAX_BYTES = 1 << 20  # a file of settings has a hundred lines
ENVIRONMENT = "the environment"


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place says, and how a person knows that place. ``values``: by variable, in capitals, none empty."""

    place: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Addressed:
    """Secrets that are sent to an address. ``lent``: those of other programs, perhaps meant for another address."""

    urls: tuple[str, ...]
    keys: tuple[str, ...]
    lent: tuple[str, ...] = ()


_ADDRESSED = (
    _Addressed(("FIRSTFAULT_MODEL_URL", "OPENAI_BASE_URL"), ("FIRSTFAULT_MODEL_KEY",), ("OPENAI_API_KEY",)),
    _Addressed(
        ("FIRSTFAULT_METRICS",),
        ("FIRSTFAULT_METRICS_TOKEN", "FIRSTFAULT_METRICS_PASSWORD", "FIRSTFAULT_METRICS_USER"),
    ),
    _Addressed(
        ("FIRSTFAULT_SLACK_API_URL", "SLACK_API_URL"),
        ("FIRSTFAULT_SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN", "FIRSTFAULT_SLACK_APP_TOKEN", "SLACK_APP_TOKEN"),
    ),
)


def layers() -> tuple[Layer, ...]:
    """Every place that says something, the one that counts most first; keys that may not be used are taken out.

    Raises:
        BadSettings: a file cannot be read, or a key stands in another place than the address that it would go to.
    """
    found = list(_places())
    for addressed in _ADDRESSED:
        found = _kept_together(found, addressed)
    return tuple(found)


def user_file() -> Path:
    """The user's own file, which need not be there."""
    return user_config_path("firstfault", appauthor=False) / USER_FILE


def _places() -> Iterator[Layer]:
    yield _layer(ENVIRONMENT, os.environ)
    if named := os.environ.get(ENV_FILE):
        yield _read(Path(named), must_exist=True)
    yield _read(user_file(), must_exist=False)


def _kept_together(found: list[Layer], addressed: _Addressed) -> list[Layer]:
    """Without the keys that stand elsewhere than the address; without an address, the service's own one counts."""
    home = next((layer for layer in found if layer.values.keys() & set(addressed.urls)), None)
    if home is None:
        return found
    for layer in found:
        stray = [key for key in addressed.keys if key in layer.values and layer is not home]
        if stray and not home.values.keys() & set(addressed.keys):
            url = next(url for url in addressed.urls if url in home.values)
            raise BadSettings(
                f"{stray[0]} stands in {layer.place}, and {url} in {home.place}: a key is not sent to an address that"
                " another place names.",
                f"Set both in {home.place}.",
            )
    away = {*addressed.keys, *addressed.lent}
    return [layer if layer is home else _without(layer, away) for layer in found]


def _without(layer: Layer, names: set[str]) -> Layer:
    return replace(layer, values={name: value for name, value in layer.values.items() if name not in names})


def _read(path: Path, *, must_exist: bool) -> Layer:
    """The settings of a file; only of a plain one, because a pipe or device may never end."""
    try:
        # without waiting for a writer at the other end of a pipe
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _unreadable(path, "it is no plain file")
            content = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if must_exist:
            raise _unreadable(path, "it is not there") from error
        return Layer(str(path), {})
    except OSError as error:
        raise _unreadable(path, (error.strerror or type(error).__name__).lower()) from error
    if len(content) > MAX_BYTES:
        raise _unreadable(path, f"it has more than {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8 text") from error
    return _layer(str(path), _values(path, text))


def _values(path: Path, text: str) -> dict[str, str]:
    """What each line sets. A setting that is lost without a word may be the address that a key is for."""
    values = {}
    for line in parse_stream(io.StringIO(text)):
        if line.error or (line.key is not None and line.value is None):
            begins = line.original.string  # with the empty lines before it
            number = line.original.line + begins[: len(begins) - len(begins.lstrip())].count("\n")
            raise _unreadable(path, f"line {number} sets nothing; a quote without its end reaches over lines")
        if line.key is not None and line.value is not None:
            values[line.key] = line.value
    return values


def _layer(place: str, values: Mapping[str, str | None]) -> Layer:
    return Layer(place, {name.upper(): value for name, value in values.items() if value})


def _unreadable(path: Path, reason: str) -> BadSettings:
    return BadSettings(
        f"The settings in {path} cannot be read: {reason}.",
        "It holds lines like FIRSTFAULT_JOBS=/data/jobs; repair it, or move it away.",
    )
