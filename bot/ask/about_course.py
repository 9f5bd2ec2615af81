"""Answers about time: when it began, how long it hung and ran, how far it came, who fell silent first."""

import re

import numpy as np

from bot.ask.about_clocks import HOUR, zones
from bot.ask.about_fate import ending
from bot.ask.about_nodes import named_units, no_such
from bot.ask.about_pace import asks_of_pace, onset, since_slow, slow_since
from bot.ask.level_change import change_of_lead, first_change
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted, raw
from bot.ask.standstill import told_missing, told_silence
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import told_claims, what_failed
from bot.ask.waits import waits
from bot.ask.wanted_value import Wanted, asks, wanted, yes_or_no
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer import job_lookup
from core.answer.search import seek
from core.course.job_clock import moment
from core.live.findings import duration
from core.logs.lines import NO_TIME
from core.model import EventEvidence, Role, Scope, Stage
from core.naming import natural

_NO_CLOCK = "No line of these logs has a clock, so they do not tell when."
UNPRINTED = 100  # iterations between two lines of progress, as Megatron's default --log-interval has it
_ORDER = ("order", "sequence", "timeline", "happen")
_NAMED = re.compile(  # "failed at step 47", "error in iteration=47": as a message names the iteration it is about
    rb"(?:\b(?:fail(?:ed|ure)|crash(?:ed)?|abort(?:ed|ing)?)|error)\b[^\n]{0,40}"
    rb"\b(?:step|iteration|iter|update)[ =:#]{1,2}([0-9]{1,9})\b(?!\.[0-9])",  # "STEP 48298.0" is one of Slurm's
    re.IGNORECASE,
)
_WHERE = ("which", "where", "who", "node", "rank", "machine", "host")
_NOT_TOLD = "No log tells for certain which was first"
_SILENT = ("silent", "quiet", "line", "log", "alive", "still", "longest", "wrote", "speak", "spoke")


def began(subject: Subject, question: Question) -> Lines:
    """The first sign and what came after it, or when one event was said."""
    if asks(question, "since_step") and "iteration" in subject.diagnosis.headline:
        ids = [subject.leading.id] if subject.leading else []
        return [cited(wording.sentence(subject.diagnosis.headline), *ids), *_began(subject, question)]
    return _began(subject, question)


def _began(subject: Subject, question: Question) -> Lines:
    events = [one for name in question.ids if isinstance(one := subject.evidence.get(name), EventEvidence)]
    if not events and Wanted.WHEN in wanted(question) and asks(question, "beside"):  # "when did the others notice"
        events = _of_peers(subject)[:1]
    if events:
        return [_when(subject, event) for event in events]
    if Wanted.WHEN in wanted(question) and (own := _of_named(subject, question)):
        return own
    when = Wanted.WHEN in wanted(question)
    if when and (slow_since(subject) is not None or asks_of_pace(question)) and (slow := since_slow(subject)):
        return [*slow, *([progress] if (progress := _last_progress(subject)) else [])]
    if not question.nodes and (changed := change_of_lead(subject)):
        return [*changed, *([progress] if (progress := _last_progress(subject)) else [])]
    sentences = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN]
    timed = sorted(
        (event for event in sentences if event.first_time is not None),
        key=lambda event: (event.first_time or 0, event.id),
    )
    progress = _last_progress(subject)
    if not timed:
        none = _NO_CLOCK if _ends(subject) is None else "The lines of the evidence have no clock."
        shown = [cited(f"{subject.sentence_of(event)}", event.id) for event in sentences[:2]]
        told = [cited(none), *([progress] if progress else []), *shown]
        return told if sentences else _without_events(subject, question)
    first, *later = timed
    begins = "The first sign came at"
    if yes_or_no(question) and asks(question, "fine"):  # "was it healthy before?"
        begins = "Yes, as far as the evidence tells, until"
    says = f"{begins} {clock(first.first_time or 0)}: {_said(subject, first)}."
    silent = told_claims(subject, "N1.ended")
    return [
        cited(says, first.id),
        *silent,
        *([progress] if progress else []),
        *(_when(subject, event) for event in later),
    ]


def _of_named(subject: Subject, question: Question) -> Lines:
    """When who is named first logged any of the evidence; empty where they logged none of it."""
    units, table = named_units(subject, question), subject.parsed.table
    kinds = {event.event for event in subject.diagnosis.events if event.role is not Role.BENIGN}
    places = [at for at, template in enumerate(table.templates) if template.id in kinds]
    rows = [row for mine in table.rows_of(places).values() for row in mine.tolist() if table.time[row] != NO_TIME]
    own = (row for row in rows if subject.origin(row).node in units)
    timed = sorted(own, key=lambda row: (int(table.time[row]), row))
    if not timed:
        return []
    first = f"{wording.names(units, 2, 60)}: {clock(int(table.time[timed[0]]))}, its first line of what is evidence:"
    return [cited(first), *quoted(job_lookup.found_rows(subject.parsed, "", timed[:1]), 1), what_failed(subject)]


def _of_peers(subject: Subject) -> list[EventEvidence]:
    """What healthy peers logged of it, by its time."""
    told = (event for event in subject.diagnosis.events if event.role is Role.PROPAGATED)
    return sorted((event for event in told if event.first_time), key=lambda event: (event.first_time or 0, event.id))


def hung(subject: Subject, question: Question) -> Lines:
    """How long nothing moved, and whether that is a hang."""
    diagnosis = subject.diagnosis
    why = [reason for reason in diagnosis.why if "no progress" in reason]
    moved = [reason for reason in diagnosis.why if "made progress" in reason]
    hangs = bool(why) or any(word in diagnosis.headline for word in ("hung", "others wait"))
    ends = _ends(subject)
    course = subject.parsed.iterations.course
    sentences = []
    waited = waits(subject, question)
    if asks(question, "alive") or asks(question, "still_so"):
        sentences.append(_goes_on(subject, question))
    if hangs:
        sentences.append(cited(f"It hung. {joined(*map(wording.sentence, why or [diagnosis.headline]))}"))
    elif waited:
        sentences += [*waited, cited(joined("The diagnosis by itself does not call it a hang.", *moved[:1]))]
    elif diagnosis.facts.get("status") == "RUNNING" and diagnosis.scope in (Scope.NODE, Scope.JOB) and not moved:
        sentences.append(cited(f"Nothing tells that it goes on: {lower(diagnosis.headline)}."))
    else:
        none = cited(joined("It is not judged a hang by what the logs tell.", *moved[:1]))
        sentences += [*told_silence(subject), *told_missing(subject)[:1]] or [none]
    if not hangs and diagnosis.scope in (Scope.NODE, Scope.JOB):
        sentences.insert(2 if waited else 1, what_failed(subject))
    if Wanted.WHEN in wanted(question) and len(course):
        since = f"Since {clock(int(course.times[-1]))}: iteration {int(course.numbers[-1]):,} was the last complete one"
        sentences.insert(0, cited(f"{since}."))
    if hangs:
        sentences += waited
    if ends and len(course):
        pause = (ends[1] - int(course.times[-1])) / SECOND
        last = f"The last iteration, {int(course.numbers[-1]):,}, was complete at {clock(int(course.times[-1]))}"
        sentences.append(
            cited(f"{last}, the last line of all came at {clock(ends[1])}: {duration(max(0.0, pause))} later.")
        )
    elif ends:
        first = wording.first_sign(diagnosis)
        since = f": {duration((ends[1] - first) / SECOND)} after the first sign" if first is not None else ""
        uncounted = subject.parsed.iterations.last is None
        none = "No iteration is counted" if uncounted else "The lines that count iterations have no clock"
        sentences.append(cited(f"{none}; the last line of all came at {clock(ends[1])}{since}."))
    else:
        sentences.append(cited(_NO_CLOCK))
    return [*sentences, *told_claims(subject, "N1.ended", "J1.ended")]


def _goes_on(subject: Subject, question: Question) -> str:
    """Whether it still runs: by what failed, else by job.json and the last line of all; empty where none tells."""
    diagnosis, ends = subject.diagnosis, _ends(subject)
    if asks(question, "alive") and diagnosis.scope in (Scope.NODE, Scope.JOB):
        return cited(f"No: {lower(diagnosis.headline)}.")
    status, last = diagnosis.facts.get("status"), f", the last line of all came at {clock(ends[1])}" if ends else ""
    if status == "RUNNING":
        return cited(f"No end of it is known: job.json says RUNNING{last}.")
    return cited(f"It ended: job.json says {status}{last}.") if status else ""


def ran(subject: Subject, _question: Question) -> Lines:
    """From when to when it ran, by job.json and by its logs."""
    manifest, ends = subject.parsed.job.manifest, _ends(subject)
    start, end = moment(manifest.start), moment(manifest.end)
    sentences = []
    if start is not None and end is not None:
        sentences.append(
            cited(f"It ran {duration((end - start) / SECOND)}, by job.json from {manifest.start} to {manifest.end}.")
        )
    if ends:
        by = f"By its log lines it ran {duration((ends[1] - ends[0]) / SECOND)}"
        sentences.append(cited(f"{by}, from {clock(ends[0])} to {clock(ends[1])} ({wording.day(ends)})."))
    course = subject.parsed.iterations.course
    if ends and len(course) > 1:
        first, last = int(course.times[0]), int(course.times[-1])
        trained = f"Iterations {int(course.numbers[0]):,} to {int(course.numbers[-1]):,} were completed"
        sentences.append(
            cited(f"{trained} from {clock(first)} to {clock(last)}: {duration((last - first) / SECOND)} of training.")
        )
    return sentences or [cited(_NO_CLOCK)]


def reached(subject: Subject, question: Question) -> Lines:
    """How far the job, a node or a rank came; who completed an iteration; the stage."""
    parsed, diagnosis = subject.parsed, subject.diagnosis
    if question.unknown and not named_units(subject, question):
        return no_such(subject, question.unknown[0])
    if question.iterations:
        found = [job_lookup.of_iteration(parsed, number) for number in question.iterations[:2]]
        return [line for result in found for line in (cited(result.says), *quoted(result, 2))]
    iterations = parsed.iterations
    sentences = [_far(subject, f"Rank {rank}", (rank,)) for rank in question.ranks[:2]]
    sentences += [_far(subject, node, subject.ranks_on(node)) for node in question.nodes[:2]]
    ended = "ended" if diagnosis.scope is Scope.NONE else "failed"
    stage = "" if diagnosis.stage is Stage.UNKNOWN else f" It {ended} in the stage {diagnosis.stage}."
    if iterations.last is None:
        none = f"No line counts iterations, so none is known to be complete.{stage}"
        sentences.append(cited(none))
    else:
        share = (
            f" of {iterations.total:,} planned ({100 * iterations.last / iterations.total:.0f} %)"
            if iterations.total
            else ""
        )
        if iterations.total and (question.says("remain", "left", "missing", "still") or asks(question, "remains")):
            share += f", {iterations.total - iterations.last:,} remain"
        sentences.append(cited(f"It came to iteration {iterations.last:,}{share}{_at_last(subject)}.{stage}"))
    if len(iterations.of_rank) > 1:
        few, most = min(iterations.of_rank.values()), max(iterations.of_rank.values())
        same = f"All {len(iterations.of_rank):,} ranks that count iterations came to {most:,}."
        behind = sorted(rank for rank, last in iterations.of_rank.items() if last == few)
        sentences.append(
            cited(
                same if few == most else f"Least far came {wording.ranks(behind)}: iteration {few:,}; others {most:,}."
            )
        )
    return [*sentences[:1], *_of_errors(subject), *sentences[1:]]


def order(subject: Subject, question: Question) -> Lines:
    """Who failed or complained first, or whose last line was the first."""
    if question.says(*_ORDER) and not asks(question, "order"):
        return began(subject, question)
    if not question.says(*_SILENT):
        first = [suspect.node for suspect in subject.diagnosis.nodes[:1]]
        sentences = [cited(ending(subject, _unit(subject, node)), "N1") for node in first]
        lead = subject.leading
        if lead and len(lead.nodes) > 1 and question.says(*_WHERE) and (firsts := _first_where(subject, lead)):
            return [firsts, *sentences, *raw(lead.lines, 2)]
        own = [_when(subject, lead)] if lead and not sentences else []
        text = _said(subject, lead) if own and lead else "\n"
        return [*sentences, *own, *(line for line in began(subject, question) if text not in line)]
    found = job_lookup.ends(subject.parsed)
    return [*told_claims(subject, "N1.ended", "N1.why")[:2], cited(found.says), *quoted(found, 2)]


def _first_where(subject: Subject, event: EventEvidence) -> str:
    """Which node logged an event first, or that no log tells."""
    table = subject.parsed.table
    place = next((at for at, template in enumerate(table.templates) if template.id == event.event), None)
    rows = table.rows_of([place]).get(place) if place is not None else None
    if rows is None:
        return ""
    firsts: dict[str, int] = {}
    hours = zones(subject)
    for row in rows.tolist():
        node, time = subject.origin(row).node, int(table.time[row])
        if node and time != NO_TIME:
            time -= round(hours.get(node, 0.0) * HOUR)
            firsts[node] = min(time, firsts.get(node, time))
    who = f"{wording.counted(len(event.nodes), 'node')} logged {event.id}"
    at = f" after iteration {event.iterations[0]:,}" if event.iterations else ""
    if event.first_time is None or len(firsts) < len(event.nodes):
        return cited(f"No log tells which was first: {who}{at}, and its lines have no clock.", event.id)
    ordered = sorted(firsts.items(), key=lambda item: (item[1], natural(item[0])))
    apart = (ordered[1][1] - ordered[0][1]) / SECOND
    listed = ", ".join(f"{node} {clock(time)}" for node, time in ordered[:6])
    if apart < 1:
        near = f"{who}{at} within a second, by which clocks of nodes may differ"
        one_log = apart and len(set(table.file[rows].tolist())) == 1  # whose lines stand in the order they came
        first = f"In that log {ordered[0][0]}, but not for certain" if one_log else _NOT_TOLD
        return cited(f"{first}: {near}: {listed}.", event.id)
    return cited(f"{ordered[0][0]} was first, by {duration(apart)}: {listed}.", event.id)


def _unit(subject: Subject, node: str) -> str:
    """The rank of a node that the leading event names alone, else the node."""
    lead = subject.leading
    ranks = lead.ranks if lead and node in lead.nodes else ()
    own = ranks if len(ranks) == 1 else subject.ranks_on(node)
    return f"rank {own[0]}" if len(own) == 1 else node


def _far(subject: Subject, name: str, ranks: tuple[int, ...]) -> str:
    reached = [subject.parsed.iterations.of_rank[rank] for rank in ranks if rank in subject.parsed.iterations.of_rank]
    if reached:
        return cited(f"{name} came to iteration {max(reached):,}.")
    unit = ranks[0] if name.startswith("Rank ") and ranks else None
    found = job_lookup.of_rank(subject.parsed, unit) if unit is not None else job_lookup.of_node(subject.parsed, name)
    return cited(f"{name} prints no iteration of its own. {found.says}")


def _at_last(subject: Subject) -> str:
    """The clock of the last complete iteration, behind a comma."""
    iterations = subject.parsed.iterations
    course = iterations.course
    known = len(course) and int(course.numbers[-1]) == iterations.last
    return f", complete at {clock(int(course.times[-1]))}" if known else ""


def _of_errors(subject: Subject) -> list[str]:
    """The iterations that errors name themselves and nobody printed as complete: most print only every few."""
    last = subject.parsed.iterations.last
    found = seek(subject.parsed, [_NAMED], "a failure in an iteration", latest=True)
    named = [int(match[1]) for line in found.lines if (match := _NAMED.search(line.text.encode()))]
    named = [number for number in named if last is not None and last < number <= last + UNPRINTED]
    if not named:
        return []
    who = wording.names(dict.fromkeys(filter(None, found.who)), 4, 80)
    of = f" ({who})" if who else ""
    return [cited(f"By their own words errors came in iteration {max(named):,}{of}."), *quoted(found, 1)]


def _ends(subject: Subject) -> tuple[int, int] | None:
    """The first and the last time that any line has, microseconds of the job's clock."""
    spoke = subject.parsed.table.spoke
    known = spoke.first != NO_TIME
    return (int(spoke.first[known].min()), int(spoke.last[known].max())) if np.any(known) else None


def _last_progress(subject: Subject) -> str:
    course = subject.parsed.iterations.course
    if not len(course):
        return ""
    return cited(f"The last complete iteration, {int(course.numbers[-1]):,}, came at {clock(int(course.times[-1]))}.")


def _without_events(subject: Subject, question: Question) -> list[str]:
    """Nothing points to a failure: what numbers changed, else what the course says."""
    progress = _last_progress(subject)
    if changed := onset(subject) or told_silence(subject) or first_change(subject, question):
        return [*changed, *([progress] if progress else [])]
    return [
        cited(f"No event marks a beginning: {lower(subject.diagnosis.headline)}."),
        *([progress] if progress else []),
    ]


def _when(subject: Subject, event: EventEvidence) -> str:
    if event.first_time is None:
        return cited(f"{event.id} has no clock: {_said(subject, event)}.", event.id)
    return cited(f"{clock(event.first_time)}: {_said(subject, event)}.", event.id)


def _said(subject: Subject, event: EventEvidence) -> str:
    about = subject.about
    quote = about.quote(event)
    sentences = f"“{quote}”" if quote else lower(event.says or event.because)
    return f"{about.who(event)} logged {sentences}"
