"""A fact: one thing that is known of a job, in a sentence, with what it is about and where it stands."""

import re
from dataclasses import dataclass, field

from bot.ask.reply_lines import cited
from bot.ask.terms import terms_of

# The place of a quoted line, which holds numbers and names of its own
PLACE = re.compile(r" \([^()]{1,200}:[0-9]{1,9}\)$")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known of the job.

    says: a sentence. cites: ids of evidence. topic: words by which people ask for it, besides those of the sentence.
    nodes, ranks: what it is about alone; empty where it is about the job. lines: quoted lines that show it. narrow:
    it tells nothing to who asks for a part of its topic only. keys: who names one of them in a question means this.
    """

    says: str
    cites: tuple[str, ...] = ()
    topic: str = ""
    nodes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    lines: tuple[str, ...] = ()
    narrow: bool = False
    keys: tuple[str, ...] = ()
    terms: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        shown = " ".join(PLACE.sub("", line) for line in self.lines)
        object.__setattr__(self, "terms", terms_of(f"{self.says} {self.topic} {shown}"))

    @property
    def as_lines(self) -> tuple[str, ...]:
        """As lines of an answer."""
        return (*((cited(self.says, *self.cites),) if self.says else ()), *self.lines)
