"""What a question is about: a job that was read, its diagnosis, known faults like it, and the jobs beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from bot.ask.named_values import message_terms
from bot.note.claim import Claims
from bot.note.claim_source import ClaimSource
from bot.note.claims import claims_of
from bot.text.known_fault import KnownFault
from core.events.row_text import read_rows
from core.job import Manifest
from core.logs.voices import Origin
from core.model import Diagnosis, EventEvidence, Evidence, Role
from core.parsed import Parsed

MAX_MESSAGES = 20_000  # kinds of messages whose words are compared


class OtherJobs(Protocol):
    """The jobs beside the one that is asked about; reading them takes time, so only answers that need them ask."""

    def manifests(self) -> Sequence[Manifest]:
        """What is known of every job without its logs."""

    def subject(self, job: str) -> "Subject | None":
        """Another job, read and diagnosed; None where there is none of that name."""


class NoOtherJobs:
    """No job is beside it."""

    def manifests(self) -> Sequence[Manifest]:
        """No other job is known here."""
        return ()

    def subject(self, job: str) -> "Subject | None":  # noqa: ARG002 there is none
        """No other job can be read here."""
        return None


@dataclass(frozen=True, eq=False)
class Subject:
    """A job, what the diagnosis says of it, known faults like it, and the jobs beside it."""

    parsed: Parsed
    diagnosis: Diagnosis
    known: tuple[KnownFault, ...] = ()
    beside: OtherJobs = field(default_factory=NoOtherJobs)

    @cached_property
    def claims(self) -> Claims:
        """What is true of the job."""
        return claims_of(self.diagnosis, self.known)

    @cached_property
    def about(self) -> ClaimSource:
        """The diagnosis, made harmless."""
        return ClaimSource(self.diagnosis, self.known)

    @cached_property
    def evidence(self) -> dict[str, Evidence]:
        """All evidence by its id."""
        every: tuple[Evidence, ...] = (*self.diagnosis.events, *self.diagnosis.nodes, *self.diagnosis.iterations)
        return {evidence.id: evidence for evidence in every}

    def sentence_of(self, evidence: Evidence) -> str:
        """The sentence of a piece of evidence, with the words of the log where it says "this"."""
        about = self.about
        return about.capital(about.because(evidence) if isinstance(evidence, EventEvidence) else evidence.because)

    @cached_property
    def messages(self) -> list[frozenset[str]]:
        """The terms of each kind of message, by its first line and its last: a progress bar begins without its loss."""
        table = self.parsed.table
        kinds = table.templates[:MAX_MESSAGES]
        last = {event: int(rows[-1]) for event, rows in table.rows_of(range(len(kinds))).items() if len(rows)}
        texts = read_rows(self.parsed.files, table, np.unique(np.array(list(last.values()), np.intp)))
        ends = [texts.get(last.get(event, -1), "") for event in range(len(kinds))]
        return [message_terms(kind.sample) | message_terms(end) for kind, end in zip(kinds, ends, strict=True)]

    @property
    def leading(self) -> EventEvidence | None:
        """The direct trace that is shown first, else the first event that is not harmless."""
        events = [event for event in self.diagnosis.events if event.role is not Role.BENIGN]
        return next((event for event in events if event.is_trace), events[0] if events else None)

    @property
    def lead_ids(self) -> tuple[str, ...]:
        """The id of what is shown first, to be cited; none where nothing is."""
        return (self.leading.id,) if self.leading else ()

    def origin(self, row: int) -> Origin:
        """Who wrote a row of the event table."""
        origin: Origin = self.parsed.table.origins[self.parsed.table.voice[row]]
        return origin

    @cached_property
    def home(self) -> dict[int, str]:
        """The node of each rank, as far as it is known."""
        home_of = {rank: node for node, ranks in self.parsed.job.manifest.node_ranks.items() for rank in ranks}
        table = self.parsed.table
        heard = {
            origin.rank: origin.node for origin in table.origins if origin.rank is not None and origin.node is not None
        }
        return {**heard, **home_of}

    def ranks_on(self, node: str) -> tuple[int, ...]:
        """The ranks of a node."""
        return tuple(sorted(rank for rank, home in self.home.items() if home == node))
