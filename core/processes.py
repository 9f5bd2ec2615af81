"""Which process a launcher's or scheduler's line is about, and how it ended (rules/processes.toml)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, islice

from core.phrases import patterns_in, word_of

SHELL_SIGNAL = 128  # a shell or a container runtime adds this to the signal that ended a process: 137 is SIGKILL
MAX_REPORTS = 8192  # lines that are read: one a rank of the largest jobs, and its agent's
# Tasks that reports may name together, four times as many as the ranks of Llama 3's training: "0-8191" takes six bytes.
MAX_NAMED = 1 << 16
MAX_DIGITS = 18  # a longer number is no process, rank or exit code
# Linux: names, the texts of strsignal(3), and what srun says when the kernel killed for lack of memory.
_SIGNALS = {
    "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9,
    "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15,
    "Hangup": 1, "Interrupt": 2, "Illegal instruction": 4, "Aborted": 6, "Bus error": 7, "Killed": 9,
    "Floating point exception": 8, "Out Of Memory": 9, "Segmentation fault": 11, "Terminated": 15,
}  # fmt: skip


# The rank of a process in its own command, as launchers hand it down: torch.distributed's environment, Open MPI, MPICH,
# Slurm, and the options of scripts that are started rank by rank.
_COMMAND_RANK = re.compile(
    r"(?<![\w-])(?:RANK|OMPI_COMM_WORLD_RANK|PMIX?_RANK|SLURM_PROCID|--(?:global[_-])?rank)(?:=|', '| )(\d{1,9})\b"
)


@dataclass(frozen=True, slots=True)
class NamedProcess:
    """The process that a line is about, as far as the line tells.

    task: of ``srun``, also a list of several ("0-3,7"). code: its exit code, of one that ended by itself; signal: the
    number of what killed it. Both None: the line does not say that it ended. is_other: another one had failed.
    """

    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    task: str | None = None
    pid: int | None = None
    code: int | None = None
    signal: int | None = None
    is_other: bool = False

    @property
    def ended(self) -> bool:
        """Whether the line says how it ended."""
        return self.code is not None or self.signal is not None


@lru_cache(maxsize=1 << 14)  # the lines of launchers are few, but are asked for often
def process_of(text: str) -> NamedProcess | None:
    """The process that a raw line names or whose end it reports; None when it is about none."""
    lower = text.lower()
    for word, pattern in _patterns():
        if word in lower and (found := pattern.search(text)):
            return _with_rank(_process(found.groupdict()), text)
    return None


def _with_rank(process: NamedProcess, text: str) -> NamedProcess:
    """The process, whose rank its own command may tell where the report does not."""
    names = (process.rank, process.local_rank, process.task)
    named = _COMMAND_RANK.search(text) if process.ended and names == (None, None, None) else None
    return replace(process, rank=int(named[1])) if named is not None else process


def listed(tasks: str) -> Iterator[int]:
    """Numbers of ``3,5-7``; of far too many the first ones."""
    ranges = (numbers for numbers in _ranges(tasks) if len(numbers) <= MAX_REPORTS)
    return islice(chain.from_iterable(ranges), MAX_REPORTS)


def are_all_listed(tasks: str) -> bool:
    """Whether ``listed`` gives all numbers of such a list."""
    return sum(map(len, _ranges(tasks))) <= MAX_REPORTS


def _ranges(tasks: str) -> Iterator[range]:
    for part in tasks.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            yield range(int(first[:MAX_DIGITS]), int((last or first)[:MAX_DIGITS]) + 1)


def within_bounds(reports: Iterable[tuple[int, NamedProcess]]) -> Iterator[tuple[int, NamedProcess]]:
    """Reports by their row, until together they name more tasks than any job has."""
    named = 0
    for row, process in reports:
        named += sum(1 for _ in listed(process.task)) if process.task else 0
        if named > MAX_NAMED:
            return
        yield row, process


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    patterns = patterns_in("processes.toml", "process")
    return tuple((word_of(pattern), re.compile(pattern, re.ASCII)) for pattern in patterns)


def _process(fields: dict[str, str | None]) -> NamedProcess:
    code, killed = _number(fields.get("code")), _signal(fields.get("signal"))
    if killed is None:
        killed = _signal_of_code(code)
    return NamedProcess(
        node=fields.get("node"),
        rank=_number(fields.get("rank")),
        local_rank=_number(fields.get("local_rank")),
        task=fields.get("task"),
        pid=_number(fields.get("pid") or fields.get("other")),
        code=code if killed is None else None,
        signal=killed,
        is_other=fields.get("other") is not None,
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and len(text) <= MAX_DIGITS else None


def _signal(text: str | None) -> int | None:
    """The number of a signal that is told by number, name or text."""
    return _number(text) if text is None or text.isdigit() else _SIGNALS.get(text)


def _signal_of_code(code: int | None) -> int | None:
    """The signal that an exit code stands for: -9 as Python has it, 137 as shells have it."""
    if code is None or 0 <= code <= SHELL_SIGNAL:
        return None
    return -code if code < 0 else code - SHELL_SIGNAL
