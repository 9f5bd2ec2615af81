"""What the patterns of a team tell of a diagnosed job: which fit, how well, and how often such an answer was right.

A pattern whose cause is said in the same words is "this"; one with the same cause in other words "looks like" it. What
only went alike, a killed process or a job that stood still, has many causes: it is "seen with" them and never leads.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.model import Diagnosis
from faultlib.answers import Answers
from faultlib.draft import pattern_of
from faultlib.findings import Finding, finding_of, is_symptom_text, tells_what_broke
from faultlib.levels import CAUSES, ORDER, Agreement, Backing, Level, Score, agreement, backing, shipped_score
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry, Origin, Part, Pattern, Signature, Status
from faultlib.signature import Match, matches_lines
from faultlib.traits import traits_of

MAX_MERGES = 8  # patterns that gave way to one another in turn
# Likelihood from which a pattern is told, chosen on the sets that are fitted (docs/LOG.md). There is one for all: with
# less for symptoms, and less still for a killed process, 7 more of 291 jobs of sets that nobody had fitted were told a
# pattern of another cause, and none its own.
SHOWN = 0.55
OFFERED = 0.3  # from which a person is asked whether a new pattern is that fault: one of three questions is worth it
SURE = 0.9  # from which the same message is called this: of 20 such answers one may be wrong, and counts are rough
PRIOR = 4  # answers that the fitted score counts as: after four of people's, theirs count as much


class Fit(StrEnum):
    """How a pattern fits a job, in the words of the answer."""

    IS = "is this"
    LOOKS = "looks like"
    SEEN = "seen with"


@dataclass(frozen=True, slots=True)
class Likely:
    """A pattern of the team that fits a job.

    likelihood: 0..1, of being right about the cause. answers: what people said of it, which is counted in.
    """

    entry: Entry
    fit: Fit
    likelihood: float
    level: Level
    answers: Answers = field(default_factory=Answers)

    @property
    def is_shown(self) -> bool:
        """Whether it is likely enough to be told."""
        return self.likelihood >= SHOWN


def likely(
    diagnosis: Diagnosis,
    entries: Iterable[Entry],
    matches: Sequence[Match],
    answers: Mapping[str, Answers],
    lexicon: Lexicon | None = None,
    least: float | None = None,
    score: Score | None = None,
) -> tuple[Likely, ...]:
    """The team's patterns that fit a diagnosis, the likeliest first; none is an answer.

    Args:
        entries: the patterns that may fit, and those that gave way to them.
        matches: patterns whose events are all in the job.
        answers: by pattern id.
        lexicon: how rare a word is in the library; None: the entries are all that it has.
        least: likelihood of what is told; None: ``SHOWN``.
        score: how often such answers were right; None: what comes with Firstfault.
    """
    if finding_of(diagnosis) is Finding.UNCLEAR and all(event.ordinary for event in diagnosis.events):
        return ()
    entries = list(entries)
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    team = [entry for entry in approved if entry.origin is Origin.TEAM]
    if not team:
        return ()
    asked, lexicon = pattern_of(diagnosis), lexicon or Lexicon(entry.pattern.words() for entry in approved)
    matched, traces = {match.entry.id: match for match in matches}, causes_of(diagnosis)
    agreed = []
    for shown, entry in showings(entries, team):
        match = matched.get(shown.id)
        literal = bool(match and traces & set(match.events))
        if (how := agreement(asked, shown, lexicon, literal=literal)) is not None:
            agreed.append((how, entry))
    found = []
    for entry, how, share in shares(agreed, score or shipped_score()):
        judged = answers.get(entry.id, Answers())
        share_learned = learned(share, judged)
        item = Likely(entry, fit_of(share_learned, how.level), share_learned, how.level, judged)
        if share_learned >= (SHOWN if least is None else least):
            found.append(item)
    return tuple(sorted(found, key=lambda item: (item.fit is Fit.SEEN, -item.likelihood, item.entry.id)))


def showings(entries: Iterable[Entry], team: Iterable[Entry]) -> Iterator[tuple[Pattern, Entry]]:
    """Each pattern of the team as itself and as each job showed it that joined it, with the pattern that it stands for.

    One fault shows in several ways: a process that is frozen is silent in one job, and killed by its launcher in
    another. What joins a pattern, or gives way to it, stays in the library with its own signature.
    """
    targets = {entry.id: entry for entry in team}
    after = {entry.id: entry.superseded_by for entry in entries if entry.status is Status.SUPERSEDED}
    for entry in targets.values():
        yield entry.pattern, entry
    for entry in entries:
        target = entry.superseded_by
        for _ in range(MAX_MERGES):
            target = after.get(target, target)
        if entry.status is Status.SUPERSEDED and target in targets:
            yield entry.pattern, targets[target]


def same_fault(words: Pattern, entries: Iterable[Entry]) -> Entry | None:
    """The pattern of the team that a new one may be the same fault as, by their cores; a person is asked."""
    entries = list(entries)
    approved = (entry for entry in entries if entry.status is Status.APPROVED and entry.id != words.id)
    team = [entry for entry in approved if entry.origin is Origin.TEAM]
    lexicon = Lexicon(entry.pattern.words() for entry in team)
    found = ((agreement(words, shown, lexicon, literal=False), entry) for shown, entry in showings(entries, team))
    best = next(shares(((how, entry) for how, entry in found if how is not None), shipped_score()), None)
    return best[0] if best is not None and best[2] >= OFFERED else None


def told_for(words: Pattern, entries: Iterable[Entry]) -> Sequence[tuple[Entry, Level]]:
    """The team's other patterns of whose jobs this one would be told, were it confirmed, the most telling first."""
    entries = list(entries)
    team = [entry for entry in entries if entry.status is Status.APPROVED and entry.origin is Origin.TEAM]
    lexicon, score = Lexicon(entry.pattern.words() for entry in team), shipped_score()
    found: dict[str, tuple[Entry, Level]] = {}
    for shown, entry in showings(entries, [entry for entry in team if entry.id != words.id]):
        literal = any(matches_lines(words.signature, text) for text in shown.examples.match)
        how = agreement(shown, words, lexicon, literal=literal)
        if how is None or score.likelihood(how.level, Backing.ONCE) < SHOWN:
            continue
        if entry.id not in found or ORDER.index(how.level) < ORDER.index(found[entry.id][1]):
            found[entry.id] = (entry, how.level)
    return sorted(found.values(), key=lambda item: (ORDER.index(item[1]), item[0].id))


def shares(agreed: Iterable[tuple[Agreement, Entry]], score: Score) -> Iterator[tuple[Entry, Agreement, float]]:
    """Patterns with how likely each is right before people's answers, the likeliest first.

    Of those that agree equally far the one that was confirmed in the most such jobs comes first, and has what such an
    answer was right; the others share what is left, each by its jobs.

    Args:
        agreed: what agrees, with the pattern that it stands for.
    """
    known: dict[str, list[tuple[Agreement, Entry]]] = {}
    for how, entry in agreed:
        known.setdefault(entry.id, []).append((how, entry))
    best = [(min(shown, key=lambda pair: pair[0].order), shown) for shown in known.values()]
    backed = [(how, sum(other.level is how.level for other, _ in shown), entry) for (how, entry), shown in best]
    ordered = sorted(backed, key=lambda item: (ORDER.index(item[0].level), -item[1], -item[0].likeness, item[2].id))
    jobs = Counter[Level]()
    for how, count, _ in ordered:
        jobs[how.level] += count
    left = share = 1.0
    for place, (how, count, entry) in enumerate(ordered):
        first = not place or ordered[place - 1][0].level is not how.level
        if first:
            share = left * score.likelihood(how.level, backing(count, jobs[how.level] - count))
        else:  # no likelier than the one before it
            share = min(share, left * count / jobs[how.level])
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
    return frozenset(event.event for event in diagnosis.events if event.is_trace and tells_what_broke(event))


def shows_a_cause(diagnosis: Diagnosis) -> bool:
    """Whether a pattern made of it can tell another job's cause; what shows symptoms only is "seen with" one."""
    return bool(causes_of(diagnosis)) or any(trait.part is Part.CAUSE for trait in traits_of(diagnosis))


def tells_a_cause(signature: Signature) -> bool:
    """Whether an event of a signature is more than a symptom."""
    return any(not is_symptom_text(event) for clause in signature.must for event in clause.events)
