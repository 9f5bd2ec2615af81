"""All settings in one frozen object: the places of ``bot.setting_files`` in their order, then defaults that work."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from platformdirs import user_cache_path, user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from bot.setting_files import Layer, layers
from core.errors import BadSettings


def _examples() -> str:
    packaged = Path(__file__).resolve().parent.parent / "examples"
    return str(packaged if packaged.is_dir() else Path("examples"))


def _cores() -> int:
    """The cores that this process may use: in a container fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _SettingsSource(EnvSettingsSource):
    """One place that settings come from, in the form in which pydantic asks for it."""

    def __init__(self, settings_cls: type[BaseSettings], layer: Layer) -> None:
        self._layer = layer
        super().__init__(settings_cls)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._layer.values.items()}


class Settings(BaseSettings):
    """What can be set; every field is FIRSTFAULT_ and its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="FIRSTFAULT_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        validate_by_name=True,  # beside the names that other programs use too
        loc_by_alias=False,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 as the next two: pydantic gives them by name
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values that code gives, then our places; of pydantic's own places none."""
        return init_settings, *(_SettingsSource(settings_cls, layer) for layer in layers())

    jobs: str = Field(default_factory=_examples, description="folder or fsspec URL that holds the jobs")
    follow_links: Annotated[tuple[Path, ...], NoDecode] = Field(
        (),
        description="folders elsewhere, like `/scratch/runs`, with commas, that a job in a local `FIRSTFAULT_JOBS` may"
        " be a link into; a link into any other place is no job",
    )
    cache: Path = Field(
        default_factory=lambda: user_cache_path("firstfault", appauthor=False),
        description="folder for what was computed before",
    )
    library: Path = Field(
        default_factory=lambda: user_data_path("firstfault", appauthor=False) / "library",
        description="folder of the fault library: its database, and the index over it",
    )
    index: Literal["exact", "chroma"] = Field(
        "exact", description="how the library is searched: `exact`, or by `chroma`, which pays from 100,000 patterns on"
    )
    embeddings: str = Field(
        "minilm", description="model that compares faults: `minilm`, or a sentence-transformers model by name or folder"
    )
    memory: int = Field(
        256 << 20, ge=0, description="bytes of parsed logs that are held in memory, like `500MB`; more goes to disk"
    )
    workers: int = Field(default_factory=_cores, ge=1, le=1024, description="threads that read logs")
    scheduler: str = Field(
        "", description="Dask scheduler, like `tls://10.0.0.5:8786`, whose workers read the logs of large jobs"
    )
    scheduler_insecure: bool = Field(
        default=False,
        description="`1` lets the scheduler be one by `tcp://`, with which nobody proves who he is: what answers there"
        " can run code here (docs/how-to/cluster.md)",
    )
    model: str = Field("", description="language model that drafts notes, as its endpoint calls it; without one, none")
    model_url: str = Field(
        "",
        validation_alias=AliasChoices("FIRSTFAULT_MODEL_URL", "OPENAI_BASE_URL"),
        description="any OpenAI-compatible endpoint, like `http://localhost:8000/v1` (or `OPENAI_BASE_URL`); with a key"
        " and no URL, OpenAI's own",
    )
    model_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("FIRSTFAULT_MODEL_KEY", "OPENAI_API_KEY"),
        description="key of the endpoint, if it wants one (or `OPENAI_API_KEY`); never shown",
    )
    model_timeout: float = Field(60, gt=0, le=3600, description="seconds that one request to the model may take")

    redact_addresses: bool = Field(
        default=False, description="take network addresses out of what the model sees, beside keys, e-mails and homes"
    )
    slack_bot_token: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("FIRSTFAULT_SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN"),
        description="token of the bot, `xoxb-...` (or `SLACK_BOT_TOKEN`)",
    )
    slack_app_token: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("FIRSTFAULT_SLACK_APP_TOKEN", "SLACK_APP_TOKEN"),
        description="token of the app, `xapp-...`, for Socket Mode (or `SLACK_APP_TOKEN`)",
    )
    slack_signing_secret: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("FIRSTFAULT_SLACK_SIGNING_SECRET", "SLACK_SIGNING_SECRET"),
        description="for signed HTTP in place of Socket Mode (or `SLACK_SIGNING_SECRET`)",
    )
    slack_api_url: str = Field(
        "https://slack.com/api/",
        validation_alias=AliasChoices("FIRSTFAULT_SLACK_API_URL", "SLACK_API_URL"),
        description="where the Web API is (or `SLACK_API_URL`); another one only for the local Slack",
    )
    slack_transport: Literal["socket", "http"] = Field("socket", description="`socket` or `http`; the bot is the same")
    listen: str = Field("127.0.0.1:3000", description="address for Slack's requests, when the transport is `http`")
    health: str = Field("127.0.0.1:9464", description="address of `/healthz` and `/metrics`; empty: none")
    approvers: str = Field(
        "",
        description="who may approve: user ids, e-mails and user groups, with commas; with `C0123ABCD:` before it one"
        " counts in that channel only; empty: nobody",
    )
    allowed_teams: str = Field(
        "",
        description="ids of other workspaces (T...) and organisations (E...), with commas, whose people are answered in"
        " shared channels and may read there; empty: none",
    )
    checks: str = Field(
        "",
        description="TOML file of a site's own checks for `firstfault check-nodes`, from / on (docs/how-to/checks.md);"
        " it names commands that are run on nodes, and is never looked for beside a job",
    )
    state: Path = Field(
        default_factory=lambda: user_data_path("firstfault", appauthor=False) / "state",
        description="folder of what the bot must not forget: queue, threads, decisions, audit, reports",
    )
    runs: int = Field(1, ge=1, le=64, description="diagnoses that the bot makes at the same time")
    watches: int = Field(10, ge=0, le=256, description="running jobs that the bot watches at the same time; 0: none")
    follow_channel: str = Field(
        "",
        description="id of the channel that is told of jobs that fail in `FIRSTFAULT_JOBS`, unasked; empty: none. With"
        " commas also `team:C0123ABCD`: of jobs of that team (`team` in job.json) that channel is told",
    )
    follow_posts: int = Field(6, ge=1, le=60, description="posts an hour there; of more failures one digest tells")
    follow_quiet: str = Field(
        "", description="hours without posts there, like `22:00-07:00`, by the clock of the machine; a digest follows"
    )
    metrics: str = Field(
        "",
        description="Prometheus that is asked for the metrics of each job, like `http://prometheus:9090`; empty: none",
    )
    metrics_user: str = Field("", description="user for Prometheus behind a proxy that asks for one (basic auth)")
    metrics_password: SecretStr = Field(
        SecretStr(""), description="password of that user; only sent to `FIRSTFAULT_METRICS`"
    )
    metrics_token: SecretStr = Field(
        SecretStr(""), description="token that Prometheus is shown as `Bearer`; only sent to `FIRSTFAULT_METRICS`"
    )
    metrics_query: str = Field(
        "",
        description="PromQL in place of the usual query; `$nodes` stands for the job's nodes (docs/how-to/metrics.md)",
    )
    webhook: str = Field("", description="address that is told of each diagnosis, as signed JSON; empty: none")
    webhook_secret: SecretStr = Field(SecretStr(""), description="key of the signature of `FIRSTFAULT_WEBHOOK`")
    alerts: str = Field("", description="address for Alertmanager's webhook receiver, at `/alerts`; empty: none")
    alerts_token: SecretStr = Field(SecretStr(""), description="token that Alertmanager shows as `Bearer`")
    alert_channels: str = Field(
        "", description="ids of channels, with commas, where a job that an alert names is diagnosed in its thread"
    )
    deadline: float = Field(900, gt=0, description="seconds after which a diagnosis answers with what it has")

    @field_validator("memory", mode="before")
    @classmethod
    def _in_bytes(cls, size: object) -> object:
        return in_bytes(size) if isinstance(size, str) else size

    @field_validator("follow_links", mode="before")
    @classmethod
    def _are_folders(cls, names: object) -> object:
        return _folders(names) if isinstance(names, str) else names

    @field_validator("follow_quiet", "follow_channel")
    @classmethod
    def _can_be_read(cls, text: str, info: ValidationInfo) -> str:
        (read_quiet if info.field_name == "follow_quiet" else read_channels)(text)
        return text

    @field_validator("metrics_token", "metrics_user", "metrics_password")
    @classmethod
    def _is_one_line(cls, secret: SecretStr | str) -> SecretStr | str:
        sentence = secret.get_secret_value() if isinstance(secret, SecretStr) else secret
        if not (sentence.isascii() and (sentence.isprintable() or not sentence)):
            raise ValueError("it holds characters that no header of HTTP takes")
        return secret

    @field_validator("model_url", "webhook", "metrics")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("it begins with http:// or https://")
        return url


def _folders(names: str) -> tuple[Path, ...]:
    folders = tuple(Path(name.strip()) for name in names.split(",") if name.strip())
    if not all(folder.is_absolute() for folder in folders):
        raise ValueError("it is one folder or more, each from / on, with commas")
    return folders


def read_channels(text: str) -> tuple[str, dict[str, str]]:
    """The channel of all jobs, and those of teams by their names in small letters, of ``C0ALL, llm:C0LLM``.

    Raises:
        ValueError: no channel, or more than one, is for all jobs.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    plain = [entry for entry in entries if ":" not in entry]
    if entries and len(plain) != 1:
        raise ValueError("one channel is for all jobs, others have their team before them")
    named = (entry.rpartition(":") for entry in entries if ":" in entry)
    return "".join(plain), {team.strip().casefold(): channel.strip() for team, _, channel in named}


def read_quiet(text: str) -> tuple[int, int]:
    """Minutes of the day of ``22:00-07:00``; (0, 0) for an empty text.

    Raises:
        ValueError: it is no such span.
    """
    if not text.strip():
        return 0, 0
    span = _SPAN.fullmatch(text.strip())
    if span is None:
        raise ValueError("it is a span like 22:00-07:00")
    begin, begin_minute, end, end_minute = map(int, span.groups())
    return begin * 60 + begin_minute, end * 60 + end_minute


def in_bytes(size: str) -> int:
    """Bytes of a size such as 500MB, 2 GB or 1000000.

    Raises:
        ValueError: it is none.
    """
    match = _SIZE.fullmatch(size.strip())
    if match is None:
        raise ValueError("it is a size like 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " "))


_SPAN = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]?)B?", re.IGNORECASE)


def load_settings() -> Settings:
    """The settings of this process; what makes no sense is told by name, never by value."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "FIRSTFAULT_" + "_".join(str(part) for part in first["loc"]).upper()
        raise BadSettings(
            f"{name} makes no sense: {first['msg']}",
            "Change it where it is set: docs/reference/settings.md lists the places.",
        ) from error


def needed(value: str, variable: str) -> str:
    """What the bot cannot do without.

    Raises:
        BadSettings: it is not set.
    """
    if not value:
        raise BadSettings(
            f"{variable} is not set.", "docs/how-to/slack.md has every click; firstfault check says what is missing."
        )
    return value
