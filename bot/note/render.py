"""From a plan to the sentences of a note: whatever the plan says, only words of claims come out."""

from collections.abc import Iterable, Sequence

from bot.note.claim import Claim, Claims, ClaimUse
from bot.note.joins import joined
from bot.note.note import MAX_CITES, MAX_TEXT, Sentence
from bot.note.plan import Step

MAX_HEADLINE = 300  # characters; as bot.text.wording.first_line
MAX_CHECKS, MAX_FIXES = 3, 1  # as by_code.py


def headline(ids: Sequence[str], claims: Claims) -> Sentence | None:
    """Where to look; None when no claim of the plan names the first suspect."""
    chosen = _found(ids, claims, ClaimUse.HEADLINE)
    if not chosen or claims.suspect not in (chosen[0].short or chosen[0].says):
        return None
    kept: list[Claim] = []
    for claim in chosen:
        if len(_sentence([*kept, claim], short=True).text) <= MAX_HEADLINE:
            kept.append(claim)
    return _sentence(kept, short=True) if kept else None


def happened(steps: Sequence[Step], claims: Claims) -> tuple[Sentence, ...]:
    """What happened, each claim once."""
    sentences: list[Sentence] = []
    shown: list[Claim] = []
    for step in steps:
        claim = claims.find(step.claim, ClaimUse.HAPPENED)
        if claim is None or any(claim.says in before.says or before.says in claim.says for before in shown):
            continue  # unknown, or told already by itself or within another
        text, cites = joined(claim, shown[-1] if shown else None, step.join, step.because, claims)
        sentences.append(_of(text, cites))
        shown.append(claim)
    return tuple(sentences)


def cause(ids: Sequence[str], claims: Claims) -> Sentence | None:
    """The likely cause in one go; None when the plan names no claim that is one."""
    chosen = _found(ids, claims, ClaimUse.CAUSE)
    return _sentence(chosen) if chosen else None


def checks(ids: Sequence[str], claims: Claims) -> tuple[Sentence, ...]:
    """What to look at first."""
    return tuple(_sentence([claim]) for claim in _found(ids, claims, ClaimUse.CHECK)[:MAX_CHECKS])


def fixes(ids: Sequence[str], claims: Claims) -> tuple[Sentence, ...]:
    """What helped before."""
    return tuple(_sentence([claim]) for claim in _found(ids, claims, ClaimUse.FIX)[:MAX_FIXES])


def open_questions(ids: Sequence[str], claims: Claims) -> tuple[Sentence, ...]:
    """What the evidence leaves open."""
    return tuple(_sentence([claim]) for claim in _found(ids, claims, ClaimUse.OPEN))


def _found(ids: Sequence[str], claims: Claims, use: ClaimUse) -> list[Claim]:
    return [claim for name in dict.fromkeys(ids) if (claim := claims.find(name, use))]


def _sentence(chosen: Sequence[Claim], *, short: bool = False) -> Sentence:
    texts = [(claim.short or claim.says) if short else claim.says for claim in chosen]
    text = " ".join(
        text if text.endswith((".", "!", "?", "\u201d")) or len(texts) == 1 else f"{text}." for text in texts
    )
    return _of(text, [name for claim in chosen for name in claim.cites])


def _of(text: str, cites: Iterable[str]) -> Sentence:
    return Sentence(text=text[:MAX_TEXT], cites=list(dict.fromkeys(cites))[:MAX_CITES])
