"""Whether a clause keeps the words of one claim or line in their order, and leaves out nothing that they hang on.

True words in another order are a lie: "within 12 s after SIGTERM, sending SIGKILL" is not "after SIGKILL". So the words
of a clause must be those of one claim or one log line, one after the other. It may begin and end where a part of the
claim does, and skip what only adds a place or a time; it may never skip a "not", nor what its next word hangs on.
"""

import re
from collections.abc import Iterator, Sequence

from bot.note.passages import Passage, resolved
from bot.note.tokens import Edge, Kind, Token, tokens
from bot.note.words import stem, words

_ADDS = frozenset({"after", "before", "during", "at", "in", "since", "for", "within", "on", "of"})
_FURTHER = frozenset({"after", "before", "during", "at", "in", "since"})
_LONGEST_ADDED = 4  # words of "after iteration 60", "during the last checkpoint": more may hold a verb
_CONDITIONS = frozenset({"if", "when", "whenever", "unless"})
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?")
_WHOLE = frozenset({"up", "down", "once", "twice", "again"})  # limits that need no word behind them
_AT_MOST = ("most", "least")
_ELSEWHERE = re.compile(
    r"others?|peers?|controller|scheduler|launcher|torchrun|switch|store|jobs?|nodes?|ranks?|hosts?"
)


def keeps_order(
    clause: str, passage: Passage, names: frozenset[str], quotes: Sequence[str] = (), *, advice: bool = False
) -> bool:
    """Whether the words of a clause are those of the passage, in its order. advice: may leave out parts of a list."""
    return any(
        _Walk(said[skip:], passage, names, quotes, advice=advice).arrives()
        for said in dict.fromkeys(tokens(form, names) for form in resolved(clause, names))
        for skip in _speaking(said, passage)
    )


def _speaking(said: Sequence[Token], passage: Passage) -> Iterator[int]:
    """How many words at the beginning only say who logged the line."""
    yield 0
    if not passage.line:
        return
    texts = [token.text for token in said]
    speaks = words().order.speaks
    begin = 2 if texts[:2] == ["log", "of"] else 0
    if texts[begin : begin + 1] and texts[begin] in passage.voices:
        end = begin + 1
    elif texts[:1] == ["rank"] and len(texts) > 1 and texts[1] in passage.ranks:
        end = 4 if texts[2:3] == ["on"] and texts[3:4] and texts[3] in passage.voices else 2
    else:
        return
    if texts[end : end + 1] and texts[end] in speaks and not said[end].passive:
        yield end + 1


class _Walk:
    """The words of a clause laid over those of a passage."""

    def __init__(
        self, said: Sequence[Token], passage: Passage, names: frozenset[str], quotes: Sequence[str], *, advice: bool
    ) -> None:
        self._said, self._passage, self._held = said, passage, passage.held
        self._names, self._quotes, self._advice = names, quotes, advice

    def arrives(self) -> bool:
        """Whether there is a way through the whole clause."""
        if not self._said:
            return True
        states: list[set[int]] = [set() for _ in range(len(self._said) + 1)]
        states[0].add(-1)
        for place in range(len(self._said)):
            for last in states[place]:
                for taken in self._added(place):
                    states[place + taken].add(last)
                for where in self._next(place, last):
                    states[place + 1].add(where)
        return any(last == _QUOTED or self._ends(last) for last in states[-1])

    def _next(self, place: int, last: int) -> Iterator[int]:
        token = self._said[place]
        if token.kind is Kind.QUOTE:
            yield from self._quoted(token, last)
            return
        if last == _QUOTED:
            return
        for where in range(last + 1, len(self._held)):
            if self._same(token, self._held[where]) and (self._begins(where) if last < 0 else self._skips(last, where)):
                yield where

    def _quoted(self, token: Token, last: int) -> Iterator[int]:
        """Where a quote leads: the end of its words, or nowhere when it is all that is said of a line."""
        quote = self._quote(token)
        if self._passage.line:
            if last < 0 and quote and quote in " ".join(self._passage.text.split()):
                yield _QUOTED
            return
        inner = tokens(quote, self._names)
        texts = [one.text for one in inner]
        for where in range(last + 1, len(self._held) - len(inner) + 1):
            same = [one.text for one in self._held[where : where + len(inner)]] == texts
            if inner and same and (last < 0 or self._advice or self._skips(last, where)):
                yield where + len(inner) - 1

    def _same(self, ours: Token, theirs: Token) -> bool:
        if ours.passive != theirs.passive or (ours.kind is Kind.NEGATION) != (theirs.kind is Kind.NEGATION):
            return False
        generic = (ours.text == "node" and theirs.text in self._names) or (
            theirs.text == "node" and ours.text in self._passage.nodes
        )
        return ours.text == theirs.text or generic

    def _added(self, place: int) -> Iterator[int]:
        """Words that the item's head holds: "on node-01", "after iteration 60", "at 03:59:44", "likely"."""
        texts = [token.text for token in self._said[place : place + 3]]
        token, passage = self._said[place], self._passage
        if token.text in words().order.hedges:
            yield 1
        if token.possessive and token.text in passage.nodes:
            yield 1
        if token.kind is Kind.QUOTE and self._is_this(token):
            yield 1
        bound = place > 0 and not _ELSEWHERE.fullmatch(self._said[place - 1].text)
        if texts[0] in ("on", "of") and texts[1:2] and texts[1] in passage.nodes and bound:
            yield 2
        if texts[0] == "after" and texts[1:2] == [stem("iteration")] and texts[2:3] and texts[2] in passage.iterations:
            yield 3
        if texts[0] == "during" and texts[1:2] == [passage.stage]:
            yield 2
        if texts[0] == "at" and _CLOCK.fullmatch(" ".join(texts[1:2])) and passage.clock.startswith(texts[1]):
            yield 2

    def _quote(self, token: Token) -> str:
        """The quote that a word stands for; empty when a model made up that word."""
        number = token.text.rpartition("-")[2]
        known = number.isdigit() and int(number) < len(self._quotes)
        return " ".join(self._quotes[int(number)].split()) if known else ""

    def _is_this(self, token: Token) -> bool:
        """Whether a quote is one of the lines that the claim calls "this", and no other node's."""
        quote = self._quote(token)
        named = {one.text for one in self._said if one.text in self._names}
        whole = named >= {one.text for one in self._held if one.text in self._names}
        return any(quote and quote in line and (whole or named <= voices) for line, voices in self._passage.quotes)

    def _begins(self, where: int) -> bool:
        """Whether a sentence may begin there: at the beginning of a part that nothing before it denies."""
        held, segments = self._held, self._passage.segments
        start = segments.index(segments[where])
        described = where == start + 1 and held[start].determined and held[start].kind is Kind.WORD
        if where != start and not described:
            return False
        if start == 0 or held[start].edge is Edge.STOP:
            return True
        before = [held[at].text for at in range(start) if segments[at] == segments[start - 1]]
        return not self._passage.denied(start - 1) and not _CONDITIONS & set(before)

    def _skips(self, last: int, where: int) -> bool:
        """Whether what stands between two words may be left out."""
        held, skipped = self._held, self._held[last + 1 : where]
        if not skipped:
            return True
        if any(token.kind in (Kind.NEGATION, Kind.LIMIT, Kind.QUOTE) for token in skipped):
            return False
        first, then = skipped[0], held[where]
        if self._passage.denied(last, upto=last + 1) and not first.edge:
            return False
        if len(skipped) == 1 and first.kind is Kind.WORD and first.determined and not then.edge:
            return then.kind is Kind.WORD
        if self._advice and first.edge and then.edge:
            return True
        return self._only_adds(skipped, then)

    def _only_adds(self, skipped: Sequence[Token], then: Token) -> bool:
        first, *rest = skipped
        if first.kind is not Kind.PREPOSITION or first.text not in _ADDS or len(skipped) > _LONGEST_ADDED:
            return False
        if any(token.kind is Kind.PREPOSITION or token.edge for token in rest):
            return False
        who = any(token.text in self._names or token.text in words().order.actors for token in rest)
        typed = any(token.kind is Kind.TYPED for token in rest)
        if then.edge in (Edge.PART, Edge.STOP):
            return not (who or (first.text == "of" and typed))
        return then.text in _FURTHER and not who and first.text != "of"

    def _ends(self, last: int) -> bool:
        """Whether a sentence may end there: where a part does, or before what only adds to it."""
        held = self._held
        if last < 0:
            return False
        if last + 1 == len(held):
            return True
        then = held[last + 1]
        if then.edge:
            return then.edge is not Edge.UNDER
        open_end = held[last].kind in (Kind.PREPOSITION, Kind.LIMIT) and held[last].text not in _WHOLE
        if self._passage.denied(last) or open_end:
            return False
        quoted = any(token.kind is Kind.QUOTE for token in self._said)
        if quoted and self._passage.quotes and held[last].text in words().order.speaks:
            return True  # "logged this", without how often
        limited = last + 2 < len(held) and held[last + 2].text in _AT_MOST
        return then.kind is Kind.PREPOSITION and then.text in _ADDS - {"of"} and not limited


_QUOTED = -2  # the clause was a quote of the line
