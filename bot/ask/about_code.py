"""Answers about the program's own source: where the error came, and what its message names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.ask.about_nodes import named_units
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, raw
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.text import wording
from bot.text.harmless import harmless
from core.dumps.plain_values import MAX_BYTES, read_json
from core.errors import UnreadableLog
from core.logs.context import lines_around
from core.model import EventEvidence, Line, Role

MAX_NAMES = 3  # of one error; chosen: a sentence names few
STACK = 60  # lines around an error that may be its traceback; those of the deepest ranks of public logs have about 50
MAX_SLIPS = 2  # letters in which a wrong name differs from the one that was meant
SHORTEST = 5  # letters of a name that may be a slip of another
_ERROR = re.compile(r"(?:\b\w{1,60}(?:Error|Exception|Exit|Interrupt)\b|\berror\b)[^\n]{0,300}", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,120})'|\"([^\"\n]{2,120})\"")
_BARE = re.compile(r"(?<![\w./-])(/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}|--[a-z][\w-]{1,60})")
_FRAME = re.compile(r"File \\{0,4}\"([^\"\\]{1,200})\\{0,4}\", line ([0-9]{1,7}),? in ([\w.<>]{1,80})")
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|^<|/bin/(?:torchrun|accelerate|deepspeed)$")
_SOURCE = re.compile(r"\.(?:py|so|cpp|cc|h|cu|pyc)$|^/proc|/s?bin/|^<|^(?:utf-?8|ascii|latin-?1)$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--)?[A-Za-z_][\w-]{3,60}")


def own_code(subject: Subject, question: Question) -> Lines:
    """The innermost line of the program's own code in the tracebacks of the fault, or of who is named."""
    none = "The logs do not tell a line of code: no traceback of what failed stands in them."
    lead = subject.leading
    places = told_places(subject, question)
    if recorded := [] if any("of your own" not in line for line in places[:1]) else recorded_places(subject, question):
        return recorded
    return places or [cited(none), *([what_failed(subject)] if lead else [])]


def recorded_places(subject: Subject, question: Question) -> Lines:
    """Where the program was at its last collective, by the frames that flight recorders dumped; empty without any.

    Of the even or the odd ranks, or of who is named, where the question says so.
    """
    by_place: dict[str, list[int]] = {}
    for file in subject.parsed.job.dumps[:MAX_DUMPS]:
        rank = re.search(r"([0-9]{1,6})(?:\.\w{1,8})?$", file.name)
        with file.open() as stream:
            data = stream.read(MAX_BYTES)
        if rank is None or not data.lstrip().startswith(b"{") or not (place := _recorded(data, file.name)):
            continue
        by_place.setdefault(place, []).append(int(rank[1]))
    parity = next((at for at, word in enumerate(("even", "odd")) if question.says(word)), None)
    mine = {place: ranks for place, ranks in by_place.items() if _are_asked(question, ranks, parity)} or by_place
    told = sorted(mine.items(), key=lambda item: (-len(item[1]), item[0]))
    return [cited(f"By the dumps {wording.ranks(sorted(ranks))} stood in {place}.") for place, ranks in told[:4]]


def _recorded(data: bytes, name: str) -> str:
    """The frames of the last operation of a flight recorder that is not completed; empty where it names none."""
    try:
        value = read_json(data, name)
    except UnreadableLog:
        return ""
    entries = value.get("entries") if isinstance(value, dict) else None
    every = [one for one in entries if isinstance(one, dict) and one.get("frames")] if isinstance(entries, list) else []
    open_ = [one for one in every if one.get("state") != "completed"] or every[-1:]
    frames = [one for one in open_[0]["frames"] if isinstance(one, dict)] if open_ else []
    own = [one for one in frames if not _LIBRARY.search(str(one.get("filename")))] or frames
    places = (f"{one.get('name')} ({one.get('filename')}, line {one.get('line')})" for one in own[:2])
    return ", called by ".join(harmless(place, 200) for place in places)


def _are_asked(question: Question, ranks: Sequence[int], parity: int | None) -> bool:
    return bool(set(question.ranks) & set(ranks)) or (parity is not None and all(rank % 2 == parity for rank in ranks))


MAX_DUMPS = 256  # files of dumps that are read for frames


def told_places(subject: Subject, question: Question) -> Lines:
    """Where in the program the events were that count, up to the first place in its own code; empty without any."""
    shown: list[str] = []
    for event in _events(subject, question):
        place = place_of(subject, event)
        if place is None:
            continue
        who = subject.about.capital(subject.about.who(event))
        whose = "" if place.own else "; no frame is of your own code, this is the innermost one of a library"
        shown += [
            cited(f"{place.file}, line {place.number}, in {place.function}: {who} at {event.id}{whose}.", event.id)
        ]
        shown += [*raw([place.line]), cited(subject.sentence_of(event), event.id)]
        if place.own:
            break
    return shown


def _events(subject: Subject, question: Question) -> list[EventEvidence]:
    """The events whose tracebacks count, the direct traces first; of who is named where anybody is."""
    units = named_units(subject, question)
    events = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN]
    mine = [event for event in events if not units or set(units) & set(event.nodes)]
    return sorted(mine or events, key=lambda event: event.role is not Role.ROOT)


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


def likest(subject: Subject, name: str) -> str:
    """A name in messages of this job or of successful ones that a name is a slip of; empty where there is none."""
    bare = name.removeprefix("--").replace("-", "_")
    if len(bare) < SHORTEST or not re.fullmatch(r"\w+", bare):
        return ""
    known: dict[str, str] = {}
    for template in subject.parsed.templates.values():
        for word in _IDENTIFIER.findall(template.sample[:4_000]):
            known.setdefault(word.removeprefix("--").replace("-", "_"), word)
    known.pop(bare, None)
    slips = min(MAX_SLIPS, len(bare) // SHORTEST)
    found = process.extractOne(bare, sorted(known), scorer=OSA.distance, score_cutoff=slips)
    if not found:
        return ""
    return f"--{found[0].replace('_', '-')}" if name.startswith("--") else known[found[0]]
