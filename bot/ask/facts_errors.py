"""Facts about errors: what the leading one names in full, a like name that exists, the file that was read last."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.ask.about_exits import process_of
from bot.ask.fact import Fact
from bot.ask.reply_lines import quoted, raw
from bot.ask.subject import Subject
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.harmless import harmless
from core.answer.job_lookup import found_rows
from core.answer.search import matching
from core.logs.context import lines_around
from core.logs.lines import NO_TIME
from core.model import EventEvidence, Line

MAX_NAMES = 3  # of one error; chosen: a sentence names few
MAX_RANKS = 8  # of the leading trace whose data files are told
MAX_SHOWN = 6  # lines of a message
STACK = (
    60  # lines around an error in which its traceback stands; those of the deepest ranks of public logs have about 50
)
MAX_SLIPS = 2  # letters in which a wrong name differs from the one that was meant
SHORTEST = 5  # letters of a name that may be a slip of another
_ERROR = re.compile(r"(?:\b\w{1,60}(?:Error|Exception|Exit|Interrupt)\b|\berror\b)[^\n]{0,300}", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,120})'|\"([^\"\n]{2,120})\"")
_BARE = re.compile(r"(?<![\w./-])(/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}|--[a-z][\w-]{1,60})")
_FRAME = re.compile(r"File \\{0,4}\"([^\"\\]{1,200})\\{0,4}\", line ([0-9]{1,7}),? in ([\w.<>]{1,80})")
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|^<|/bin/(?:torchrun|accelerate|deepspeed)$")
_SOURCE = re.compile(r"\.(?:py|so|cpp|cc|h|cu|pyc)$|^/proc|/s?bin/|^<|^(?:utf-?8|ascii|latin-?1)$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--)?[A-Za-z_][\w-]{3,60}")
_OPENED = re.compile(
    rb"(?:open|read|load|shard|dataset|file)[^\n]{0,80}/[\w.-]{1,80}/[\w./-]{0,120}\.(?:jsonl?|parquet|tar|bin|idx|arrow|npy|npz|txt|csv|h5|zst|gz)\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"/[\w.-]{1,80}/[\w./-]{0,160}\.[a-z0-9]{2,8}\b")


def facts_of_errors(subject: Subject) -> Iterator[Fact]:
    """What the direct traces name, and what a name may have been meant to be."""
    for event in subject.diagnosis.events:
        if not event.is_trace:
            continue
        names = named_in(event)
        if names:
            yield Fact(f"{event.id} names {', '.join(f'“{name}”' for name in names)}.", (event.id,), topic=_TOPIC)
        meant = [(name, like) for name in names if (like := likest(subject, name))]
        for name, like in meant[:1]:
            says = f"“{name}” is most likely “{like}” misspelt, which jobs with these settings know."
            yield Fact(says, (event.id,), topic="typo what flag name should be called then correct fix")
        yield from _said(event)
        yield from _process(subject, event)
    yield from facts_of_places(subject)
    yield from _opened(subject)


_TOPIC = (
    "which file path name argument key flag shard module what exactly typo missing wrong change fix correct put right"
)


def _said(event: EventEvidence) -> Iterator[Fact]:
    """Each line of the message, which is longer than its quote."""
    for line in event.lines[:MAX_SHOWN]:
        yield Fact("", lines=tuple(raw([line])), nodes=event.nodes if len(event.nodes) == 1 else ())


def _process(subject: Subject, event: EventEvidence) -> Iterator[Fact]:
    """The number of the process that ended, where a launcher or the kernel tells it."""
    if says := process_of(subject, event):
        topic = "pid process id which rank host node core dump"
        yield Fact(says, (event.id,), topic, keys=("pid", "pids", "process id"))


def facts_of_places(subject: Subject) -> Iterator[Fact]:
    """Where in the program the leading error came: the innermost place of no library; then where the suspect was."""
    yield from _stood_at(subject, subject.leading)
    first = [suspect.node for suspect in subject.diagnosis.nodes[:1]]
    own = [event for event in subject.diagnosis.events if event.is_trace and list(event.nodes) == first]
    if own and own[0] is not subject.leading:  # what the suspect itself said beside what leads
        yield from _stood_at(subject, own[0])


def _stood_at(subject: Subject, lead: EventEvidence | None) -> Iterator[Fact]:
    """Where the ranks of an event were."""
    place = place_of(subject, lead) if lead is not None else None
    if lead is None or place is None:
        return
    who = subject.about.capital(subject.about.who(lead))
    verb = "were" if len(lead.ranks or lead.nodes) > 1 else "was"
    says = f"{who} {verb} in {place.says} at {lead.id}."
    topic = "what was executing doing running when crashed segfaulted where in the code function line stack traceback"
    yield Fact(says, (lead.id,), topic, lead.nodes, lead.ranks, tuple(raw([place.line])))


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


def _opened(subject: Subject) -> Iterator[Fact]:
    """The data file that the ranks of the leading trace opened last before it."""
    lead, parsed = subject.leading, subject.parsed
    if lead is None or not lead.ranks or lead.first_time is None:
        return
    rows, _ = matching(parsed, [_OPENED])
    table = parsed.table
    for rank in lead.ranks[:MAX_RANKS]:
        mine = [row for row in rows if subject.origin(row).rank == rank and table.time[row] <= lead.first_time]
        if not mine:
            continue
        found = found_rows(parsed, "", mine[-1:])
        path = next((match[0] for line in found.lines if (match := _PATH.search(line.text))), "")
        if path:
            time = int(table.time[mine[-1]])
            at = f", at {clock(time)}" if time != NO_TIME else ""
            says = f"The data file that rank {rank} opened last before {lead.id} was {harmless(path, 160)}{at}."
            topic = f"whose which file shard dataset data broken corrupt bad sample name {wording.names(lead.nodes, 2)}"
            home = subject.home.get(rank)
            nodes = (home,) if home else ()
            yield Fact(says, (lead.id,), topic=topic, nodes=nodes, ranks=(rank,), lines=tuple(quoted(found, 1)))
