"""How well questions in people's words are answered from the seeds, and how often "nothing like it" is the answer.

A cut is chosen on one half of the public questions (``recall_public``) and told of the other. A held question is one
that seeds answer; taken out, it asks the library without them; nobody answers the left-out ones and nonsense.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.recall_public import NONSENSE, PUBLIC, PublicQuestion
from benchmarks.quality.recall_questions import QUESTIONS, STRANGE
from faultlib.embedding import Embedder
from faultlib.pattern import Entry
from faultlib.question_search import find

ASKED = ("questions", "held", "first", "in three", "taken out", "told", "left out", "told", "nonsense", "told")
LIMIT = 3
Cosines = Mapping[str, float]
Answering = Callable[[str, Sequence[Entry], Cosines], Sequence[str]]  # ids of what is told, the best first


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of some questions; see the head of this file."""

    with_seeds: int
    first: int
    three: int
    taken_told: int
    left: int
    left_told: int
    nonsense: int
    nonsense_told: int


def halves() -> Mapping[str, tuple[Sequence[PublicQuestion], Sequence[str]]]:
    """Questions and nonsense: the older ones, the half that the cut is chosen on, and the half that it is told of."""
    return {
        "written by us": ([PublicQuestion(words, "", tuple(seeds)) for words, seeds in QUESTIONS], STRANGE),
        "public, chosen on": (PUBLIC[::2], NONSENSE[::2]),
        "public, told of": (PUBLIC[1::2], NONSENSE[1::2]),
    }


def rows(seeds: Sequence[Entry], embedder: Embedder) -> Iterable[Sequence[object]]:
    """A row for each part of the questions."""
    for name, (asked, nonsense) in halves().items():
        got = counted(asked, nonsense, seeds, embedder, answered)
        cells = (got.with_seeds, got.first, got.three, got.with_seeds, got.taken_told)
        yield name, *cells, got.left, got.left_told, got.nonsense, got.nonsense_told


def answered(words: str, entries: Sequence[Entry], semantic: Cosines) -> Sequence[str]:
    """What the library tells."""
    return [found.entry.id for found in find(words, entries, semantic, limit=LIMIT)]


def counted(
    questions: Sequence[PublicQuestion],
    nonsense: Sequence[str],
    seeds: Sequence[Entry],
    embedder: Embedder,
    answering: Answering,
) -> Counted:
    """Ask them all."""
    with_seeds = [question for question in questions if question.seeds]
    left = [question for question in questions if not question.seeds]
    first = three = taken = 0
    for question in with_seeds:
        semantic = _cosines_of(question.words, seeds, embedder)
        sentences = answering(question.words, seeds, semantic)
        first += bool(set(sentences[:1]) & set(question.seeds))
        three += bool(set(sentences) & set(question.seeds))
        rest = [seed for seed in seeds if seed.id not in question.seeds]
        taken += bool(answering(question.words, rest, semantic))
    strange = [bool(answering(words, seeds, _cosines_of(words, seeds, embedder))) for words in nonsense]
    astray = [bool(answering(question.words, seeds, _cosines_of(question.words, seeds, embedder))) for question in left]
    return Counted(len(with_seeds), first, three, taken, len(left), sum(astray), len(strange), sum(strange))


def _cosines_of(text: str, entries: Sequence[Entry], embedder: Embedder) -> Mapping[str, float]:
    """The cosine of a text and each pattern, by pattern id."""
    vectors = embedder.embed([entry.pattern.words() for entry in entries])
    cosines = vectors @ embedder.embed([text])[0]
    return dict(zip((entry.id for entry in entries), cosines.tolist(), strict=True))
