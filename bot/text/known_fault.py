"""Fault patterns as a diagnosis cites them: which, how sure, who vouches for it, and what helped."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A pattern of the fault library that fits a job; ``id`` is P1, P2, ... in the order in which they are shown.

    fit: "is this" (it has the cause), "looks like", or "seen with" (symptoms alone, which many causes have).
    signed: all events of its signature are in the job. exact: it is this. agrees: the diagnosis counts one of these
    events among those that point at the failure. score: how likely it is right, 0..1; 1 for public facts, whose share
    nobody has measured. events: ids of the diagnosis' events (E1) that both share. seed: public facts, which nobody of
    the team has confirmed; then ``confirmed_by``, ``confirmed_at`` (ISO 8601, UTC) and ``confirmation``, which says
    how, are empty. jobs: other jobs of ours that it was seen in.
    """

    id: str
    pattern: str
    version: int
    title: str
    category: str
    subtype: str
    cause: str
    fix: str
    exact: bool
    agrees: bool
    score: float
    because: str
    events: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    seed: bool = False
    confirmed_by: str = ""
    confirmed_at: str = ""
    confirmation: str = ""
    jobs: tuple[str, ...] = ()
    fit: str = ""
    signed: bool = False

    @property
    def known(self) -> bool:
        """Whether it is shown as known, not as similar: it is this, or its whole signature is in the job."""
        return self.exact or self.signed
