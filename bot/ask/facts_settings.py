"""Facts about what the job was given, field by field, beside what a successful job was given."""

import re
from collections.abc import Iterator, Mapping

from bot.ask.about_jobs import flat_fields, good_job
from bot.ask.arguments import commands_of, printed, shown_value
from bot.ask.fact import Fact
from bot.ask.subject import Subject
from core.job import Manifest, Status

MAX_SETTINGS = 400  # fields of a job: more nobody writes by hand
_LEFT_OUT = (
    "launch_command", "command", "cmd", "argv", "node_ranks", "node_addresses", "nodes", "exit_codes", "rank_exit",
    "start", "end", "status", "job_id", "settings_id",
)  # fmt: skip
_NAMED = re.compile(r"[A-Za-z]")
_OPTIMIZER = "What steers the optimizer"
_GROUPS = (
    (
        "How it is divided",
        "layout parallel tensor pipeline data tp pp dp",
        re.compile(
            r"(?:tensor|pipeline|data|context|expert|sequence)_?(?:model_)?parallel_?(?:size)?|[tpdce]p(?:_size)?|world_size"
        ),
    ),
    (
        "Batches",
        "batch size micro global sequence length",
        re.compile(r"(?:\w{1,20}_)?batch_?size|seq(?:uence)?_?len(?:gth)?"),
    ),
    (
        _OPTIMIZER,
        "lr learning rate optimizer hyperparameter clip warmup decay",
        re.compile(r"lr|learning_rate|min_lr|clip_?grad(?:_norm)?|max_grad_norm|weight_decay|warmup\w{0,20}|optimizer"),
    ),
    (
        "Software",
        "version software torch python nccl cuda library release",
        re.compile(r"torch|python|cuda|nccl|transformers|deepspeed|\w{1,20}_version"),
    ),
    (
        "How often it saves",
        "checkpoint save interval often every planned",
        re.compile(r"save_?(?:interval|every|steps|freq)|checkpoint_every"),
    ),
)


def facts_of_settings(subject: Subject, *, beside: bool) -> Iterator[Fact]:
    """Every setting by its name; beside: read the successful job too, which takes its time."""
    good = (good_job(subject) or _alike(subject)) if beside else None
    other = subject.beside.subject(good.job_id) if good else None
    theirs = settings_of(other) if other else {}
    name = other.parsed.job.id if other else ""
    for field, value in list(settings_of(subject).items())[:MAX_SETTINGS]:
        own = f"{field}: {shown_value(field, value)}"
        was = theirs.get(field)
        if was is None or not beside:
            yield Fact(f"{own} here.", topic=f"setting {field}", narrow=True)
        else:
            also = "the same" if was == value else shown_value(field, was)
            yield Fact(
                f"{own} here, {also} in {name}, which succeeded.", topic=f"setting good {field} {was}", narrow=True
            )
    for field, value in list(theirs.items())[:MAX_SETTINGS]:
        if field not in settings_of(subject):
            says = f"{field}: {shown_value(field, value)} in {name}, which succeeded; not here."
            yield Fact(says, topic=f"setting good {field}", narrow=True)
    yield from _together(settings_of(subject))


def facts_of_optimizer(subject: Subject) -> Iterator[Fact]:
    """The learning rate and what goes with it, which a NaN hangs on."""
    yield from (fact for fact in _together(settings_of(subject)) if fact.says.startswith(_OPTIMIZER))


def _together(own: dict[str, str]) -> Iterator[Fact]:
    """Settings that people ask for in one breath."""
    for title, topic, pattern in _GROUPS:
        fields = {field: value for field, value in own.items() if pattern.fullmatch(field.rpartition(".")[2])}
        if fields:
            listed = "; ".join(f"{field} {shown_value(field, value)}" for field, value in list(fields.items())[:8])
            yield Fact(f"{title}: {listed}.", topic=topic)


def _alike(subject: Subject) -> Manifest | None:
    """A job that succeeded with the same framework and model, or nearly, where none has all settings in common."""
    own = subject.parsed.job.manifest
    done = [
        manifest
        for manifest in subject.beside.manifests()
        if manifest.status is Status.COMPLETED and manifest.framework == own.framework
    ]
    alike = [(manifest.model == own.model, manifest.world_size == own.world_size, manifest.job_id) for manifest in done]
    best = max(alike, default=None)
    return next((manifest for manifest in done if best and best[0] and manifest.job_id == best[2]), None)


def settings_of(subject: Subject) -> dict[str, str]:
    """Fields of job.json, arguments of the command, and what the logs print, by name."""
    extra: Mapping[str, object] = subject.parsed.job.manifest.extra
    settings = {name: value for name, value in flat_fields(extra).items() if not name.startswith(_LEFT_OUT)}
    for flags in commands_of(extra).values():
        settings |= {flag.lstrip("-").replace("-", "_"): value for flag, value in flags.items()}
    settings |= {name.removeprefix("config."): value for name, value in printed(subject).items()}
    return {name: value for name, value in settings.items() if _NAMED.search(name)}
