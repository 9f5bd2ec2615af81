"""All claims of an answer: verdict, suspects, events, course, known faults, next steps, gaps, what was ruled out."""

from collections.abc import Sequence

from bot.note.about_events import claims_of_events, reasons_of_events
from bot.note.about_library import claims_of_library, reasons_of_library
from bot.note.about_outcome import Outcome, claims_of_course, claims_of_outcome
from bot.note.about_steps import claims_of_gaps, claims_of_steps
from bot.note.about_suspects import claims_of_suspects
from bot.note.about_verdict import claims_of_ruled_out, claims_of_verdict
from bot.note.claim import Claims
from bot.note.claim_source import ClaimSource
from bot.text.known_fault import KnownFault
from core.model import Diagnosis

MAX_CITED = 2  # lines of an event that whoever writes beside the claims may repeat


def claims_of(
    diagnosis: Diagnosis,
    known: Sequence[KnownFault] = (),
    outcome: Outcome | None = None,
    *,
    redact_addresses: bool = False,
) -> Claims:
    """What is true of a job; the same diagnosis gives the same claims in the same order.

    Args:
        outcome: how it came to its end; without it nothing is claimed of checkpoints, exit codes and the end.
    """
    about = ClaimSource(diagnosis, known, redact_addresses=redact_addresses)
    every = (
        *claims_of_verdict(about),
        *claims_of_suspects(about),
        *claims_of_events(about),
        *claims_of_course(about),
        *(claims_of_outcome(about, outcome) if outcome else ()),
        *claims_of_library(about),
        *claims_of_steps(about),
        *claims_of_ruled_out(about),
        *claims_of_gaps(about),
    )
    # A reason explains what shows no reason of its own: a silent suspect, the last iteration, peers that waited.
    peers = frozenset(f"{event.id}.said" for event in about.peers)
    behind = frozenset(
        entry.id
        for entry in every
        if entry.id in peers or entry.id.startswith(("N1.why", "N1.ended", "N1.behind", "I1."))
    )
    reasons = (*reasons_of_events(about, behind), *reasons_of_library(about, behind))
    text = "\n".join((*(f"{entry.says} {entry.short}" for entry in every), *_beside(about)))
    return Claims(every, reasons, about.suspect, bool(about.roots or about.exact), peers, about.node_names, text)


def _beside(about: ClaimSource) -> list[str]:
    """What else the evidence holds: its own sentences, its first lines, what is known of the job."""
    diagnosis = about.diagnosis
    evidence = (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations)
    lines = (line.text for evidence_item in evidence for line in evidence_item.lines[:MAX_CITED])
    facts = (f"{name} {value}" for name, value in diagnosis.facts.items())
    sentences = (*(evidence_item.because for evidence_item in evidence), *lines, *facts, *diagnosis.why, diagnosis.job)
    return [about.clean(text) for text in sentences]
