"""Who may be blamed: a suspect of the diagnosis, when its scope is a node; nobody else, in no words."""

import re
from collections.abc import Iterator

from bot.note.clauses import Parts
from bot.note.evidence import EvidenceList
from bot.note.mentions import mentions
from bot.note.words import words
from core.model import Diagnosis, Scope

_PART_OF_JOB = re.compile(r"(?i)\b(?:nodes?|machines?|ranks?|hosts?|workers?|servers?)\b")


def blames(field: str, parts: Parts, diagnosis: Diagnosis, evidence: EvidenceList) -> Iterator[str]:
    """Reasons to refuse a sentence for whom it blames; the names in its quotes count as well."""
    suspects = _suspects(evidence)
    ranks = frozenset(rank for one in diagnosis.nodes for rank in one.ranks)
    pointed = field in ("headline", "cause", "check_first", "fix")
    for clause in (*parts.clauses, *parts.quotes):
        said = mentions(clause, evidence.names)
        if pointed or words().blame.search(clause):
            if others := sorted(said.nodes - suspects):
                yield (
                    f"{others[0][:60]} is no suspect" if suspects else f"no node is a suspect, {others[0][:60]} neither"
                )
            if strangers := sorted(said.ranks - ranks):
                yield f"rank {strangers[0]} is on no suspect"
        strong = words().strong_blame.search(clause)
        if strong and diagnosis.scope is Scope.NODE and not (said.nodes or said.ranks):
            yield f"\u201c{strong[0]}\u201d: name the suspect, or leave it out"
    named = mentions(parts.bare, evidence.names).nodes
    if field in ("headline", "cause") and named and suspects and not named & _first(evidence):
        yield "it names none of the nodes that the verdict names"
    yield from _by_scope(parts.bare, diagnosis.scope)


def _by_scope(text: str, scope: Scope) -> Iterator[str]:
    strong, negated = words().strong_blame.search(text), words().negation.search(text) is not None
    if strong and scope is Scope.UNKNOWN and not negated:
        yield f"\u201c{strong[0]}\u201d: the scope is unknown, nothing may be blamed"
    if scope is Scope.NONE and not negated and (strong or words().failing.search(text)):
        yield "nothing of this job is at fault"
    if strong and _PART_OF_JOB.search(text):
        if scope is Scope.NODE and negated:
            yield "a part of the job is at fault by the evidence"
        if scope is Scope.JOB and not negated:
            yield "no part of the job is special by the evidence"


def _first(evidence: EvidenceList) -> frozenset[str]:
    """The leading suspect, and who else is named in the diagnosis' own headline."""
    verdict = evidence.find("D1")
    told = mentions(verdict.claims[0], evidence.names).nodes if verdict and verdict.claims else frozenset[str]()
    leading = evidence.find("N1")
    return told | frozenset(leading.nodes if leading else ())


def _suspects(evidence: EvidenceList) -> frozenset[str]:
    return frozenset(node for item in evidence.items if item.id.startswith("N") for node in item.nodes)
