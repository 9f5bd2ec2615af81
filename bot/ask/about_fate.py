"""Answers about what became of a node or a rank: how it ended, when, how far it had come, what others say of it."""

import re

import numpy as np

from bot.ask.about_exits import reported_codes
from bot.ask.about_nodes import named_units, no_such
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, quoted
from bot.ask.standstill import missing, told_missing
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.outcome.exit_codes import codes_of, described, signal_of
from bot.text import wording
from bot.text.wording import SECOND
from core.answer import job_lookup
from core.answer.search import matching
from core.live.findings import duration
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.model import EventEvidence, NodeEvidence, Role

AFTER = (
    2  # seconds that a node must write on after the first sign for its machine to count as up: clocks differ by less
)
_ALIVE = re.compile(
    r"\b(?:down|dead|alive|gone|power|crash|vanish|disconnect|reboot|machine|host|box|off)", re.IGNORECASE
)


def fate(subject: Subject, question: Question) -> Lines:
    """How the named node or rank ended; the first suspect where none is named."""
    units = _units(subject, question)
    if question.unknown and not units:
        return no_such(subject, question.unknown[0])
    if not units:
        units = [node.node for node in subject.diagnosis.nodes[:1]]
    if not units:
        return [cited(wording.sentence(subject.diagnosis.headline))]
    first = units[0]
    node = _node_of(subject, first)
    ended = cited(ending(subject, first), *_ids(subject, node))
    whole = [cited(says)] if (says := machine(subject, node)) and _ALIVE.search(question.plain) else []
    found = job_lookup.last_words(subject.parsed, subject.parsed.table.rows_of_voices(_voices(subject, first)), first)
    sentences = [*whole, ended, _place(subject, first, node)]
    if len(units) > 1:
        sentences.append(cited(ending(subject, units[1])))
    if not whole and (says := machine(subject, node)):
        sentences.append(cited(says))
    return [*sentences, *quoted(found, 2)]


def doing(subject: Subject, question: Question) -> Lines | None:
    """What who is named did last, and what all others wrote then and it did not; None where that is not asked."""
    units = _units(subject, question)
    if not units or not asks(question, "doing") or question.says("stack", "trace", "scheduler", "kernel"):
        return None
    unit = units[0]
    voices = _voices(subject, unit)
    lacks = missing(subject)
    mine = {int(unit[5:])} if unit.startswith("rank ") else set(subject.ranks_on(unit))
    told = told_missing(subject) if lacks is not None and mine & set(lacks.ranks) else []
    if not voices and not told:
        return None
    found = job_lookup.last_words(subject.parsed, subject.parsed.table.rows_of_voices(voices), unit)
    return [*told[:2], cited(ending(subject, unit)), *quoted(found, 2)]


def ending(subject: Subject, unit: str) -> str:
    """When a node or a rank wrote its last line, how far it was, and with what it ended."""
    node = _node_of(subject, unit)
    codes = codes_of(subject.parsed.job.manifest)
    name = f"{wording.sentence(unit)} on {node}" if unit.startswith("rank ") and node != unit else unit
    last, reached = _last_time(subject, unit), _reached(subject, unit)
    ends = subject.parsed.table.spoke.last
    every = int(ends.max()) if len(ends) else NO_TIME
    says = f"{name} wrote its last line at {clock(last)}" if last != NO_TIME else f"{name} has no line with a clock"
    says += f", after iteration {reached:,}" if reached is not None else ""
    if last != NO_TIME and every - last >= SECOND:
        says += f", {duration((every - last) / SECOND)} before the last line of all"
    own = codes.get(unit, codes.get(node))
    own = reported_codes(subject).get(unit, own) if unit.startswith("rank ") or own is None else own
    if own is None:
        killed = _killed(subject, unit, node)
        return f"{says}. {killed or 'No exit code of it is known.'}"
    whose = "" if unit in codes or unit == node else f" of {node}"
    how = "without an error" if own == 0 else "with an error"
    how = "it was ended by a signal" if signal_of(own) else f"it ended by itself {how}"
    sentence = f"Exit code{whose} {described(own)}." if whose else f"Exit code {described(own)}: {how}."
    return joined(f"{says}.", sentence, _killed(subject, unit, node))


def machine(subject: Subject, node: str) -> str:
    """Whether the machine was up when the fault was there, as far as its own lines and exit codes tell; or nothing."""
    table, first = subject.parsed.table, wording.first_sign(subject.diagnosis)
    if node not in table.nodes or node not in {suspect.node for suspect in subject.diagnosis.nodes}:
        return ""
    code, last = codes_of(subject.parsed.job.manifest).get(node), _last_time(subject, node)
    down = _called_down(subject, node)
    since = down if down != NO_TIME else first
    own = [str(table.origins[at].program) for at in np.flatnonzero(table.node_of_voice == table.nodes.index(node))]
    if since is not None and last != NO_TIME and last - since >= AFTER * SECOND:
        after = "others called it down" if down != NO_TIME else "the first sign"
        says = f"The machine itself was up: {node} wrote on for {duration((last - since) / SECOND)} after {after}"
        return f"{says}; what was lost is a process or its connection."
    if code is not None and down == NO_TIME:
        says = f"An exit code of {node} came, {described(code)}, and nobody called it down"
        return f"{says}: its processes ended, the machine was there to say so."
    silent = str(Program.DAEMON) in own
    none = "no exit code of it came" if code is None else f"its exit code {described(code)} may be set by others"
    likely = (
        "as its daemon is silent too, the whole machine or its network is the likelier"
        if silent
        else "only its console, power log or up-time would tell"
    )
    says = f"Dead machine, dead process or lost connection: the logs do not tell for certain. {node} fell silent"
    return f"{says}, and {none}; {likely}."


def _called_down(subject: Subject, node: str) -> int:
    """When another speaker first called the node down or not responding; NO_TIME where none did."""
    parsed = subject.parsed
    named = re.compile(rb"(?<![\w.-])" + re.escape(node.encode()) + rb"(?![\w-])")
    rows, _ = matching(parsed, [named, _DOWN])
    times = [int(parsed.table.time[row]) for row in rows if subject.origin(row).node != node]
    return min((time for time in times if time != NO_TIME), default=NO_TIME)


_DOWN = re.compile(rb"\bdown\b|not respond|no heartbeat|unreachable|NotReady|\blost\b", re.IGNORECASE)


def _killed(subject: Subject, unit: str, node: str) -> str:
    """What an event of the evidence says of its end."""
    events = [event for event in subject.diagnosis.events if event.is_trace and _is_of(event, unit, node)]
    return wording.sentence(f"{events[0].says}.") if events and events[0].says else ""


def _is_of(event: EventEvidence, unit: str, node: str) -> bool:
    return node in event.nodes and (not unit.startswith("rank ") or not event.ranks or int(unit[5:]) in event.ranks)


def _place(subject: Subject, unit: str, node: str) -> str:
    """What the diagnosis makes of it."""
    place = next((suspect for suspect in subject.diagnosis.nodes if suspect.node in (unit, node)), None)
    if place is None:
        events = [event for event in subject.diagnosis.events if node in event.nodes and event.role is not Role.BENIGN]
        text = f" It logged {events[0].id}: {wording.role_of(events[0])}." if events else ""
        first = subject.diagnosis.nodes[:1]
        lead = f"; the first suspect is {first[0].node}" if first else ""
        return cited(f"{node} is not suspected{lead}.{text}", *(event.id for event in events[:1]))
    return cited(_why(place, first=place is subject.diagnosis.nodes[0]), place.id, *place.events[:2])


def _why(place: NodeEvidence, *, first: bool) -> str:
    reasons = joined(*map(wording.sentence, (place.reasons or (place.because,))[:2]))
    return f"{place.node} is {'the first suspect' if first else 'suspected too'}: {reasons}"


def _units(subject: Subject, question: Question) -> list[str]:
    if question.ranks:
        return [f"rank {rank}" for rank in question.ranks]
    return named_units(subject, question)


def _node_of(subject: Subject, unit: str) -> str:
    return subject.home.get(int(unit[5:]), unit) if unit.startswith("rank ") and unit[5:].isdecimal() else unit


def _ids(subject: Subject, node: str) -> list[str]:
    return [suspect.id for suspect in subject.diagnosis.nodes if suspect.node == node]


def _voices(subject: Subject, unit: str) -> list[int]:
    table = subject.parsed.table
    if unit.startswith("rank ") and unit not in table.nodes:
        return np.flatnonzero(table.rank_of_voice == int(unit[5:])).tolist()
    return np.flatnonzero(table.node_of_voice == table.nodes.index(unit)).tolist() if unit in table.nodes else []


def _last_time(subject: Subject, unit: str) -> int:
    spoke, voices = subject.parsed.table.spoke, _voices(subject, unit)
    return max((int(spoke.last[voice]) for voice in voices), default=NO_TIME)


def _reached(subject: Subject, unit: str) -> int | None:
    of_rank = subject.parsed.iterations.of_rank
    ranks = [int(unit[5:])] if unit.startswith("rank ") else subject.ranks_on(unit)
    return max((of_rank[rank] for rank in ranks if rank in of_rank), default=None)
