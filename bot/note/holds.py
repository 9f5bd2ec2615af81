"""Whether a piece of evidence holds what a clause says: who, how many, when, what broke, and in which roles.

A clause must be held by one claim or one log line of one item, with what the item's head says. A node of one and a
fault of another make a false sentence of two true ones.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, cached_property

from bot.note.evidence import Item, Kind
from bot.note.mentions import Amount, Mentions, is_id
from bot.note.order import keeps_order
from bot.note.passages import passages
from bot.note.units import FEW, LETTERS, PARTS, WITHOUT, Clause, Unit, content
from bot.note.words import stem, stems, words
from bot.wording import moment
from core.model import Role

_QUOTED = re.compile(r"\u201c[^\u201d]*\u201d|\"[^\"]*\"|`[^`]*`")
_UNIT_ENDS = re.compile(r"(?<=[.;!?])\s+|\s+(?=\u201c)|(?<=\u201d)\s+")
_TELLING_OVERLAP = 2  # words that a clause shares with a claim before a missing "not" is held against it
_OTHERS = re.compile(r"(?i)\b(?:others?|peers?|theirs?|them|they|rest|remaining|another|neighbou?rs?|victims?)\b")
_ACTORS = (
    r"\b(?:others?|peers?|controller|scheduler|launcher|torchrun"
    r"|(?:\d[\d,]*\s+)?(?:other\s+)?(?:successful\s+)?(?:nodes|jobs|ranks))\b"
)
_FROM_TO = re.compile(r"(?i)\bfrom\s+\S+\s+to\s+\S*[\w%]")
_ADVERB_NO = re.compile(r"(?i)\bno (?:single|other|one|longer)\b")
_AFTER_ITERATION = re.compile(r"(?i)\b(?:after|at|before|in) iteration\b")
_RELATION = re.compile(r"(?i)\b(?:before|after|while|behind|ahead|than|until|later|earlier)\b")
_PASSIVE = re.compile(r"(?i)\b(?:was|were|is|are|been|being)\s+(\w{2,}ed)\b")
_ANY = re.compile(r"[A-Za-z0-9][\w,.-]*[A-Za-z0-9]|[A-Za-z0-9]")
_THIS = re.compile(r"(?i)\blogged this\b")


class Ground:
    """What one item holds. ``trusted``: only what our code and people say, without quotes of logs."""

    def __init__(self, item: Item, names: frozenset[str], *, trusted: bool = False) -> None:
        self.item = item
        claims = tuple(_QUOTED.sub(" ", claim) for claim in item.claims) if trusted else item.claims
        lines = () if trusted else item.lines
        self.text = " \n ".join((*claims, *lines, *(() if trusted and item.known is None else item.places)))
        self._head = _head(item)
        self._counts = frozenset(_counted(item))
        self._judged: dict[str, tuple[str, ...]] = {}
        self._names = names
        self._passages = passages(item, names, trusted=trusted)
        sentences = [part for claim in claims for part in _UNIT_ENDS.split(claim) if part.strip()]
        if item.kind in (Kind.CHECK, Kind.PATTERN):
            sentences += claims  # one piece of advice is one thing
        self._claims = tuple(Unit(text, claim=True, names=names) for text in sentences)
        self._lines = tuple(Unit(text, claim=False, names=names) for text in lines)
        self._both = tuple(
            Unit(f"{claim.text} \n {line.text}", claim=True, names=names)
            for claim in self._claims
            for line in self._lines
        )

    @cached_property
    def _head_words(self) -> frozenset[str]:
        return stems(LETTERS.findall(self._head))

    @cached_property
    def _ranks_named(self) -> bool:
        return any(unit.told.ranks for unit in (*self._claims, *self._lines))

    def lacks(self, clause: Clause) -> tuple[str, ...]:
        """What the clause says and this item does not hold, in words; by the unit that lacks least."""
        if clause.text not in self._judged:
            self._judged[clause.text] = self._judge(clause)
        return self._judged[clause.text]

    def keeps_order(self, clause: str, quotes: Sequence[str], *, advice: bool) -> bool:
        """Whether one claim or line of it holds the words of a clause in their order."""
        return any(keeps_order(clause, one, self._names, quotes, advice=advice) for one in self._passages)

    def _judge(self, clause: Clause) -> tuple[str, ...]:
        anywhere = (*self._anywhere(clause.said), *_active(clause.text, self.text), *self._denied(clause.text))
        best: tuple[str, ...] | None = None
        for unit in self._candidates(clause):
            lacking = tuple(dict.fromkeys((*anywhere, *self._unit_lacks(unit, clause))))
            if not lacking:
                return ()
            if best is None or len(lacking) < len(best):
                best = lacking
        return best or anywhere or ("anything of it",)

    def _denied(self, clause: str) -> Iterator[str]:
        """What any claim of the item says is not so."""
        said = content(clause)
        denied = (content(part) for unit in self._claims for part in unit.denials)
        if not words().negation.search(clause) and any(part and part <= said for part in denied):
            yield "what it denies"

    def _candidates(self, clause: Clause) -> Iterator[Unit]:
        yield from (*self._claims, *self._lines)
        for place, unit in enumerate(self._both):
            claim = self._claims[place // len(self._lines)].text
            if _THIS.search(claim) or any(one.held.search(claim) for one, _ in clause.mechanisms):
                yield unit

    def _anywhere(self, said: Mentions) -> Iterator[str]:
        """What may stand in any line of the item: names of things, times."""
        whole = f"{self.text} {self._head}"
        for token in said.odd:
            found = re.search(rf"(?<![\w-]){re.escape(token)}(?![\w-])", whole)
            if not (found or is_id(token) or any(one.says.fullmatch(token) for one in words().mechanisms)):
                yield f"\u201c{token}\u201d"
        for clock in sorted(said.clocks):
            if not re.search(rf"(?<![\d:]){re.escape(clock)}(?!\d)", whole):
                yield clock

    def _unit_lacks(self, unit: Unit, clause: Clause) -> Iterator[str]:
        yield from self._who(unit, clause.said)
        yield from self._numbers(unit, clause.said)
        yield from self._what(unit, clause)
        yield from _negation(unit, clause.text)
        yield from _roles(unit, clause.text)

    def _who(self, unit: Unit, said: Mentions) -> Iterator[str]:
        own = unit.told
        crowd = len(self.item.nodes) > 1 and bool(said.every or said.ratios or said.amounts)
        nodes = own.nodes or (frozenset() if crowd else frozenset(self.item.nodes))
        ranks = own.ranks if self._ranks_named else frozenset(self.item.ranks)
        iterations = own.iterations | self._iterations(unit)
        yield from sorted(said.nodes - nodes)
        yield from (f"rank {rank}" for rank in sorted(said.ranks - ranks))
        yield from (f"iteration {number}" for number in sorted(said.iterations - iterations))

    def _iterations(self, unit: Unit) -> frozenset[int]:
        """Those of the head; of an iteration's own evidence not for a sentence about another number."""
        own = frozenset(self.item.iterations)
        about_another = self.item.kind is Kind.ITERATION and any(map(str.isdigit, unit.text))
        return frozenset(number for number in own if str(number) in unit.stems) if about_another else own

    def _numbers(self, unit: Unit, said: Mentions) -> Iterator[str]:
        own = unit.told
        loose = own.numbers | {number for number, _ in own.amounts | own.labels | unit.amounts | self._counts}
        whole = {noun for x, y, noun in own.ratios if x == y} | own.every
        yield from (f"{x} of {y} {noun}" for x, y, noun in sorted(said.ratios - own.ratios))
        yield from (f"{number} {unit_}" for number, unit_ in sorted(said.amounts - unit.amounts - self._counts))
        yield from (f"{label} {number}" for label, number in sorted(said.labels - own.labels))
        yield from sorted(said.numbers - loose)
        yield from (f"all {noun}" for noun in sorted(said.every - whole))

    def _what(self, unit: Unit, clause: Clause) -> Iterator[str]:
        text = f"{unit.text} {self._head}"
        yield from (f"\u201c{found}\u201d" for one, found in clause.mechanisms if not one.held.search(text))
        yield from (f"\u201c{word}\u201d" for word, by in clause.extents if not by.search(text))
        if (others := _OTHERS.search(clause.text)) and not _OTHERS.search(text):
            yield f"\u201c{others[0]}\u201d"
        if not (clause.said.nodes or clause.said.ranks):  # whom a clause may accuse by name: bot/note/blame.py
            yield from _accusation(unit, clause.text)
        held = _plain() | unit.words | self._head_words
        strange = [word for word in clause.words if not _known(word, held)]
        if strange:
            yield "the words " + ", ".join(dict.fromkeys(strange[:6]))


@cache
def _plain() -> frozenset[str]:
    return words().plain | stems(words().held_by)


def _accusation(unit: Unit, clause: str) -> Iterator[str]:
    for accusing in (words().strong_blame, words().failing):
        if (found := accusing.search(clause)) and stem(found[0].split()[-1]) not in unit.words:
            yield f"\u201c{found[0]}\u201d"


def _negation(unit: Unit, clause: str) -> Iterator[str]:
    """A "not" must be there in what the clause is about, and must not be left out."""
    denials = [content(part) for part in PARTS.split(clause) if words().negation.search(part)]
    if not all(unit.negates(denied) for denied in denials):
        yield "\u201cnot\u201d or \u201cno\u201d"
    said = content(clause)
    if not denials and unit.claim and len(unit.stems & said) >= _TELLING_OVERLAP and unit.negates(said):
        yield "the \u201cnot\u201d of the evidence is left out"
    whole = _flat(unit.text)
    yield from (
        f"\u201c{pair}\u201d" for pair in WITHOUT.findall(_ADVERB_NO.sub(" ", clause)) if _flat(pair) not in whole
    )
    if _FROM_TO.search(unit.text):
        yield from (f"\u201c{pair}\u201d" for pair in _FROM_TO.findall(clause) if _flat(pair) not in whole)


def _flat(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".,;")


def _roles(unit: Unit, clause: str) -> Iterator[str]:
    """Who did it to whom: those who are named in both must come in the same order."""
    names = "|".join(re.escape(name) for name in sorted(unit.told.nodes, key=len, reverse=True) if name in clause)
    actors = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])|{_ACTORS}" if names else _ACTORS, re.IGNORECASE)
    ours = [" ".join(match[0].lower().split()) for match in actors.finditer(clause)]
    theirs = [" ".join(match[0].lower().split()) for match in actors.finditer(unit.text)]
    if _swapped(ours, theirs):
        yield "that order of who did what"
    plain = _AFTER_ITERATION.sub(" ", clause)
    if (_RELATION.search(plain) or _OTHERS.search(plain)) and _swapped(_sequence(plain), _sequence(unit.text)):
        yield "it in that order"


def _active(clause: str, text: str) -> Iterator[str]:
    """Who "was killed" did not kill."""
    passive = {match[1].lower() for match in _PASSIVE.finditer(text)}
    done = {match[1].lower() for match in _PASSIVE.finditer(clause)}
    yield from (f"who {verb} it" for verb in sorted(passive - done) if re.search(rf"(?i)\b{verb}\b", clause))


def _swapped(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether what stands once in both stands in another order."""
    common = [name for name in ours if ours.count(name) == 1 and theirs.count(name) == 1]
    places = [theirs.index(name) for name in common]
    return places != sorted(places)


def _sequence(text: str) -> list[str]:
    """Content words and numbers in their order."""
    return [stem(word) for word in _ANY.findall(text) if word.lower() not in FEW]


def _known(word: str, held: Collection[str]) -> bool:
    if words().negation.fullmatch(word) or stem(word) in held:
        return True
    parts = LETTERS.findall(re.sub(r"(?:n['\u2019]t|['\u2019]s)$", "", word))
    return len(parts) > 0 and all(stem(part) in held for part in parts)


def _head(item: Item) -> str:
    when = f"{moment(item.clock):%Y-%m-%d %H:%M:%S.%f}"[:-3] if item.clock is not None else ""
    role = "role propagated, a peer of it" if item.role is Role.PROPAGATED else f"role {item.role}" if item.role else ""
    after = f"after iteration {item.iterations[0]}" if item.iterations else ""
    stage = f"during stage {item.stage}" if item.stage else ""
    return " ".join(filter(None, (str(item.kind), after, stage, when, role, " ".join(item.nodes))))


def _counted(item: Item) -> Iterator[Amount]:
    if item.count is not None:
        yield from ((str(item.count), stem(noun)) for noun in ("times", "lines", "messages", "occurrences"))
    if item.kind is Kind.EVENT and item.nodes:
        yield str(len(item.nodes)), stem("nodes")


def lacking_in(grounds: Sequence[Ground], clause: Clause) -> tuple[str, tuple[str, ...]]:
    """The item that lacks least of a clause, and what it lacks."""
    lacking = [(ground.lacks(clause), ground.item.id) for ground in grounds]
    least, name = min(lacking, key=lambda entry: len(entry[0]))
    return name, least
