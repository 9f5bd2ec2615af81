"""Patterns for a person at a terminal: a list, and one pattern with its life."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from bot.text.harmless import harmless
from bot.text.wording import counted, names
from faultlib.pattern import Entry, Origin, Pattern
from faultlib.pattern_text import write_pattern
from faultlib.question_search import Found
from faultlib.stats import Stats

WIDTH = 100  # columns, as the help of the program (max_content_width)
_LABEL = 10  # columns of "Category  "
_ID, _TITLE = 28, 60  # columns of a list


def table(entries: Sequence[Entry]) -> str:
    """A line a pattern: id, status, who vouches for it, how many jobs, title."""
    if not entries:
        return "No pattern.\n"
    ordered = sorted(entries, key=lambda entry: (entry.origin is Origin.SEED, entry.id))
    return "".join(f"{_row(entry).rstrip()}\n" for entry in ordered)


def page(entry: Entry, joined: Sequence[str] = ()) -> str:
    """A pattern and its life, with labels; ``joined``: ids of the patterns that gave way to it."""
    return "".join(f"{line}\n" for line in _page(entry, joined))


def changes(entry: Entry, patterns: Sequence[Pattern]) -> str:
    """A pattern's versions as differences of their texts, the oldest first, each below who made it."""
    first = entry.version - len(patterns) + 1
    texts = [write_pattern(pattern).splitlines() for pattern in patterns]
    sentences = []
    for number, text in enumerate(texts):
        made = next((step for step in entry.history if step.version == first + number), None)
        by = f", {made.action} by {harmless(made.who, 60)}, {made.at[:10]}" if made else ""
        sentences.append(f"Version {first + number}{by}")
        if number:
            sentences += [harmless(line, 400) for line in unified_diff(texts[number - 1], text, n=1, lineterm="")][2:]
    return "".join(f"{line}\n" for line in sentences)


def hits(found: Sequence[Found]) -> str:
    """Patterns that were found, the most alike first."""
    if not found:
        return "Nothing similar is known.\n"
    return "\n".join("".join(f"{line}\n" for line in _hit(number, hit)) for number, hit in enumerate(found, start=1))


def numbers(stats: Stats) -> str:
    """How many patterns, sightings, steps and vectors a library holds, and its size in bytes."""
    lines = [
        f"Patterns  {_counts(stats.by_status)}",
        f"From      {_counts(stats.by_origin)}",
        f"Seen      {counted(stats.sightings, 'time')} in jobs",
        f"Life      {counted(stats.steps, 'step')} in the audit trail",
        f"Vectors   {_counts(stats.vectors_by_model)}",
        f"Index     {stats.index}: {stats.index_state}",
        f"Size      {stats.bytes:,} bytes{'' if stats.writable else ', read-only'}",
    ]
    return "".join(f"{line}\n" for line in lines)


def vouched(entry: Entry) -> str:
    """Who stands behind a pattern, in words."""
    if entry.origin is Origin.SEED:
        return "public facts, not confirmed by your team"
    if step := entry.confirmed:
        return f"confirmed by {harmless(step.who, 60)}, {step.at[:10]}"
    return "not confirmed"


def _row(entry: Entry) -> str:
    title, jobs = harmless(entry.pattern.title, _TITLE), counted(len(entry.sightings), "job") if entry.sightings else ""
    return f"{entry.id:<{_ID}}  {entry.status:<10}  {entry.origin:<5}{jobs:>9}  {title}"


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())) or "none"


def _page(entry: Entry, joined: Sequence[str]) -> Iterator[str]:
    pattern = entry.pattern
    yield f"{entry.id}: {harmless(pattern.title, 200)}"
    yield ""
    subtype = f": {harmless(pattern.subtype, 120)}" if pattern.subtype else ""
    yield from _labelled("Status", f"{entry.status}, version {entry.version}, {vouched(entry)}")
    if entry.superseded_by:
        yield from _labelled("Now", entry.superseded_by)
    yield from _labelled("Category", f"{pattern.category}{subtype}; scope {pattern.scope}")
    where = [*pattern.stages, *([pattern.framework] if pattern.framework else [])]
    if where:
        yield from _labelled("Where", ", ".join(harmless(word, 60) for word in where))
    yield from _labelled("Cause", pattern.cause)
    yield from _labelled("Fix", pattern.fix)
    if pattern.confirmation:
        seed = entry.origin is Origin.SEED  # a seed says what to look at, a person what they saw
        yield from _labelled("Make sure" if seed else "Made sure", pattern.confirmation)
    for kind, clauses in (("Must", pattern.signature.must), ("Must not", pattern.signature.must_not)):
        for number, clause in enumerate(clauses):
            yield from _labelled("" if number else kind, f"{clause.where}: {'  or  '.join(clause.events)}")
    for number, source in enumerate(pattern.sources):
        yield from _labelled("" if number else "Source", source)
    if entry.sightings:
        yield from _labelled("Seen in", names([sighting.job for sighting in entry.sightings], 12))
    if joined:
        yield from _labelled("Also as", names(list(joined), 12))
    for number, step in enumerate(entry.history):
        why = f": {step.why}" if step.why else ""
        yield from _labelled("" if number else "Life", f"{step.at[:16]}Z {step.action} by {step.who}{why}")


def _hit(number: int, found: Found) -> Iterator[str]:
    yield f"{number}.  {found.entry.id}: {harmless(found.entry.pattern.title, 200)}"
    yield f"    alike {found.score:.2f}; {vouched(found.entry)}"
    yield from _wrapped("    Cause: ", found.entry.pattern.cause)
    yield from _wrapped("    Fix: ", found.entry.pattern.fix)


def _labelled(label: str, text: str) -> list[str]:
    return _wrapped(f"{label:<{_LABEL}}", text)


def _wrapped(lead: str, text: str) -> list[str]:
    hang = " " * min(len(lead), _LABEL)
    return textwrap.wrap(
        harmless(text), WIDTH, initial_indent=lead, subsequent_indent=hang, break_on_hyphens=False
    ) or [lead.rstrip()]
