"""The story of a note: claims, a plan by a model, the sentences by code; fields that no plan fills, by code alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import prompts
from bot.chat.model import ChatMessage, ChatModel, ModelUnavailable, Usage
from bot.note import render
from bot.note.about_outcome import Outcome
from bot.note.by_code import category_of, gaps, plan_by_code
from bot.note.claim import Claim, Claims, ClaimUse
from bot.note.claims import claims_of
from bot.note.free_sentences import kept
from bot.note.note import Author, Note, Sentence
from bot.note.plan import Plan, asked_for, read_plan
from bot.note.wordings import say
from bot.text.known_fault import KnownFault
from core.model import Diagnosis

MAX_TOKENS = 700  # of a plan; the longest that the schema allows has about 500
_NO_PLAN, _NOTHING = Plan(), Usage()
BUDGET = 2_000  # tokens of claims that a model is shown
_ASCII_PER_TOKEN = 3.0  # the low end of what is usual for log text, so rather too many; other characters count as one
_FIELDS = {
    "headline": (ClaimUse.HEADLINE,),
    "happened": (ClaimUse.HAPPENED,),
    "cause": (ClaimUse.CAUSE,),
    "to_do": (ClaimUse.CHECK, ClaimUse.FIX),
    "leaves_open": (ClaimUse.OPEN,),
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a model said, and what it cost."""

    plan: Plan = _NO_PLAN
    usage: Usage = _NOTHING
    unavailable: str = ""


def write_note(
    diagnosis: Diagnosis,
    known: Sequence[KnownFault] = (),
    model: ChatModel | None = None,
    *,
    outcome: Outcome | None = None,
    redact_addresses: bool = False,
    budget: int = BUDGET,
) -> Note:
    """A note of true sentences, in the order of a model if there is one, beside its marked reading."""
    claims = claims_of(diagnosis, known, outcome, redact_addresses=redact_addresses)
    answer = _asked(claims, model, budget) if model else _Answer()
    by_code, by_model = plan_by_code(claims), answer.plan
    headline = render.headline(by_model.headline, claims)
    cause = render.cause(by_model.cause, claims)
    happened = render.happened(by_model.happened, claims)
    checks, fixes = render.checks(by_model.to_do, claims), render.fixes(by_model.to_do, claims)
    reading, dropped = kept(by_model.reading, claims)
    planned = any((headline, cause, happened, checks, fixes))
    return Note(
        author=Author.MODEL if planned else Author.CODE,
        model=model.name if model else "",
        headline=headline or render.headline(by_code.headline, claims) or _bare(claims),
        cause=cause or render.cause(by_code.cause, claims) or Sentence(text=say("verdict.not_shown"), cites=["D1"]),
        happened=happened or render.happened(by_code.happened, claims),
        check_first=checks or render.checks(by_code.to_do, claims),
        fix=fixes or render.fixes(by_code.to_do, claims),
        category=category_of(diagnosis, tuple(known)),
        open_questions=render.open_questions(gaps(claims), claims),
        reading=reading,
        refused=dropped,
        usage=answer.usage,
        unavailable=answer.unavailable,
    )


def _asked(claims: Claims, model: ChatModel, budget: int) -> _Answer:
    """What the model plans; nothing when it does not answer, or not with a plan."""
    question = ChatMessage("user", prompts.render("note", **_listing(claims, budget)))
    try:
        reply = model.answer([question], schema=asked_for(claims), max_tokens=MAX_TOKENS)
    except ModelUnavailable as trouble:
        return _Answer(usage=trouble.usage, unavailable=trouble.message)
    return _Answer(read_plan(reply.text), reply.usage)


def _bare(claims: Claims) -> Sentence:
    """The claim that is always there, when it names no suspect because the suspect's name cannot be shown."""
    look = claims.find("D1.look")
    return Sentence(text=look.says if look else say("verdict.scope_unknown"), cites=["D1"])


def _listing(claims: Claims, budget: int) -> dict[str, str]:
    """The values of ``prompts/note.md``: claims by field, an id and words a line, and what may be joined as a reason.

    Args:
        budget: tokens of all claims together; the least telling of a field are left out first.
    """
    shown = {
        field: [_line(claim, field) for use in uses for claim in claims.of(use) if not claims.find(f"{claim.id}1")]
        for field, uses in _FIELDS.items()
    }  # what is told in parts as well is shown in parts
    while _tokens("\n".join(line for lines in shown.values() for line in lines)) > budget:
        longest = max(shown, key=lambda field: len(shown[field]))
        if len(shown[longest]) <= 1:
            break
        shown[longest].pop()
    texts = {field: "\n".join(lines) or "(none)" for field, lines in shown.items()}
    return {**texts, "reasons": _reasons(claims)}


def _tokens(text: str) -> int:
    """How many tokens a text has, estimated."""
    ascii_only = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return round(ascii_only / _ASCII_PER_TOKEN) + len(text) - ascii_only


def _line(claim: Claim, field: str) -> str:
    says = (claim.short or claim.says) if field == "headline" else claim.says
    return f"{claim.id}: {says}"


def _reasons(claims: Claims) -> str:
    sentences = [f"{reason.id}: {reason.says}" for reason in claims.reasons]
    return "\n".join(sentences) or "(none)"
