"""Claims: what is true of a job, each with an id, its words, and the evidence that it stands on.

Only code makes claims, from a diagnosis and from known faults. A note is an order of claims, so that nothing false can
stand in it; answers to questions can be made of them the same way.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class ClaimUse(StrEnum):
    """Where in a note a claim may stand."""

    HEADLINE = "headline"
    HAPPENED = "happened"
    CAUSE = "cause"
    CHECK = "check"
    FIX = "fix"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is true of the job.

    id: the evidence and what is said of it: "E1.said". says: whole sentences. clause: the same without capital and full
    stop, to follow another claim; empty when it stands alone. short: for a headline. cites: ids of evidence. at: when
    it happened, microseconds of the job's clock. ground: no trace in the logs tells the reason of what it says, so that
    it may be said that nobody knows one.
    """

    id: str
    uses: frozenset[ClaimUse]
    says: str
    cites: tuple[str, ...]
    clause: str = ""
    short: str = ""
    at: int | None = None
    ground: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """A mechanism that the core or a pattern names, and that may stand behind "likely because".

    id: of the event or the pattern. behind: ids of the claims that it may explain. says: a clause, or whole sentences
    of a pattern. at: when the event was first seen.
    """

    id: str
    says: str
    behind: frozenset[str]
    whole: bool = False
    at: int | None = None


@dataclass(frozen=True, eq=False)
class Claims:
    """All claims of an answer, the most telling first.

    suspect: the first suspect's node, which a headline has to name; empty without one. knows: whether anything tells
    why the job failed. peers: ids of claims by healthy peers. names: finds the nodes, of thousands of which each is
    redacted only if somebody asks. text: with them, all that may be named by whatever is written beside the claims.
    """

    every: tuple[Claim, ...]
    reasons: tuple[Reason, ...]
    suspect: str
    knows: bool
    peers: frozenset[str]
    names: Callable[[], frozenset[str]]
    text: str

    @cached_property
    def _by_id(self) -> dict[str, Claim]:
        return {claim.id: claim for claim in self.every}

    def find(self, name: str, use: ClaimUse | None = None) -> Claim | None:
        """The claim of that id, if it may stand there."""
        claim = self._by_id.get(name)
        return claim if claim and (use is None or use in claim.uses) else None

    def of(self, use: ClaimUse) -> tuple[Claim, ...]:
        """The claims that may stand in this part of a note."""
        return tuple(claim for claim in self.every if use in claim.uses)

    def about(self, prefix: str) -> Iterator[Claim]:
        """The claims about one piece of evidence, or about all of a kind: "E1.", "N"."""
        return (claim for claim in self.every if claim.id.startswith(prefix))

    def reason(self, name: str) -> Reason | None:
        """The mechanism of that id."""
        return next((reason for reason in self.reasons if reason.id == name), None)
