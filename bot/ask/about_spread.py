"""Answers about who had it: one node or all, a node's own trouble, the order of complaints, the same device earlier."""

import re

import numpy as np

from bot.ask.about_nodes import named_units
from bot.ask.about_topics import topic_of, topics
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, lower, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer import job_lookup
from core.answer.search import matching
from core.logs.lines import NO_TIME
from core.model import EventEvidence, Role, Scope
from core.naming import natural

_TROUBLED = re.compile(
    r"\b(?:issues?|problems?|troubles?|errors?|faults?|fail\w{0,4}|down|lost|flap\w{0,4}|complain\w{0,3}|broken|probleme?|fehler)\b|问题|故障"
)
_DEVICES = (
    (re.compile(r"\b(?:gpus?|cards?|accelerators?|devices?)\b"), ("ecc", "xid", "gpu")),
    (re.compile(r"\b(?:disks?|drives?|storage|filesystem)\b"), ("disk", "storage")),
    (re.compile(r"\b(?:links?|nics?|ports?|cables?|network)\b"), ("network",)),
    (
        re.compile(r"\b(?:nodes?|machines?|hosts?|box|nodename)\b"),
        ("ecc", "xid", "gpu", "storage", "network", "thermal"),
    ),
)


def spread(subject: Subject, question: Question) -> Lines | None:
    """Whether one node or all had it: the trouble that is named, else what leads; None where that is not asked."""
    if not asks(question, "spread") or asks(question, "ended_order"):
        return None
    topic = topic_of(question)
    events = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN and event.nodes]
    told = [event for event in events if topic is not None and topic.special and topic.in_text(_text(event))]
    event = next(iter(told or [event for event in events if event is subject.leading]), None)
    total = wording.node_total(subject.diagnosis.coverage)
    if event is None or total < 2:
        return None
    nodes = sorted({node for item in told or [event] for node in item.nodes}, key=natural)
    who = wording.names(nodes, 6, 60)
    if len(nodes) == total:
        says = f"All {total:,} nodes logged it"
    else:
        rest = total - len(nodes)
        says = f"Only {who} logged it; the other {wording.counted(rest, 'node')} did not" if len(nodes) == 1 else ""
        says = says or f"{len(nodes):,} of {total:,} nodes logged it: {who}"
    server = " No log here is a server's own, so whether the server itself was down is not told."
    lines = [cited(f"{says}.{server if question.says('server') else ''}", event.id)]
    failed = cited(
        f"The diagnosis: {lower(subject.diagnosis.headline)}.", *([subject.leading.id] if subject.leading else [])
    )
    return [*lines, cited(subject.sentence_of(event), event.id), failed]


def of_node(subject: Subject, question: Question) -> Lines | None:
    """Whether who is named had trouble of its own; None where nobody is named or that is not asked."""
    units = named_units(subject, question)
    if not units or not asks(question, "trouble_of") or ((topic := topic_of(question)) and topic.special):
        return None
    diagnosis, unit = subject.diagnosis, units[0]
    own = [event for event in diagnosis.events if event.role is not Role.BENIGN and unit in event.nodes]
    place = next((at for at, node in enumerate(diagnosis.nodes) if node.node == unit), None)
    ids = tuple(event.id for event in own[:2])
    if diagnosis.scope is Scope.NODE and place is not None:
        suspect, ids = diagnosis.nodes[place], (diagnosis.nodes[place].id,)
        first = f"Yes: {unit} is {'the first suspect' if not place else 'suspected too'}: {lower(suspect.because)}."
    elif any(event.role is Role.ROOT for event in own):
        first = f"Yes, but nothing points to {unit} alone: {lower(diagnosis.headline)}."
    elif own:
        follows = f"what {unit} logged follows from the fault ({lower(diagnosis.headline)})"
        first = f"Not of its own by what the logs tell: {follows}."
    else:
        first = f"Nothing of {unit} is among the evidence."
    found = job_lookup.of_node(subject.parsed, unit)
    return [
        cited(first, *ids),
        *(cited(subject.sentence_of(event), event.id) for event in own[:1]),
        cited(found.says),
        *quoted(found, 2),
    ]


def order_of_ends(subject: Subject, question: Question) -> Lines | None:
    """Who complained first, who then, by the clocks of their first complaints; None where fewer than two have any."""
    if not asks(question, "ended_order"):
        return None
    firsts: dict[str, tuple[int, EventEvidence]] = {}
    table = subject.parsed.table
    places = {template.id: at for at, template in enumerate(table.templates)}
    for event in subject.diagnosis.events:
        if event.role is Role.BENIGN or event.event not in places:
            continue
        for row in table.rows_of([places[event.event]]).get(places[event.event], ()):
            node, time = table.origins[table.voice[row]].node or "", int(table.time[row])
            if node and time != NO_TIME and (node not in firsts or time < firsts[node][0]):
                firsts[node] = time, event
    if len(firsts) < 2:
        return None
    ordered = sorted(firsts.items(), key=lambda item: (item[1][0], natural(item[0])))
    listed = ", then ".join(f"{node} {clock(time)}" for node, (time, _) in ordered[:8])
    more = f", and {len(ordered) - 8} more" if len(ordered) > 8 else ""
    first = ordered[0][1][1]
    near = " Clocks of nodes may differ by a second." if ordered[1][1][0] - ordered[0][1][0] < SECOND else ""
    return [
        cited(f"By the first complaint of each: {listed}{more}.{near}", first.id),
        *(
            cited(subject.sentence_of(event), event.id)
            for event in dict.fromkeys(event for _, (_, event) in ordered[:3])
        ),
    ]


def earlier(subject: Subject, question: Question) -> Lines | None:
    """Lines about the device or the node from before the first sign; None where there are none or it is not asked."""
    text = f"{question.text.casefold()}\n{question.plain}"
    if not (asks(question, "earlier") and _TROUBLED.search(text)):
        return None
    names = next((names for asked, names in _DEVICES if asked.search(text)), ())
    sign, parsed = wording.first_sign(subject.diagnosis), subject.parsed
    node = next(iter((*question.nodes, *(suspect.node for suspect in subject.diagnosis.nodes))), None)
    if not names or sign is None:
        return None
    named = sorted({row for name in names for row in matching(parsed, [topics()[name].pattern], node=node)[0]})
    rows = job_lookup.complaints(parsed.table, np.array(named, np.intp)).tolist() if named else []
    before = [row for row in rows if parsed.table.time[row] != NO_TIME and int(parsed.table.time[row]) < sign - SECOND]
    if not before:
        if not rows:
            return None
        none = f"I looked for it before the first sign at {clock(sign)}{f' in the lines of {node}' if node else ''}"
        return [
            cited(f"{none} and found none; the first that tells of it:"),
            *quoted(job_lookup.found_rows(parsed, "", rows[:1]), 1),
        ]
    found = job_lookup.found_rows(parsed, "", before)
    of = f" of {node}" if node else ""
    many = f"{wording.counted(len(before), 'line')}{of} from before the first sign at {clock(sign)}"
    says = f"Yes, by the logs of this job: {many} may tell of it"
    return [
        cited(f"{says}."),
        *quoted(found, 3),
        cited("What other jobs had is not in these logs; ask “has this happened before?”."),
    ]


def _text(event: EventEvidence) -> str:
    return " ".join((event.template, event.says, *(line.text for line in event.lines)))
