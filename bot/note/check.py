"""The check of a draft: what the cited evidence does not hold is refused. In doubt it is refused.

Nothing here asks whether a sentence is well said; only whether somebody could be misled by it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.note import fixed
from bot.note.blame import blames
from bot.note.clauses import QUOTED, Parts, halves, take_apart, unmarked
from bot.note.draft import Draft, Sentence
from bot.note.evidence import EvidenceList, Item, Kind
from bot.note.form import bad_form, bad_quote
from bot.note.holds import Ground, lacking_in
from bot.note.joined import elliptical, loosely_joined, without_lead
from bot.note.units import Clause
from bot.note.words import words
from core.model import Confidence, Diagnosis

ADVICE = ("check_first", "fix")
VERDICT = ("headline", "cause")
CLOCKS_DIFFER = 1_000_000  # microseconds; events of different nodes closer than this have no order
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d])")
_THEN = re.compile(
    r"(?i)^(?:after (?:that|this)|afterwards|then|later|next|first|finally),?\s+"
)  # order has a check of its own
_CONFIRMED = re.compile(r"(?i)\b(?:un)?(?:confirm|approv|verif|validat)\w*")
_ASKS = re.compile(r"(?i)\?|\bwhether\b|\bit is unknown\b")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence that may not be shown, where it stood, and why."""

    field: str
    sentence: str
    reason: str


def check(draft: Draft, evidence: EvidenceList, diagnosis: Diagnosis) -> tuple[Refusal, ...]:
    """Every refused sentence of a draft; empty when all of it may be shown."""
    court = Court(evidence, diagnosis)
    refused = [
        Refusal(field, sentence.text, reason)
        for field, sentence in draft.places()
        for reason in court.reasons(field, sentence)
    ]
    return (*refused, *(Refusal("happened", one.text, why) for one, why in court.out_of_order(draft.happened)))


class Court:
    """Judges sentences against one list of evidence."""

    def __init__(self, evidence: EvidenceList, diagnosis: Diagnosis) -> None:
        self._evidence = evidence
        self._diagnosis = diagnosis
        self._grounds: dict[tuple[str, bool], Ground] = {}

    def reasons(self, field: str, sentence: Sentence) -> Iterator[str]:
        """Why a sentence is refused."""
        own = field in VERDICT and sentence.text in fixed.allowed(field, self._evidence, self._diagnosis)
        if own and sentence.cites == fixed.verdict(self._evidence):
            return
        if field in VERDICT and self._diagnosis.scope in fixed.SCOPES:
            yield f"the scope is {self._diagnosis.scope}: this field is written by the program"
            return
        cited = [item for name in sentence.cites if (item := self._evidence.find(name))]
        if unknown := [name for name in sentence.cites if self._evidence.find(name) is None]:
            yield f"there is no evidence {', '.join(name[:8] for name in unknown)}"
        if not cited:
            yield "it cites nothing"
            return
        if field == "cause" and sentence.text == fixed.NOT_SHOWN:
            return
        if field in VERDICT and not any(item.telling and item.kind is not Kind.PATTERN for item in cited):
            yield "a cause cannot stand on what it cites: no root event, suspect, iteration or verdict"
        if field == "fix" and not any(item.kind in (Kind.CHECK, Kind.PATTERN) for item in cited):
            yield "a fix has to cite a check or a fault pattern"
        yield from self._form(field, sentence, cited)
        yield from self._sure(field, sentence.text, cited)
        own_words = take_apart(_THEN.sub("", " ".join(self._own_words(field, sentence.text, cited))))
        if own_words.bare.strip() or own_words.quotes:
            yield from blames(field, own_words, self._diagnosis, self._evidence)
            yield from self._clauses(field, own_words, cited)

    def recited(self, field: str, sentence: Sentence) -> Sentence:
        """The sentence; when it copies one item word by word and cites another, with the id of the copied one."""
        if not any(True for _ in self.reasons(field, sentence)):
            return sentence
        for item in self._evidence.items:
            copy = Sentence(text=sentence.text, cites=[item.id])
            if not self._own_words(field, copy.text, [item]) and not any(True for _ in self.reasons(field, copy)):
                return copy
        return sentence

    def out_of_order(self, happened: Sequence[Sentence]) -> Iterator[tuple[Sentence, str]]:
        """Sentences of a story that go back in time."""
        latest = None
        for sentence in happened:
            clocks = [item.clock for name in sentence.cites if (item := self._evidence.find(name)) and item.clock]
            if clocks and latest is not None and min(clocks) + CLOCKS_DIFFER < latest:
                yield sentence, "it happened before what the sentence before it tells"
            latest = min(clocks) if clocks else latest

    def _form(self, field: str, sentence: Sentence, cited: Sequence[Item]) -> Iterator[str]:
        parts = take_apart(sentence.text)
        advice = " ".join(claim for item in cited if item.kind in (Kind.CHECK, Kind.PATTERN) for claim in item.claims)
        copied = not any(self._own_words(field, sentence.text, cited))
        trusted = " ".join((advice, parts.bare if copied else ""))
        yield from bad_form(parts.bare, trusted)
        if QUOTED in sentence.text.lower():
            yield f"\u201c{QUOTED}\u201d is a word of the program"
        if parts.unbalanced:
            yield "a quotation mark has no partner"
        for quote in parts.quotes:
            grounds = [self._ground(item, trusted=field in ADVICE) for item in cited]
            if not copied and not any(_plain(quote) in _plain(ground.text) for ground in grounds):
                yield f"the quote \u201c{quote[:60]}\u201d is not in what it cites"
            yield from bad_quote(quote, trusted)

    def _own_words(self, field: str, text: str, cited: Sequence[Item]) -> list[str]:
        """The sentences of a text that are not word for word what our code or a person says."""
        text = text.removeprefix(fixed.HINT)
        known = self._sayings(field, cited)
        if _same(text) in known and not elliptical(text):
            return []
        return [part for part in _SENTENCES.split(text) if _same(part) not in known]

    def _sayings(self, field: str, cited: Sequence[Item]) -> frozenset[str]:
        found: set[str] = set()
        for item in cited:
            if item.kind is Kind.PATTERN:
                usable = field in ("fix", "open_questions") or (field == "cause" and item.known and item.known.exact)
                texts = [re.sub(r"^(?:Cause|Fix) then: ", "", claim) for claim in item.claims] if usable else []
            elif field in ADVICE:
                texts = list(item.claims) if item.kind is Kind.CHECK else []
            else:
                texts = (
                    list(item.claims) if item.kind is not Kind.CHECK and (item.telling or field not in VERDICT) else []
                )
            found |= {_same(part) for text in texts for part in (text, *_SENTENCES.split(text), *_parts(text))}
        return frozenset(found)

    def _sure(self, field: str, text: str, cited: Sequence[Item]) -> Iterator[str]:
        confidence = self._diagnosis.confidence
        if (match := words().certain.search(text)) and confidence is not Confidence.ESTABLISHED:
            yield f"\u201c{match[0]}\u201d is surer than the evidence, which is {confidence}"
        hedged = words().hedges.search(text) is not None
        if field in VERDICT and confidence is Confidence.WEAK and not hedged:
            yield "the evidence is weak: say \u201cmay\u201d or \u201clikely\u201d"
        alike = [item for item in cited if item.known and not item.known.exact]
        if field in VERDICT and alike and not hedged:
            yield f"{alike[0].id} only looks alike: say \u201cmay\u201d or \u201clikely\u201d"
        team = any(item.known and item.known.confirmed_by for item in cited)
        if (match := _CONFIRMED.search(text)) and not team and not words().negation.search(text):
            yield f"\u201c{match[0]}\u201d: nobody of the team has confirmed it"

    def _clauses(self, field: str, parts: Parts, cited: Sequence[Item]) -> Iterator[str]:
        grounds = [self._ground(item, trusted=field in ADVICE) for item in cited if _carries(item, field, parts.bare)]
        if parts.clauses and not grounds:
            yield "nothing that it cites can carry this field"
            return
        if any(self._holds(ground, parts.whole, parts, field) for ground in grounds):
            return
        apart = list(parts.marked)
        for clause in parts.marked:
            two = halves(clause)
            if two and all(self._holders(half, grounds, parts, field) for half in two):
                apart += two
            elif not self._holders(clause, grounds, parts, field):
                yield self._missing(unmarked(clause), grounds)
        yield from loosely_joined(parts, apart)
        yield from self._before_and_after(parts, field, grounds)

    def _missing(self, clause: str, grounds: Sequence[Ground]) -> str:
        name, least = lacking_in(grounds, Clause(clause, self._evidence.names))
        if not least:
            return f"\u201c{clause.strip()[:80]}\u201d does not keep the words of {name} in their order"
        alone = f"; no cited item alone holds \u201c{clause[:80]}\u201d" if len(grounds) > 1 else ""
        return f"{name} does not hold: {', '.join(least[:5])}{alone}"

    def _holders(self, text: str, grounds: Sequence[Ground], parts: Parts, field: str) -> list[Item]:
        return [ground.item for ground in grounds if self._holds(ground, text, parts, field)]

    def _holds(self, ground: Ground, text: str, parts: Parts, field: str) -> bool:
        """What a text says, and in the order of one claim or line."""
        bare = unmarked(text)
        clauses = take_apart(bare).clauses
        if any(ground.lacks(Clause(clause, self._evidence.names)) for clause in clauses):
            return False
        return any(
            ground.keeps_order(form, parts.quotes, advice=field in (*ADVICE, "open_questions"))
            for form in without_lead(text, field)
        )

    def _before_and_after(self, parts: Parts, field: str, grounds: Sequence[Ground]) -> Iterator[str]:
        text = parts.whole
        match = _ORDER.search(text)
        timed = [ground for ground in grounds if ground.item.clock is not None]
        if not match or len(timed) < 2:
            return
        left, right = (
            self._holders(part, timed, parts, field) for part in (text[: match.start()], text[match.end() :])
        )
        if len(left) != 1 or len(right) != 1 or left == right:
            return
        gap = (right[0].clock or 0) - (left[0].clock or 0)
        forward = match[0].strip(" ,").split()[0].lower() in ("before", "then", "led", "causing", "caused")
        if (gap if forward else -gap) < -CLOCKS_DIFFER:
            yield f"the order of {left[0].id} and {right[0].id} is the other way round"

    def _ground(self, item: Item, *, trusted: bool) -> Ground:
        if (item.id, trusted) not in self._grounds:
            self._grounds[item.id, trusted] = Ground(item, self._evidence.names, trusted=trusted)
        return self._grounds[item.id, trusted]


_ORDER = re.compile(
    r"(?i)[\s,]+(?:before|after(?!\s+iteration)|then|led to|causing|caused by|caused|because of|because|due to)\s+"
)


def _carries(item: Item, field: str, text: str) -> bool:
    """Whether an item may carry a clause of a field: a check is no finding, and a pattern tells of another job."""
    if field in ADVICE:
        return True
    if item.kind in (Kind.CHECK, Kind.PATTERN):
        asks = field == "open_questions" and _ASKS.search(text) is not None
        return asks or (field == "cause" and item.kind is Kind.PATTERN)
    return field not in VERDICT or item.telling


def _parts(text: str) -> list[str]:
    """What stands between the semicolons of a claim, where it can stand alone."""
    return [part for part in re.split(r"(?<=[.;])\s+", text) if not elliptical(part)]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _same(text: str) -> str:
    return _plain(text).rstrip(".;").casefold()


def falls(sentence: Sentence, field: str, refused: Sequence[Refusal]) -> bool:
    """Whether a sentence is among the refused ones."""
    return any(one.field == field and one.sentence == sentence.text for one in refused)
