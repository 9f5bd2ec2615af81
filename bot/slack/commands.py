"""What somebody typed: a job, or one of the few words beside it."""

import re
from dataclasses import dataclass
from enum import StrEnum

from sources.job_ids import is_job_id

_MENTION = re.compile(r"<@[UW][A-Z0-9]+(?:\|[^>]*)?>")
_LINK = re.compile(r"<(?:https?://[^|>]+\|)([^>]+)>")
_NAMED = re.compile(r"(?i)\b(?:job|run|diagnose)\b[\s:#=]*([A-Za-z0-9][A-Za-z0-9._-]{0,127})")
_NUMBER = re.compile(r"(?<![\w.-])[0-9]{4,}(?![\w.-])")
_AROUND = "`'\"*_~()[]{}<>,;:!?#\u201c\u201d\u2018\u2019"  # that people put around the name of a job
_QUOTED = re.compile(r"[\"'`\u201c\u2018].{1,200}[\"'`\u201d\u2019]")  # a name of several words
_MAX_READ = 4_000  # characters of a message


class Verb(StrEnum):
    """What somebody wants, by the first word."""

    DIAGNOSE = "diagnose"
    HELP = "help"
    LIST = "list"
    STATUS = "status"
    CANCEL = "cancel"
    WATCH = "watch"
    UNWATCH = "unwatch"
    FOLLOW = "follow"
    FOLLOWED = "follow list"
    UNFOLLOW = "unfollow"
    HISTORY = "history"
    NOTHING = ""  # no word that is understood


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A verb and what it is about; ``job``, of a history the run of training, is as it was typed, and not checked."""

    verb: Verb
    job: str = ""


FOLLOWING = (Verb.FOLLOW, Verb.FOLLOWED, Verb.UNFOLLOW)  # nothing stands behind: "follow up on f07" is a sentence
_FOLLOWING = {verb.value: verb for verb in FOLLOWING} | {"follow stop": Verb.UNFOLLOW}


def read_command(text: str) -> ParsedCommand:
    """The words behind a command or a mention; a bare id wants its diagnosis."""
    words = _LINK.sub(r"\1", _MENTION.sub(" ", text[:_MAX_READ])).split()
    if not words:
        return ParsedCommand(Verb.NOTHING)
    verb, arguments = words[0].lower(), words[1:]
    if verb in (Verb.HELP, Verb.LIST, Verb.STATUS) and not arguments:
        return ParsedCommand(Verb(verb))
    if verb in (Verb.CANCEL, Verb.DIAGNOSE, Verb.WATCH, Verb.UNWATCH):
        return ParsedCommand(Verb(verb), arguments[0] if arguments else "")
    if (following := " ".join(words).lower()) in _FOLLOWING:
        return ParsedCommand(_FOLLOWING[following])
    if verb == Verb.HISTORY and (len(arguments) < 2 or _QUOTED.fullmatch(" ".join(arguments))):
        return ParsedCommand(Verb.HISTORY, " ".join(arguments).strip(_AROUND))
    return ParsedCommand(Verb.DIAGNOSE, words[0]) if len(words) == 1 else ParsedCommand(Verb.NOTHING, words[0])


def names_in(text: str) -> list[str]:
    """Every word of a text that may be the id of a job, without the quotes and stops around it, each once.

    Alerts name it as a label: job_id=1437825.
    """
    plain = _MENTION.sub(" ", text[:_MAX_READ]).replace("=", " ")
    words = (word.strip(_AROUND).rstrip(".") for word in plain.split())
    return [word for word in dict.fromkeys(words) if is_job_id(word)]


_COMMANDS = (Verb.DIAGNOSE, Verb.CANCEL, Verb.HELP, Verb.WATCH, Verb.UNWATCH)


def asks_for_diagnosis(text: str) -> ParsedCommand | None:
    """The wish of a message in a thread of the bot, where everything that is no command is a question."""
    command = read_command(text)
    first = _MENTION.sub(" ", text[:_MAX_READ]).split()[:1]
    typed = bool(first) and first[0].lower() in _COMMANDS
    return command if typed else None


def job_in(text: str) -> str:
    """The job that a message names: after the word job, run or diagnose, else a long number; empty without one."""
    head = text[:_MAX_READ]
    for found in (*_NAMED.finditer(head), *_NUMBER.finditer(head)):
        name = found[found.lastindex or 0].rstrip(".-_")
        if is_job_id(name) and any(character.isdigit() for character in name):
            return name
    return ""
