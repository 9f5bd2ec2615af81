"""Settings of a job by their names: job.json, arguments of its command, what its logs print."""

import re
from collections.abc import Mapping

from bot.ask.about_jobs import flat_fields
from bot.ask.arguments import commands_of, printed, shown_value
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject

MAX_TOLD = 8  # settings in one sentence
_LEFT_OUT = (
    "launch_command", "command", "cmd", "argv", "node_ranks", "node_addresses", "nodes", "exit_codes", "rank_exit",
    "start", "end", "status", "job_id", "settings_id",
)  # fmt: skip
_NAMED = re.compile(r"[A-Za-z]")
_OPTIMIZER = re.compile(
    r"lr|learning_rate|min_lr|clip_?grad(?:_norm)?|max_grad_norm|weight_decay|warmup\w{0,20}|optimizer"
)


def optimizer_line(subject: Subject) -> str:
    """The learning rate and what goes with it, which a NaN hangs on; empty where no setting tells."""
    own = {name: value for name, value in settings_of(subject).items() if _OPTIMIZER.fullmatch(name.rpartition(".")[2])}
    return cited(f"What steers the optimizer: {listed(own)}.") if own else ""


def listed(settings: Mapping[str, str]) -> str:
    """Settings with their values in one sentence."""
    return "; ".join(f"{name} {shown_value(name, value)}" for name, value in list(settings.items())[:MAX_TOLD])


def settings_of(subject: Subject) -> dict[str, str]:
    """Fields of job.json, arguments of the command, and what the logs print, by name."""
    extra: Mapping[str, object] = subject.parsed.job.manifest.extra
    settings = {name: value for name, value in flat_fields(extra).items() if not name.startswith(_LEFT_OUT)}
    for flags in commands_of(extra).values():
        settings |= {flag.lstrip("-").replace("-", "_"): value for flag, value in flags.items()}
    settings |= {name.removeprefix("config."): value for name, value in printed(subject).items()}
    return {name: value for name, value in settings.items() if _NAMED.search(name)}
