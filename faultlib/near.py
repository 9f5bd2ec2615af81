"""Whether a new pattern is nearly one that is there: then a person is offered to merge them."""

from collections.abc import Iterable, Mapping

from core.model import Scope
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry, Pattern, Status
from faultlib.recall import likeness

NEARLY = (
    0.85  # by words 79 of 101 pairs of labelled jobs of one kind reach it, and 1 of 3,059 of two kinds (docs/LOG.md)
)


def nearly(pattern: Pattern, entries: Iterable[Entry], semantic: Mapping[str, float]) -> Entry | None:
    """The approved pattern that this one nearly is: the same signature, or almost the same words; None mostly.

    Args:
        semantic: cosine of the two patterns by id, as far as it is known.
    """
    approved = [entry for entry in entries if entry.status is Status.APPROVED and entry.id != pattern.id]
    lexicon = Lexicon(entry.pattern.words() for entry in approved)
    scored = [(_score(pattern, entry, semantic, lexicon), entry) for entry in approved]
    near = [(score, entry) for score, entry in scored if score >= NEARLY and _compatible(pattern, entry.pattern)]
    return max(near, key=lambda one: (one[0], one[1].id))[1] if near else None


def _score(pattern: Pattern, entry: Entry, semantic: Mapping[str, float], lexicon: Lexicon) -> float:
    if events(pattern) and events(pattern) == events(entry.pattern):
        return 1.0
    return likeness(semantic.get(entry.id), lexicon.similarity(pattern.words(), entry.pattern.words()))


def events(pattern: Pattern) -> frozenset[frozenset[str]]:
    """What a signature wants, whatever the order."""
    return frozenset(frozenset(clause.events) for clause in pattern.signature.must)


def _compatible(one: Pattern, other: Pattern) -> bool:
    return Scope.UNKNOWN in (one.scope, other.scope) or one.scope is other.scope
