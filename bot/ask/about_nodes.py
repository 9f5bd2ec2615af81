"""Answers about who: why this node and not that one, who else was affected, what to drain."""

import re
from collections.abc import Iterable, Sequence

from bot.ask.about_jobs import argument_line
from bot.ask.about_pace import slow_since
from bot.ask.about_platform import machine_of
from bot.ask.apart import told_parts
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted
from bot.ask.standstill import told_missing
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import told_claims
from bot.ask.wanted_value import asks, yes_or_no
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer import job_lookup
from core.answer.search import search
from core.live.findings import duration
from core.model import Action, Confidence, EventEvidence, NodeEvidence, Role, Scope
from core.naming import natural

_NOT_ONE = {
    Scope.JOB: "No node: what failed concerns the whole job",
    Scope.NONE: "No node: nothing of the job is at fault",
    Scope.UNKNOWN: "The logs do not tell which; nothing points to one node",
}

_STAYS = {True: "is suspected too, with less evidence: check it", False: "can stay: nothing points to it"}


def suspect(subject: Subject, question: Question) -> Lines:
    """Why a node is suspected, or is not; the first suspect where none is named."""
    named = named_units(subject, question)
    if question.unknown and not named:
        return no_such(subject, question.unknown[0])
    if named:
        answers = [_of_one(subject, unit, question) for unit in named[:2]]
        neither = [_neither(subject, named)] if len(named) > 1 else []
        return [
            *filter(None, neither),
            *(lines[0] for lines in answers),
            *(line for lines in answers for line in lines[1:]),
        ]
    diagnosis = subject.diagnosis
    if asks(question, "which_rank") and (lacks := told_missing(subject)):
        first = _of_one(subject, diagnosis.nodes[0].node, question)[:1] if diagnosis.nodes else ()
        return [*lacks[:1], *first, *lacks[1:]]
    if not diagnosis.nodes:
        why = joined(*map(wording.sentence, diagnosis.why[:2]))
        sentences = [cited(f"{_NOT_ONE.get(diagnosis.scope, _NOT_ONE[Scope.UNKNOWN])}.", *subject.lead_ids)]
        changed = argument_line(subject) if diagnosis.scope is Scope.JOB else ""
        since = slow_since(subject)
        parts = told_parts(subject, question, since)[:1] if since is not None else ()
        return [*sentences, *parts, *([changed] if changed else []), *([cited(why)] if why else [])]
    sentences = _of_one(subject, diagnosis.nodes[0].node, question)
    return [*sentences, *told_claims(subject, "N2.other", "N.peers")]


def others(subject: Subject, question: Question) -> Lines:
    """Who logged errors because of it, who only waited, and who is at fault."""
    events = [subject.evidence[name] for name in question.ids if name.startswith("E") and name in subject.evidence]
    if events:
        return [cited(_logged_by(subject, event), event.id) for event in events if isinstance(event, EventEvidence)]
    diagnosis = subject.diagnosis
    if diagnosis.scope is Scope.NONE:
        fine = yes_or_no(question) and asks(question, "fine")
        return [cited(f"{'Yes' if fine else 'Nobody'}: nothing of the job failed.")]
    blamed = {node.node for node in diagnosis.nodes}
    loud = [event for event in diagnosis.events if event.role in (Role.ROOT, Role.PROPAGATED)]
    hit = sorted({node for event in loud for node in event.nodes} - blamed, key=natural)
    total = wording.node_total(diagnosis.coverage)
    who = wording.names(sorted(blamed, key=natural), 3, 80)
    ranks = sorted(rank for node in diagnosis.nodes for rank in node.ranks)
    own = f" ({wording.ranks(ranks)})" if ranks and not who.startswith("rank") else ""
    sentences = []
    if diagnosis.scope is Scope.NODE and blamed and yes_or_no(question) and asks(question, "fine"):
        sentences.append(cited(f"Yes, as far as the logs tell: only {who}{own} is suspected.", "N1"))
    elif diagnosis.scope is Scope.NODE and hit:
        ids = [event.id for event in loud if set(event.nodes) & set(hit)][:3]
        of = f"{len(hit):,} of {wording.counted(total, 'node')} besides {who}{own}"
        yes = "Yes, but only as a consequence: " if yes_or_no(question) else ""
        sentences.append(cited(f"{yes}{of} logged errors because of it: {wording.names(hit, 8, 80)}.", *ids))
    elif diagnosis.scope is Scope.NODE and blamed:
        no = "No: among" if yes_or_no(question) else "Among"
        sentences.append(cited(f"{no} the evidence only {who}{own}: no other node logged an error that counts.", "N1"))
    shown = [event for event in loud if event.is_trace or not set(event.nodes) <= blamed] or loud
    sentences += [cited(_logged_by(subject, event), event.id) for event in shown[:4]]
    return sentences or _all_alike(subject)


def _all_alike(subject: Subject) -> Lines:
    """That nothing tells one from the others, where no evidence names anybody."""
    nodes, ranks = subject.parsed.nodes, subject.parsed.table.ranks
    who = wording.counted(len(nodes), "node") if nodes else wording.counted(len(ranks), "rank")
    says = "Nobody stands out: no evidence tells one from the others"
    of = f" (the lines are of {who})" if nodes or ranks else ""
    return [
        cited(f"{says}{of}.", *subject.lead_ids),
        cited(wording.sentence(subject.diagnosis.headline), *subject.lead_ids),
    ]


def drain(subject: Subject, question: Question) -> Lines:
    """What to take out, what may stay."""
    diagnosis, step = subject.diagnosis, subject.diagnosis.next
    if diagnosis.scope is not Scope.NODE or not diagnosis.nodes:
        reason = joined(*map(wording.sentence, diagnosis.why[:1]))
        sentences = [cited(f"No node has to go: {lower(wording.SCOPE[diagnosis.scope])}."), cited(reason)]
        if step:
            sentences.append(cited(f"Next: {wording.next_line(step)}"))
        return [line for line in sentences if line]
    first = diagnosis.nodes[0].node
    evict = step is not None and step.action is Action.EVICT
    out = list(step.nodes) if step and evict and step.nodes else [first]
    sentences = []
    asked = [node for node in question.nodes[:2] if node not in out]
    texts = [f"{node} {_STAYS[any(node == item.node for item in diagnosis.nodes)]}." for node in asked]
    if texts:
        sentences.append(cited(joined(*texts), *(node.id for node in diagnosis.nodes if node.node in asked)))
    machines = {node: machine for node in out if (machine := machine_of(subject, node))}
    who = wording.names([f"{node} (machine {machines[node]})" if node in machines else node for node in out], 4, 160)
    if evict and diagnosis.confidence is not Confidence.WEAK:
        sentences.append(cited(f"Take out {who}: {lower(step.because if step else '')}.", "N1"))
    elif step is not None and step.action is Action.FIX:
        sentences.append(
            cited(f"No machine has to go, what broke on {who} has to be put right: {lower(step.because)}.", "N1")
        )
    elif diagnosis.confidence is Confidence.WEAK:
        sentences.append(
            cited(f"{who}, if any: the evidence is weak, so check it before it is taken out or gets work again.", "N1")
        )
    else:
        sentences.append(
            cited(f"Not before a check of {who}: {lower(step.because if step else diagnosis.headline)}.", "N1")
        )
    sentences.append(cited("No other node is suspected." if len(diagnosis.nodes) == 1 else _alike(diagnosis.nodes[1:])))
    checks = [claim for claim in subject.claims.every if claim.id == "C1"]
    if asks(question, "machines") and out[0] == first:
        sentences[1:1] = device_of(subject, diagnosis.nodes[0])
    return [*sentences, *(cited(f"Check: {check.says}") for check in checks)]


def named_units(subject: Subject, question: Question) -> list[str]:
    """The nodes that a question names, and those of the ranks that it names; a rank without a node by itself."""
    homes = [subject.home.get(rank, f"rank {rank}") for rank in question.ranks]
    return list(dict.fromkeys((*question.nodes, *homes)))


def no_such(subject: Subject, name: str) -> list[str]:
    """The job has no node of that name, and what it has; what its lines say of it where they name it."""
    nodes = subject.parsed.nodes
    has = f"its nodes are {wording.names(nodes, 8, 60)}" if nodes else "its logs name no node"
    found = search(subject.parsed, (name,))
    if found.lines:
        return [
            cited(f"No log is {name}'s own, so nothing in them points to it; what others say of it:"),
            *quoted(found, 3),
        ]
    return [cited(f"This job has no {name}: {has}.")]


def _neither(subject: Subject, named: Sequence[str]) -> str:
    """That none of those who are named is at fault; empty where one is suspected."""
    diagnosis = subject.diagnosis
    if any(node.node in named for node in diagnosis.nodes):
        return ""
    return cited(f"Neither, as far as the logs tell: {lower(diagnosis.headline)}.", *subject.lead_ids)


def _of_one(subject: Subject, unit: str, question: Question) -> list[str]:
    diagnosis = subject.diagnosis
    place = next((at for at, node in enumerate(diagnosis.nodes) if node.node == unit), None)
    if place is not None:
        return _suspected(subject, diagnosis.nodes[place], question, first=not place)
    if unit.startswith("rank ") and int(unit[5:]) not in subject.parsed.table.ranks:
        known = wording.ranks(sorted({*subject.home, *subject.parsed.table.ranks}))
        return [cited(f"No log and no job.json names {unit}; known are {known or 'no ranks'}.")]
    peers = [event for event in diagnosis.events if unit in event.nodes and event.role is not Role.BENIGN]
    no = "Yes, as far as the logs tell: " if asks(question, "fine") else "No: "
    no = no if _is_yes_no(question) else ""
    lead = subject.leading
    first = diagnosis.nodes[0] if diagnosis.scope is Scope.NODE and diagnosis.nodes else None
    reason = f"the first suspect is {first.node}" if first else lower(diagnosis.headline)
    ids = [first.id] if first else [lead.id] if lead else []
    sentences = [
        cited(f"{no}{unit} is not suspected: {reason}.", *ids),
        *(cited(f"But {lower(why)}.") for why in diagnosis.why if unit in why),
    ]
    for event in peers[:1]:
        share = "it alone logged" if len(event.nodes) == 1 else f"it is one of {len(event.nodes):,} nodes that logged"
        late = _after(event, lead) if lead is not None else ""
        role = f": {wording.role_of(event)}"
        sentences.insert(1, cited(f"Of the evidence {share} {event.id}{late or role}.", event.id))
        if not any(peer.is_trace for peer in peers) and any(peer.role is Role.PROPAGATED for peer in peers):
            sentences[0] = cited(
                wording.sentence(f"{no}what {unit} logged is a consequence: {lower(diagnosis.headline)}."), event.id
            )
    found = job_lookup.of_node(subject.parsed, unit)
    return [*sentences, cited(found.says), *quoted(found, 1)]


def _after(event: EventEvidence, lead: EventEvidence) -> str:
    """That a piece of evidence came after what leads and so did not begin it; empty where it did not."""
    if (
        event is lead
        or event.first_time is None
        or lead.first_time is None
        or event.first_time <= lead.first_time + SECOND
    ):
        return ""
    return f", {duration((event.first_time - lead.first_time) / SECOND)} after {lead.id}, so it did not begin it"


def _suspected(subject: Subject, node: NodeEvidence, question: Question, *, first: bool) -> list[str]:
    diagnosis = subject.diagnosis
    ranks = f" ({wording.ranks(node.ranks)})" if node.ranks and not node.node.startswith("rank") else ""
    place = "the first suspect" if first else f"suspected too, with less evidence than {diagnosis.nodes[0].node}"
    hint = "; the evidence is weak, a hint only" if diagnosis.confidence is Confidence.WEAK else ""
    because = joined(*map(wording.sentence, (node.reasons or (node.because,))[:3]))
    yes = _yes(subject, question) if first and _is_yes_no(question) else ""
    if yes and _by_its_node(subject, node, question):
        yes = "Perhaps, by its node: "
    sentences = [cited(f"{yes}{node.node}{ranks} is {place}{hint}. {because}", node.id, *node.events[:3])]
    if first and (others := _named_beside(subject, node, question)):
        says = f"Not {wording.ranks(question.ranks)} by itself: the evidence names {wording.ranks(others)}"
        sentences.insert(0, cited(f"{says}, of the same node.", node.id))
    if asks(question, "machines"):
        sentences += device_of(subject, node)
    return [*sentences, *told_claims(subject, *(f"{node.id}.{what}" for what in ("ended", "behind", "local")))[:2]]


def _by_its_node(subject: Subject, node: NodeEvidence, question: Question) -> bool:
    """Whether a rank is asked about that is one of several of a suspected node, and no reason names it."""
    mine = [rank for rank in question.ranks if subject.home.get(rank) == node.node]
    told = _ranks_told(subject, node)
    return bool(mine) and not question.nodes and len(node.ranks) > 1 and told.isdisjoint(mine)


def _named_beside(subject: Subject, node: NodeEvidence, question: Question) -> list[int]:
    """The ranks of a suspected node that its evidence names, where another rank of it is asked about."""
    told = _ranks_told(subject, node) & set(node.ranks)
    return sorted(told) if _by_its_node(subject, node, question) and len(told) < len(node.ranks) else []


def _ranks_told(subject: Subject, node: NodeEvidence) -> set[int]:
    """The ranks that the reasons for a node and the leading event name."""
    lead = subject.leading
    told = {int(number) for number in _A_RANK.findall(" ".join((*node.reasons, node.because)))}
    return told | (set(lead.ranks) if lead else set())


_A_RANK = re.compile(r"\b[Rr]ank ([0-9]{1,9})\b")


def _is_yes_no(question: Question) -> bool:
    """Whether a yes or a no to being at fault answers it; "can you tell why" and "is it swapping" want more."""
    if not yes_or_no(question) or question.says("why", "tell", "how"):
        return False
    doing = set(_DOING.findall(question.plain)) - {"nodename"}
    return not doing or question.says(*_OF_FAULT)


_DOING = re.compile(r"\b[a-z]{3,30}ing\b")
_OF_FAULT = (
    "caus", "slow", "hang", "block", "hold", "fail", "break", "brok", "die", "dying", "crash", "misbehav", "wait",
)  # fmt: skip


def _yes(subject: Subject, question: Question) -> str:
    """Yes to the first suspect; not to its machine where what broke is no machine."""
    step, sure = subject.diagnosis.next, subject.diagnosis.confidence is not Confidence.WEAK
    if asks(question, "machines") and step is not None and step.kind in _NO_MACHINE:
        return f"Not the machine, by what is logged: {step.cause or lower(subject.diagnosis.headline)}. "
    if asks(question, "fine"):
        return "No: " if sure else "Perhaps not: "
    return "Yes: " if sure else "Perhaps: "


def device_of(subject: Subject, node: NodeEvidence) -> list[str]:
    """Which device of a node its evidence names: the bus address and the local rank; empty where it names none."""
    events = [event for event in subject.diagnosis.events if node.node in event.nodes and event.role is not Role.BENIGN]
    texts = [line.text for event in events for line in event.lines]
    addresses = dict.fromkeys(match[1] for text in texts for match in _BUS.finditer(text))
    ranks = sorted({rank for event in events if event.is_trace for rank in event.ranks})
    chips = dict.fromkeys(match[1] for text in texts for match in _CHIP.finditer(text))
    local = dict.fromkeys(match[1] for text in texts for match in _LOCAL.finditer(text))
    parts = [f"PCI {', '.join(addresses)}"] if addresses else []
    parts += [f"device {', '.join(chips)}"] if chips and len(chips) <= 3 else []
    parts += [f"local rank {', '.join(local)}"] if len(local) == 1 else []
    parts += [wording.ranks(ranks)] if ranks and len(ranks) < len(node.ranks or ranks) + 1 else []
    return (
        [cited(f"The device on {node.node} by its own lines: {', '.join(parts)}.", *node.events[:1])] if parts else []
    )


_NO_MACHINE = ("code", "means")  # kinds of what broke (core/next/situation.py)
_BUS = re.compile(
    r"\b(?:PCI[:(]{0,2}|GPU )(0{0,8}:?[0-9a-f]{2,4}:[0-9a-f]{2}(?::[0-9a-f]{2})?(?:\.[0-9a-f])?)\b", re.IGNORECASE
)
_CHIP = re.compile(r"\b(?:chip_?id|device_?id|GPU|NPU)[ :=#]{1,2}([0-9]{1,2})\b", re.IGNORECASE)
_LOCAL = re.compile(r"\blocal_rank: ?([0-9]{1,3})\b")


def _alike(suspects: Iterable[NodeEvidence]) -> str:
    return f"Suspected too, with less evidence: {wording.names((item.node for item in suspects), 4, 80)}."


def _logged_by(subject: Subject, event: EventEvidence) -> str:
    """Who logged an event, by ranks and nodes, and what that makes them."""
    who = subject.about.capital(subject.about.who(event))
    named = f" ({wording.names(sorted(event.nodes, key=natural), 6, 60)})" if len(event.nodes) > 3 else ""
    quote = subject.about.quote(event)
    text = f"“{quote}”" if quote else lower(event.says or event.because)
    at = f", first at {clock(event.first_time)}" if event.first_time is not None else ""
    often = f"{wording.times(event.count)}{_share(subject, event)}"
    return f"{who}{named} logged {text} {often}{at}: {wording.role_of(event)}."


def _share(subject: Subject, event: EventEvidence) -> str:
    """How many of the ranks logged an event, in brackets; empty where ranks are not told apart."""
    every = subject.parsed.table.ranks
    if len(every) < 2 or not event.ranks:
        return ""
    total = wording.counted(len(every), "rank")
    return f" (all {total})" if len(event.ranks) == len(every) else f" ({len(event.ranks):,} of {total})"
