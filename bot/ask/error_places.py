"""What an error names in full, and where in the program it came."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ask.reply_lines import cited, raw
from bot.ask.subject import Subject
from bot.text.harmless import harmless
from core.logs.context import lines_around
from core.model import EventEvidence, Line, Role

MAX_NAMES = 3  # of one error; chosen: a sentence names few
STACK = (
    60  # lines around an error in which its traceback stands; those of the deepest ranks of public logs have about 50
)
_ERROR = re.compile(r"(?:\b\w{1,60}(?:Error|Exception|Exit|Interrupt)\b|\berror\b)[^\n]{0,300}", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,120})'|\"([^\"\n]{2,120})\"")
_BARE = re.compile(r"(?<![\w./-])(/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}|--[a-z][\w-]{1,60})")
_FRAME = re.compile(r"File \\{0,4}\"([^\"\\]{1,200})\\{0,4}\", line ([0-9]{1,7}),? in ([\w.<>]{1,80})")
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|^<|/bin/(?:torchrun|accelerate|deepspeed)$")
_SOURCE = re.compile(r"\.(?:py|so|cpp|cc|h|cu|pyc)$|^/proc|/s?bin/|^<|^(?:utf-?8|ascii|latin-?1)$", re.IGNORECASE)


def standing(subject: Subject, ranks: Sequence[int]) -> list[str]:
    """Where in the program the leading error came, and what the suspect itself said beside it; of named ranks."""
    first = [suspect.node for suspect in subject.diagnosis.nodes[:1]]
    own = [event for event in subject.diagnosis.events if event.role is Role.ROOT and list(event.nodes) == first]
    events = dict.fromkeys(event for event in (subject.leading, *own[:1]) if event is not None)
    return [
        line for event in events if not ranks or set(event.ranks) & set(ranks) for line in _stood_at(subject, event)
    ]


def _stood_at(subject: Subject, event: EventEvidence) -> list[str]:
    """Where the ranks of an event were, with the line of the traceback."""
    place = place_of(subject, event)
    if place is None:
        return []
    who = subject.about.capital(subject.about.who(event))
    verb = "were" if len(event.ranks or event.nodes) > 1 else "was"
    return [cited(f"{who} {verb} in {place.says} at {event.id}.", event.id), *raw([place.line])]


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A frame of a traceback. own: whether its file is of no library. line: of the log, in which it stands."""

    file: str
    number: int
    function: str
    line: Line
    own: bool

    @property
    def says(self) -> str:
        """Function, file and line: "main (/srv/train.py, line 61)"."""
        return f"{harmless(self.function, 60)} ({harmless(self.file, 120)}, line {self.number})"


def place_of(subject: Subject, event: EventEvidence) -> CodePlace | None:
    """The innermost frame of an event's traceback that is of no library, else the innermost; None without any."""
    if not event.lines:
        return None
    first = event.lines[0]
    excerpt = lines_around(subject.parsed.job, [(first.file, first.line)], STACK)[first.file, first.line]
    frames = [(line, match) for line in excerpt.lines for match in _FRAME.finditer(line.text)]
    own = [frame for frame in frames if not _LIBRARY.search(frame[1][1])]
    known = own or frames
    if not known:
        return None
    ends = max(line.line for line in event.lines if line.file == first.file)
    mine = [item for item in known if first.text.startswith(item[0].text.partition("File ")[0].rstrip())]
    known = mine or known  # of several speakers in one file those lines that begin as its own do
    known = [item for item in known if item[0].line <= ends] or known
    fatal = "Fatal Python error" in first.text or any("most recent call first" in line.text for line in excerpt.lines)
    current = next((line.line for line in excerpt.lines if "Current thread" in line.text), 0)
    after = [item for item in known if item[0].line > current] or known  # of several threads the one that crashed
    line, match = after[0] if fatal else known[-1]
    return CodePlace(match[1], int(match[2]), match[3], line, bool(own))


def named_in(event: EventEvidence) -> tuple[str, ...]:
    """What the message of an error names: what it quotes, else paths and arguments; places of code are none."""
    texts = [match[0] for line in reversed(event.lines) if (match := _ERROR.search(line.text))]
    found: list[str] = []
    for text in texts or [line.text for line in event.lines[:1]]:
        found += [(match[1] or match[2]).strip() for match in _QUOTED.finditer(text)] or _BARE.findall(text)
    kept = (harmless(name, 100) for name in found if not _SOURCE.search(name) and "…" not in name)
    return tuple(dict.fromkeys(name for name in kept if name.strip()))[:MAX_NAMES]
