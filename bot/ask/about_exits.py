"""Answers about exit codes: what one means, and who ended with it."""

import re
from signal import Signals

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.text import wording
from core.answer.job_lookup import MAX_LINES, found_rows
from core.answer.search import matching, seek
from core.model import EventEvidence
from core.naming import natural

_ASKED = re.compile(
    r"(?:\bexit(?:ed|s|ing)?|\bexit.?code|\bcode|\bstatus|\bended|\brc|退出码)[\s:=(]{0,3}(?:code|status|with|mit)?[\s:=(]{0,3}(-?[0-9]{1,3})\b",
    re.IGNORECASE,
)
_SIGNAL = re.compile(r"(?:\bsignal|\bsig|信号)[\s:=#]{0,3}([0-9]{1,2})\b", re.IGNORECASE)
TIMED_OUT = 124  # of timeout(1), GNU coreutils: "if the command times out [...] exit with status 124"
_MEANS = {
    0: "the program ended without an error",
    1: "the program ended by its own error, in Python mostly an exception that nobody caught",
    2: "the program was called wrongly, or ended itself with this number",
    TIMED_OUT: "the command `timeout` ended the program because its time was up",
    126: "the command was found and could not be run",
    127: "the command was not found",
}
_OF_SIGNAL = {
    "SIGKILL": "ended at once from outside: the kernel out of memory, a scheduler or launcher, or a person; "
    "the code does not tell which",
    "SIGTERM": "told to stop, mostly by its launcher or scheduler because something else had failed",
    "SIGSEGV": "it touched memory that is not its own, a segmentation fault",
    "SIGABRT": "it ended itself by abort, as after a failed check or by the NCCL watchdog",
    "SIGINT": "interrupted, as by Ctrl-C",
    "SIGBUS": "it touched memory that is not there, as of a full /dev/shm or a file that became shorter",
    "SIGHUP": "its terminal or session was closed",
}


def codes_of(subject: Subject) -> dict[str, int]:
    """Exit codes by job.json, of ranks where it has those, else of nodes."""
    manifest = subject.parsed.job.manifest
    codes = {f"rank {rank}": code for rank, code in manifest.rank_exit_codes.items()} or dict(manifest.exit_codes)
    return {name: code for name, code in sorted(codes.items(), key=lambda item: natural(item[0])) if code is not None}


def asked_code(question: Question) -> int | None:
    """The exit code that a question names."""
    match = _ASKED.search(question.text)
    signal = _SIGNAL.search(question.text)
    return int(match[1]) if match else -int(signal[1]) if signal else None


def means(code: int) -> str:
    """What an exit code stands for, a sentence."""
    name = signal_of(code)
    if not name:
        return f"Exit code {code}: {_MEANS.get(code, 'a number that the program itself chose')}."
    number = -code if code < 0 else code - 128
    sum_ = f"{code} = 128 + {number}" if code > 0 else str(code)
    return (
        f"Exit code {sum_}, {name} (signal {number}): {_OF_SIGNAL.get(name, 'the process was ended by this signal')}."
    )


def exit_code(subject: Subject, code: int) -> Lines:
    """What a code means, and who ended with it."""
    alike = {code, 128 - code} if signal_of(code) else {code}
    codes = codes_of(subject)
    had = [name for name, number in codes.items() if number in alike]
    every = ", ".join(f"{name} {described(number)}" for name, number in list(codes.items())[:8])
    if not codes and code < 0:
        return [cited(means(code))]
    who = f"It was the exit code of {', '.join(had[:8])}; all by job.json: {every}." if had else ""
    if not had:
        who = f"job.json names nobody with it: {every}." if codes else "job.json holds no exit codes."
    return [cited(means(code)), cited(who)]


def exit_codes(subject: Subject, question: Question) -> str:
    """The exit codes of job.json, of who is named or of all; empty where it has none."""
    codes = codes_of(subject)
    asked = [f"rank {rank}" for rank in question.ranks] + list(question.nodes)
    asked += [subject.home[rank] for rank in question.ranks if rank in subject.home]
    chosen = {name: code for name, code in codes.items() if name in asked} or codes
    listed = [f"{name} {described(code)}" for name, code in chosen.items()]
    return cited(f"Exit codes by job.json: {', '.join(listed[:8])}.") if listed else ""


def time_up(subject: Subject) -> str:
    """That a limit of time ended it, where exit codes say so; empty where they do not."""
    who = [name for name, code in codes_of(subject).items() if code == TIMED_OUT]
    if not who:
        return ""
    of = f"{wording.names(who, 4, 60)} ended with exit code {TIMED_OUT}, that of the command `timeout`"
    return cited(f"A limit of time ended it, which needs no person: {of}, which stops a program when its time is up.")


def process_of(subject: Subject, event: EventEvidence) -> str:
    """Which process an event is about, its rank and its node; empty where no line of it names one."""
    match = next((found for line in event.lines if (found := _PID.search(line.text))), None)
    if match is None:
        return ""
    pid = next(filter(None, match.groups()))
    rank = rank_of_process(subject, pid)
    who = "" if rank is None else f", which is rank {rank},"
    return f"{event.id} is about process {pid}{who} on {wording.names(event.nodes, 2) or 'an unknown node'}."


def rank_of_process(subject: Subject, pid: str) -> int | None:
    """The rank whose process has this number, by lines that tell both; None where none does."""
    number = re.compile(rb"\b(?:pid|process)\W{0,3}" + pid.encode() + rb"(?![0-9])", re.IGNORECASE)
    rows, _ = matching(subject.parsed, [number], words=(pid.encode(),))
    found = found_rows(subject.parsed, "", rows[:MAX_LINES])
    local: int | None = None
    for line, who in zip(found.lines, found.who, strict=True):
        if match := _RANK.search(line.text):
            return int(match[1])
        place = _LOCAL_RANK.search(line.text)
        ranks = subject.ranks_on(who.split(" ")[0]) if place else ()
        if place and local is None and int(place[1]) < len(ranks):
            local = ranks[int(place[1])]
    return local


def oom_report(subject: Subject) -> Lines:
    """What the kernel reports of memory when it killed: of the process, and the limit; empty where it reports none."""
    killed = seek(subject.parsed, [_KILLED_FOR_MEMORY], "a kill for memory")
    if not killed.lines:
        return []
    match = next((one for line in killed.lines if (one := _KILLED_FOR_MEMORY.search(line.text.encode()))), None)
    limits = seek(subject.parsed, [_MEMORY_LIMIT], "a limit of memory")
    limit = next((one for line in limits.lines if (one := _MEMORY_LIMIT.search(line.text.encode()))), None)
    whole = seek(subject.parsed, [_WHOLE_LIMIT], "a limit of memory in bytes")
    whole_limit = next((one for line in whole.lines if (one := _WHOLE_LIMIT.search(line.text.encode()))), None)
    pid, rss = (match[1].decode(), match[2].decode()) if match else ("", "")
    rank = rank_of_process(subject, pid)
    who = f"process {pid}{f', rank {rank},' if rank is not None else ''}"
    on = f" on {killed.who[0]}" if killed.who[0] else ""
    says = f"The kernel's report of the kill{on}: {who} had anon-rss {rss} kB"
    if limit is not None:
        says += f"; its cgroup used {limit[1].decode()} kB of a limit of {limit[2].decode()} kB"
    bytes_ = f" ({whole_limit[1].decode()} bytes)" if whole_limit is not None else ""
    return [cited(f"{says}{bytes_}."), *quoted(killed, 1, _KILLED_FOR_MEMORY)]


# As mm/oom_kill.c and mm/memcontrol.c of Linux print them
_KILLED_FOR_MEMORY = re.compile(rb"Killed process ([0-9]{1,10}) [^\n]{0,160}?anon-rss:([0-9]{1,15})kB")
_MEMORY_LIMIT = re.compile(rb"\bmemory: usage ([0-9]{1,15})kB, limit ([0-9]{1,15})kB")
_WHOLE_LIMIT = re.compile(rb"\bhierarchical_memory_limit ([0-9]{1,20})")
_PID = re.compile(r"\(pid:? {0,2}([0-9]{1,10})\)|Killed process ([0-9]{1,10})|\bpid[ =:]{1,2}([0-9]{1,10})\b")
_RANK = re.compile(r"(?<!local[_ ])\brank\W{0,4}([0-9]{1,6})\b", re.IGNORECASE)
_LOCAL_RANK = re.compile(r"local_rank\W{1,4}([0-9]{1,4})", re.IGNORECASE)


def by_exit_code(subject: Subject) -> list[str]:
    """Who ended by a signal, as job.json has it."""
    ended_by = [f"{name} by {signal_of(code)} ({code})" for name, code in codes_of(subject).items() if signal_of(code)]
    return [cited(f"By the exit codes of job.json a signal ended {', '.join(ended_by[:6])}.")] if ended_by else []


def described(code: int) -> str:
    """A code with its signal: "137 (SIGKILL)"."""
    name = signal_of(code)
    return f"{code} ({name})" if name else str(code)


def signal_of(code: int) -> str:
    """The signal that an exit code stands for: negative, or 128 and more; empty where it stands for none."""
    number = -code if code < 0 else code - 128
    try:
        return Signals(number).name if number > 0 else ""
    except ValueError:
        return ""
