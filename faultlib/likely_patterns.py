"""What the patterns of a team tell of a diagnosed job: which fit, how well, and how often such an answer was right.

A pattern whose cause is said in the same words is "this"; one with the same cause in other words "looks like" it. What
only went alike, a killed process or a job that stood still, has many causes: it is "seen with" them and never leads.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.model import Diagnosis, Role
from faultlib.answers import Answers
from faultlib.draft import pattern_of
from faultlib.findings import Finding, finding_of, is_symptom_text, tells_what_broke
from faultlib.levels import CAUSES, Agreement, Level, Score, agreement, shipped_score
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry, Origin, Part, Signature, Status
from faultlib.signature import Match
from faultlib.traits import traits_of

SHOWN = 0.5  # likelihood from which a pattern is worth a look: rather right than wrong
SURE = 0.7  # from which what has the same cause in the same words is called this
PRIOR = 4  # answers that the fitted score counts as: after four of people's, theirs count as much


class Fit(StrEnum):
    """How a pattern fits a job, in the words of the answer."""

    IS = "is this"
    LOOKS = "looks like"
    SEEN = "seen with"


@dataclass(frozen=True, slots=True)
class Likely:
    """A pattern of the team that fits a job. likelihood: 0..1, of being right about the cause."""

    entry: Entry
    fit: Fit
    likelihood: float
    level: Level


def likely(
    diagnosis: Diagnosis,
    entries: Iterable[Entry],
    matches: Sequence[Match],
    answers: Mapping[str, Answers],
    lexicon: Lexicon | None = None,
    least: float = SHOWN,
    score: Score | None = None,
) -> tuple[Likely, ...]:
    """The team's patterns that fit a diagnosis, the likeliest first; none is an answer.

    Args:
        entries: the patterns that may fit.
        matches: patterns whose events are all in the job.
        answers: by pattern id.
        lexicon: how rare a word is in the library; None: the entries are all that it has.
        least: likelihood of what is worth telling.
        score: how often such answers were right; None: what comes with Firstfault.
    """
    if finding_of(diagnosis) is Finding.UNCLEAR and not diagnosis.events:
        return ()
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    team = [entry for entry in approved if entry.origin is Origin.TEAM]
    if not team:
        return ()
    asked, lexicon = pattern_of(diagnosis), lexicon or Lexicon(entry.pattern.words() for entry in approved)
    matched, traces = {match.entry.id: match for match in matches}, causes_of(diagnosis)
    agreed = []
    for entry in team:
        match = matched.get(entry.id)
        literal = bool(match and traces & set(match.events))
        if (how := agreement(asked, entry.pattern, lexicon, literal=literal)) is not None:
            agreed.append((how, entry))
    found = []
    for entry, how, share in shares(agreed, score or shipped_score(), size=len(team)):
        share_learned = learned(share, answers.get(entry.id, Answers()))
        if share_learned >= least:
            found.append(Likely(entry, fit_of(share_learned, how.level), share_learned, how.level))
    return tuple(sorted(found, key=lambda item: (item.fit is Fit.SEEN, -item.likelihood, item.entry.id)))


def shares(
    agreed: Iterable[tuple[Agreement, Entry]], score: Score, *, size: int
) -> Iterator[tuple[Entry, Agreement, float]]:
    """Patterns with how likely each is right before people's answers, the likeliest first.

    Of those that agree equally far the most alike has what such an answer was right; the others share what is left.

    Args:
        size: patterns that the team has.
    """
    ordered = sorted(agreed, key=lambda pair: (pair[0].order, pair[1].id))
    left, equal = 1.0, Counter(how.level for how, _ in ordered)
    for place, (how, entry) in enumerate(ordered):
        best = not place or ordered[place - 1][0].level is not how.level
        share = left * (
            score.likelihood(how.level, alone=equal[how.level] == 1, size=size) if best else 1 / equal[how.level]
        )
        yield entry, how, share
        left -= share


def fit_of(share: float, level: Level) -> Fit:
    """The words for a pattern that agrees so far and is right with this likelihood."""
    if level not in CAUSES:
        return Fit.SEEN
    return Fit.IS if share >= SURE and level is Level.MESSAGE else Fit.LOOKS


def learned(share: float, answers: Answers) -> float:
    """The fitted likelihood after people's answers: each counts as one, the fitted one as ``PRIOR`` of them."""
    return (PRIOR * share + answers.right) / (PRIOR + answers.right + answers.wrong)


def causes_of(diagnosis: Diagnosis) -> frozenset[str]:
    """Template ids of direct traces that are more than a symptom."""
    return frozenset(event.event for event in diagnosis.events if event.role is Role.ROOT and tells_what_broke(event))


def shows_a_cause(diagnosis: Diagnosis) -> bool:
    """Whether a pattern made of it can tell another job's cause; what shows symptoms only is "seen with" one."""
    return bool(causes_of(diagnosis)) or any(trait.part is Part.CAUSE for trait in traits_of(diagnosis))


def tells_a_cause(signature: Signature) -> bool:
    """Whether an event of a signature is more than a symptom."""
    return any(not is_symptom_text(event) for clause in signature.must for event in clause.events)
