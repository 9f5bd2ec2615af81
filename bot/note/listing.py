"""The claims as a model is shown them: an id and its words a line, by the field where they may stand, in a budget."""

from collections.abc import Sequence

from bot.note.claim import Claim, Claims, ClaimUse

ASCII_PER_TOKEN = 3.0  # the low end of what is usual for log text, so rather too many; other characters count as one
_FIELDS = {
    "headline": (ClaimUse.HEADLINE,),
    "happened": (ClaimUse.HAPPENED,),
    "cause": (ClaimUse.CAUSE,),
    "to_do": (ClaimUse.CHECK, ClaimUse.FIX),
    "leaves_open": (ClaimUse.OPEN,),
}


def listing(claims: Claims, budget: int) -> dict[str, str]:
    """The values of ``prompts/note.md``: claims by field, and the mechanisms that may be joined as a reason.

    Args:
        budget: tokens of all claims together; the least telling of a field are left out first.
    """
    shown = {
        field: [_line(claim, field) for use in uses for claim in claims.of(use) if not claims.find(f"{claim.id}1")]
        for field, uses in _FIELDS.items()
    }  # what is told in parts as well is shown in parts
    while tokens("\n".join(line for lines in shown.values() for line in lines)) > budget:
        longest = max(shown, key=lambda field: len(shown[field]))
        if len(shown[longest]) <= 1:
            break
        shown[longest].pop()
    texts = {field: "\n".join(lines) or "(none)" for field, lines in shown.items()}
    return {**texts, "reasons": _reasons(claims)}


def tokens(text: str) -> int:
    """How many tokens a text has, estimated."""
    ascii_only = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return round(ascii_only / ASCII_PER_TOKEN) + len(text) - ascii_only


def _line(claim: Claim, field: str) -> str:
    says = (claim.short or claim.says) if field == "headline" else claim.says
    return f"{claim.id}: {says}"


def _reasons(claims: Claims) -> str:
    sentences: Sequence[str] = [f"{reason.id}: {reason.says}" for reason in claims.reasons]
    return "\n".join(sentences) or "(none)"
