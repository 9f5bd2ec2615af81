"""Stack dumps as text or JSON: py-spy, Python's faulthandler and gdb, one process or many in a file."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_LINES = 1 << 20  # of a file: of 1,000 processes with 30 threads, 30 deep
MAX_FRAMES = 200  # frames of a thread, innermost first; a training loop is 30 deep, and recursion repeats itself

MAX_NAME = 200  # characters of a function, a path or a command that a sentence may quote
MAX_TEXT = 4000  # of a cited line, as in core.events.row_text


@dataclass(frozen=True, slots=True)
class Frame:
    """A function and where it stands; line 0 when the dump does not say."""

    function: str
    file: str
    line: int = 0

    @property
    def where(self) -> str:
        """As py-spy writes it."""
        return f"{self.function} ({self.file}:{self.line})" if self.line else f"{self.function} ({self.file})"


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of a dump, innermost frame first. at, text: the line on which that stands; 0 in JSON."""

    name: str
    frames: tuple[Frame, ...]
    at: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Process:
    """All threads of one process, and who it is as far as anybody says."""

    file: str
    pid: int | None = None
    command: str = ""
    rank: int | None = None
    node: str | None = None
    threads: tuple[Thread, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A process while its lines are read."""

    pid: int | None = None
    command: str = ""
    rank: int | None = None
    node: str | None = None
    threads: list[Thread] = field(default_factory=list)


# "[rank3]: ", "17: " of srun, "[default0]:" of torchrun, "node48: " of pdsh, "ERROR " of who collects two streams
_LABEL = re.compile(
    r"^(?:\[rank(?P<rank>\d{1,6})\]: ?|(?P<task>\d{1,6}): |\[default\d+\]:|(?:INFO|NOTICE|WARNING|ERROR) "
    r"|(?=[\w.-]*?[A-Za-z])(?P<host>[\w.-]++): )"
    r"(?=\s*$|Thread |Process |Python v|Current thread |#\d|\s+\S)"
)
_PROCESS = re.compile(r"Process (?P<pid>\d{1,20}): ?(?P<command>.*)")
_THREAD = re.compile(r'Thread (?P<id>\d{1,20})(?: \([^")]*\))?(?:: "(?P<name>.*)")?$')  # py-spy
_FAULT = re.compile(
    r"(?:(?P<current>Current thread|Thread) 0x[0-9a-fA-F]+(?: \[(?P<name>.*)\])?|Stack) \(most recent call first\):"
)
_GDB = re.compile(r"Thread (?P<number>\d+) \(Thread 0x[0-9a-f]+ \(LWP (?P<id>\d{1,20})\)(?: \"(?P<name>[^\"]*)\")?\):")
_FRAME = re.compile(r"\s{1,6}(?P<function>\S.*?) \((?P<file>[^()]*?)(?::(?P<line>\d{1,9}))?\)$")
_FAULT_FRAME = re.compile(r'\s+File "(?P<file>[^"]*)", line (?P<line>\d{1,9}|\?\?\?) in (?P<function>.+)$')
_GDB_FRAME = re.compile(
    r"#\d++\s++(?:0x[0-9a-f]++ in )?(?P<function>[^\s(]++)"
    r".*?(?: at (?P<file>\S+?)(?::(?P<line>\d{1,9}))?| from (?P<lib>\S+)|\))$"
)
_RANK = re.compile(r"\brank[ =:_-]{0,2}(\d{1,6})\b", re.IGNORECASE)
_NODE = re.compile(r"\b(?:node|host(?:name)?)[ =:]{1,2}([A-Za-z][\w.-]*|\d{1,3}(?:\.\d{1,3}){3})")


def plain(value: object) -> str:
    """A name of a dump for a sentence: printable and short."""
    return "".join(character if character.isprintable() else " " for character in str(value)[:MAX_NAME]).strip()


def looks_like_stacks(text: str) -> bool:
    """Whether a text holds threads of one of the known forms."""
    bare = "\n".join(_split(line)[1] for line in text.splitlines())
    return any(re.search(f"^{form.pattern}", bare, re.MULTILINE) for form in (_THREAD, _FAULT, _GDB))


def read_text(text: str, file: str) -> tuple[Process, ...]:
    """Processes of a dump in text; lines of several hosts or ranks may be interleaved when each has its label."""
    streams: dict[tuple[str, str], _Stream] = defaultdict(_Stream)
    for number, line in enumerate(text.split("\n"), start=1):
        label, rest = _split(line.rstrip("\r"))
        streams[label].feed(number, rest, line)
    return tuple(
        Process(
            file=file,
            pid=draft.pid,
            command=draft.command,
            rank=int(value) if kind == "rank" else draft.rank,
            node=value if kind == "host" else draft.node,
            threads=tuple(draft.threads),
        )
        for (kind, value), stream in sorted(streams.items())
        for draft in stream.end()
    )


def read_document(value: Any, file: str) -> tuple[Process, ...]:
    """Processes of ``py-spy dump --json``: a list of threads, each with the process that it belongs to."""
    drafts: dict[int | None, _Draft] = {}
    for item in value if isinstance(value, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("frames"), list):
            continue
        pid = item.get("pid") if isinstance(item.get("pid"), int) else None
        draft = drafts.setdefault(pid, _Draft(pid))
        about = item.get("process_info")
        if isinstance(about, dict):
            draft.command = plain(about.get("command_line", ""))
        frames = tuple(_frame_of(frame) for frame in item["frames"][:MAX_FRAMES] if isinstance(frame, dict))
        draft.threads.append(Thread(plain(item.get("thread_name") or ""), frames))
    return tuple(
        Process(file, draft.pid, draft.command, threads=tuple(draft.threads))
        for _, draft in sorted(drafts.items(), key=lambda entry: -1 if entry[0] is None else entry[0])
    )


def _frame_of(frame: Mapping[str, Any]) -> Frame:
    line = frame.get("line")
    name = frame.get("short_filename") or frame.get("filename") or ""
    return Frame(plain(frame.get("name", "?")), plain(name), line if isinstance(line, int) and line > 0 else 0)


def _split(line: str) -> tuple[tuple[str, str], str]:
    match = _LABEL.match(line)
    if match is None:
        return ("", ""), line
    kind = "host" if match["host"] else "rank" if match["rank"] else "task" if match["task"] else ""
    if kind == "host" and match["host"] in ("Process", "File", "Thread"):
        return ("", ""), line
    return (kind, match[match.lastgroup] if kind and match.lastgroup else ""), line[match.end() :]


class _Stream:
    """Lines of one speaker: processes by their headers, else a new one at every main thread."""

    def __init__(self) -> None:
        self._done: list[_Draft] = []
        self._draft = _Draft()
        self._heard = _Draft()  # what is said of the process that comes next
        self._name: str | None = None  # of the thread that is open
        self._frames: list[Frame] = []
        self._at = (0, "")

    def feed(self, number: int, line: str, raw: str) -> None:
        """Take in the next line."""
        if process := _PROCESS.match(line):
            self._close_process()
            self._draft.pid, self._draft.command = int(process["pid"]), plain(process["command"])
        elif thread := _THREAD.match(line) or _FAULT.match(line) or _GDB.match(line):
            self._open_thread(thread)
        elif self._name is not None and (frame := _frame(line)):
            self._at = self._at if self._frames else (number, raw[:MAX_TEXT])
            self._frames += [frame] if len(self._frames) < MAX_FRAMES else []
        elif line[:1].strip():
            fresh = self._draft.pid is not None and not self._draft.threads and self._name is None
            _hear(line, self._draft if fresh else self._heard)

    def end(self) -> list[_Draft]:
        """Close the last process; all processes of the file."""
        self._close_process()
        return self._done

    def _open_thread(self, thread: re.Match[str]) -> None:
        self._close_thread()
        main = _is_main(thread)
        if main and any(item.name == _MAIN for item in self._draft.threads):
            self._close_process()
        elif not self._draft.threads and self._draft.pid is None:
            self._draft, self._heard = self._heard, _Draft()
        self._name = _MAIN if main else plain(thread["name"] or "")
        if main and thread.re is _THREAD and self._draft.pid is None:
            self._draft.pid = int(thread["id"])  # of the main thread both are the same on Linux

    def _close_thread(self) -> None:
        if self._name is not None and self._frames:
            self._draft.threads.append(Thread(self._name, tuple(self._frames), *self._at))
        self._name, self._frames = None, []

    def _close_process(self) -> None:
        self._close_thread()
        if self._draft.threads:
            self._done.append(self._draft)
        self._draft, self._heard = self._heard, _Draft()


_MAIN = "MainThread"


def _is_main(thread: re.Match[str]) -> bool:
    named = thread.groupdict()
    return named["name"] == _MAIN or named.get("current") == "Current thread" or named.get("number") == "1"


def _frame(line: str) -> Frame | None:
    match = _FAULT_FRAME.match(line) or _GDB_FRAME.match(line) or _FRAME.match(line)
    if match is None:
        return None
    found = match.groupdict()
    number = found.get("line") or ""
    file = found.get("file") or found.get("lib") or "?"
    return Frame(plain(found["function"]), plain(file), int(number) if number.isdigit() else 0)


def _hear(line: str, draft: _Draft) -> None:
    """Take in what a line between the stacks says of its process."""
    rank, node = _RANK.search(line), _NODE.search(line)
    draft.rank = int(rank[1]) if rank else draft.rank
    draft.node = node[1] if node else draft.node
