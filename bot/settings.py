"""All settings in one frozen object: FIRSTFAULT_* environment variables, then ``.env``, then defaults that work."""

import os
from pathlib import Path

from platformdirs import user_cache_path
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import BadSettings


def _examples() -> str:
    packaged = Path(__file__).resolve().parent.parent / "examples"
    return str(packaged if packaged.is_dir() else Path("examples"))


def _cores() -> int:
    """The cores that this process may use: in a container fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Settings(BaseSettings):
    """What can be set; every field is FIRSTFAULT_ and its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="FIRSTFAULT_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    jobs: str = Field(default_factory=_examples, description="folder or fsspec URL that holds the jobs")
    cache: Path = Field(
        default_factory=lambda: user_cache_path("firstfault", appauthor=False),
        description="folder for what was computed before",
    )
    workers: int = Field(default_factory=_cores, ge=1, le=1024, description="threads that read logs")


def load_settings() -> Settings:
    """The settings of this process; what makes no sense is told by name, never by value."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "FIRSTFAULT_" + "_".join(str(part) for part in first["loc"]).upper()
        raise BadSettings(
            f"{name} makes no sense: {first['msg']}", "Change it in the environment or in .env."
        ) from error
    except UnicodeDecodeError as error:
        raise BadSettings("The file .env is not UTF-8 text.", "Save it as UTF-8, or remove it.") from error
