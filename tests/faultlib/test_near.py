"""A merge is offered when a new pattern is nearly one that is there, and else not."""

from core.model import Scope
from faultlib.near_duplicates import NEARLY, nearly
from faultlib.pattern import Clause, Signature, Status
from tests.support.library_entries import entry, pattern


def _signature(*events: str) -> Signature:
    return Signature(must=tuple(Clause(events=(event,)) for event in events))


def test_the_same_signature_is_the_same_fault() -> None:
    """Whatever the words and the order of the events."""
    known = entry("old", cause="Something else entirely.", signature=_signature("a", "b"))
    assert nearly(pattern("new", signature=_signature("b", "a")), [known], {}) == known
    assert nearly(pattern("new", signature=_signature("a")), [known], {}) is None


def test_almost_the_same_words_are_nearly_the_same_fault() -> None:
    """The most alike of several is offered."""
    words = "The switch port flapped and the link of the node went down for good"
    close = entry("close", title=words, cause=words)
    other = entry("other", title="Disk full", cause="The disk of the node was full")
    assert nearly(pattern("new", title=words, cause=words), [other, close], {}) == close
    assert nearly(pattern("new", title="GPU lost", cause="The GPU fell off the bus"), [other, close], {}) is None


def test_nothing_is_offered_that_is_not_approved_or_is_itself() -> None:
    """Drafts, retired ones and the pattern's own entry are no offer."""
    signature = _signature("a")
    others = [entry(status.value, status=status, signature=signature) for status in Status]
    assert nearly(pattern("approved", signature=signature), others, {}) is None
    found = nearly(pattern("new", signature=signature), others, {})
    assert found is not None
    assert found.status is Status.APPROVED


def test_faults_of_another_scope_are_others() -> None:
    """A node's fault is not merged into one of the whole job."""
    known = entry("old", scope=Scope.JOB, signature=_signature("a"))
    assert nearly(pattern("new", scope=Scope.NODE, signature=_signature("a")), [known], {}) is None
    assert nearly(pattern("new", scope=Scope.UNKNOWN, signature=_signature("a")), [known], {}) == known


def test_meaning_alone_offers_nothing() -> None:
    """Two faults can mean much the same in other words and still be two."""
    known = entry("old", title="Link down", cause="No carrier")
    assert NEARLY > 0.3
    assert nearly(pattern("new", title="GPU lost", cause="Bus error"), [known], {"old": 1.0}) is None
