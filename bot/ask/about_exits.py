"""Answers about exit codes: what one means, and who ended with it."""

import re
from collections.abc import Sequence

import numpy as np

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import Wanted, asks, wanted
from bot.outcome.exit_codes import codes_of, described, signal_of
from bot.text import wording
from core.answer.job_lookup import MAX_LINES, found_rows
from core.answer.search import matching, seek
from core.events.row_text import read_rows
from core.logs.context import lines_around
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
    codes = codes_of(subject.parsed.job.manifest)
    had = [name for name, number in codes.items() if number in alike]
    every = ", ".join(f"{name} {described(number)}" for name, number in list(codes.items())[:8])
    if not codes and code < 0:
        return [cited(means(code))]
    who = f"It was the exit code of {', '.join(had[:8])}; all by job.json: {every}." if had else ""
    if not had:
        who = f"job.json names nobody with it: {every}." if codes else "job.json holds no exit codes."
    return [cited(means(code)), cited(who)]


def exit_codes(subject: Subject, question: Question) -> str:
    """The exit codes of job.json, else of the launchers' reports, of who is named or of all; empty without any."""
    codes, whose = codes_of(subject.parsed.job.manifest), "job.json"
    if not codes:
        codes, whose = reported_codes(subject), "the launchers' reports"
    asked = [f"rank {rank}" for rank in question.ranks] + list(question.nodes)
    asked += [subject.home[rank] for rank in question.ranks if rank in subject.home]
    chosen = {name: code for name, code in codes.items() if name in asked} or codes
    listed = [f"{name} {described(code)}" for name, code in chosen.items()]
    return cited(f"Exit codes by {whose}: {', '.join(listed[:8])}.") if listed else ""


def reported_codes(subject: Subject) -> dict[str, int]:
    """Exit codes as launchers report them in lines, by the rank, the node or the tasks that they name."""
    parsed, table = subject.parsed, subject.parsed.table
    rows, _ = matching(parsed, [_REPORTED], words=_REPORT_WORDS)
    texts = read_rows(parsed.files, table, np.array(rows[:MAX_REPORTS], np.intp))
    found: dict[str, int] = {}
    for row, text in sorted(texts.items()):
        match = _REPORTED.search(text.encode())
        if match is None:
            continue
        node = subject.origin(row).node or ""
        torchrun, pid, host, tasks, code, returned = (group.decode() if group else "" for group in match.groups())
        if torchrun:  # its report has the rank of each failure in a line of its own
            rank = _rank_above(subject, row, pid)
            rank = rank_of_process(subject, pid) if rank is None else rank
            whose = f"rank {rank}" if rank is not None else f"process {pid}"
            found.setdefault(f"{whose} on {node}" if node and rank is None else whose, int(torchrun))
        elif tasks:
            found.setdefault(f"{host} (tasks {tasks})", int(code))
        elif node:
            found.setdefault(node, int(returned))
    return dict(sorted(found.items(), key=lambda item: natural(item[0])))


def of_signal(subject: Subject, question: Question) -> Lines | None:
    """Which ranks or nodes a signal ended, or with what those ended who are named; None where neither is asked."""
    names = {name for pattern, name in _SIGNALS if pattern.search(question.text)}
    units = [f"rank {rank}" for rank in question.ranks] or list(question.nodes)
    if not names or not (Wanted.WHO in wanted(question) or units) or asks(question, "by_whom"):
        return None
    codes = {**codes_of(subject.parsed.job.manifest), **reported_codes(subject)}
    if units and Wanted.WHO not in wanted(question):
        mine = [(unit, codes[unit]) for unit in units if unit in codes]
        told = [f"{unit} ended with exit code {described(code)}" for unit, code in mine]
        yes = "Yes" if any(signal_of(code) in names for _, code in mine) else "No"
        first = [cited(f"{yes}: {'; '.join(told)}."), *(cited(means(code)) for _, code in mine[:1])]
        return [*first, *_report_lines(subject, mine)] if mine else None
    inside = {f"rank {rank}" for node in question.nodes for rank in subject.ranks_on(node)} or codes
    mine = [(unit, code) for unit, code in codes.items() if signal_of(code) in names and unit in inside]
    mine.sort(key=lambda item: not item[0].startswith("rank "))
    homes = {f"rank {rank}": f" on {node}" for rank, node in subject.home.items()}
    told = [f"{unit}{homes.get(unit, '')} (exit code {described(code)})" for unit, code in mine]
    if not mine or (asks(question, "which_rank") and not mine[0][0].startswith("rank ")):
        return None
    return [cited(f"{wording.sentence('; '.join(told[:6]))}."), *_report_lines(subject, mine)]


def _report_lines(subject: Subject, told: Sequence[tuple[str, int]]) -> Lines:
    """The lines of the launchers' reports about some who ended."""
    ranks = "|".join(unit[5:] for unit, _ in told if unit.startswith("rank "))
    report = re.compile(rb"\brank {1,12}: (?:%s) \(local_rank" % ranks.encode())
    return quoted(seek(subject.parsed, [report], "a report"), 1) if ranks else []


_SIGNALS = (
    (re.compile(r"\bsig ?kill|\bkill(?:ed)? -9|\bsignal 9\b|\bshot\b|\bkilled\b", re.IGNORECASE), "SIGKILL"),
    (re.compile(r"\bsig ?term|\bsignal 15\b", re.IGNORECASE), "SIGTERM"),
    (re.compile(r"\bsig ?segv|\bseg(?:mentation )?fault", re.IGNORECASE), "SIGSEGV"),
    (re.compile(r"\bsig ?abrt|\babort(?:ed)?\b", re.IGNORECASE), "SIGABRT"),
)


def time_up(subject: Subject) -> str:
    """That a limit of time ended it, where exit codes say so; empty where they do not."""
    who = [name for name, code in codes_of(subject.parsed.job.manifest).items() if code == TIMED_OUT]
    if not who:
        return ""
    of = f"{wording.names(who, 4, 60)} ended with exit code {TIMED_OUT}, that of the command `timeout`"
    return cited(f"A limit of time ended it, which needs no person: {of}, which stops a program when its time is up.")


def _rank_above(subject: Subject, row: int, pid: str) -> int | None:
    """The rank that torchrun's report names in the line above the exit code of a process; None where none does."""
    table = subject.parsed.table
    place = table.files[int(table.file[row])], int(table.line[row])
    lines = [line.text for line in lines_around(subject.parsed.job, [place], REPORT)[place].lines]
    at = next((at for at, text in enumerate(lines) if f"(pid: {pid})" in text and "exitcode " in text), 0)
    match = _REPORT_RANK.search(lines[at - 1]) if at else None
    return int(match[1]) if match else None


REPORT = 40  # lines of torchrun's report, which may be one message, behind the one that is known to hold a code
_REPORT_RANK = re.compile(r"\brank {1,12}: ([0-9]{1,6}) \(local_rank")


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


# torch/distributed/elastic/multiprocessing/errors, srun's "task 3: Exited with exit code 1", DeepSpeed's
# launcher/launch.py
_REPORTED = re.compile(
    rb"\bexitcode\s{0,4}: {0,2}(-?[0-9]{1,3}) \(pid: ([0-9]{1,10})\)"
    rb"|\berror: ([\w.-]{1,80}): tasks? ([0-9,-]{1,60}): Exited with exit code ([0-9]{1,3})"
    rb"|\bexits with return code = (-?[0-9]{1,3})"
)
_REPORT_WORDS = (b"exitcode", b"exited with exit code", b"exits with return code")
MAX_REPORTS = 400  # lines of launchers' reports that are read
_PID = re.compile(r"\(pid:? {0,2}([0-9]{1,10})\)|Killed process ([0-9]{1,10})|\bpid[ =:]{1,2}([0-9]{1,10})\b")
_RANK = re.compile(r"(?<!local[_ ])\brank\W{0,4}([0-9]{1,6})\b", re.IGNORECASE)
_LOCAL_RANK = re.compile(r"local_rank\W{1,4}([0-9]{1,4})", re.IGNORECASE)


def by_exit_code(subject: Subject) -> list[str]:
    """Who ended by a signal, as job.json has it."""
    ended_by = [
        f"{name} by {signal_of(code)} ({code})"
        for name, code in codes_of(subject.parsed.job.manifest).items()
        if signal_of(code)
    ]
    return [cited(f"By the exit codes of job.json a signal ended {', '.join(ended_by[:6])}.")] if ended_by else []
