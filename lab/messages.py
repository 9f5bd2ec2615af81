"""A job's logs as messages: who spoke, and lines that belong together (tracebacks, reports, crash dumps)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.layout import WORKER
from lab.settings import SUPERVISORD, Settings

TORCH = re.compile(r"^\[rank(\d+)\]: ?")  # torch itself, before each line of an exception
CHAIN = ("The above exception was the direct cause", "During handling of the above exception", "Original Traceback")
AFTER_ERROR = ("CUDA kernel errors", "For debugging consider", "Compile with", "\t", "Exception raised from", "frame #")
CAUGHT = "An error has been caught in function"
DUMP = (
    "Thread 0x",
    "Current thread",
    "  File ",
    "Extension modules",
    "  <",
    "Current thread's C stack",
    "  Binary file",
    "  ...",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A physical line: number from 1, the raw text, and what is left without prefixes."""

    number: int
    raw: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """What a voice said at once."""

    file: str
    node: str
    rank: int  # -1: a launcher or daemon
    lines: tuple[Line, ...]

    @property
    def is_error(self) -> bool:
        """Whether it is a block, or a line of JSON that holds one."""
        return len(self.lines) > 1 or "Traceback (most recent call last)" in self.lines[0].raw

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """First and last number of each unbroken run of lines; others may speak in between."""
        runs: list[list[int]] = []
        for line in self.lines:
            if runs and line.number == runs[-1][1] + 1:
                runs[-1][1] = line.number
            else:
                runs.append([line.number, line.number])
        return tuple((first, last) for first, last in runs)


def read_messages(home: Path, settings: Settings) -> tuple[Message, ...]:
    """All messages of a job folder, file after file."""
    messages: list[Message] = []
    for path in sorted(file for file in (home / "logs").rglob("*") if file.is_file()):
        voices: dict[tuple[str, int], list[Line]] = {}
        file = str(path.relative_to(home))
        for number, raw in enumerate(read_lines(path), 1):
            node, rank, text = _voice(file, raw, settings)
            voices.setdefault((node, rank), []).append(Line(number, raw, text))
        for (node, rank), lines in voices.items():
            messages += [Message(file, node, rank, block) for block in blocks(lines)]
    return tuple(messages)


def read_lines(path: Path) -> list[str]:
    """Physical lines: what a progress bar overwrites with carriage returns stays one line."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _voice(file: str, raw: str, settings: Settings) -> tuple[str, int, str]:
    """Who said a line, and the line without its prefixes."""
    node, named = settings.layout.speaker(file.removeprefix("logs/"), settings.nodes)
    text, labelled = settings.layout.unwrap(raw)
    rank = next((number for number in (labelled, named) if number is not None), -1)
    if worker := WORKER.search(file):
        rank = settings.ranks(node)[int(worker[1])]
    elif settings.layout.form.endswith(file.rpartition("/")[2]) and settings.launcher == SUPERVISORD:
        rank = settings.ranks(node)[0]
    elif settings.tee and (local := re.match(rf"\[{settings.tee}(\d+)\]:", text)):
        rank, text = settings.ranks(node)[int(local[1])], text[local.end() :]
    elif rank < 0 and (own := TORCH.match(text)):
        rank = int(own[1])
    node = node or (settings.node_of(rank) if rank >= 0 else "")
    return node, rank, _bare(text.rpartition("\r")[2])


def _bare(text: str) -> str:
    """What was said: the exception of a line of JSON, a traceback behind a progress bar, no prefix of torch."""
    if text.startswith("{"):
        return _exception(text)
    begin = text.find("Traceback (most recent call last)")
    return text[begin:] if begin >= 0 and "Original" not in text else TORCH.sub("", text, count=1)


def _exception(text: str) -> str:
    """Last line of the exception that an object tells, else the object."""
    try:
        record = json.loads(text)
    except ValueError:
        return text
    found = record.get("exception") if isinstance(record, dict) else None
    return found.rstrip("\n").rpartition("\n")[2] if isinstance(found, str) else text


def blocks(lines: list[Line]) -> Iterator[tuple[Line, ...]]:
    """Lines of one voice, grouped."""
    at = 0
    while at < len(lines):
        text = lines[at].text
        begin = at + (CAUGHT in text and at + 1 < len(lines))  # loguru's line above a traceback
        if lines[begin].text.startswith("Traceback (most recent call last)"):
            end = _traceback(lines, begin)
        elif text.startswith("usage: "):
            end = next((i + 1 for i in range(at, min(at + 60, len(lines))) if ": error: " in lines[i].text), at + 1)
        elif text.startswith(("Fatal Python error", "Current thread 0x", "Thread 0x")):
            end = at + 1
            while end < len(lines) and (not lines[end].text or lines[end].text.startswith(DUMP)):
                end += 1
        else:
            end = at + 1
            while end < len(lines) and lines[end].text.startswith(("Exception raised from", "frame #", "<omitting")):
                end += 1
        yield tuple(lines[at:end])
        at = end


def _traceback(lines: list[Line], at: int) -> int:
    """End of a traceback with everything that is chained to it, or with torchrun's report."""
    end = at + 1
    while end < len(lines):
        text = lines[end].text
        if text.startswith((" ", "\t")) or not text.strip():
            end += 1  # a frame, or a gap before more
        elif text.startswith(CHAIN) or text.startswith("Traceback (most recent"):
            end += 1
        else:
            end += 1
            if "ChildFailedError" in text:
                rules = [i for i in range(end, min(end + 90, len(lines))) if lines[i].text.startswith("=====")]
                return rules[1] + 1 if len(rules) > 1 else end
            while end < len(lines) and lines[end].text.startswith(AFTER_ERROR):
                end += 1
            following = next((i for i in range(end, min(end + 4, len(lines))) if lines[i].text.strip()), None)
            if following is None or not lines[following].text.startswith(CHAIN):
                return end
            end = following
    return end
