"""Answers from the raw lines: last words, lines around an event or with some words, stacks, nodes side by side."""

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bot.ask.about_code import told_places
from bot.ask.about_fate import ending
from bot.ask.about_nodes import named_units, no_such
from bot.ask.level_change import first_change
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, any_of, cited, lower, quoted, raw
from bot.ask.standstill import told_missing, told_silence
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import searched, told_claims
from bot.ask.wanted_value import asks
from bot.text import wording
from core.answer import job_lookup
from core.answer.job_lookup import LookResult, by_time
from core.answer.search import matching, search, seek
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.logs.context import lines_around
from core.logs.origins import Program
from core.model import Evidence, Scope

MAX_PLACES = 4  # of a hang most processes stand in two or three
_PROGRAMS = {
    Program.SCHEDULER: ("scheduler", "slurm", "slurmctld", "srun", "kubernetes", "k8s", "controller"),
    Program.LAUNCHER: ("launcher", "torchrun", "deepspeed", "mpirun", "elastic", "agent", "accelerate"),
    Program.DAEMON: ("daemon", "slurmd", "kubelet"),
}
_KERNEL = ("kernel", "dmesg")
_OF_KERNEL = re.compile(rb"\bkernel ?[:\[]|\[ {0,5}[0-9]{1,7}\.[0-9]{6}\] ")
MAX_ROWS = 20_000  # lines of a program that are read for names
_WHO = re.compile(r"\[rank[^\]]{0,200}\]")


def last(subject: Subject, question: Question) -> Lines | None:
    """The last words of nodes and ranks, of the scheduler or the launcher; of all where nobody is named."""
    parsed, sentences = subject.parsed, list[str]()
    if question.unknown and not question.ranks:
        return no_such(subject, question.unknown[0])
    if of_program := _of_program(subject, question):
        return of_program
    for rank in question.ranks[:2]:
        home = subject.home.get(rank)
        if rank not in parsed.table.ranks and home in parsed.table.nodes:
            rows = job_lookup.rows_of_node(parsed.table, home)
            own = wording.ranks(subject.ranks_on(home))
            named = seek(parsed, [re.compile(rb"\brank\W{0,14}%d(?![0-9])" % rank)], f"rank {rank}", latest=True)
            none = f"No log is rank {rank}'s own; it runs on {home} ({own})"
            sentences.append(cited(f"{none}. {ending(subject, f'rank {rank}')}"))
            sentences += quoted(named, 2)
            if named.lines:
                continue
            sentences += _tail(subject, job_lookup.of_node(parsed, home), rows, home)[1:]
            continue
        sentences += _tail(
            subject, job_lookup.of_rank(parsed, rank), job_lookup.rows_of_rank(parsed.table, rank), f"rank {rank}"
        )
    for node in question.nodes[:2] if not question.ranks else ():
        found = job_lookup.of_node(parsed, node)
        rows = job_lookup.rows_of_node(parsed.table, node) if node in parsed.table.nodes else np.zeros(0, np.intp)
        sentences += _tail(subject, found, rows, node)
        if len(question.nodes) == 1 and question.asked is not question:  # "it keeps warning"
            sentences[1:1] = _not_at_fault(subject, node)
    if sentences:
        return sentences[:3] + sentences[-2:] if len(sentences) > 5 else sentences
    if not question.text.strip("?! ").isalpha():
        ends = job_lookup.ends(parsed)
        return [cited(ends.says), *quoted(LookResult("", ends.lines[::-1], ends.who[::-1], ends.clock[::-1]), 3)]
    return None


def _not_at_fault(subject: Subject, node: str) -> list[str]:
    """That a node is not suspected and who is, for who wonders at its last words; empty where it is."""
    diagnosis = subject.diagnosis
    if diagnosis.scope is not Scope.NODE or node in {suspect.node for suspect in diagnosis.nodes}:
        return []
    return [cited(f"It is not at fault by what is logged: {lower(diagnosis.headline)}.", *subject.lead_ids)]


def stopped_where(subject: Subject, _question: Question) -> Lines:
    """The last words of the program before it stood still, else who wrote last; and who lacks what all others wrote."""
    still, ends = told_silence(subject), job_lookup.ends(subject.parsed)
    latest = LookResult("", ends.lines[::-1], ends.who[::-1], ends.clock[::-1])
    return [*(still[:2] or [cited(ends.says), *quoted(latest, 2)]), *told_missing(subject)[:2]]


def _of_program(subject: Subject, question: Question) -> Lines:
    """The last words of the kernel, the scheduler, a launcher or a daemon, of those about or on who is named."""
    parsed, named = subject.parsed, named_units(subject, question)
    if question.says(*_KERNEL):
        name, mine = "kernel", np.array(matching(parsed, [_OF_KERNEL])[0], np.intp)
        if not len(mine):
            return [cited(_not_found(subject, job_lookup.LookResult("No line is a kernel's.")))]
    else:
        typed = set(question.text.casefold().replace("?", " ").split())  # "k8s" is a name with a digit in plain words
        programs = [
            program for program, words in _PROGRAMS.items() if question.says(*words) or not typed.isdisjoint(words)
        ]
        if not programs:
            return []
        name = str(programs[0])
        mine = job_lookup.rows_of_program(parsed.table, programs)
        if not len(mine):
            every = (word for words in _PROGRAMS.values() for word in words)
            word = next(word for word in every if question.says(word) or word in typed)
            found = search(parsed, (word,))
            return [] if named else [cited(f"No file is the {word}'s own. {found.says}"), *quoted(found, 3)]
    about = _about(subject, mine, named)
    if named and not len(about):
        says = f"No line of the {name} names {wording.names(named, 2, 60)}; its last ones:"
        return [cited(says), *quoted(job_lookup.last_words(parsed, mine, name), 3)]
    chosen = about if named else _of_each_kind(parsed.table, mine)
    of = f" about {wording.names(named, 2, 60)}" if named else ""
    shown = job_lookup.last_words(parsed, chosen, name)
    return [cited(f"The last {wording.counted(min(4, len(shown.lines)), 'line')} of the {name}{of}:"), *quoted(shown)]


def _of_each_kind(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The last row of each kind of message: what a program did, not one thing that it did again and again."""
    last_ = {int(table.event[row]): row for row in by_time(table, rows).tolist()}
    return np.array(sorted(last_.values()), np.intp)


def _about(subject: Subject, rows: NDArray[np.intp], named: list[str]) -> NDArray[np.intp]:
    """Those of a program's rows that stand in a named node's own log or name it."""
    table = subject.parsed.table
    texts = read_rows(subject.parsed.files, table, rows[-MAX_ROWS:]) if named else {}
    own = {row for row in rows.tolist() if subject.origin(row).node in named}
    return np.array(sorted(own | {row for row, text in texts.items() if any(name in text for name in named)}), np.intp)


def around(subject: Subject, question: Question) -> Lines | None:
    """Lines around an event as they stand in its file; the lines of a traceback where one is asked for."""
    chosen = [subject.evidence[name] for name in question.ids if name in subject.evidence]
    evidence: Evidence | None = chosen[0] if chosen else subject.leading
    if asks(question, "both_sides") and not question.ids and (changed := first_change(subject, question)):
        return changed
    if evidence is None or not evidence.lines:
        return None
    if question.says("traceback", "full", "stack", "actual", "exact", "error", "raw") and not question.says("around"):
        return [
            cited(f"The lines of {evidence.id}: {subject.sentence_of(evidence)}", evidence.id),
            *_tellingly(evidence),
        ]
    first = evidence.lines[0]
    radius = 4 if question.says("before", "after") else 2
    excerpt = lines_around(subject.parsed.job, [(first.file, first.line)], radius)[first.file, first.line]
    if excerpt.missing:
        return [cited(f"{first.file} cannot be read there: {excerpt.missing}", evidence.id)]
    lines = list(excerpt.lines)
    if question.says("before", "after"):
        lines = [line for line in lines if (line.line < first.line) == question.says("before")][-4:]
    if not question.says("before", "after"):  # four fit: the line itself is one of them
        lines = [line for line in lines if first.line - 2 <= line.line <= first.line + 1]
    return [cited(f"{evidence.id} is line {first.line:,} of {first.file}; around it:", evidence.id), *raw(lines)]


# As the judge of collectives says who was where at the end
_IN_COLLECTIVES = re.compile(r"\branks? [0-9][0-9, -]{0,40} in \w")


def in_collectives(subject: Subject) -> list[str]:
    """Sentences of the diagnosis about which ranks were in which collective at the end."""
    return [why for why in subject.diagnosis.why if _IN_COLLECTIVES.search(why)]


def stacks(subject: Subject, question: Question) -> Lines:
    """In which collectives ranks waited at the end, by the diagnosis; else where dumped processes stand."""
    waits = in_collectives(subject)
    if not waits or subject.diagnosis.stacks:
        named = [] if subject.diagnosis.stacks or not asks(question, "in_what") else _timed_out_in(subject)
        return named or _stacks(subject, question)
    lead = subject.leading
    ids = [lead.id] if lead else []
    return [cited(wording.sentence(why), *ids) for why in waits[:2]] + [*(raw(lead.lines, 2) if lead else ())]


# Python's own tracebacks, and frames as py-spy prints them: "train_step (geo/loop.py:88)"
_STACK = re.compile(
    rb"Traceback \(most recent|File \"[^\"]{1,200}\", line"
    rb"|^ {2,12}[\w.<>]{1,80} \([\w./<>-]{1,200}:[0-9]{1,7}\)[ \r]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)


def _timed_out_in(subject: Subject) -> Lines:
    """Which collectives timed out, as PyTorch's watchdog names them; empty where no line does."""
    found = seek(subject.parsed, [_COLLECTIVE], "a collective that timed out")
    named = dict.fromkeys(match.groups() for line in found.lines for match in _IN_LINE.finditer(line.text))
    listed = ", ".join(f"{kind.strip('_')} number {int(number):,}" for number, kind in list(named)[:MAX_PLACES])
    lines = wording.counted(found.total, "line")
    return [cited(f"{listed}, by the watchdogs' words in {lines}."), *quoted(found, 2, _COLLECTIVE)] if named else []


_COLLECTIVE = re.compile(rb"\bWorkNCCL\(SeqNum=([0-9]{1,12}), OpType=([A-Z_]{3,40})")
_IN_LINE = re.compile(r"\bWorkNCCL\(SeqNum=([0-9]{1,12}), OpType=([A-Z_]{3,40})")


def _stacks(subject: Subject, question: Question) -> Lines:
    """Where dumped processes stand; of some ranks only where ranks or nodes are named."""
    tree = subject.diagnosis.stacks
    indents = [len(line) - len(line.lstrip()) for line in (*tree, "")]
    below = zip(tree, pairwise(indents), strict=True)
    ends = [" ".join(line.split()) for line, (own, following) in below if following <= own]
    ranks = [*question.ranks, *(rank for node in question.nodes for rank in subject.ranks_on(node))]
    mine = [end for end in ends if not ranks or any(_stands(end, rank) for rank in ranks)]
    if mine:
        more = f"; and {len(mine) - MAX_PLACES} more places" if len(mine) > MAX_PLACES else ""
        who = wording.ranks(ranks).capitalize() if ranks else "The dumped processes"
        sentences = [cited(f"{who} stood in {'; '.join(mine[:MAX_PLACES])}{more}.")]
        return sentences + told_claims(subject, "N1.why")
    if ends:
        return [cited(f"The dumps name no stack of {wording.ranks(ranks)}; they hold: {'; '.join(ends[:MAX_PLACES])}.")]
    found = seek(subject.parsed, [_STACK], "a stack")
    dumps = subject.diagnosis.coverage.dumps
    none = "The dumps hold no stack that is understood" if dumps else "No stacks were dumped: dumps/ is empty"
    if (
        ranks
        and not question.says("stack", "trace", "dump")
        and not _of_ranks(found, ranks)
        and (said := last(subject, question))
    ):
        return [*said[:2], cited(f"{none}."), *said[2:]]
    if found.lines:
        own = _of_ranks(found, ranks) if ranks else found
        whose = "Python tracebacks" if own else f"No line holds one of {wording.ranks(ranks)}; tracebacks of others"
        if places := told_places(subject, question):
            return [*places[:2], cited(f"{none}; this is by tracebacks of the logs.")]
        return [cited(f"{none}. {whose} are in the logs:"), *quoted(own or found, 3)]
    return [cited(f"{none}, and no line holds one. py-spy dump on a hanging process would make one.")]


def several(subject: Subject, question: Question) -> Lines | None:
    """The line that tells several things asked for in one breath ("who needs what on which"), else what leads."""
    lead = subject.leading
    return LineSearch(subject, question).shown(2, LIKELY) or (raw(lead.lines[-2:]) if lead is not None else None)


def find(subject: Subject, question: Question) -> Lines | None:
    """Lines that hold what is quoted, else most of what the question speaks of; None where it names nothing rare."""
    node = question.nodes[0] if question.nodes else None
    rank = question.ranks[0] if question.ranks else None
    if question.quoted:
        found = search(subject.parsed, question.quoted[:2], node=node, rank=rank)
        if not found.lines and (like := LineSearch(subject, question).shown(3, LIKELY)):
            return [cited("Not word for word, but these lines hold most of it:"), *like]
        says = found.says if found.lines else _not_found(subject, found)
        return [cited(says), *quoted(found, value=any_of(question.quoted))]
    return LineSearch(subject, question).shown(3, LIKELY) or None


def _tail(subject: Subject, found: LookResult, rows: NDArray[np.intp], name: str) -> list[str]:
    sentences = [cited(found.says)]
    if found.lines:
        sentences += quoted(job_lookup.last_words(subject.parsed, rows, name), 3)
    return sentences


def _not_found(subject: Subject, found: LookResult) -> str:
    return f"{found.says.rstrip('.')} ({searched(subject)} were searched)."


def _stands(end: str, rank: int) -> bool:
    """Whether a line of the tree of stacks names a rank, alone or within a run: "[ranks 0-2, 5]"."""
    for sentences in _WHO.findall(end):
        for low, high in re.findall(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", sentences):
            if int(low) <= rank <= int(high or low):
                return True
    return False


def _of_ranks(found: LookResult, ranks: list[int]) -> LookResult | None:
    """The lines that some ranks wrote; None where they wrote none of them."""
    kept = [at for at, who in enumerate(found.who) if any(f" {who}".endswith(f" rank {rank}") for rank in ranks)]
    lines, clock = tuple(found.lines[at] for at in kept), tuple(found.clock[at] for at in kept)
    return LookResult("", lines, tuple(found.who[at] for at in kept), clock) if kept else None


def _tellingly(evidence: Evidence) -> list[str]:
    """The first line and the last ones of a block: where it came from and what it says in the end."""
    lines = evidence.lines if len(evidence.lines) <= 4 else (*evidence.lines[:1], *evidence.lines[-3:])
    return raw(lines)
