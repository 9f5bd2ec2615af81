"""The draft of a fault pattern from a diagnosis: what a person edits and approves, without the names of the job.

Nothing of it may only be true of this job: nodes, ranks, job id, addresses and iterations are taken out, so that the
pattern is found again on other nodes. What victims say gives no fault away, nor that a process was told to end: without
a trace of what broke the signature wants no event, and the pattern is found by its traits alone.
"""

import re
import unicodedata

from core.model import Diagnosis, EventEvidence, Role, Scope
from core.parsing.templates import WILDCARD
from faultlib.findings import gives_away, own_traces
from faultlib.names import QUOTE, Names
from faultlib.pattern import Category, Clause, Examples, Pattern, Signature, Where
from faultlib.signature import matches_lines
from faultlib.traits import traits_of

MAX_CLAUSES = 6  # root events of a signature; no labelled job shows more of them
MAX_TITLE, MAX_ID, MAX_EVIDENCE = 160, 63, 8_000  # characters; pattern.py allows a little more of the first
MAX_EXAMPLE = 16_000  # characters; pattern.py allows no more
UNKNOWN = "Not known yet."
HARDWARE = "accelerator|hardware|network link|RDMA|NIC\\b|no route to|storage failed|stopped answering|power|Xid"
_CATEGORIES = (  # words of core/rules/facts that leave little doubt; a person decides
    (Category.HARDWARE, re.compile(HARDWARE, re.IGNORECASE)),
    (Category.PLATFORM, re.compile(r"preempt", re.IGNORECASE)),
    (
        Category.USER,
        re.compile(r"setting or argument|module or library|file is missing|path may not|data shard", re.IGNORECASE),
    ),
)
_LEAD = re.compile(
    r"^(?:Not a fault: |Look at [^:]*(?::\d+)?: |No (?:node|rank|actor) is special: |The program raised |The log says )"
)  # "is special" stands in answers of before 2026-11-27
_TAIL = re.compile(r"; (?:no \w+ stands out|none stands out|the \w+ cannot be told apart in this log)(?=\.?$)")
_HERE = re.compile(r" on (?:a node|a rank|some nodes|some ranks)(?= during|[.]?$)")
_COUNTED = re.compile(r"^.*? logged this [^.;]*(?:; (?:never|less often) in \d+ successful jobs?)?\.\s*")
_SLOT = re.compile(r"<(?:\*|[A-Z]+)>")
_WORD = re.compile(r"[^\W\d_]")


def pattern_of(
    diagnosis: Diagnosis,
    *,
    category: Category | None = None,
    subtype: str = "",
    cause: str = "",
    fix: str = "",
) -> Pattern:
    """A draft; what nobody has said yet is taken from the diagnosis, or says that it is not known.

    Stage and framework stay open: of 208 pairs of labelled jobs of one kind 68 differ in the first, 100 in the second.
    """
    names = Names.of(diagnosis)
    title = _title(diagnosis, names)
    signature = _signature(diagnosis, names)
    return Pattern(
        id=slug(title),
        title=title,
        category=category or category_of(diagnosis),
        subtype=subtype,
        scope=diagnosis.scope,
        cause=cause or title,
        fix=fix or " ".join(names.out_of(check) for check in diagnosis.checks) or UNKNOWN,
        evidence=_evidence(diagnosis, names),
        signature=signature,
        examples=_examples(diagnosis, signature),
    )


def signature_events(diagnosis: Diagnosis) -> tuple[EventEvidence, ...]:
    """The direct traces that give the fault away: not the signal, the lost peer or the limit of any fault.

    With those in the signatures 13 of 55 strangers of two sets that nobody had fitted were shown a pattern of another
    cause, in 13 as the first one: that somebody had pressed Ctrl-C there, too (docs/LOG.md).
    """
    telling = [event for event in own_traces(diagnosis) if gives_away(event)]
    each_once = {event.template: event for event in reversed(telling)}
    return tuple(event for event in telling if each_once[event.template] is event)[:MAX_CLAUSES]


def category_of(diagnosis: Diagnosis) -> Category:
    """Whose fault it is where the words of the headline leave little doubt; else unknown: the person picks it."""
    text = _TAIL.sub("", _LEAD.sub("", diagnosis.headline))
    if diagnosis.scope is Scope.UNKNOWN or "“" in text:
        return Category.UNKNOWN
    return next((category for category, words in _CATEGORIES if words.search(text)), Category.UNKNOWN)


def _title(diagnosis: Diagnosis, names: Names) -> str:
    """What broke, from the headline; where no fact knows it, the event in the words of the log."""
    text = _TAIL.sub("", _LEAD.sub("", diagnosis.headline))
    roots = [event for event in diagnosis.events if event.is_trace]
    if roots and (quote := QUOTE.match(text)):
        template = _SLOT.sub(WILDCARD, names.out_of_log(roots[0].template))
        text = f"{_short(template, MAX_TITLE // 2)}{text[quote.end() :]}"
    text = _HERE.sub("", names.out_of(text)).rstrip(". ")
    return _short(text[:1].upper() + text[1:], MAX_TITLE) or "Nothing conclusive"


def _evidence(diagnosis: Diagnosis, names: Names) -> str:
    """What is said of suspects and events, the suspects' first; each once, and without how often this job said it.

    Such counts stand in every draft: in a library of one they made twice as many strangers look alike (docs/LOG.md).
    """
    events = (event for event in diagnosis.events if event.is_trace or event.role is Role.PROPAGATED)
    sentences = (names.out_of(evidence.because) for evidence in (*diagnosis.nodes, *events))
    sentences_once = dict.fromkeys(_COUNTED.sub("", sentence) for sentence in sentences)
    return _short("\n".join(text for text in sentences_once if text), MAX_EVIDENCE)


def _signature(diagnosis: Diagnosis, names: Names) -> Signature:
    """What gives the fault away, and whether one node or all of them left each trace."""
    clauses: dict[str, Clause] = {}
    for event in signature_events(diagnosis):
        text = names.out_of_log(event.template)
        if _WORD.search(_SLOT.sub("", text)):
            clauses.setdefault(text, Clause(events=(text,), where=_where(event, diagnosis.coverage.nodes)))
    return Signature(must=tuple(clauses.values()), traits=traits_of(diagnosis))


def _where(event: EventEvidence, nodes: int) -> Where:
    if nodes < 2:
        return Where.ANYWHERE
    count = len(event.nodes)
    return Where.ONE_NODE if count == 1 else Where.ALL_NODES if count == nodes else Where.ANYWHERE


def _examples(diagnosis: Diagnosis, signature: Signature) -> Examples:
    """One cited line of each event, in one text; none when a block of lines is told by more than that."""
    cited = [event.lines[0].text for event in signature_events(diagnosis) if event.lines]
    text = "\n".join(dict.fromkeys(cited))[:MAX_EXAMPLE]
    return Examples(match=(text,)) if signature.must and text and matches_lines(signature, text) else Examples()


def slug(title: str) -> str:
    """The title as an id, cut between words."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", plain))
    if len(slug) > MAX_ID:
        slug = slug[: MAX_ID + 1].rpartition("-")[0] or slug[:MAX_ID]
    return slug or "fault"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
