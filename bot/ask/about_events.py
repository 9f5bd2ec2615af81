"""Answers about pieces of evidence: what one means, whether it matters, how often it came, how the job ended."""

import re

from bot.ask.about_exits import asked_code, by_exit_code, exit_code, exit_codes, process_of, time_up
from bot.ask.about_jobs import argument_line
from bot.ask.about_memory import oom_report
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, any_of, cited, lower, quoted, raw
from bot.ask.subject import Subject
from bot.ask.terms import stem_of
from bot.ask.told_diagnosis import searched, what_failed
from bot.ask.wanted_value import Wanted, asks, wanted
from bot.ask.word_lists import stop_words, word_lists
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.answer.search import matching, seek, tell
from core.facts import fact_of
from core.logs.lines import NO_TIME
from core.model import EventEvidence, Evidence, Role, Scope

_NAME = re.compile(r"\b[A-Z][A-Za-z]{2,60}(?:Error|Exception|Failure|Timeout)\b")  # of an exception, as code writes it


def names_error(question: Question) -> bool:
    """Whether a question names an exception as code writes it."""
    return _NAME.search(question.text) is not None


def explain(subject: Subject, question: Question) -> Lines | None:  # noqa: PLR0911 a kind of thing each
    """What a piece of evidence, a message or a term means; the leading event where none is named."""
    named = [line for name in question.ids[:2] for line in _piece(subject, name)]
    if named:
        return named
    if (code := asked_code(question)) is not None:
        lead = subject.leading
        return [*exit_code(subject, code), what_failed(subject)]
    terms = [
        term
        for name, term in word_lists("words")["terms"].items()
        if re.search(rf"(?<!\w){name}(?!\w)", question.text, re.IGNORECASE)
    ]
    if terms and Wanted.WHO not in wanted(question):
        here = [event for event in said_in_evidence(subject, question) if isinstance(event, EventEvidence)]
        return [*(cited(term) for term in terms[:2]), *(_piece(subject, here[0].id) if here else [])]
    if (events := [event for event in said_in_evidence(subject, question) if isinstance(event, EventEvidence)]) and (
        question.quoted or _NAME.search(question.text)
    ):
        return _piece(subject, events[0].id)
    for quote in question.quoted:
        fact = fact_of(quote, block=False)
        if fact and fact.known:
            return [
                cited(f"It means: {fact.says}. {wording.ROLE[fact.role].capitalize()}."),
                cited(f"Check: {fact.check}."),
            ]
    if question.quoted:
        return None
    if subject.leading is None:
        return None
    diagnosis, lead = subject.diagnosis, subject.leading
    because = f": {lower(diagnosis.nodes[0].because)}" if diagnosis.scope is Scope.NODE and diagnosis.nodes else ""
    means = f"It is how the fault shows itself, as far as the logs tell: {lower(diagnosis.headline)}{because}."
    return [*([cited(means, lead.id)] if lead.is_trace else []), *_piece(subject, lead.id)]


def ended(subject: Subject, question: Question) -> Lines:
    """How the job and its processes came to their end: who was killed by what, exit codes, status."""
    diagnosis = subject.diagnosis
    code = asked_code(question)
    status = diagnosis.facts.get("status", "")
    says = f"Its job.json says {status}. " if status else ""
    last, total = subject.parsed.iterations.last, subject.parsed.iterations.total
    says += f"All {total:,} iterations were completed all the same. " if total and last == total else ""
    whole = cited(f"{says}{wording.sentence(diagnosis.headline).rstrip('.')}.")
    codes = exit_codes(subject, question)
    killed = [event for event in diagnosis.events if _KILLS.search(f"{event.says} {_text(event)}")]
    if question.says("process", "pid", "signal", "rank", "which", "kill"):
        killed.sort(key=lambda event: _PROCESS.search(_text(event)) is None)
    sentences = [
        line for event in killed[:2] for line in (cited(subject.sentence_of(event), event.id), *raw(event.lines, 1))
    ]
    sentences = sentences or _ends_told(subject)
    if question.says("pid", "process") and (
        of_killed := [cited(says) for event in killed if (says := process_of(subject, event))]
    ):
        sentences = [*of_killed[:1], *sentences]
    sentences = [*_by(subject, question), *sentences]
    if code is not None:
        return [*exit_code(subject, code), *sentences]
    if question.says("exit", "code"):
        return [codes or cited("job.json holds no exit codes; what the logs say of ends:"), *sentences]
    if question.says("status", "running", "finish", "succe", "clean", "complete", "fail"):
        return [whole, *([codes] if codes else []), *sentences]
    return [*sentences[:3], *([codes] if codes else []), whole]


def _ends_told(subject: Subject) -> list[str]:
    """How it ended where no evidence is of a kill: exit codes, the line that stopped it, kills in any line."""
    codes, lead = by_exit_code(subject), subject.leading
    found = seek(subject.parsed, [_KILLED], "a kill or an order to stop", latest=True)
    told = list(stopped(subject))
    if not told and found.lines:
        told = [cited(f"Of a kill or an order to stop: {found.says}"), *quoted(found, 2)]
    if not told and not codes:
        told = [cited("I looked for a kill or an order to stop in all evidence and lines, and found none.")]
    what = "What ended it" if lead and lead.is_trace else "What others noticed of it"
    led = [cited(f"{what}: {subject.sentence_of(lead)}", lead.id)] if lead and not lead.ordinary else []
    return [*codes, *told, *led] if codes else [*led, *told]


def _orders(subject: Subject) -> list[str]:
    """Who gave the order to stop: a limit of time, a scheduler that says so."""
    found = seek(subject.parsed, [_ORDERED], "an order to stop")
    sentences = [cited(f"Of who ended it: {found.says}"), *quoted(found, 1)] if found.lines else stopped(subject)
    return [*([up] if (up := time_up(subject)) else []), *sentences]


def stopped(subject: Subject) -> Lines:
    """The last line that tells that it was stopped, by whatever program; empty where an error of its own leads."""
    parsed, lead = subject.parsed, subject.leading
    if lead is not None and lead.is_trace and subject.diagnosis.scope is not Scope.NONE:
        return []
    rows, _ = matching(parsed, [_STOPPED])
    course, times = parsed.iterations.course, parsed.table.time
    since = int(course.times[-1]) if len(course) else NO_TIME  # before the last progress it is of something else
    table = parsed.table  # a line without a clock has that of the line above
    last = [row for row in rows if int(times[row]) == NO_TIME or not table.timed[row] or int(times[row]) >= since]
    first = sorted(last, key=lambda row: (int(times[row]), row))[:1]  # the others pass it on
    found = tell(parsed, first, "a word on its end")
    if not found.lines:
        return []
    at = f" at {found.clock[0]}" if found.clock[0] and table.timed[first[0]] else ""
    said = wording.without_clock(found.lines[0].text.strip())
    nobody = "" if _BY_SOMEBODY.search(said) else "; it names nobody"
    return [cited(f"It was stopped{at}, as this line says: “{said}”{nobody}."), *quoted(found, 2)]


_BY_SOMEBODY = re.compile(r"\b(?:by|durch|von|from|user|uid)\b", re.IGNORECASE)


# What programs print when a job is stopped, not when it breaks: "Job 'x' was stopped" (Ray), "mpirun: killing job...",
# "Stopping trainer.service" (systemd), "interrupt, aborting." (pdsh), and names of the commands that delete a job
_STOPPED = re.compile(
    rb"\b(?:job|workload|run|pod|task)\b[^\n]{0,60}\b(?:stopped|deleted|terminated)\b|\bstop(?: was)? requested\b"
    rb"|(?<!early )\bstopping\b|\binterrupt, abort|\bqdel\b|\bscancel\b|\bkilling job\b|\bterminating training\b"
    rb"|\btime ?(?:out|limit)\b[^\n]{0,24}\b(?:reached|expired|exceeded)\b|\bsending SIG(?:TERM|INT|KILL)\b"
    rb"|\breceived [0-9]{1,2} death signal\b|\b(?:abgebrochen|abbruch)\b",
    re.IGNORECASE,
)


def _by(subject: Subject, question: Question) -> Lines:
    """Who ended it, where that is asked."""
    if asks(question, "by_whom"):
        return by_whom(subject, question)
    when = Wanted.WHEN in wanted(question)
    return _orders(subject) if when or question.says(*_ORDERED_BY) else []


def by_person(subject: Subject, question: Question) -> Lines:
    """Who did what the question says, where a line about it names a user; else that none tells, with those lines."""
    shown = LineSearch(subject, question).shown(2, LIKELY)
    done = any_of(stem_of(word) for word in _DONE.findall(question.asked.plain))
    told = [line for line in shown if done is None or done.search(line.encode())]
    named = [line for line in told if _BY_SOMEBODY.search(_PATH.sub(" ", line))]
    return named or [cited(f"No log tells who did that ({searched(subject)} were searched)."), *shown]


_DONE = re.compile(r"\bwho (?:(?:has|had|have|did) )?([a-z]{3,20})\b")
_PATH = re.compile(r"\S{0,200}/\S{0,200}")


def by_whom(subject: Subject, question: Question) -> Lines:
    """Who ended it, as far as lines name anybody: kernel, limit, order, launcher; else that no log tells."""
    sent = seek(subject.parsed, [_BY_LAUNCHER], "a launcher that ends the others")
    of_launcher = [cited(f"The launcher ended the others: {sent.says}"), *quoted(sent, 1)] if sent.lines else []
    if question.says(*_OTHERS) and of_launcher:
        return of_launcher
    if told := oom_report(subject):
        return told
    if orders := _orders(subject):
        nobody = not orders[0].startswith("It was stopped") and not time_up(subject)
        nobody = nobody and not any(_NAMES_ORDERER.search(line) for line in orders)
        return [*([cited(f"{BY_NOBODY}; they tell only that it was ordered.")] if nobody else []), *orders]
    by_hand = seek(subject.parsed, [_BY_HAND], "an interrupt")
    if by_hand.lines:
        says = "An interrupt ended it, as from a keyboard, a console or a closed terminal; no log names the person"
        return [cited(f"{says}: {lower(by_hand.says)}."), *quoted(by_hand, 1)]
    killed = seek(subject.parsed, [_KILLED], "a kill")
    read = searched(subject)
    if not killed.lines and not by_exit_code(subject):
        none = "nor that anybody did: no line speaks of a kill or an order to stop"
        return [cited(f"{BY_NOBODY}, {none} ({read} were searched).")]
    says = f"{BY_NOBODY}: none of {read} names the kernel's memory killer, a limit of time or a cancellation."
    return _by_signal(subject) or [cited(says), *of_launcher[:1]]


def _by_signal(subject: Subject) -> Lines:
    """What leads the evidence, where that tells of a signal and its sender: "SIGTERM from node agent"; else empty."""
    lead = subject.leading
    if lead is None or not _KILLED.search(_text(lead).encode()) or not _BY_SOMEBODY.search(_text(lead)):
        return []
    says = "It was told to stop, as this line says; it names no person"
    return [cited(f"{says}: {subject.sentence_of(lead)}", lead.id), *raw(lead.lines, 2)]


# "Sending process 7 closing signal SIGTERM" (torch elastic), "Killing subprocess 31882" (DeepSpeed)
_BY_LAUNCHER = re.compile(rb"closing signal SIG(?:TERM|KILL)|\bkilling subprocess\b|will be terminated", re.IGNORECASE)
# Python's own "KeyboardInterrupt", what pdsh and shells print of a Ctrl-C ("^C"), a shell of a lost terminal ("Hangup")
_BY_HAND = re.compile(rb"\bkeyboardinterrupt\b|\^C\b|\bsigint\b|\d Hangup\s", re.IGNORECASE)
_OTHERS = ("other", "rest", "sigterm", "everyone", "remain")
BY_NOBODY = "No log tells by whom"
_ORDERED_BY = ("who", "stop", "cancel", "limit")
_NAMES_ORDERER = re.compile(
    r"\bby (?:user|uid|root|job|pod|administrator)\b|due to|time ?limit|\buid[ =]", re.IGNORECASE
)
_ORDERED = re.compile(rb"\bcancel(?:l?ed|l?ing)\b|\btime limit\b|\bpreempt(?:ed|ing)\b", re.IGNORECASE)
_KILLS = re.compile(
    r"kill|signal|sig(?:term|kill|segv|abrt|int)|exit|cancel|time limit|preempt|out of memory|oom|terminat|died|abort",
    re.IGNORECASE,
)
_KILLED = re.compile(
    rb"sig(?:kill|term|segv|abrt|int|hup|quit|bus|usr[12])\b"
    rb"|(?:exit|error|return) ?code\W{0,8}-[0-9]{1,2}\b|signal\W{1,3}[0-9]{1,2}\b"
    rb"|\bkill(?:ed|ing)\b|cancelled|preempt|keyboardinterrupt",
    re.IGNORECASE,
)
_PROCESS = re.compile(r"\bpid\b|process [0-9]{1,9}|killed process", re.IGNORECASE)


def said_in_evidence(subject: Subject, question: Question) -> list[Evidence]:
    """Evidence whose sentences or lines hold the telling words of a question, the one that holds most of them first."""
    words = telling_words(question)
    if not words:
        return []
    scored = []
    for number, evidence in enumerate(subject.evidence.values()):
        text = f"{evidence.because} {_text(evidence)} {getattr(evidence, 'says', '')}".casefold()
        hits = sum(stem in text for stem in words)
        scored.append((-hits, number, evidence))
    enough = len(words) if len(words) <= 2 else (2 * len(words) + 2) // 3  # one word of several says little
    return [evidence for hits, _, evidence in sorted(scored, key=lambda entry: entry[:2]) if -hits >= enough]


def telling_words(question: Question) -> list[str]:
    """Stems of the words of a question that say what it is about, without function words and words of intents."""
    words = [word for word in re.findall(r"[^\W\d_][\w-]{2,60}", question.text.casefold()) if word not in stop_words()]
    return list(dict.fromkeys(stem_of(word) for word in words))


def piece_lines(subject: Subject, evidence: Evidence) -> list[str]:
    """A piece of evidence: its sentence and its lines."""
    return [cited(subject.sentence_of(evidence), evidence.id), *raw(evidence.lines, 2)]


def behind(subject: Subject, event: EventEvidence) -> list[str]:
    """What failed, beside an event that only follows from it."""
    if event.role not in (Role.PROPAGATED, Role.TEARDOWN):
        return []
    return [what_failed(subject)]


def _piece(subject: Subject, name: str) -> list[str]:
    if event := subject.evidence.get(name):
        if not isinstance(event, EventEvidence):
            return piece_lines(subject, event)
        says = meaning_of(event)
        sentences = [
            cited(f"{subject.sentence_of(event).rstrip('.')}.{says} {wording.role_of(event).capitalize()}.", event.id)
        ]
        changed = argument_line(subject) if subject.diagnosis.scope is Scope.JOB and event is subject.leading else ""
        sentences += [*([changed] if changed else []), *behind(subject, event), *raw(event.lines, 2)]
        return (
            sentences
            + [cited(_fault(fault), fault.id) for fault in subject.known if fault.exact and name in fault.events][:1]
        )
    if fault := next((fault for fault in subject.known if fault.id == name), None):
        return [cited(_fault(fault), fault.id), cited(f"Fix: {fault.fix}", fault.id)]
    has = [*subject.evidence, *(fault.id for fault in subject.known)]
    return [cited(f"This diagnosis has no {name}; it has {', '.join(has) if has else 'no evidence at all'}.")]


def _fault(fault: KnownFault) -> str:
    return f"{fault.title} ({wording.likeness(fault)}, {wording.vouched(fault)}). Cause: {fault.cause}"


def meaning_of(event: EventEvidence) -> str:
    """What an event means, where its own sentence does not say it."""
    return f" It means: {event.says}." if event.says and event.says.casefold() not in event.because.casefold() else ""


def _text(evidence: Evidence) -> str:
    return " ".join(line.text for line in evidence.lines)
