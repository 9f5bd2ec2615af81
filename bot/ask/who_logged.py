"""Who logged a kind of message: all or one, how many, and whether those did who are named.

What is meant is evidence of the trouble that the question names, else the kind of line that holds most of its words,
else what leads the diagnosis. Nodes and ranks are those of its lines.
"""

import re
from dataclasses import dataclass

from bot.ask.about_nodes import named_units
from bot.ask.about_topics import text_of, topic_of
from bot.ask.line_search import LIKELY, NEAR, FoundLine, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, lower, quoted, raw
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import asks, yes_or_no
from bot.text import wording
from core.answer import job_lookup
from core.model import EventEvidence, Role
from core.naming import natural

MAX_KINDS = 4  # kinds of lines that are looked at for one that a rank wrote; chosen
_RANKS = r"ranks?|gpus?|process(?:es)?|tasks?|cards?"
_UNITS = rf"(?:{_RANKS}|nodes?|hosts?|machines?|workers?|pods?|servers?|box(?:es)?)"
_COUNTED = re.compile(
    rf"\bhow many (?:of (?:the|our|my) )?{_UNITS}\b(?! per\b| (?:are|were|do|did|does) (?:there|we|it)\b)"
)
_OF_RANKS = re.compile(rf"\b(?:{_RANKS})\b")
_HAPPENED = re.compile(r"^(?:so |and |but )?(?:did|has|have|had)\b")
_A_UNIT = re.compile(rf"\b{_UNITS}\b")


@dataclass(frozen=True, slots=True)
class _Logged:
    """A kind of message: its words, who logged it, how often, the evidence that it is, lines of it."""

    quote: str
    nodes: tuple[str, ...]
    ranks: tuple[int, ...]
    count: int
    event: EventEvidence | None
    lines: Lines

    @property
    def cites(self) -> tuple[str, ...]:
        return (self.event.id,) if self.event is not None else ()


def who_logged(subject: Subject, question: Question) -> Lines | None:
    """Who had it; None where that is not asked, or where no line tells it."""
    if len(subject.parsed.nodes) < 2 and len(subject.home) < 2:
        return None
    named = named_units(subject, question)
    if named and yes_or_no(question) and _HAPPENED.match(question.asked.plain):
        return _whether_named(subject, question)
    if _COUNTED.search(question.plain) and not named:
        return _how_many(subject, question)
    return _all_or_one(subject, question) if asks(question, "spread") else None


def _whether_named(subject: Subject, question: Question) -> Lines | None:
    """That those who are named did not log the trouble that others did; None where they did: the intents tell that."""
    topic = topic_of(question)
    named: set[int | str] = {*question.ranks} if question.ranks else {*question.nodes}
    kinds = sorted(_of_topic(subject, question), key=lambda item: -len(_units(item, question)))
    units = _units(kinds[0], question) if kinds else set()
    if topic is None or not units or units & named:
        return None
    who = wording.ranks(question.ranks) if question.ranks else wording.names(question.nodes, 4, 60)
    of = wording.counted(len(units), "rank" if question.ranks else "node")
    own = [line for item in kinds if _units(item, question) & named for line in item.lines[:1]]
    beside = [f"What {who} logged of {topic.name.split(' (', maxsplit=1)[0]}:", *own] if own else []
    said = f"No: {of} logged {kinds[0].quote}, {who} did not."
    return [cited(said, *kinds[0].cites), *beside, *kinds[0].lines[:1]]


def _units(logged: _Logged, question: Question) -> set[int] | set[str]:
    """Who logged it: ranks where ranks are asked about, else nodes."""
    return {*logged.ranks} if question.ranks else {*logged.nodes}


def _how_many(subject: Subject, question: Question) -> Lines | None:
    """How many ranks or nodes logged what the question says of them; None where no line holds most of it."""
    kinds = _of_topic(subject, question) or _of_words(subject, question)
    of_ranks = _OF_RANKS.search(question.plain) is not None
    logged = next((item for item in kinds if (item.ranks if of_ranks else item.nodes)), None)
    if logged is None:
        return None
    many = wording.counted(len(logged.ranks), "rank") if of_ranks else wording.counted(len(logged.nodes), "node")
    total = len({*subject.home, *subject.parsed.table.ranks}) if of_ranks else len(subject.parsed.nodes)
    which = wording.ranks(logged.ranks) if of_ranks else wording.names(logged.nodes, 6, 60)
    says = f"{many} of {total:,} logged {logged.quote}: {which}."
    return [cited(says, *logged.cites), *logged.lines[:2]]


def _all_or_one(subject: Subject, question: Question) -> Lines | None:
    """Whether one node or all had it."""
    kinds = [item for item in _of_topic(subject, question) or _of_words(subject, question) if item.nodes]
    lead = subject.leading
    kinds = kinds or ([_of_event(subject, lead)] if lead is not None and lead.nodes else [])
    total = wording.node_total(subject.diagnosis.coverage)
    if not kinds or total < 2:
        return None
    nodes = sorted({node for item in kinds if item.event for node in item.nodes} or kinds[0].nodes, key=natural)
    if len(nodes) == total:
        says = f"All {total:,} nodes logged it"
    elif len(nodes) == 1:
        others = f"the other {total - 1:,} nodes" if total > 2 else "the other node"
        says = f"Only {nodes[0]} logged it; {others} did not"
    else:
        says = f"{len(nodes):,} of {total:,} nodes logged it: {wording.names(nodes, 6, 60)}"
    server = " No log here is a server's own, so whether the server itself was down is not told."
    first = kinds[0]
    shown = [cited(subject.sentence_of(first.event), first.event.id)] if first.event else list(first.lines[:1])
    asks_server = question.says("server") or "server" in question.plain
    return [
        cited(f"{says}: {first.quote}.{server if asks_server else ''}", *first.cites),
        *shown,
        what_failed(subject),
    ]


def _of_topic(subject: Subject, question: Question) -> list[_Logged]:
    """Evidence of the trouble that a question names, what is no consequence first; empty where it names none."""
    topic = topic_of(question)
    if topic is None or not topic.special:
        return []
    events = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN]
    told = [event for event in events if topic.in_text(text_of(event))]
    return [_of_event(subject, event) for event in sorted(told, key=lambda event: event.role is not Role.ROOT)]


def _of_event(subject: Subject, event: EventEvidence) -> _Logged:
    quote = subject.about.quote(event)
    nodes = tuple(sorted(event.nodes, key=natural))
    text = f"“{quote}”" if quote else lower(event.says or event.because)
    return _Logged(text, nodes, tuple(sorted(event.ranks)), event.count, event, raw(event.lines, 2))


def _of_words(subject: Subject, question: Question) -> list[_Logged]:
    """The kinds of lines that hold most of a question; empty where none holds enough, or one of its words nowhere."""
    search = LineSearch(subject, question, {*_A_UNIT.findall(question.plain)})
    least = max(LIKELY, NEAR * search.best[0].share) if search.best else LIKELY
    found = [line for line in search.best[:MAX_KINDS] if line.share >= least]
    return [] if search.lacks_a_word else [_of_kind(subject, line) for line in found]


def _of_kind(subject: Subject, line: FoundLine) -> _Logged:
    parsed, event = subject.parsed, int(subject.parsed.table.event[line.row])
    rows = parsed.table.rows_of([event])[event].tolist()
    origins = [subject.origin(row) for row in rows]
    nodes = sorted({origin.node for origin in origins if origin.node is not None}, key=natural)
    ranks = sorted({origin.rank for origin in origins if origin.rank is not None})
    quote = f"“{wording.without_clock(line.text.strip())[:90]}”"
    found = job_lookup.found_rows(parsed, "", rows[:1])
    return _Logged(quote, tuple(nodes), tuple(ranks), len(rows), None, quoted(found, 1))
