"""Claims about what to do next, and about what nobody knows: checks with the node filled in, gaps in what was read."""

import re
from collections.abc import Iterator

from bot.note.claim import Claim
from bot.note.claim_source import ClaimSource, claim
from bot.note.wordings import say
from bot.text import wording
from core.model import Scope

MAX_CHECKS, MAX_GAPS = 4, 4  # chosen: a note shows three and two of them
_THE_NODE = re.compile(r"(?i)\b(?:the|that|this) node(?='s\b|\b)(?!s)")
_OF_ONE = re.compile(r"(?i)\b(?:that|this) (?:rank|process|accelerator)\b")


def claims_of_steps(about: ClaimSource) -> Iterator[Claim]:
    """What to look at, in the order of the core."""
    for number, check in enumerate(about.diagnosis.checks[:MAX_CHECKS], start=1):
        text = about.clean(check)
        sentence = _of_suspect(about, text)
        yield from claim(f"C{number}", "check", sentence, [f"C{number}"])


def claims_of_gaps(about: ClaimSource) -> Iterator[Claim]:
    """What was not read, not compared and not done."""
    diagnosis = about.diagnosis
    gaps = [say("gap.unread", gap=about.clean(gap, 200)) for gap in wording.missing(diagnosis.coverage)]
    for skip in diagnosis.skipped[:MAX_GAPS]:
        reason = about.clean(skip.reason, 160).rstrip(".")
        gaps.append(say("gap.skipped", step=about.clean(skip.step, 80), reason=reason))
    if (
        diagnosis.scope is not Scope.NONE
        and diagnosis.coverage.baseline_jobs
        and (warning := wording.weak_baseline(diagnosis.coverage))
    ):
        gaps.append(say("gap.baseline", warning=wording.sentence(warning)))
    for number, gap in enumerate(gaps[:MAX_GAPS], start=1):
        yield from claim(f"J1.gap{number}", "open", gap, ["J1"])


def _of_suspect(about: ClaimSource, check: str) -> str:
    """The check with the suspect's name for "the node", or before it when it is about one rank of it."""
    if not about.suspect or about.suspect.startswith("rank") or about.suspect in check:
        return check
    named = _THE_NODE.sub(lambda _: about.suspect, check)
    if named == check and _OF_ONE.search(check) and ":" not in check.split(",", maxsplit=1)[0]:
        return say("step.on_node", node=about.suspect, check=check[:1].lower() + check[1:])
    return named
