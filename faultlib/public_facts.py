"""Which public facts a trace tells: seeds know the words of many programs for one fault."""

from collections.abc import Sequence

from core.model import EventEvidence
from core.occurrences import messages_of
from faultlib.seeds import read_seeds
from faultlib.signature import matches_messages


def facts_of(event: EventEvidence) -> Sequence[str]:
    """Ids of the seeds whose whole signature is in an event, in its template or in the lines that it cites, sorted.

    A template is taken as it is: masked once more it would lose the number of an error that it kept.
    """
    cited = messages_of("\n".join(line.text for line in event.lines))
    texts = tuple(dict.fromkeys((event.template, *event.template.split("\n"), *cited)))
    return [seed.id for seed in read_seeds() if matches_messages(seed.signature, texts)]
