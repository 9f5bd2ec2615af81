"""Recall after the analysis: confirmed patterns that look like this job, or "nothing similar is known".

A query is built like the draft of a pattern, so both sides say the same things in the same words. The likeness of two
texts is a weighted sum of meaning (cosine of their embeddings) and words (``faultlib.lexical``); adding scores is
better than fusing ranks. Events that both have, and what both know and contradict each other in, only decide the
order: in the likeness they made faults of one cluster more alike than they are (docs/LOG.md has the numbers).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.model import Diagnosis, Role, Scope, Stage
from faultlib.draft import pattern_of
from faultlib.lexical import Lexicon
from faultlib.pattern import Category, Entry, Pattern, Signature, Status
from faultlib.signature import matches_lines

# docs/LOG.md: of 54 labelled jobs whose kind has another job, 46 find it first; of 85 whose kind was taken out, 9 are
# told something. From .58 to .74 one of these numbers changes, by one, on either of the two sets of jobs.
SEMANTIC, LEXICAL = 0.3, 0.7
SIMILAR = 0.65
SHARED, CONTRADICTED = 0.1, 0.02  # in the order only; neither changes what comes first on the labelled jobs
LIMIT = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """An event that the diagnosis shows. texts: its template and the lines that it cites."""

    id: str  # "E1"
    role: Role
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. text: what is compared; empty when there is nothing to compare."""

    text: str
    events: tuple[Shown, ...] = ()
    scope: Scope = Scope.UNKNOWN
    stage: Stage = Stage.UNKNOWN
    framework: str = ""
    category: Category = Category.UNKNOWN


@dataclass(frozen=True, slots=True)
class Similar:
    """An approved pattern that looks like the job.

    score: how alike, 0..1; semantic and lexical are its parts. shared: ids ("E1") of events that both have.
    """

    entry: Entry
    score: float
    semantic: float
    lexical: float
    shared: tuple[str, ...]
    because: str


def query_of(diagnosis: Diagnosis) -> Query:
    """What a diagnosis says, without the names of its job; nothing when it shows neither an event nor a suspect."""
    if not diagnosis.events and not diagnosis.nodes:
        return Query("")
    draft = pattern_of(diagnosis)
    return Query(
        text=draft.model_copy(update={"cause": ""}).words(),  # the cause is what the query asks for
        events=tuple(
            Shown(event.id, event.role, (event.template, *(line.text for line in event.lines)))
            for event in diagnosis.events
            if not event.ordinary
        ),
        scope=diagnosis.scope,
        stage=diagnosis.stage,
        framework=diagnosis.facts.get("framework", ""),
        category=draft.category,
    )


def rank(
    query: Query, entries: Iterable[Entry], semantic: Mapping[str, float], *, limit: int = LIMIT
) -> tuple[Similar, ...]:
    """Approved patterns that are alike enough, the most telling first; none is an answer.

    Args:
        entries: all patterns of the library; how rare a word is depends on all of them.
        semantic: cosine of query and pattern by pattern id; one that is missing counts as 0. Empty where there is no
            embedding model: then words alone decide, which finds as much.
    """
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    if not query.text:
        return ()
    lexicon = Lexicon(entry.pattern.words() for entry in approved)
    cosines = {entry.id: semantic.get(entry.id, 0.0) if semantic else None for entry in approved}
    found = [similar for entry in approved if (similar := _similar(query, entry, cosines[entry.id], lexicon))]
    return tuple(sorted(found, key=lambda similar: (-_order(query, similar), similar.entry.id))[:limit])


def likeness(semantic: float | None, lexical: float) -> float:
    """How alike two texts are, 0..1, from the cosines of their meaning, where it is known, and of their words."""
    if semantic is None:
        return lexical
    return SEMANTIC * min(max(semantic, 0.0), 1.0) + LEXICAL * lexical


def shared_events(query: Query, pattern: Pattern) -> tuple[str, ...]:
    """Direct traces that an event of the pattern's signature fits; victims say the same whatever has happened."""
    wanted = [Signature(must=(clause,)) for clause in pattern.signature.must]
    return tuple(
        event.id
        for event in query.events
        if event.role is Role.ROOT
        and any(matches_lines(signature, text) for signature in wanted for text in event.texts)
    )


def share(query: Query, pattern: Pattern, shared: Sequence[str]) -> float:
    """How much of the direct traces of both sides they share, 0..1."""
    either = sum(event.role is Role.ROOT for event in query.events) + len(pattern.signature.must)
    return min(2 * len(shared) / (either or 1), 1.0)


def contradictions(query: Query, pattern: Pattern) -> tuple[str, ...]:
    """What both sides know and do not agree in: ``scope``, ``stage``, ``category``, ``framework``."""
    pairs = (
        ("scope", query.scope, (pattern.scope,), Scope.UNKNOWN),
        ("stage", query.stage, pattern.stages, Stage.UNKNOWN),
        ("category", query.category, (pattern.category,), Category.UNKNOWN),
        ("framework", _family(query.framework), (_family(pattern.framework),), ""),
    )
    return tuple(
        name
        for name, asked, known, unknown in pairs
        if known and asked != unknown and unknown not in known and asked not in known
    )


def _similar(query: Query, entry: Entry, semantic: float | None, lexicon: Lexicon) -> Similar | None:
    lexical = lexicon.similarity(query.text, entry.pattern.words())
    score = likeness(semantic, lexical)
    if score < SIMILAR:
        return None
    shared = shared_events(query, entry.pattern)
    return Similar(
        entry=entry,
        score=round(score, 4),
        semantic=round(semantic or 0.0, 4),
        lexical=round(lexical, 4),
        shared=shared,
        because=_because(query, entry.pattern, (score, semantic, lexical), shared),
    )


def _order(query: Query, similar: Similar) -> float:
    against = len(contradictions(query, similar.entry.pattern))
    return similar.score + SHARED * share(query, similar.entry.pattern, similar.shared) - CONTRADICTED * against


def _because(query: Query, pattern: Pattern, numbers: tuple[float, float | None, float], shared: Sequence[str]) -> str:
    score, semantic, lexical = numbers
    parts = [f"{score:.2f} alike: {lexical:.2f} by words" + (f", {semantic:.2f} by meaning" if semantic else "")]
    if shared:
        parts.append(f"its signature knows {_list(shared)}")
    if against := contradictions(query, pattern):
        parts.append(f"another {_list(against)}")
    return "; ".join(parts) + "."


def _list(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _family(framework: str) -> str:
    """A framework without its version: ``Megatron-LM 0.9`` is ``megatron-lm``."""
    return framework.casefold().partition(" ")[0]
