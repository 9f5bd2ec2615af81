"""A text to paste into a ticket: what failed where and since when, what was logged, how sure that is, what to check."""

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, raw
from bot.ask.subject import Subject
from bot.note.claim import ClaimUse
from bot.note.claim_source import clock
from bot.text import wording
from core.model import Scope


def ticket(subject: Subject, _question: Question) -> Lines:
    """Five lines at most, each true by itself."""
    diagnosis, lead = subject.diagnosis, subject.leading
    suspect = diagnosis.nodes[0] if diagnosis.nodes and diagnosis.scope is Scope.NODE else None
    where = f"{suspect.node}{f' ({wording.ranks(suspect.ranks)})' if suspect.ranks else ''}: " if suspect else ""
    ids = [lead.id] if lead else []
    sentences = [cited(f"Job {subject.parsed.job.id}, {where}{wording.sentence(diagnosis.headline)}", *ids)]
    sign, last = wording.first_sign(diagnosis), subject.parsed.iterations.last
    since = f"First sign at {clock(sign)} ({wording.clock_zone(diagnosis)})." if sign is not None else ""
    sentences.append(cited(joined(since, f"Last complete iteration {last:,}." if last is not None else "")))
    sentences += raw(lead.lines, 1) if lead else []
    reasons = joined(*map(wording.sentence, (suspect.reasons or (suspect.because,))[:2])) if suspect else ""
    sentences.append(cited(f"Grounds ({diagnosis.confidence}): {reasons or joined(*diagnosis.why[:2])}", *ids))
    checks = subject.claims.of(ClaimUse.CHECK)[:1]
    asks = checks[0].says if checks else wording.next_line(diagnosis.next) if diagnosis.next else ""
    sentences.append(cited(f"Please: {wording.sentence(asks)}") if asks else "")
    return [sentence for sentence in sentences if sentence]
