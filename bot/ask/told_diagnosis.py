"""Sentences of the diagnosis that many answers hold beside their own: what failed, what is claimed, what was read."""

from bot.ask.reply_lines import cited, lower
from bot.ask.subject import Subject
from bot.text import wording
from core.model import Scope


def what_failed(subject: Subject) -> str:
    """The headline, cited by what leads; of a job of which nothing failed what happened."""
    what = "What happened" if subject.diagnosis.scope is Scope.NONE else "What failed"
    return cited(f"{what}: {lower(subject.diagnosis.headline)}.", *subject.lead_ids)


def told_claims(subject: Subject, *names: str) -> list[str]:
    """The claims of some ids, as far as they hold of the job."""
    return [cited(claim.says, *claim.cites) for claim in subject.claims.every if claim.id in names]


def searched(subject: Subject) -> str:
    """How much was searched before something is denied: "1,585 lines of 12 files"."""
    coverage = subject.diagnosis.coverage
    return f"{wording.counted(coverage.lines, 'line')} of {wording.counted(coverage.files, 'file')}"
