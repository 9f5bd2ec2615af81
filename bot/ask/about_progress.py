"""Answers about progress: how far it came, of how much, what was left, how many epochs; by the job's own counters."""

import re
from collections import Counter, defaultdict

from bot.ask.about_nodes import named_units
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.sentences import say
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.answer.search import matching
from core.events.row_text import read_rows

MAX_ROWS = 20_000  # lines with counters that are read, the last ones
GROWS = 3  # different counts of one whole, from which on it is taken for a counter
# "690/1100 partitions", "3050/5000", "(58/200)"; no date, no path, no rate
_OF = re.compile(rb"(?<![\w./-])[0-9]{1,9} ?/ ?[0-9]{1,9}(?![\w/.-])")
_COUNT = re.compile(r"(?<![\w./-])([0-9]{1,9}) ?/ ?([0-9]{1,9})(?![\w/.-])(?: ([a-z]{3,20}))?")
_EPOCH = re.compile(r"\b(?:epochs?|ep)(?:\((?:train)\))?[\s_=:#\[(\"']{0,4}([0-9]{1,5})(?![0-9.]|/0)", re.IGNORECASE)
_HAS_EPOCH = re.compile(rb"\b(?:epoch|ep)(?:\(train\))?[\s_=:#\[(\"']{0,4}[0-9]", re.IGNORECASE)
# How settings and start-up lines call the planned number of iterations
_PLANNED = re.compile(
    rb"\b(?:train[-_. ]?iters"
    rb"|(?:training\.)?(?:max|num|total|train(?:ing)?)?[-_. ]?(?:training[-_ ])?(?:steps|iterations|iters))"
    rb"['\"]?[ :=.]{1,60}['\"]?([0-9]{2,9})\b(?!\.[0-9])",
    re.IGNORECASE,
)


def progress(subject: Subject, question: Question) -> Lines | None:
    """How far the job came and what was left, in the question's language; None where that is not asked."""
    if not asks(question, "progress") or asks(question, "progress_of_other") or question.iterations:
        return None
    if named_units(subject, question):
        return _of_units(subject, question)
    epochs = _epochs(subject, question)
    iterations = subject.parsed.iterations
    if iterations.last is None:
        lines = [*epochs, *counters(subject)]
        return lines or None
    total = _total(subject)
    course = iterations.course
    timed = len(course) and int(course.numbers[-1]) == iterations.last
    share = f"{100 * iterations.last / total:.0f}" if total else ""
    says = say(
        question,
        "progress",
        last=say(question, "iteration", number=f"{iterations.last:,}"),
        total=say(question, "of", total=f"{total:,}", share=share) if total else "",
        clock=say(question, "complete", clock=clock(int(course.times[-1]))) if timed else "",
        left=say(question, "left", left=f"{total - iterations.last:,}") if total and total > iterations.last else "",
    )
    return [*epochs[:1], cited(says), *epochs[1:], *counters(subject)[: 1 if total else 2], *_least(subject)]


def _of_units(subject: Subject, question: Question) -> Lines | None:
    """How far who is named came, and the others."""
    reached, home = subject.parsed.iterations.of_rank, subject.home
    ranks = {rank for rank in reached if rank in question.ranks or home.get(rank) in question.nodes}
    if not ranks:
        return None
    rest = [reached[rank] for rank in reached if rank not in ranks]
    last = max(reached[rank] for rank in ranks)
    own = f"{wording.sentence(wording.ranks(sorted(ranks))).rstrip('.')} came to iteration {last:,}"
    others = f"; of the others the last came to {min(rest):,}, the first to {max(rest):,}" if rest else ""
    same = bool(rest) and min(rest) == max(rest) == last
    return [cited(f"{own}, as all others did." if same else f"{own}{others}.")]


def _least(subject: Subject) -> list[str]:
    """Who came least far, where ranks came to different iterations."""
    reached = subject.parsed.iterations.of_rank
    few, most = (min(reached.values()), max(reached.values())) if reached else (0, 0)
    behind = wording.ranks(sorted(rank for rank, last in reached.items() if last == few))
    return [cited(f"Least far came {behind}: iteration {few:,}; others {most:,}.")] if few < most else []


def _total(subject: Subject) -> int | None:
    """The planned iterations: as counters and job.json have them, else as settings that lines print call them."""
    iterations = subject.parsed.iterations
    if iterations.total or iterations.last is None:
        return iterations.total
    rows, _ = matching(subject.parsed, [_PLANNED])
    texts = read_rows(subject.parsed.files, subject.parsed.table, rows[:MAX_ROWS]).values()
    every = [int(match[1]) for text in texts for match in _PLANNED.finditer(text.encode())]
    often = Counter(number for number in every if number > iterations.last)
    return min(often, key=lambda number: (-often[number], number)) if often else None


def _epochs(subject: Subject, question: Question) -> list[str]:
    """How many epochs lines count, where that is asked."""
    if not question.says("epoch"):
        return []
    parsed = subject.parsed
    rows, _ = matching(parsed, [_HAS_EPOCH])
    seen: dict[int, int] = {}
    for row, text in read_rows(parsed.files, parsed.table, rows[-MAX_ROWS:]).items():
        for match in _EPOCH.finditer(text):
            seen.setdefault(int(match[1]), row)
    if not seen:
        return []
    low, high = min(seen), max(seen)
    which = f"epoch {low:,} to {high:,}" if low < high else f"epoch {high:,}"
    first = f"{wording.counted(len(seen), 'epoch')} by its lines ({which})."
    return [cited(first), *quoted(found_rows(parsed, "", [seen[high]]), 1)]


def counters(subject: Subject) -> list[str]:
    """The last state of what lines count of a whole ("58/200"), the latest first."""
    parsed, table = subject.parsed, subject.parsed.table
    rows, _ = matching(parsed, [_OF])
    counts: dict[tuple[int, int, int], list[tuple[int, int, str]]] = defaultdict(list)
    for row, text in read_rows(parsed.files, table, rows[-MAX_ROWS:]).items():
        for match in list(_COUNT.finditer(text))[:2]:
            done, whole = int(match[1]), int(match[2])
            if 0 < done <= whole and whole > 1:
                counts[int(table.event[row]), int(table.voice[row]), whole].append((done, row, match[3] or ""))
    grown = [own for own in counts.values() if len({done for done, _, _ in own}) >= GROWS]
    grown.sort(key=lambda own: (-int(table.time[own[-1][1]]), -len(own)))
    told: list[str] = []
    for (_, _, whole), own in counts.items():
        if own not in grown[:1]:
            continue
        done, row, noun = own[-1]
        left = f", {whole - done:,} were left" if whole > done else ""
        told += [cited(f"By its own counter: {done:,} of {whole:,}{f' {noun}' if noun else ''}{left}.")]
        told += quoted(found_rows(parsed, "", [row]), 1, _OF)
    return told
