"""Answers about memory at the moment it ran out, from the reports of CUDA's allocator and of Linux."""

import re

from bot.ask.about_exits import rank_of_process
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import asks
from bot.text import wording
from core.answer.search import seek

# c10/cuda/CUDACachingAllocator.cpp (2.1 and later); of older ones the parts that they have
_CUDA = re.compile(
    rb"CUDA out of memory\. Tried to allocate ([0-9.]{1,12} [KMGT]?i?B)[^\n]{0,60}?"
    rb"(?:total capacity of ([0-9.]{1,12} [KMGT]?i?B) of which ([0-9.]{1,12} [KMGT]?i?B) is free)"
    rb"(?:[^\n]{0,200}?this process has ([0-9.]{1,12} [KMGT]?i?B) memory in use)?"
    rb"(?:[^\n]{0,80}?allocated memory ([0-9.]{1,12} [KMGT]?i?B) is allocated by PyTorch)?"
)


def memory(subject: Subject, question: Question) -> Lines | None:
    """How much memory was used, free and asked for when it ran out, and by whom; None where nobody tells or asks."""
    if not asks(question, "how_much") or asks(question, "compares_jobs") or question.iterations:
        return None
    if not (terms_of(f"{question.text} {question.plain}") & {"=memory"} or _OF_CARD.search(question.plain)):
        return None
    if _OF_MACHINE.search(question.plain):  # which no report of a kill tells
        return None
    return [*_cuda_report(subject, question), *oom_report(subject)] or None


_OF_CARD = re.compile(r"\b(?:free|left|used|allocated|in use)\b.{0,20}\b(?:cards?|gpus?|devices?)\b")
_OF_MACHINE = re.compile(r"\b(?:in total|installed|physical)\b")


def _cuda_report(subject: Subject, question: Question) -> Lines:
    """What CUDA's allocator reports, of who is named where that one does."""
    rank, node = next(iter(question.ranks), None), next(iter(question.nodes), None)
    found = seek(
        subject.parsed, [_CUDA], "a report of CUDA's allocator", node=None if rank is not None else node, rank=rank
    )
    match = _CUDA.search(found.lines[0].text.encode()) if found.lines else None
    if match is None:
        return []
    asked, whole, free, used, allocated = (group.decode() if group else "" for group in match.groups())
    says = f"{used} were in use by the process" if used else f"{free} were free"
    says += f", {free} of the GPU's {whole} were free" if used else f" of the GPU's {whole}"
    says += f", and {asked} more were asked for"
    says += f" ({allocated} were allocated by PyTorch)" if allocated else ""
    who = f"{wording.sentence(found.who[0]).rstrip('.')}: " if found.who[0] else ""
    return [cited(f"{who}{says}."), *quoted(found, 1, re.compile(rb"Tried to allocate|memory in use"))]


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
