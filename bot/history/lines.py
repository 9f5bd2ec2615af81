"""The history of a run as lines of text: where the time went, why, how often, which nodes, what to change."""

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from bot.text.harmless import harmless
from bot.text.wording import minute
from core.history.accounting import TimeUse
from core.history.history import History
from core.history.rates import FEW, HOUR
from core.next.price import seconds

_NAME = 24  # columns of a label
_ATTEMPT, _LEAST = 18, 12  # of the name of an attempt; and of what ended it, which stands above in full
_LEAD, _WIDTH = 12, 80  # columns of what a fact is about, and of a line
_CAUSE = 60  # characters; what is left of a line of _WIDTH beside the numbers
MAX_CAUSES, MAX_ATTEMPTS, MAX_CHANGES, MAX_PROBLEMS = 8, 30, 5, 10  # chosen; --json has all
AGAIN = 0.25, 0.026  # of nodes back from repair, and of others, failed within a week (StepFun's trace, 400 nodes)
BRIEF_PARTS, BRIEF_CAUSES = 4, 3  # chosen: what a line of a message on a phone has room for
BRIEF_FACTS = 4  # with the headline, time and cost fewer than MAX_LINES of bot/slack/brief.py
# What is to be done first.
_ORDER = ("Windows", "Repaired", "Repeats", "Failures", "Recovery", "Changed", "Save", "Standbys", "Unseen")
SURE = 0.01  # of the wall time: parts below are not worth a line unless they are all there is


def lines(history: History) -> Iterator[str]:
    """The history of a run as text, line by line."""
    run = history.account
    yield from textwrap.wrap(f"{harmless(history.name, 80)}: {headline(history)}", _WIDTH, break_on_hyphens=False)
    yield ""
    for part, time, share in parts(history):
        yield f"{part:<{_NAME}}{time:>12}{share:>8}"
    yield f"{'wall':<{_NAME}}{duration(run.wall):>12}"
    if run.slow > SURE * run.wall:
        yield f"Slow iterations took {duration(run.slow)} beyond the median; they count as productive."
    yield from _causes(history)
    yield ""
    yield from _wrapped(history)
    yield ""
    yield from attempts(history)
    yield ""
    yield from problems(history)


def brief(history: History) -> tuple[tuple[str, str], ...]:
    """The history as a message has room for: pairs of what a line is about and what it says; first the headline."""
    ordered = sorted(facts(history), key=lambda fact: _ORDER.index(fact[0]))
    return ("", f"{history.name}: {headline(history)}"), *_account(history), *ordered[:BRIEF_FACTS]


def _account(history: History) -> Iterator[tuple[str, str]]:
    known = parts(history)
    shown = [f"{part} {time} ({share})" for part, time, share in known[:BRIEF_PARTS]]
    smaller = [f"and {len(known) - BRIEF_PARTS} smaller parts"] if len(known) > BRIEF_PARTS else []
    yield "Time", f"{', '.join([*shown, *smaller])}; {duration(history.account.wall)} in all"
    dearest = [
        f"{len(cause.attempts)} x {cause.name}{' (planned)' if cause.planned else ''} ({duration(cause.total)})"
        for cause in history.causes[:BRIEF_CAUSES]
    ]
    if dearest:
        yield "Cost", "; ".join(dearest)


def headline(history: History) -> str:
    """The share of time that was productive."""
    run = history.account
    ettr = "no time" if run.ettr is None else f"{run.ettr:.1%} of the time was productive (ETTR)"
    if run.ettr_by_ranks is not None:
        ettr += f", {run.ettr_by_ranks:.1%} of the hours of all ranks"
    return f"{ettr}, in {len(run.attempts):,} attempt{'s' * (len(run.attempts) != 1)}."


def parts(history: History) -> list[tuple[TimeUse, str, str]]:
    """What there is of the account, the largest first: part, time, share."""
    wall = history.account.wall
    ordered = sorted(history.account.parts.items(), key=lambda entry: -entry[1])
    return [(part, duration(value), _share(value, wall)) for part, value in ordered if value]


def facts(history: History) -> Iterator[tuple[str, str]]:
    """How often it failed, nodes that repeat, what changed, how often to save, how many nodes to hold ready.

    Pairs of what it is about and what is to be said.
    """
    yield from _windows(history)
    yield from _failures(history)
    yield from _nodes(history)
    yield from _changes(history)
    yield from _advice(history)


def _wrapped(history: History) -> Iterator[str]:
    for about, says in facts(history):
        yield from textwrap.wrap(
            says, _WIDTH, initial_indent=f"{about:<{_LEAD}}", subsequent_indent=" " * _LEAD, break_on_hyphens=False
        )


def _causes(history: History) -> Iterator[str]:
    if not history.causes:
        return
    yield ""
    yield "What ended attempts, and its cost (computed again, stalled, down, next start)"
    for cause in history.causes[:MAX_CAUSES]:
        planned = " (planned)" if cause.planned else ""
        yield f"{duration(cause.total):>10}  {len(cause.attempts):>3} x  {harmless(cause.name, _CAUSE)}{planned}"
    if len(history.causes) > MAX_CAUSES:
        yield f"and {len(history.causes) - MAX_CAUSES} more; --json has all"
    if unexplained := history.account.parts[TimeUse.UNEXPLAINED]:
        yield f"{duration(unexplained):>10}         pauses that nothing in the logs explains"


def _windows(history: History) -> Iterator[tuple[str, str]]:
    shares = history.windows
    if shares is not None and len(shares.shares):
        at = int(shares.shares.argmin())
        worst = f"lowest {shares.shares[at]:.1%}, to {minute_of(int(shares.ends[at]))}"
        yield "Windows", f"of {duration(shares.length)}: {worst}; median {float(np.median(shares.shares)):.1%}"


def minute_of(milliseconds: int) -> str:
    """A time since the epoch for a reader: "2026-11-20 10:05 UTC"."""
    return minute(datetime.fromtimestamp(milliseconds / 1000, UTC))


def _failures(history: History) -> Iterator[tuple[str, str]]:
    often = history.mtbf
    if not often.failures and all(attempt.clock == "points" for attempt in history.account.attempts):
        yield "Failures", "points of progress do not tell how often it failed"
        return
    under_way = f"{often.failures} unplanned end{'s' * (often.failures != 1)} in {_hours(often.under_way)} under way"
    if often.hours is None or often.high is None:
        yield "Failures", f"{under_way}: the time between two is at least {_hours(often.low)}"
    elif often.failures < FEW:
        yield "Failures", f"{_hours(often.low)} to {_hours(often.high)} between two (95 %); {under_way}"
    else:
        span = f"{_hours(often.low)} to {_hours(often.high)}"
        yield "Failures", f"{_hours(often.hours)} between two ({span}); {under_way}"
    if history.recoveries:
        ordered = sorted(history.recoveries)
        middle = ordered[len(ordered) // 2]
        yield "Recovery", f"to the next new iteration: median {duration(middle)}, worst {duration(ordered[-1])}"


def _nodes(history: History) -> Iterator[tuple[str, str]]:
    for node, days in history.back.items():
        again = f"in a public trace {AGAIN[0]:.0%} of such nodes failed again within a week ({AGAIN[1]:.1%} of others)"
        yield "Repaired", f"{harmless(node, 40)} came back from repair {days:.1f} days before the end; {again}"
    for repeater in history.repeaters:
        kinds = ", ".join(f"{kind} {number}" for kind, number in repeater.kinds.items())
        often = f"named {repeater.incidents} times in 28 days ({kinds})"
        yield "Repeats", f"{harmless(repeater.node, 40)}: {often}; by chance {repeater.chance:.1e}"
    if history.incidents and not history.repeaters:
        seen = f"{history.incidents} incident{'s' * (history.incidents != 1)} in 28 days, and nobody repeats"
        least = f"a node is told from {history.told_from} of its own on" if history.told_from else "no node can be told"
        yield "Unseen", f"{seen}; {least}: nodes that are a little worse stay unseen"


def _changes(history: History) -> Iterator[tuple[str, str]]:
    for change in history.changes[-MAX_CHANGES:]:
        whom = f"{harmless(change.attempt, 40)} against {harmless(change.good, 40)}"
        new = f". It ended as no attempt before it did: {harmless(change.ended, _CAUSE)}"
        if change.gone:
            gone = f". With it went away: {harmless(change.gone, _CAUSE)}"
            yield "Changed", f"{whom}: {harmless(', '.join(change.phrases), 200)}{gone}"
            continue
        yield (
            "Changed",
            f"{whom}: {harmless(', '.join(change.phrases), 200)}{new if change.ended and change.new else ''}",
        )


def _advice(history: History) -> Iterator[tuple[str, str]]:
    saving = history.saving
    if saving is not None:
        low, high = saving.best
        best, counts = f"{seconds(low)}", f"{saving.iterations[0]:,}"
        if round(low) != round(high):
            best, counts = f"{best} to {seconds(high)}", f"{counts} to {saving.iterations[1]:,}"
        now = f"; now {seconds(saving.present)}" if saving.present else ""
        if saving.lost:
            now += f", which costs {saving.lost[0]:.2%} of the time with all restarts, the best {saving.lost[1]:.2%}"
        stops = f"a checkpoint stops the training for {saving.saving:.1f} s"
        yield "Save", f"every {best} ({counts} iterations){now}; {stops}"
    for hours, (low, high) in history.standbys.items():
        number = f"{low}" if low == high else f"{low} to {high}"
        yield "Standbys", f"{number}, when one that was used is replaced within {hours:g} h"
    for hours, own in history.own.items():
        together = f"; {own.batches} times several nodes failed within an hour, at most {own.largest}"
        apart = f" ({own.apart} when those that failed together count once{together})" if own.batches else ""
        yield "Standbys", f"{own.all} by its own {own.days:.0f} days, within {hours:g} h in 99 % of the time{apart}"


def attempts(history: History) -> Iterator[str]:
    """A line an attempt."""
    run = history.account
    yield f"{'Attempt':<{_ATTEMPT}}{'iterations':>16}{'ran':>9}{'kept':>7}  ended"
    shown = list(zip(run.attempts, run.spent, strict=True))[-MAX_ATTEMPTS:]
    if len(run.attempts) > len(shown):
        yield f"({len(run.attempts) - len(shown)} earlier ones; --json has all)"
    for attempt, spent in shown:
        span = f"{attempt.numbers[0]:,}-{attempt.numbers[-1]:,}" if len(attempt.numbers) else "none"
        ran = sum(value for part, value in spent.items() if part is not TimeUse.DOWN)
        left = f"{harmless(attempt.name, _ATTEMPT - 1):<{_ATTEMPT}}{span:>16}{duration(ran):>9}"
        left = f"{left}{_share(spent[TimeUse.PRODUCTIVE], ran):>7}  "
        why = harmless(f"{attempt.ended}: {attempt.cause}" if attempt.cause else attempt.ended, _CAUSE)
        yield left + textwrap.shorten(why, max(_LEAST, _WIDTH - len(left)), placeholder="…")


def problems(history: History) -> Iterator[str]:
    """Where start and end are from, and what was guessed, contradicts itself or was left out."""
    clocks = sorted({attempt.clock for attempt in history.account.attempts})
    yield f"Start and end: {'; '.join(clocks)}."
    for problem in history.problems[:MAX_PROBLEMS]:
        yield harmless(problem, 300)


def duration(milliseconds: int) -> str:
    """A time in words: "9.5 s", "12 min"."""
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return seconds(milliseconds / 1000)


def _hours(hours: float) -> str:
    return duration(round(hours * HOUR))


def _share(value: int, wall: int) -> str:
    return f"{value / wall:.1%}" if wall else ""
