"""What the job was given, by name: fields of job.json, arguments of its command, and what its logs print."""

import re
from collections.abc import Mapping

from bot.ask.about_jobs import flat_fields
from bot.ask.arguments import commands_of, printed, shown_value
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject

_LEFT_OUT = (
    "launch_command", "command", "cmd", "argv", "node_ranks", "node_addresses", "nodes", "exit_codes", "rank_exit",
    "start", "end", "status", "job_id", "settings_id",
)  # fmt: skip
_NAMED = re.compile(r"[A-Za-z]")
_OPTIMIZER = re.compile(
    r"lr|learning_rate|min_lr|clip_?grad(?:_norm)?|max_grad_norm|weight_decay|warmup\w{0,20}|optimizer"
)
MAX_LISTED = 8  # settings of one sentence


def optimizer_line(subject: Subject) -> str:
    """The learning rate and what goes with it, which a NaN hangs on; empty without any."""
    own = settings_of(subject)
    fields = [field for field in own if _OPTIMIZER.fullmatch(field.rpartition(".")[2])][:MAX_LISTED]
    listed = "; ".join(f"{field} {shown_value(field, own[field])}" for field in fields)
    return cited(f"What steers the optimizer: {listed}.") if fields else ""


def settings_of(subject: Subject) -> dict[str, str]:
    """Fields of job.json, arguments of the command, and what the logs print, by name."""
    extra: Mapping[str, object] = subject.parsed.job.manifest.extra
    settings = {name: value for name, value in flat_fields(extra).items() if not name.startswith(_LEFT_OUT)}
    for flags in commands_of(extra).values():
        settings |= {flag.lstrip("-").replace("-", "_"): value for flag, value in flags.items()}
    settings |= {name.removeprefix("config."): value for name, value in printed(subject).items()}
    return {name: value for name, value in settings.items() if _NAMED.search(name)}
