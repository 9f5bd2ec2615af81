"""The words in which a person reads a diagnosis; terminal, page and Slack say the same thing the same way."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

from bot.text.harmless import harmless
from bot.text.known_fault import KnownFault
from core.model import Action, Confidence, Coverage, Diagnosis, EventEvidence, Line, NextStep, Role, Scope, Stage
from core.naming import natural
from core.naming import sentence as sentence  # noqa: PLC0414 -- told from here to all of bot

CONFIDENCE = {
    Confidence.ESTABLISHED: "established: act on it",
    Confidence.SUPPORTED: "supported: likely, verify before you act",
    Confidence.WEAK: "weak: a hint, look before you act",
}
SCOPE = {
    Scope.NODE: "one node or a few, not the whole job",
    Scope.JOB: "the whole job; no single node stands out",
    Scope.NONE: "the job itself did not fail",
    Scope.UNKNOWN: "the logs do not tell what is at fault",
}
ROLE = {
    Role.ROOT: "a direct trace of the fault",
    Role.PROPAGATED: "a healthy peer says that somebody died or timed out",
    Role.TEARDOWN: "the launcher or the scheduler ends the job",
    Role.BENIGN: "looks bad, is not",
}
_BY_NAME = 2  # so many nodes of an event are named
_NEXT_UNIT, _DIGITS = 999.5, (99.95, 9.995)  # where rounding to three digits adds one before the point
_TELLING, _WHOLE = 0.1, 10  # node-hours below which a price is not worth a word, and from which on digits are none
_LIKENESS = {"is this": "it is this", "looks like": "it looks like this", "seen with": "same symptoms"}
NO_CLOCK = "--:--:--"
ZONE_OF_LOGS = "zone as in the logs"
_ZONED_CLOCK = re.compile(
    r"(?<![0-9])[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2}(?![0-9]))?"
)
_LEADING_CLOCK = re.compile(
    r"^((?:\S+\s+){0,3})"  # labels of launchers and wrappers
    r"(?:\[?[IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\S{0,16} [^\]]{0,120}\]\s*"  # glog's, with file and line
    r"|\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T_-][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?\s+)"
)
SECOND = 1_000_000  # microseconds, in which the core counts time
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_YEAR = 1970  # of clocks without one, as core.parsing.parse reads them
NO_DAY = date(NO_YEAR, 1, 7)  # until then: clocks without a day begin on 01-02, and a job may run over midnight


def first_line(diagnosis: Diagnosis) -> str:
    """Where to look first; stands alone, so it names the job."""
    headline = harmless(diagnosis.headline, 300) or SCOPE[diagnosis.scope].capitalize()
    job = harmless(diagnosis.job, 80)
    return headline if job in headline.split(":")[0].split() else f"{job}: {headline}"


def next_line(step: NextStep) -> str:
    """What to do next in one line: the action, why, and what it costs where that is known."""
    return f"{next_action(step)}: {next_reason(step)}"


def next_action(step: NextStep) -> str:
    """The action and whom it is about: "evict dgx-18"."""
    nodes = f" {names(step.nodes)}" if step.nodes else ""
    if step.action is Action.EVICT and step.nodes and all(node.startswith("rank ") for node in step.nodes):
        nodes = f" the node of{nodes}"  # nobody names machines, and a rank is none
    return f"{'nothing' if step.action is Action.NONE else step.action}{nodes}"


def next_reason(step: NextStep) -> str:
    """Why, and what it costs where that is known."""
    hours = step.cost.node_hours
    price = f" Costs about {hours:,.{1 if hours < _WHOLE else 0}f} node-hours." if hours and hours >= _TELLING else ""
    return f"{harmless(step.because, 300)}{price}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 node", "1,024 nodes"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times(number: int) -> str:
    """How often: "once", "32 times"."""
    return "once" if number == 1 else f"{number:,} times"


def size(number: int) -> str:
    """Bytes with three digits and a unit, powers of 1000: "683 kB"."""
    value, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if value < _NEXT_UNIT:
            break
        value, unit = value / 1000, larger
    return (
        f"{value:.0f} {unit}"
        if unit == "B" or value >= _DIGITS[0]
        else f"{value:.{1 if value >= _DIGITS[1] else 2}f} {unit}"
    )


def ranks(numbers: Sequence[int], limit: int = 6) -> str:
    """Ranks with joined runs: "rank 5", "ranks 2-3, 7"; beyond ``limit`` runs the rest is counted."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    if not runs:
        return ""
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    if len(runs) > limit:
        left = sum(last - first + 1 for first, last in runs[limit - 1 :])
        words = [*words[: limit - 1], f"{left:,} more"]
    return ("rank " if len(set(numbers)) == 1 else "ranks ") + ", ".join(words)


def names(values: Iterable[str], limit: int = 3, width: int = 40) -> str:
    """The first ``limit`` values and the number of the others: "a, b and 5 more"."""
    all_of_them = [harmless(value, width) for value in values]
    if len(all_of_them) <= limit:
        return ", ".join(all_of_them)
    shown = all_of_them[: max(1, limit - 1)]
    return f"{', '.join(shown)} and {len(all_of_them) - len(shown):,} more"


def role_of(event: EventEvidence) -> str:
    """What an event is to the failure, as a clause."""
    return "an ordinary line, in which the finding shows" if event.ordinary else ROLE[event.role]


def where(event: EventEvidence, nodes: int) -> str:
    """The nodes of an event: by name when they are few, by number when they are many; its file when there is none."""
    if len(event.nodes) > 1 and len(event.nodes) == nodes:
        return f"all {nodes:,} nodes"
    if len(event.nodes) > _BY_NAME:
        unit = "ranks" if all(name.startswith("rank ") for name in event.nodes) else "nodes"
        of = f" of {nodes:,}" if nodes > len(event.nodes) else ""
        return f"{len(event.nodes):,}{of} {unit}"
    return names(sorted(event.nodes, key=natural), _BY_NAME) or (
        event.lines[0].file.rpartition("/")[2] if event.lines else "no node"
    )


def benign(ids: Sequence[str]) -> str:
    """That these events look bad and are not."""
    verb = "event looks bad but is" if len(ids) == 1 else "events look bad but are"
    return f"{len(ids):,} {verb} benign: {names(ids, 6)}"


def why(diagnosis: Diagnosis) -> list[str]:
    """The sentences behind scope and confidence that no suspect's own sentence says again."""
    text = " ".join(suspect.because for suspect in diagnosis.nodes).casefold()
    return [sentence for sentence in diagnosis.why if sentence.rstrip(".").casefold() not in text]


def cited_text(event: EventEvidence) -> str:
    """What the first cited line says, without its date and time when these are shown beside it.

    A heading that says nothing yet (``ChildFailedError:``) is followed by the next cited line of its block.
    """
    first, *others = event.lines or (Line("", 0, event.template),)
    text = first.text.strip()
    if text.endswith(":"):
        text += next((" … " + line.text.strip() for line in others if line.file == first.file), "")
    return without_clock(text) if event.first_time is not None else text


def without_clock(text: str) -> str:
    """A log line without the date and time that it begins with, or that follow its label."""
    return _LEADING_CLOCK.sub(r"\1", text)


def first_sign(diagnosis: Diagnosis) -> int | None:
    """The earliest time of an event of role root; None where the one that leads has no clock: later ones follow it."""
    if diagnosis.events and diagnosis.events[0].ordinary and diagnosis.events[0].first_time is None:
        return None
    roots = [event.first_time for event in diagnosis.events if event.role is Role.ROOT]
    return min((micros for micros in roots if micros is not None), default=None)


def when(diagnosis: Diagnosis) -> str:
    """Stage, first suspicious iteration, first sign: "training, iteration 60, first sign at 03:59:44"."""
    if diagnosis.scope is Scope.NONE and not diagnosis.events:
        return ""  # where a job was that did not fail tells nothing
    parts = [] if diagnosis.stage is Stage.UNKNOWN else [str(diagnosis.stage)]
    if diagnosis.iterations:
        parts.append(f"iteration {diagnosis.iterations[0].iteration}")
    if (micros := first_sign(diagnosis)) is not None:
        parts.append(f"first sign at {moment(micros):%H:%M:%S}")
    return ", ".join(parts)


def moment(micros: int) -> datetime:
    """A time of the job's clock; far outside any calendar it becomes the calendar's end."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def dated(micros: int) -> str:
    """A time of the job's clock with its day: "2026-11-21 03:59:44", without a year or day that no log tells."""
    return " ".join(part for part in (day([micros]), f"{moment(micros):%H:%M:%S}") if part)


def iso(micros: int | None) -> str | None:
    """ISO 8601 with microseconds and Z; years before 1970 and beyond 9999 do not happen."""
    return None if micros is None else moment(micros).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def clocks(moments: Sequence[int | None], *, milliseconds: bool = False) -> list[str]:
    """Times of day; the date comes before them only when there is more than one date."""
    dates = {moment(micros).date() for micros in moments if micros is not None}
    style = "%m-%d %H:%M:%S" if len(dates) > 1 else "%H:%M:%S"
    shown = [NO_CLOCK if micros is None else moment(micros).strftime(style) for micros in moments]
    if not milliseconds:
        return shown
    return [
        text if micros is None else f"{text}.{micros // 1000 % 1000:03d}"
        for text, micros in zip(shown, moments, strict=True)
    ]


def day(moments: Iterable[int | None]) -> str:
    """The date or dates of the times: "2026-11-21"; empty without any time, or where no log tells the day."""
    dates = sorted({moment(micros).date() for micros in moments if micros is not None})
    sentences = [f"{day:%m-%d}" if day.year == NO_YEAR else day.isoformat() for day in dates if day > NO_DAY]
    return sentences[0] if len(sentences) == 1 else f"{sentences[0]} to {sentences[-1]}" if sentences else ""


# Chosen: shares that people say; above one in four the nearest is off by a twelfth at most.
_ODDS = ((1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (4, 5), (9, 10), (19, 20))


def clock_zone(diagnosis: Diagnosis) -> str:
    """What zone the shown times are in: UTC where each cited clock has one of its own, for these are converted."""
    zone = harmless(diagnosis.facts.get("clock zone", ""), 60)
    cited = (event.lines[0].text for event in diagnosis.events if event.lines and event.first_time is not None)
    zoned = [bool(clock[1]) for text in cited if (clock := _ZONED_CLOCK.search(text))]
    return zone or ("UTC" if zoned and all(zoned) else ZONE_OF_LOGS)


def vouched(fault: KnownFault) -> str:
    """Who vouches for a known fault: "confirmed by ada, 2026-11-21", or that nobody of the team has."""
    if fault.seed:
        return "from public facts, not confirmed by your team"
    day_of = f", {fault.confirmed_at[:10]}" if fault.confirmed_at else ""
    return f"confirmed by {harmless(fault.confirmed_by, 60)}{day_of}"


def how_confirmed(fault: KnownFault, limit: int = 300) -> str:
    """What stands behind who confirmed it: ": cable reseated, it runs again"; empty where nobody said how."""
    how = harmless(fault.confirmation, limit).rstrip(".")
    return f": {how}" if how else ""


def likeness(fault: KnownFault) -> str:
    """How a known fault fits, for a reader: "it is this", "it looks like this" or "same symptoms"."""
    fit = fault.fit or ("is this" if fault.exact else "looks like")
    return _LIKENESS.get(fit, fit)


def odds(share: float) -> str:
    """A share in words that a reader can count: "3 in 4"; the nearest of some plain ones."""
    right, of = min(_ODDS, key=lambda shares: abs(shares[0] / shares[1] - share))
    return f"{right} in {of}"


def read(coverage: Coverage) -> str:
    """How much was read: "25 files, 1,166 lines, 683 kB, 8 of 8 ranks"."""
    dumps = [counted(coverage.dumps, "dump")] if coverage.dumps else []
    if not coverage.files:
        return ", ".join([*dumps, "no log"]) if dumps else "no log at all"
    parts = [counted(coverage.files, "file"), counted(coverage.lines, "line"), size(coverage.bytes), *dumps]
    if coverage.ranks_expected:
        expected = counted(coverage.ranks_expected, "rank")
        parts.append(f"{coverage.ranks:,} of {expected}" if coverage.ranks else f"{expected}, not told apart")
    elif coverage.ranks:
        parts.append(counted(coverage.ranks, "rank"))
    if coverage.undecodable_lines:
        parts.append(f"{counted(coverage.undecodable_lines, 'line')} not UTF-8")
    if coverage.broken_lines:
        parts.append(f"{counted(coverage.broken_lines, 'line')} cut off in their wrapper")
    return ", ".join(parts)


def missing(coverage: Coverage) -> list[str]:
    """What was not read of the job's logs, a phrase each."""
    phrases = []
    if coverage.nodes_missing and not _only_unnamed(coverage):
        phrases.append(f"all logs of {names(coverage.nodes_missing, 4)}")
    if coverage.ranks_missing:
        phrases.append(f"all logs of {ranks(coverage.ranks_missing)}")
    if coverage.unreadable_files:
        files = counted(len(coverage.unreadable_files), "unreadable file")
        phrases.append(f"{files}: {names(coverage.unreadable_files, 3, 70)}")
    return phrases


def _only_unnamed(coverage: Coverage) -> bool:
    """Whether lines of the missing nodes are there, and only do not name them: all ranks spoke, or no line does."""
    heard = coverage.ranks_expected is not None and coverage.ranks >= coverage.ranks_expected
    return heard or bool(coverage.lines and not coverage.nodes)


def compared(coverage: Coverage) -> str:
    """The baseline: "with 3 successful jobs: s01, s03, s04"."""
    if not coverage.baseline_jobs:
        return "with no successful job"
    known = f": {names(coverage.baseline_ids, 6)}" if coverage.baseline_ids else ""
    return f"with {counted(coverage.baseline_jobs, 'successful job')}{known}"


def node_total(coverage: Coverage) -> int:
    """The nodes of the job, those without logs as well."""
    return coverage.nodes + len(coverage.nodes_missing)


# Successful jobs that settle what is normal on the lab jobs (docs/LOG.md); with fewer, the reader is told.
WEAK_BASELINE = 3


def weak_baseline(coverage: Coverage) -> str:
    """A warning when little is known of what is normal; empty when enough is."""
    if not coverage.files or coverage.baseline_jobs >= WEAK_BASELINE:
        return ""
    if not coverage.baseline_jobs:
        return "no successful job to compare with: what is normal for this job is not known"
    return f"only {counted(coverage.baseline_jobs, 'successful job')} to compare with: some of this may be normal"


def drafted(author: str, model: str) -> str:
    """Who wrote a note, and what that is worth; ``author`` as in Note."""
    if author == "code":
        return "written by code from the evidence"
    return f"written by code from the evidence, in the order of {harmless(model, 60) or 'a model'}; not confirmed"


def step(name: str, done: int, total: int) -> str:
    """How far a step is: "reading f07, 12 of 37"."""
    shown = harmless(name, 120)
    return f"{shown}, {min(done, total):,} of {total:,}" if total > 0 else shown


def place(number: int) -> str:
    """A place in the queue, 1 being the next."""
    return "next in the queue" if number == 1 else f"place {number:,} in the queue"


def minute(moment_of: datetime) -> str:
    """A time of what people and the bot did: "2026-11-21 04:11 UTC"."""
    return f"{moment_of.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
