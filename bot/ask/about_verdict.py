"""Answers from the verdict: what happened, how sure that is, whose fault, what is missing, who vouches for it."""

import re

from bot.ask.about_code import place_of
from bot.ask.about_events import stopped
from bot.ask.about_jobs import argument_line
from bot.ask.about_pace import slow_since
from bot.ask.apart import told_parts
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted, raw
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import asks, yes_or_no
from bot.note.by_code import category_of
from bot.note.claim import ClaimUse
from bot.note.note import Category
from bot.text import wording
from core.answer.job_lookup import LookResult
from core.answer.search import seek
from core.model import Confidence, Scope

_HEDGE = {Confidence.ESTABLISHED: "", Confidence.SUPPORTED: "Likely: ", Confidence.WEAK: "A hint, no more: "}
_SIDE = {
    "machine": "the machine, not your code",
    "link": "the network, not your code",
    "code": "the program, its data or its settings (its config), not the hardware",
    "means": "what the job was given, storage, memory, permissions, files or settings; by the logs no broken hardware, "
    "and whether the program used up or set what it should not they do not tell",
}
_OF_CATEGORY = {
    Category.HARDWARE: "hardware",
    Category.USER: "your code, data or settings",
    Category.FRAMEWORK: "the framework",
    Category.PLATFORM: "the platform around the job",
}
_NODE_KINDS = ("machine", "link")


def verdict(subject: Subject, _question: Question) -> Lines:
    """What happened, why, and what to do."""
    diagnosis, claims = subject.diagnosis, subject.claims
    look = next(iter(claims.of(ClaimUse.HEADLINE)), None)
    sure = f" ({diagnosis.confidence})" if diagnosis.scope in (Scope.NODE, Scope.JOB) else ""
    first = (look.says if look else diagnosis.headline).rstrip(".")
    ids = [event.id for event in (subject.leading,) if event] + [node.id for node in diagnosis.nodes[:1]]
    sentences = [cited(f"{first}{sure}.", *ids)]
    cause = next((claim for claim in claims.of(ClaimUse.CAUSE) if not claim.id.startswith("D1")), None)
    if cause and diagnosis.scope in (Scope.NODE, Scope.JOB):
        sentences.append(cited(cause.says, *cause.cites[:2]))
    elif diagnosis.why:
        sentences.append(cited(" ".join(map(wording.sentence, diagnosis.why[:2]))))
    if diagnosis.scope is Scope.NONE:
        sentences[1:1] = stopped(subject)
    place = place_of(subject, subject.leading) if subject.leading and sure else None
    if place is not None and place.own:
        sentences.append(cited(f"It came from {place.says}.", *ids[:1]))
    if diagnosis.scope is Scope.JOB and (changed := argument_line(subject)):
        sentences.append(changed)
    if subject.leading:
        roots = [event for event in diagnosis.events if event.is_trace and event is not subject.leading]
        sentences += raw(roots[0].lines[-1:] if roots and sure else subject.leading.lines, 1)
    if diagnosis.next:
        sentences.append(cited(f"Next: {wording.next_line(diagnosis.next)}"))
    return sentences


def sure(subject: Subject, _question: Question) -> Lines:
    """How sure, what speaks for it, what does not."""
    diagnosis, claims = subject.diagnosis, subject.claims
    if diagnosis.scope is Scope.UNKNOWN:
        sentences = [cited("Not sure of anything: the logs do not tell what is at fault.")]
    else:
        level = wording.CONFIDENCE[diagnosis.confidence].partition(":")
        sentences = [cited(f"{level[0].capitalize()}:{level[2]}. {wording.SCOPE[diagnosis.scope].capitalize()}.")]
    why = list(claims.about("N1.why"))[:1] or list(claims.about("D1.why"))[:1]
    ends = (".unseen", ".alone")
    beside = [claim for claim in claims.about("E") if claim.id.endswith(ends)][:1]
    grounds = why + beside or [claim for claim in claims.about("E") if claim.id.endswith(".said")][:1]
    if grounds:
        sentences.append(
            cited(f"For it: {joined(*(ground.says for ground in grounds))}", *(ground.cites[0] for ground in grounds))
        )
    against = [claim.says for claim in claims.about("D1.why") if claim not in grounds]
    against += [claim.says for claim in claims.of(ClaimUse.OPEN) if claim.id.startswith(("N2.", "J1."))]
    if diagnosis.scope is Scope.NODE and (diagnosis.next is None or diagnosis.next.kind not in _SIDE):
        against.insert(0, _WHICH_SIDE)
    if against:
        sentences.append(cited(f"Open: {joined(*against[:3])}"))
    return sentences


_WHICH_SIDE = "Whether the machine, its connection or the program there is at fault no line tells."
_OPTIONS = re.compile(
    r"^(?:(?:is|was|ist|war) (?:it|this|that|das|es) )?(?:the |my |our |an? |die |der |das )?(\w+(?: \w+)?) "
    r"(?:or|oder) "
    r"(?:the |my |our |an? |die |der |das )?(\w+(?: \w+)?)\W{0,3}$"
)


_HOW_MANY = re.compile(r"\b(?:one|all|both|every|each|single|several|more|not|alle|eine?[rsn]?|nicht)\b")


def is_either(question: Question) -> bool:
    """Whether it only names two things of which one is to blame: "gpu or dataloader?"."""
    match = _OPTIONS.search(question.text.casefold().strip())
    return match is not None and not any(_HOW_MANY.search(option) for option in match.groups())


def _of_two(subject: Subject, question: Question) -> str:
    """Which of two things what failed speaks of; empty where it speaks of both or of neither."""
    match, diagnosis = _OPTIONS.search(question.text.casefold().strip()), subject.diagnosis
    if match is None or not is_either(question) or diagnosis.scope not in (Scope.NODE, Scope.JOB):
        return ""
    because = " ".join(node.because for node in diagnosis.nodes[:1])
    known = terms_of(f"{diagnosis.headline} {because} {subject.leading.says if subject.leading else ''}")
    held = [option for option in match.groups() if terms_of(option) & known]
    if len(held) != 1:
        return ""
    return wording.sentence(f"{_HEDGE[diagnosis.confidence]}{held[0]}, by what is logged: {lower(diagnosis.headline)}.")


def blame(subject: Subject, question: Question) -> Lines:
    """Code, hardware, network, storage, or nobody knows."""
    diagnosis = subject.diagnosis
    lead = subject.leading
    ids = [lead.id] if lead else []
    if diagnosis.scope is Scope.NONE:
        fine = "Yes" if asks(question, "fine") else "No"
        no = fine if yes_or_no(question) else "Neither"
        return [cited(f"{no}: {lower(diagnosis.headline)}.", *ids)]
    since, node = slow_since(subject), diagnosis.nodes[0].node if diagnosis.scope is Scope.NODE else ""
    if since is not None and (told := told_parts(subject, question, since, node)):
        return [*told[:2], cited(f"{wording.sentence(diagnosis.headline)}", *ids), *told[2:]]
    if says := _of_two(subject, question):
        return [cited(says, *ids), *raw(lead.lines if lead else (), 2)]
    step = diagnosis.next
    kind, cause = (step.kind, step.cause) if step else ("unknown", "")
    side = _SIDE.get(kind, "")
    hedge = _HEDGE[diagnosis.confidence]
    where = f" on {diagnosis.nodes[0].node}" if diagnosis.scope is Scope.NODE and diagnosis.nodes else ""
    if diagnosis.scope is Scope.UNKNOWN:
        sentences = [cited(f"The logs do not tell: {lower(diagnosis.headline)}.", *ids)]
    elif side:
        sentences = [cited(wording.sentence(f"{hedge}{side}: {cause or lower(diagnosis.headline)}{where}."), *ids)]
    else:
        reason = "a process crashed, which code and hardware cause alike" if kind == "process" else cause
        sentences = [cited(f"The logs do not tell code from hardware{f': {reason}{where}' if reason else ''}.", *ids)]
    if kind not in _NODE_KINDS and (changed := argument_line(subject)):
        sentences.append(changed)
    category = category_of(diagnosis, subject.known)
    if category in _OF_CATEGORY and not side:
        sentences.append(cited(f"By what was logged it counts as {_OF_CATEGORY[category]}."))
    if diagnosis.scope is Scope.JOB:
        sentences.append(cited("It concerns the whole job, so no single machine is at fault.", *ids))
    if lead and lead.lines:
        sentences += raw(lead.lines, 2)
    return sentences


def missing(subject: Subject, _question: Question) -> Lines:
    """What was not read, not compared, not found, and what would tell."""
    claims, diagnosis = subject.claims, subject.diagnosis
    gaps = [claim.says for claim in claims.about("J1.gap")]
    if not diagnosis.coverage.baseline_jobs and not any("successful job" in gap for gap in gaps):
        gaps.append("There is no successful job with these settings to compare with.")
    if not diagnosis.stacks and not diagnosis.coverage.dumps and any("hung" in text for text in (diagnosis.headline,)):
        gaps.append("There are no stack dumps, which would tell where the processes stood.")
    first = f"Missing: {joined(*gaps[:3])}" if gaps else "Nothing that was promised is missing: all logs were read."
    sentences = [cited(first)]
    if diagnosis.scope is Scope.UNKNOWN or not any(event.is_trace for event in diagnosis.events):
        sentences.append(cited("No line tells why: there is no direct trace of the fault in these logs."))
    checks = claims.of(ClaimUse.CHECK)[:2]
    if checks:
        sentences.append(cited(f"What would tell: {joined(*(check.says for check in checks))}"))
    advised = seek(subject.parsed, [_ADVISED], "a setting that would tell more", latest=True)
    if advised.lines and (names := _settings_in(advised)):
        first = cited(f"The logs themselves name a setting that would tell more: {names}.")
        return [first, *quoted(advised, 1, _ADVISED), *sentences]
    return sentences


# A variable that a program says to set, to see more: as torch ("enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE",
# "For debugging consider passing CUDA_LAUNCH_BLOCKING=1"), hydra ("Set the environment variable HYDRA_FULL_ERROR=1")
# and NCCL ("run with NCCL_DEBUG=INFO for details") say it
_ADVISED = re.compile(
    rb"\b(?:set(?:ting)?|enabl(?:e|ing)|pass(?:ing)?|run(?:ning)? with|compile with|use|export)\b[^\n]{0,40}?"
    rb"\b([A-Z][A-Z0-9]{2,20}(?:_[A-Z0-9]{2,20}){1,6}(?:=[\w.]{1,20})?)"
)
_OF_MORE = re.compile(r"DEBUG|TRACE|VERBOS|LOG|ERROR|BLOCKING|DSA|DUMP|RECORD|MONITOR|INFO|STACK|SYMBOL|BUFFER")


def _settings_in(found: LookResult) -> str:
    """The variables that lines say to set, of those that make a program tell more."""
    lines = [line.text.encode() for line in found.lines if "deprecated" not in line.text]
    names = [match[1].decode() for text in lines for match in _ADVISED.finditer(text)]
    return wording.names(dict.fromkeys(name for name in names if _OF_MORE.search(name)), 3, 80)


def approved(subject: Subject, question: Question) -> Lines:
    """Who confirmed the known faults that this answer cites; the thread tells who decided about this one."""
    chosen = [fault for fault in subject.known if not question.ids or fault.id in question.ids]
    team = [fault for fault in chosen if not fault.seed]
    if team:
        sentences = [
            f"{fault.id}, “{fault.title}”, was {wording.vouched(fault)}{wording.how_confirmed(fault)}."
            for fault in team[:2]
        ]
        return [cited(text, fault.id) for text, fault in zip(sentences, team, strict=False)]
    if chosen:
        fault = chosen[0]
        return [
            cited(f"Nobody of your team: {fault.id}, “{fault.title}”, is {wording.vouched(fault)}.", fault.id),
            cited("Whether somebody approves the note on this job is told in its thread."),
        ]
    return [cited("Nobody: no confirmed fault of the library fits this job, and the diagnosis is made by code.")]


def read(subject: Subject, question: Question) -> Lines:
    """What was read and compared, of which node or rank."""
    coverage = subject.diagnosis.coverage
    gone = "; ".join(wording.missing(coverage))
    sentences = [cited(f"Read: {wording.read(coverage)}. Compared {wording.compared(coverage)}.")]
    if question.unknown:
        sentences.insert(0, cited(f"No file that was read is known to be a log of {question.unknown[0]}."))
    for node in question.nodes[:2]:
        files = sorted(set(_files_of(subject, node)))
        named = f"{wording.counted(len(files), 'file')}: {wording.names(files, 3, 90)}" if files else "none"
        sentences.append(cited(f"Logs of {node}: {named}."))
    sentences.append(cited(f"Missing: {gone}." if gone else "Nothing is missing of what job.json promises."))
    return sentences


def _files_of(subject: Subject, node: str) -> list[str]:
    table = subject.parsed.table
    voices = [at for at, origin in enumerate(table.origins) if origin.node == node]
    return [table.files[int(table.file_of_voice[voice])] for voice in voices]
