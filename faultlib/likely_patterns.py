"""What the patterns of a team tell of a diagnosed job: which fit, how well, and how often such an answer was right.

A pattern that shares the cause is "this"; one that only looks alike "looks like" it. What consists of symptoms, a
killed process or lost peers, has many causes: it is "seen with" them and never leads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.model import Diagnosis, Role, Scope
from faultlib.answers import Answers
from faultlib.draft import pattern_of
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry, Origin, Part, Signature, Status
from faultlib.score import features, fitted, probability, shares_cause
from faultlib.signature import Match
from faultlib.traits import is_symptom, is_symptom_text, traits_of

SHOWN = 0.5  # likelihood from which a pattern is worth a look: rather right than wrong
SURE = 0.7  # from which what shares a cause is called this
PRIOR = 4  # answers that the fitted score counts as: after four of people's, theirs count as much
LIMIT = 3  # a reader looks at few


class Fit(StrEnum):
    """How a pattern fits a job, in the words of the answer."""

    IS = "is this"
    LOOKS = "looks like"
    SEEN = "seen with"


@dataclass(frozen=True, slots=True)
class Likely:
    """A pattern of the team that fits a job well enough. likelihood: 0..1, of being right about the cause."""

    entry: Entry
    fit: Fit
    likelihood: float


def likely(
    diagnosis: Diagnosis,
    entries: Iterable[Entry],
    matches: Sequence[Match],
    answers: Mapping[str, Answers],
    lexicon: Lexicon | None = None,
) -> tuple[Likely, ...]:
    """The team's patterns that fit a diagnosis, the likeliest first; none is an answer.

    Args:
        entries: the patterns that may fit.
        matches: patterns whose events are all in the job.
        answers: by pattern id.
        lexicon: how rare a word is in the library; None: the entries are all that it has.
    """
    if not diagnosis.events and not diagnosis.nodes:
        return ()
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    team = [entry for entry in approved if entry.origin is Origin.TEAM]
    if not team:
        return ()
    asked, lexicon = pattern_of(diagnosis), lexicon or Lexicon(entry.pattern.words() for entry in approved)
    matched, traces = {match.entry.id: match for match in matches}, causes_of(diagnosis)
    found = []
    for entry in team:
        values = features(asked, entry.pattern, lexicon, matched=entry.id in matched)
        match = matched.get(entry.id)
        literal = bool(match and traces & set(match.events))
        cause = literal or shares_cause(asked, entry.pattern)
        by = fitted().cause if cause else fitted().others
        share = learned(probability(values, by), answers.get(entry.id, Answers()))
        if share >= SHOWN and (cause or diagnosis.scope is not Scope.NONE):
            found.append(Likely(entry, fit_of(share, cause=cause, literal=literal), share))
    return tuple(sorted(found, key=lambda item: (item.fit is Fit.SEEN, -item.likelihood, item.entry.id))[:LIMIT])


def fit_of(share: float, *, cause: bool, literal: bool = False) -> Fit:
    """The words for a pattern; ``literal``: the cause stands in the job word by word."""
    if not cause:
        return Fit.SEEN
    return Fit.IS if literal or share >= SURE else Fit.LOOKS


def learned(share: float, answers: Answers) -> float:
    """The fitted likelihood after people's answers: each counts as one, the fitted one as ``PRIOR`` of them."""
    return (PRIOR * share + answers.right) / (PRIOR + answers.right + answers.wrong)


def causes_of(diagnosis: Diagnosis) -> frozenset[str]:
    """Template ids of direct traces that are more than a symptom."""
    return frozenset(event.event for event in diagnosis.events if event.role is Role.ROOT and not is_symptom(event))


def shows_a_cause(diagnosis: Diagnosis) -> bool:
    """Whether a pattern made of it can tell another job's cause; what shows symptoms only is "seen with" one."""
    return bool(causes_of(diagnosis)) or any(trait.part is Part.CAUSE for trait in traits_of(diagnosis))


def tells_a_cause(signature: Signature) -> bool:
    """Whether an event of a signature is more than a symptom."""
    return any(not is_symptom_text(event) for clause in signature.must for event in clause.events)
