"""What is wrong with patterns that each can be read: what a team's CI tells before they are imported."""

from collections.abc import Iterator, Sequence

from faultlib.likely_patterns import tells_a_cause
from faultlib.near_duplicates import contradict
from faultlib.pattern import Entry, Status


def faults_of(entries: Sequence[Entry]) -> Iterator[str]:
    """A sentence a fault: ids twice, successors that are missing, approved patterns that nothing can find or tell."""
    known = {entry.id for entry in entries}
    for number, entry in enumerate(entries):
        if any(other.id == entry.id for other in entries[:number]):
            yield f"{entry.id}: two files hold this id."
        if entry.superseded_by and entry.superseded_by not in known:
            yield f"{entry.id}: superseded by {entry.superseded_by}, which is in no file."
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    for entry in approved:
        signature = entry.pattern.signature
        if not signature.must and not signature.traits:
            yield f"{entry.id}: without an event and without a trait no job shows it."
        elif signature.must and not signature.traits and not tells_a_cause(signature):
            yield f"{entry.id}: all its events are symptoms; it is never told as the cause."
        if not entry.pattern.confirmation:
            yield f"{entry.id}: it does not say how it was confirmed."
    for one, other in contradict(approved):
        yield f"{one.id} and {other.id}: the same events, and another cause."
