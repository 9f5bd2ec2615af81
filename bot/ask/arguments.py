"""What two jobs were given: the arguments of their commands and the settings that their logs print, one by one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.ask.subject import Subject
from bot.outgoing.redact import redact
from bot.text import wording
from core.answer.search import matching, seek
from core.events.row_text import read_rows

MAX_VALUE = 40  # characters of a value
MAX_CHANGES = 12  # chosen: a reply has five lines of MAX_SENTENCE characters
MAX_PRINTED = 2_000  # lines of printed settings that are read; Megatron prints about 400 a job
_PAIR = re.compile(
    r"[\"']?(?<![\w.-])([A-Za-z_][\w.-]{0,60})[\"']?\s{0,2}[:=]\s{0,2}([\"'][^\"']{0,80}[\"']|[^\s,{}()\[\]\"']{1,80})"
)
_PRINTED = re.compile(
    rb"\b(?:config|configuration|args|arguments|hparams|hyperparameters|settings|namespace)\b[^\n]{0,40}[{(]",
    re.IGNORECASE,
)
_LINE_EACH = re.compile(
    rb"\b[a-z_][a-z0-9_]{1,50} \.{4,80} \S|\b(?:config|args|hparams)\.[a-z_]{1,50}=\S", re.IGNORECASE
)
_EACH = re.compile(
    r"\b([A-Za-z_][A-Za-z0-9_]{1,50}) \.{4,80} (\S{1,80})|\b(?:config|args|hparams)\.([A-Za-z_][\w.]{0,50})=(\S{1,80})"
)
_OWN = re.compile(
    r"job.?id|run.?(?:id|name)|log.?dir|rdzv.?id|rdzv.?endpoint|master.?addr|master.?port|node.?rank|machine.?rank|host|timestamp|^local.?rank$|^rank$",
    re.IGNORECASE,
)


def flags_of(command: Sequence[object]) -> dict[str, str]:
    """The arguments of a command by name: "--lr 2e4", "--lr=2e4", a switch is "on"; of words alone their place."""
    words = [str(word) for word in command]
    flags: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else "-"
        if not word.startswith("-") or len(word) < 2:
            flags[f"word {at}"] = word
        elif "=" in word:
            name, _, value = word.partition("=")
            flags[name] = value
        elif following.startswith("-") and not re.fullmatch(r"-[0-9.eE+-]{1,20}", following):
            flags[word] = "on"
        else:
            flags[word] = following
            at += 1
        at += 1
    return {name: value for name, value in flags.items() if not name.startswith("word ")}


def commands_of(extra: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The arguments of each node's command, or of the one of all under "", as job.json has them."""
    found: dict[str, dict[str, str]] = {}
    for name in ("launch_command", "command", "cmd", "argv", "args"):
        given = extra.get(name)
        if isinstance(given, Mapping):
            found |= {str(node): flags_of(_words(command)) for node, command in given.items()}
        elif given:
            found[""] = flags_of(_words(given))
    return found


def argument_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What the commands of two jobs have differently: of all nodes once, of some with their names."""
    old, new = commands_of(before), commands_of(after)
    if not old or not new:
        return []
    usual: dict[str, str] = next(iter(old.values()))
    found: dict[str, list[str]] = {}
    for node, flags in new.items():
        base = old.get(node, usual)
        for name in sorted(base.keys() | flags.keys()):
            if base.get(name) != flags.get(name) and not _OWN.search(name):
                found.setdefault(_change(name, base.get(name), flags.get(name)), []).append(node)
    every = len(new)
    return [
        change if len(nodes) == every else f"{change} on {wording.names(nodes, 4, 60)}"
        for change, nodes in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    ][:MAX_CHANGES]


def printed_changes(before: Subject, after: Subject) -> list[str]:
    """What the settings that the logs of two jobs print have differently."""
    old, new = printed(before), printed(after)
    if not old or not new:
        return []
    names = [
        name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name) and not _OWN.search(name)
    ]
    return [_change(name, old.get(name), new.get(name)) for name in names][:MAX_CHANGES]


def printed(subject: Subject) -> dict[str, str]:
    """The settings that its logs print, by name: in one line, a line each with dots between, as config.name=value."""
    parsed = subject.parsed
    found = seek(parsed, [_PRINTED], "printed settings")
    text = found.lines[0].text if found.lines else ""
    begin = min((at for at in (text.find("{"), text.find("(")) if at >= 0), default=len(text))
    settings = {match[1]: match[2].strip("\"'") for match in _PAIR.finditer(text[begin:])}
    rows, _ = matching(parsed, [_LINE_EACH])
    for line in read_rows(parsed.files, parsed.table, rows[:MAX_PRINTED]).values():
        settings |= {match[1] or match[3]: match[2] or match[4] for match in _EACH.finditer(line)}
    return settings


def shown_value(name: str, value: str | None) -> str:
    """A value that fits, its head and its tail where it is long; secrets are taken out before it is cut."""
    text = redact(f"{name}={value or ''}").partition("=")[2]
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE // 2]}…{text[-MAX_VALUE // 2 :]}"


def _change(name: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"{name} {shown_value(name, new)} is new"
    if new is None:
        return f"{name} {shown_value(name, old)} is gone"
    return f"{name} {shown_value(name, old)} to {shown_value(name, new)}"


def _words(command: object) -> list[str]:
    return (
        command.split()
        if isinstance(command, str)
        else [str(word) for word in command]
        if isinstance(command, list)
        else []
    )
