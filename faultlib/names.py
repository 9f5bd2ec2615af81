"""What only one job calls so, its nodes and its id, taken out of what is said of it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from core.logs.lines import mask
from core.model import Diagnosis
from core.parsing.templates import WILDCARD

MIN_DIGITS = 5  # of a number that is a name: schedulers count jobs with as many
_AFTER = re.compile(r",? (?:after|of|at) iterations? \d+(?:, \d+)*|^iteration \d+")
_RANKS = re.compile(r"\branks? \d+(?:(?:, |-)\d+)*(?: …)?|\[?\brank\d+\]?", re.IGNORECASE)
_MANY = re.compile(r"\b(a node|a rank)(?:(?:, | and )\1)+\b")
QUOTE = re.compile("“([^”]*)”")
_START = re.compile(r"(^|[.] )(a|some)(?= (?:node|rank))")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Names:
    """What only this job calls so: its nodes and its id, as they are and as masks leave them."""

    nodes: frozenset[str]
    job: frozenset[str]
    masked: frozenset[str]

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Self:
        """The names of a job."""
        nodes = {node for event in diagnosis.events for node in event.nodes}
        nodes.update(suspect.node for suspect in diagnosis.nodes)
        nodes.update(bar.node for bar in diagnosis.pictures.nodes)
        nodes.update(diagnosis.coverage.nodes_missing)
        nodes = {node for node in nodes if _is_name(node) and not _RANKS.fullmatch(node)}
        job = {diagnosis.job} if _is_name(diagnosis.job) else set()
        masked = {_masked(name) for name in nodes | job}
        # what a mask has replaced as a whole, an address say, is no name any more
        return cls(frozenset(nodes), frozenset(job), frozenset(name for name in masked if not name.startswith("<")))

    def out_of(self, sentence: str) -> str:
        """A sentence about the job as it could be said of any job."""
        text = QUOTE.sub(lambda quote: f"“{self.out_of_log(quote[1])}”", sentence)
        text = _replaced(self.job, "the job", _replaced(self.nodes, "a node", text))
        text = _RANKS.sub("a rank", _AFTER.sub("", text))
        text = _MANY.sub(lambda many: f"some {many[1][2:]}s", _ADDRESS.sub("an address", text))
        return _START.sub(lambda start: start[1] + start[2].capitalize(), text)

    def out_of_log(self, text: str) -> str:
        """A log text, masked, in which any text may stand for a name."""
        return _replaced(self.masked, WILDCARD, _masked(text)).replace("<ID>", WILDCARD)


def _is_name(name: str) -> bool:
    """Whether it can be told from a count in a sentence."""
    return len(name) >= MIN_DIGITS if name.isdigit() else len(name) > 1


def _replaced(names: Collection[str], by: str, text: str) -> str:
    """A text with something else for each of these names, where it is not a part of another word.

    The longest first, so that none cuts another. Of thousands of names few stand in a text: only those are searched.
    """
    ordered = sorted((name for name in names if name in text), key=lambda name: (-len(name), name))
    either = "|".join(map(re.escape, ordered))
    return re.sub(rf"(?<![\w.-])(?:{either})(?![\w-]|[.]\w)", by, text) if ordered else text


def _masked(text: str) -> str:
    return mask(text.encode("utf-8", "replace")).decode("utf-8", "replace").strip()
