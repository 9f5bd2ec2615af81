"""Whether a new pattern is nearly one that is there: then a person is offered to merge them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.model import Scope
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry, Pattern, Status

NEARLY = (
    0.85  # by words 79 of 101 pairs of labelled jobs of one kind reach it, and 1 of 3,059 of two kinds (docs/LOG.md)
)
SEMANTIC, LEXICAL = 0.3, 0.7  # weights of meaning and words, chosen on labelled jobs (docs/LOG.md)
MOST = 400  # patterns that are compared pair by pair: of so many it takes seconds


def nearly(pattern: Pattern, entries: Iterable[Entry], semantic: Mapping[str, float]) -> Entry | None:
    """The approved pattern that this one nearly is: the same signature, or almost the same words; None mostly.

    Args:
        semantic: cosine of the two patterns by id, as far as it is known.
    """
    approved = [entry for entry in entries if entry.status is Status.APPROVED and entry.id != pattern.id]
    lexicon = Lexicon(entry.pattern.words() for entry in approved)
    scored = [(_score(pattern, entry, semantic, lexicon), entry) for entry in approved]
    near = [(score, entry) for score, entry in scored if score >= NEARLY and _compatible(pattern, entry.pattern)]
    return max(near, key=lambda item: (item[0], item[1].id))[1] if near else None


def alike(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Pairs of approved patterns of which a person may want to make one, by id; each pattern with its nearest only."""
    pairs_seen: set[frozenset[str]] = set()
    for entry in entries[:MOST]:
        other = nearly(entry.pattern, entries[:MOST], {})
        if other is not None and frozenset((entry.id, other.id)) not in pairs_seen:
            pairs_seen.add(frozenset((entry.id, other.id)))
            yield entry, other


def contradict(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Pairs of patterns with the same events and another cause."""
    seen: dict[frozenset[frozenset[str]], list[Entry]] = {}
    for entry in entries:
        known = seen.setdefault(events(entry.pattern), [])
        if events(entry.pattern):
            others = (other for other in known if other.id != entry.id)
            yield from ((other, entry) for other in others if other.pattern.cause != entry.pattern.cause)
        known.append(entry)


def _score(pattern: Pattern, entry: Entry, semantic: Mapping[str, float], lexicon: Lexicon) -> float:
    if events(pattern) and events(pattern) == events(entry.pattern):
        return 1.0
    by_words = lexicon.similarity(pattern.words(), entry.pattern.words())
    meaning = semantic.get(entry.id)
    return by_words if meaning is None else SEMANTIC * min(max(meaning, 0.0), 1.0) + LEXICAL * by_words


def events(pattern: Pattern) -> frozenset[frozenset[str]]:
    """What a signature wants, whatever the order."""
    return frozenset(frozenset(clause.events) for clause in pattern.signature.must)


def _compatible(one: Pattern, other: Pattern) -> bool:
    return Scope.UNKNOWN in (one.scope, other.scope) or one.scope is other.scope
